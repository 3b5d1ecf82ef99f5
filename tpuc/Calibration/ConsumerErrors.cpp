//===- ConsumerErrors.cpp - What clipping a tensor does to the ops that read it -===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Calibration/ConsumerErrors.h"
#include "tpuc/Calibration/Thresholds.h"
#include "tpuc/Dialect/Top/ConvolutionOps.h"
#include "tpuc/Dialect/Top/MatrixOps.h"
#include "tpuc/Dialect/Top/Names.h"
#include "tpuc/Dialect/Top/ShapeInference.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Interpreter/Evaluate.h"
#include "tpuc/Support/Rounding.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

#include <cmath>
#include <new>

using namespace mlir;
using namespace tpuc;

namespace {

/// The sum of (a - b)^2, in an order that depends on the size alone.
double squaredDistance(std::span<const float> a, std::span<const float> b) {
  double sums[4] = {};
  for (size_t i = 0; i < a.size(); ++i) {
    const double difference = double(a[i]) - double(b[i]);
    sums[i % 4] += difference * difference;
  }
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

double squaredNorm(std::span<const float> values) {
  double sums[4] = {};
  for (size_t i = 0; i < values.size(); ++i)
    sums[i % 4] += double(values[i]) * double(values[i]);
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

/// The axis of the output channels of the weight `operand` of `op`; none for other constants.
std::optional<size_t> weightAxis(Operation *op, unsigned operand, size_t rank) {
  if (operand != 1 || rank < 2)
    return std::nullopt;
  if (isa<top::ConvOp>(op))
    return 0;
  if (isa<top::DeconvOp>(op))
    return 1;
  if (auto product = dyn_cast<top::MatMulOp>(op))
    return product.getRightTranspose() ? rank - 2 : rank - 1;
  return std::nullopt;
}

/// An op whose results are compared.
struct ConsumerOp {
  Operation *op = nullptr;
  /// Weights as integers hold them and other constants; nothing for tensors of a sample.
  SmallVector<std::optional<Tensor>> constants;
  std::unique_ptr<kernels::KernelCache> cache = std::make_unique<kernels::KernelCache>();
  /// The tensors that are tried, as indices of candidates, and where their figures begin.
  struct Tried {
    Value value;
    size_t candidates;
    size_t first;
  };
  SmallVector<Tried> tried;
};

/// The figures of one sample: for each consumer its |y|^2, then an error for each candidate.
using Figures = std::vector<double>;

class Measurement {
public:
  Measurement(ModuleOp module, std::span<const ThresholdCandidates> candidates,
              const QuantScheme &scheme)
      : candidates(candidates), scheme(scheme),
        body(module.lookupSymbol<func::FuncOp>("main").front()) {}

  Expected<void> plan();
  Expected<std::vector<ConsumerErrors>> run(SampleRunner &runner, std::span<const int64_t> numbers);

private:
  /// The tensors of a sample that are still to be read.
  struct Sample {
    Figures figures;
    llvm::DenseMap<Value, Tensor> held;
    llvm::DenseMap<Value, unsigned> reads;
  };

  void nameValues();
  Expected<void> planOp(Operation &op);
  size_t addFigures(size_t candidate);
  Expected<void> visit(Sample &sample, const std::string &name, const Tensor &tensor);
  Expected<void> measure(Sample &sample, const ConsumerOp &consumer);
  Expected<double> distance(Sample &sample, const ConsumerOp &consumer,
                            const ConsumerOp::Tried &tried, const Tensor &replaced);
  void measureItself(Sample &sample, size_t candidate, size_t first, const Tensor &tensor);
  void release(Sample &sample, Operation &op);

  std::span<const ThresholdCandidates> candidates;
  QuantScheme scheme;
  Block &body;
  ThreadPool oneThread{1};
  llvm::StringMap<Value> values;
  llvm::DenseMap<Value, size_t> candidatesOf;
  llvm::DenseMap<Operation *, ConsumerOp> consumers;
  /// Tensors without consumers: where their figures begin.
  llvm::DenseMap<Value, size_t> unread;
  llvm::DenseMap<Value, unsigned> reads;
  /// For each candidate tensor, where the figures of its consumers begin.
  std::vector<SmallVector<size_t>> figuresOf;
  size_t numFigures = 0;
};

void Measurement::nameValues() {
  llvm::StringMap<unsigned> uses;
  for (Operation &op : body.without_terminator())
    if (!op.hasTrait<traits::Parameter>())
      for (auto [name, result] : llvm::zip_equal(tensorNames(&op), op.getResults())) {
        values[name] = result;
        ++uses[name];
      }
  for (const auto &use : uses)
    if (use.second > 1)
      values.erase(use.first());
  for (auto [index, tensor] : llvm::enumerate(candidates))
    if (auto found = values.find(tensor.name);
        found != values.end() && tensor.thresholds.size() > 1)
      candidatesOf[found->second] = index;
}

size_t Measurement::addFigures(size_t candidate) {
  const size_t first = numFigures;
  figuresOf[candidate].push_back(first);
  numFigures += 1 + candidates[candidate].thresholds.size();
  return first;
}

Expected<void> Measurement::plan() {
  figuresOf.resize(candidates.size());
  nameValues();
  for (Operation &op : body.without_terminator())
    if (Expected<void> planned = planOp(op); !planned)
      return planned;
  for (auto [index, tensor] : llvm::enumerate(candidates))
    if (auto found = values.find(tensor.name); found != values.end() && figuresOf[index].empty())
      if (candidatesOf.contains(found->second))
        unread[found->second] = addFigures(index);
  return {};
}

/// Whether result 0 of an op can be compared: it is a float that the op computes from its operands.
bool isComparable(Operation &op) {
  return isa<EvaluateInterface>(op) && op.getNumRegions() == 0 && op.getNumResults() > 0 &&
         isa<FloatType>(getElementTypeOrSelf(op.getResult(0).getType()));
}

Expected<void> Measurement::planOp(Operation &op) {
  ConsumerOp consumer;
  consumer.op = &op;
  for (Value operand : op.getOperands()) {
    if (operand.getParentBlock() == &body && !operand.getDefiningOp<top::WeightOp>())
      ++reads[operand];
    const bool isMet =
        llvm::any_of(consumer.tried, [&](auto &each) { return each.value == operand; });
    if (isComparable(op) && candidatesOf.contains(operand) && !isMet) {
      const size_t candidate = candidatesOf.lookup(operand);
      consumer.tried.push_back({operand, candidate, addFigures(candidate)});
    }
  }
  if (consumer.tried.empty())
    return {};
  for (auto [index, operand] : llvm::enumerate(op.getOperands())) {
    consumer.constants.emplace_back();
    auto weight = operand.getDefiningOp<top::WeightOp>();
    if (!weight)
      continue;
    Expected<Tensor> tensor = weight.read();
    if (!tensor)
      return propagate(tensor);
    const auto axis = weightAxis(&op, static_cast<unsigned>(index), tensor->shape().rank());
    consumer.constants.back() = axis && tensor->type() == DataType::F32
                                    ? fakeQuantizeWeight(*tensor, *axis, scheme)
                                    : *tensor;
  }
  consumers[&op] = std::move(consumer);
  return {};
}

Expected<std::vector<ConsumerErrors>> Measurement::run(SampleRunner &runner,
                                                       std::span<const int64_t> numbers) {
  std::map<int64_t, Sample> samples;
  for (int64_t number : numbers) {
    samples[number].figures.resize(numFigures);
    samples[number].reads = reads;
  }
  Expected<void> done =
      runner.run(numbers, "tune thresholds",
                 [&](int64_t number, const std::string &name, const Tensor &tensor) {
                   return visit(samples.find(number)->second, name, tensor);
                 });
  if (!done)
    return propagate(done);
  // In the order of the samples, whichever of them was done first.
  std::vector<ConsumerErrors> errors(candidates.size());
  for (auto [index, tensor] : llvm::enumerate(candidates))
    for (size_t first : figuresOf[index]) {
      std::vector<double> &relative =
          errors[index].relative.emplace_back(tensor.thresholds.size(), 0);
      for (const auto &[number, sample] : samples) {
        const double norm = sample.figures[first] > 0 ? sample.figures[first] : 1;
        for (size_t i = 0; i < relative.size(); ++i)
          relative[i] += sample.figures[first + 1 + i] / norm / double(samples.size());
      }
    }
  return errors;
}

/// The last of an op's results that somebody asks for.
Value lastPresent(Operation &op) {
  return *llvm::find_if(llvm::reverse(op.getResults()), top::isPresent);
}

Expected<void> Measurement::visit(Sample &sample, const std::string &name, const Tensor &tensor) {
  auto found = values.find(name);
  if (found == values.end())
    return {};
  const Value value = found->second;
  if (auto own = unread.find(value); own != unread.end())
    measureItself(sample, candidatesOf.lookup(value), own->second, tensor);
  if (reads.contains(value) || consumers.contains(value.getDefiningOp()))
    sample.held[value] = tensor;
  Operation *op = value.getDefiningOp();
  // Results come one after the other; operands can go after the last one.
  if (value != lastPresent(*op))
    return {};
  if (auto consumer = consumers.find(op); consumer != consumers.end())
    if (Expected<void> measured = measure(sample, consumer->second); !measured)
      return measured;
  release(sample, *op);
  return {};
}

void Measurement::release(Sample &sample, Operation &op) {
  for (Value operand : op.getOperands())
    if (auto left = sample.reads.find(operand); left != sample.reads.end() && --left->second == 0)
      sample.held.erase(operand);
  for (Value result : op.getResults())
    if (!reads.contains(result))
      sample.held.erase(result);
}

Expected<void> Measurement::measure(Sample &sample, const ConsumerOp &consumer) {
  const auto output = sample.held.find(consumer.op->getResult(0));
  if (output == sample.held.end() || output->second.type() != DataType::F32)
    return {};
  for (const ConsumerOp::Tried &tried : consumer.tried) {
    const auto operand = sample.held.find(tried.value);
    if (operand == sample.held.end() || operand->second.type() != DataType::F32)
      continue;
    sample.figures[tried.first] = squaredNorm(output->second.data<float>());
    Tensor replaced(DataType::F32, operand->second.shape());
    size_t at = tried.first;
    for (double threshold : candidates[tried.candidates].thresholds) {
      fakeQuantize(operand->second.data<float>(), threshold, replaced.mutableData<float>(),
                   scheme.activation);
      Expected<double> found = distance(sample, consumer, tried, replaced);
      if (!found)
        return propagate(found);
      sample.figures[++at] = *found;
    }
  }
  return {};
}

Expected<double> Measurement::distance(Sample &sample, const ConsumerOp &consumer,
                                       const ConsumerOp::Tried &tried, const Tensor &replaced) {
  SmallVector<std::optional<Tensor>> operands = consumer.constants;
  for (auto [index, operand] : llvm::enumerate(consumer.op->getOperands())) {
    if (operand == tried.value)
      operands[index] = replaced;
    else if (auto held = sample.held.find(operand); held != sample.held.end())
      operands[index] = held->second;
  }
  const std::string where = "layer '" + layerName(consumer.op) + "'";
  EvalContext context(
      consumer.op, operands,
      [&](unsigned, DataType type, const Shape &shape) {
        return Tensor::create(type, shape.dims(), where);
      },
      [&](Region &, ArrayRef<Tensor>) -> Expected<SmallVector<Tensor>> {
        return makeError(where, "has a body");
      },
      oneThread);
  context.setCache(consumer.cache.get());
  if (Expected<void> done = cast<EvaluateInterface>(consumer.op).evaluate(context); !done)
    return propagate(done);
  const Tensor &reference = sample.held.find(consumer.op->getResult(0))->second;
  return squaredDistance(context.results()[0].data<float>(), reference.data<float>());
}

void Measurement::measureItself(Sample &sample, size_t candidate, size_t first,
                                const Tensor &tensor) {
  const FloatElements elements(tensor);
  sample.figures[first] = squaredNorm(elements.values());
  std::vector<float> replaced(elements.values().size());
  for (double threshold : candidates[candidate].thresholds) {
    fakeQuantize(elements.values(), threshold, replaced, scheme.activation);
    sample.figures[++first] = squaredDistance(replaced, elements.values());
  }
}

} // namespace

Expected<std::vector<ConsumerErrors>>
tpuc::measureConsumers(ModuleOp module, SampleRunner &runner, std::span<const int64_t> samples,
                       std::span<const ThresholdCandidates> candidates, const QuantScheme &scheme) {
  Measurement measurement(module, candidates, scheme);
  if (Expected<void> planned = measurement.plan(); !planned)
    return propagate(planned);
  return measurement.run(runner, samples);
}

Tensor tpuc::fakeQuantizeWeight(const Tensor &weight, size_t axis, const QuantScheme &scheme) {
  Tensor result = weight.clone();
  std::span<float> values = result.mutableData<float>();
  const auto inner = static_cast<size_t>(weight.shape().strides()[axis]);
  const bool isByChannel = scheme.granularity == Granularity::PerChannel;
  const auto channels = isByChannel ? static_cast<size_t>(weight.shape()[axis]) : 1;
  const auto most = static_cast<float>(integerRange(scheme.weight).highest);
  std::vector<float> largest(channels);
  for (size_t i = 0; i < values.size(); ++i) {
    float &known = largest[i / inner % channels];
    known = std::max(known, std::abs(values[i]));
  }
  for (size_t i = 0; i < values.size(); ++i)
    if (const float scale = largest[i / inner % channels] / most; scale > 0)
      values[i] = std::round(values[i] / scale) * scale;
  return result;
}

//===- RoundingNoise.cpp - How far single roundings move outputs ----------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Driver/RoundingNoise.h"
#include "tpuc/Dialect/Top/Names.h"
#include "tpuc/Dialect/Top/OpTraits.h"
#include "tpuc/Dialect/Top/ShapeInference.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Dialect/Tpu/AttentionOps.h"
#include "tpuc/Dialect/Tpu/BinaryOps.h"
#include "tpuc/Dialect/Tpu/CastOps.h"
#include "tpuc/Dialect/Tpu/ConvolutionOps.h"
#include "tpuc/Dialect/Tpu/NormOps.h"
#include "tpuc/Dialect/Tpu/PoolOps.h"
#include "tpuc/Dialect/Tpu/RecurrentOps.h"
#include "tpuc/Dialect/Tpu/ReduceOps.h"
#include "tpuc/Dialect/Tpu/ResizeOps.h"
#include "tpuc/Dialect/Tpu/StoredType.h"
#include "tpuc/Driver/DetectionSets.h"
#include "tpuc/Driver/Validation.h"
#include "tpuc/Support/Convert.h"
#include "tpuc/Support/Float.h"
#include "tpuc/Target/QuantScheme.h"
#include "tpuc/Target/Registry.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/TypeSwitch.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <set>

using namespace tpuc;

namespace {

/// One in so many integers that are made from floats is moved; where floats of 16 bits are
/// multiplied to make them, of these.
constexpr uint64_t kFlipped = 1024, kFlippedOften = 16;

/// One in so many floats of 16 bits is moved, of layers that round once and of others.
constexpr uint64_t kMovedOnce = 32, kMovedOften = 2;
/// At least about so many are moved.
constexpr uint64_t kLeastMoved = 64;

/// How the result of a layer is moved.
struct Movement {
  /// A number of its own for each result of a network, the same in each run of the compiler.
  uint64_t seed = 0;
  DataType type = DataType::F32;
  /// The step of stored integers.
  double scale = 0;
  /// The root of the number of terms of a sum.
  double rootOfTerms = 1;
  /// Whether devices compute it by series.
  bool hasFunctions = false;
  /// Whether devices may round inside of the layer, too.
  bool roundsOften = false;
};

/// The n-th of a sequence of numbers that look random (splitmix64: Steele, Lea and Flood, 2014).
uint64_t randomAt(uint64_t seed, uint64_t n) {
  uint64_t x = seed + (n + 1) * 0x9E3779B97F4A7C15U;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
  return x ^ (x >> 31);
}

/// How many elements of a row a softmax or a norm of layers adds up; 1 of other ops.
int64_t termsOfRow(mlir::Operation *op) {
  const std::optional<top::Dims> dims = top::dimsOf(op->getOperand(0));
  if (!dims || llvm::is_contained(*dims, top::kDynamic))
    return 1;
  // From the dimension `axis` on, which counts from the end where it is negative.
  const auto from = [&](int64_t axis) {
    return llvm::ArrayRef(*dims).drop_front(
        static_cast<size_t>(axis < 0 ? axis + std::ssize(*dims) : axis));
  };
  return llvm::TypeSwitch<mlir::Operation *, int64_t>(op)
      .Case([&](tpu::SoftmaxOp softmax) { return from(softmax.getAxis()).front(); })
      .Case<tpu::LayerNormOp, tpu::RMSNormOp>(
          [&](auto norm) { return mlir::ShapedType::getNumElements(from(norm.getAxis())); })
      .Case<tpu::GroupNormOp, tpu::InstanceNormOp>(
          [&](auto) { return mlir::ShapedType::getNumElements(from(2)); })
      .Default([](mlir::Operation *) { return 1; });
}

/// The root of the number of terms that are added up in an element of `result`. Of a product of two
/// tensors, that is from their sizes: |A| |B| / |result| is the square of the number, or more.
double rootOfTerms(mlir::Operation *op, mlir::Value result) {
  const auto made = static_cast<double>(std::max<int64_t>(top::staticElements(result), 1));
  auto most = static_cast<double>(termsOfRow(op));
  double product = op->hasTrait<traits::Product>() ? 1 : 0;
  int numTensors = 0;
  for (mlir::Value operand : op->getOperands()) {
    const auto read = static_cast<double>(top::staticElements(operand));
    most = std::max(most, read / made);
    // What follows the two factors is a bias.
    if (read > 0 && ++numTensors <= 2)
      product *= read;
  }
  return std::sqrt(std::max(most, std::sqrt(product / made)));
}

/// Whether devices give the same bits of the same operands whatever the order of their arithmetic.
bool isExactLayer(mlir::Operation *op) {
  const auto isIntegerOrNone = [](mlir::Value value) {
    const std::optional<DataType> type = storageDataType(value.getType());
    return !type || !isFloat(*type);
  };
  const bool readsIntegers = llvm::all_of(op->getOperands(), isIntegerOrNone);
  if (op->hasTrait<traits::Structural>() || op->hasTrait<traits::MovesElements>() ||
      op->getNumRegions() > 0)
    return true;
  if (readsIntegers && (mlir::isa<tpu::CastOp>(op) || op->hasTrait<traits::Product>()))
    return true;
  return readsIntegers && llvm::all_of(op->getResults(), isIntegerOrNone);
}

bool hasFunctions(mlir::Operation *op);

/// Whether the chip of a network computes in F32, too; also where no chip is named.
bool computesInF32(mlir::ModuleOp lowered) {
  const auto chip = lowered->getAttrOfType<mlir::StringAttr>("module.chip");
  if (!chip)
    return true;
  const Expected<const TargetInfo *> target = lookupTarget(chip.getValue().str());
  return !target || hasScheme(**target, schemes::kF32);
}

/// Whether a device may keep what the layer adds up in the type of its result: sums of single
/// channels, states, weights of a second product. Without F32 it may each step of a function, a
/// norm, a mean, a power or a quotient, and the product that makes integers of floats.
bool roundsOften(mlir::Operation *op, bool hasF32) {
  const bool hasSteps =
      hasFunctions(op) ||
      mlir::isa<tpu::LayerNormOp, tpu::RMSNormOp, tpu::GroupNormOp, tpu::InstanceNormOp, tpu::DivOp,
                tpu::ReduceOp, tpu::AvgPoolOp, tpu::MeanOp, tpu::LRNOp, tpu::NormalizeOp,
                tpu::PowConstOp, tpu::PowOp, tpu::InterpOp, tpu::PixelNormOp, tpu::CastOp>(op);
  if (!hasF32 && hasSteps)
    return true;
  if (auto conv = mlir::dyn_cast<tpu::ConvOp>(op))
    return conv.getGroup() > 1;
  return mlir::isa<tpu::DeconvOp, tpu::ScaleDotProductAttentionOp, tpu::LSTMOp, tpu::GRUOp,
                   tpu::RNNOp>(op);
}

/// Whether a layer computes more than sums, products and quotients: exponentials, error functions.
bool hasFunctions(mlir::Operation *op) {
  return op->hasTrait<traits::Tabulated>() ||
         mlir::isa<tpu::SoftmaxOp, tpu::ScaleDotProductAttentionOp, tpu::LSTMOp, tpu::GRUOp,
                   tpu::RNNOp>(op);
}

/// How each result is moved, by name.
llvm::StringMap<Movement> movementsOf(mlir::ModuleOp lowered) {
  llvm::StringMap<Movement> movements;
  auto main = lowered.lookupSymbol<mlir::func::FuncOp>("main");
  if (!main || main.isExternal())
    return movements;
  uint64_t index = 0;
  const bool hasF32 = computesInF32(lowered);
  for (mlir::Operation &op : main.front().without_terminator()) {
    for (auto [name, result] : llvm::zip_equal(tensorNames(&op), op.getResults())) {
      ++index;
      const std::optional<DataType> type = storageDataType(result.getType());
      const quant::UniformQuantizedType quantized = tpu::quantizedType(result);
      // Indices and conditions have no neighbours that mean nearly the same.
      if (isExactLayer(&op) || !type || (!isFloat(*type) && !quantized))
        continue;
      movements.try_emplace(name, Movement{.seed = index << 32,
                                           .type = *type,
                                           .scale = quantized ? quantized.getScale() : 0,
                                           .rootOfTerms = rootOfTerms(&op, result),
                                           .hasFunctions = hasFunctions(&op),
                                           .roundsOften = roundsOften(&op, hasF32)});
    }
  }
  return movements;
}

void moveIntegers(std::span<float> values, const Movement &movement, uint64_t seed) {
  const auto move = [&](size_t i, uint64_t random) {
    values[i] += static_cast<float>((random >> 63) != 0 ? movement.scale : -movement.scale);
  };
  bool isMoved = false;
  const uint64_t oneIn = movement.roundsOften ? kFlippedOften : kFlipped;
  for (size_t i = 0; i < values.size(); ++i)
    if (const uint64_t random = randomAt(seed, i); random % oneIn == 0) {
      move(i, random);
      isMoved = true;
    }
  if (!isMoved && !values.empty()) {
    const uint64_t random = randomAt(seed, values.size());
    move((random >> 1) % values.size(), random);
  }
}

/// The distance of the floats about `value`, which have so many bits behind the first.
float unitOf(float value, const FloatFormat &format) {
  const int exponent = std::max(std::ilogb(value), format.minExponent());
  return std::ldexp(1.0F, exponent - static_cast<int>(format.mantissaBits));
}

void moveNarrow(std::span<float> values, const Movement &movement, uint64_t seed) {
  const FloatFormat format = floatFormat(movement.type);
  const uint64_t oneIn = std::clamp<uint64_t>(values.size() / kLeastMoved, kMovedOften,
                                              movement.roundsOften ? kMovedOften : kMovedOnce);
  for (size_t i = 0; i < values.size(); ++i) {
    const uint64_t random = randomAt(seed, i);
    if (random % oneIn != 0 || values[i] == 0 || !std::isfinite(values[i]))
      continue;
    // What is at the end of the format stays.
    if (std::ilogb(values[i]) >= format.bias)
      continue;
    const float unit = unitOf(values[i], format);
    values[i] = (random >> 63) != 0 ? values[i] + unit : values[i] - unit;
  }
}

void moveF32(std::span<float> values, const Movement &movement, uint64_t seed) {
  double squares = 0;
  for (float value : values)
    if (std::isfinite(value))
      squares += double(value) * double(value);
  const double mean = values.empty() ? 0 : std::sqrt(squares / static_cast<double>(values.size()));
  const double ofOne =
      movement.hasFunctions ? RoundingNoise::kFunctionUnits : RoundingNoise::kF32Units;
  const double units = std::ldexp(ofOne * movement.rootOfTerms, -24);
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i] == 0 || !std::isfinite(values[i]))
      continue;
    const double uniform = std::ldexp(static_cast<double>(randomAt(seed, i) >> 11), -52) - 1;
    values[i] = static_cast<float>(double(values[i]) +
                                   uniform * units * (std::abs(double(values[i])) + mean));
  }
}

/// `tensor` as another order of its roundings might have made it.
Tensor movedBy(const Movement &movement, const Tensor &tensor, int run) {
  Tensor moved = tensor.type() == DataType::F32 ? tensor.clone() : convert(tensor, DataType::F32);
  const std::span<float> values = moved.mutableData<float>();
  const uint64_t seed = randomAt(movement.seed, static_cast<uint64_t>(run));
  if (movement.scale > 0)
    moveIntegers(values, movement, seed);
  else if (movement.type == DataType::F32 || movement.type == DataType::F64)
    moveF32(values, movement, seed);
  else
    moveNarrow(values, movement, seed);
  return convert(moved, tensor.type()).reshaped(tensor.shape());
}

/// The sums of squares of errors and of what roundings move, of one part or slice.
struct Squares {
  double error = 0, noise = 0;
  int64_t count = 0;

  void add(double ofError, double ofNoise) {
    error += ofError;
    noise += ofNoise;
    ++count;
  }
  double rootOfError() const { return std::sqrt(error / static_cast<double>(count)); }
  double meanNoise() const { return noise / static_cast<double>(count); }
};

/// The margin of a mean square of `count` elements: few of them may all be moved little by chance.
double marginOf(int64_t count) {
  const auto samples = static_cast<double>(RoundingNoise::kRuns * std::max<int64_t>(count, 1));
  return RoundingNoise::kMargin * (1 + 4 / samples);
}

/// Adds the squares of the finite differences of `other` from `plain`, both f32, times `share`.
/// Where roundings alone make infinities or NaN of finite numbers (`isNoise`), these may be
/// anything: their own squares are added.
void addSquares(const Tensor &other, const Tensor &plain, float share, bool isNoise,
                std::vector<float> &squares) {
  const Tensor floats = convert(other, DataType::F32);
  const std::span<const float> x = floats.data<float>();
  const std::span<const float> y = plain.data<float>();
  for (size_t i = 0; i < squares.size(); ++i)
    if (std::isfinite(x[i]) && std::isfinite(y[i]))
      squares[i] += share * (x[i] - y[i]) * (x[i] - y[i]);
    else if (isNoise && std::isfinite(y[i]))
      squares[i] += share * y[i] * y[i];
}

/// The squares of an output's errors, and of what roundings move its elements by.
class SquareMap {
public:
  /// `plain` is f32, and `noises` outlives the map.
  SquareMap(const Tensor &made, const Tensor &plain, std::span<const float> noises)
      : shape(plain.shape()), errors(static_cast<size_t>(plain.numElements())), noises(noises) {
    addSquares(made, plain, 1, /*isNoise=*/false, errors);
  }

  /// Why the elements from `begin` to `end` along `axis`, or one slice of them along an axis, are
  /// not what roundings make of them; `name` is that of the part, empty of the whole.
  std::string faultOf(const OutputPart &part) const;

private:
  /// The sums of the part by the index along `along`.
  std::vector<Squares> slicesOf(const OutputPart &part, size_t along) const;

  Shape shape;
  std::vector<float> errors;
  std::span<const float> noises;
};

std::vector<Squares> SquareMap::slicesOf(const OutputPart &part, size_t along) const {
  const auto axis = static_cast<size_t>(part.axis);
  const int64_t inner = shape.strides()[axis];
  const int64_t outer = shape.numElements() / (shape[axis] * inner);
  const int64_t stride = shape.strides()[along];
  std::vector<Squares> slices(static_cast<size_t>(shape[along]));
  for (int64_t i = 0; i < outer; ++i)
    for (int64_t j = (i * shape[axis] + part.begin) * inner;
         j < (i * shape[axis] + part.end) * inner; ++j)
      slices[static_cast<size_t>(j / stride % shape[along])].add(
          double(errors[static_cast<size_t>(j)]), double(noises[static_cast<size_t>(j)]));
  return slices;
}

std::string SquareMap::faultOf(const OutputPart &part) const {
  const auto describe = [](const Squares &squares, double noise, double margin) {
    return fmt::format("is off by {:.3g} (root mean square), where roundings move it by {:.3g} and "
                       "{:.1f} times that is allowed",
                       squares.rootOfError(), noise, margin);
  };
  Squares whole;
  for (const Squares &slice : slicesOf(part, static_cast<size_t>(part.axis))) {
    whole.error += slice.error;
    whole.noise += slice.noise;
    whole.count += slice.count;
  }
  if (whole.count == 0)
    return "";
  const double margin = marginOf(whole.count);
  if (const double noise = std::sqrt(whole.meanNoise()); whole.rootOfError() > margin * noise)
    return fmt::format("{} {}", part.name.empty() ? "it" : "the part '" + part.name + "'",
                       describe(whole, noise, margin));
  for (size_t along = 0; along < shape.rank(); ++along) {
    const std::vector<Squares> slices = slicesOf(part, along);
    for (size_t i = 0; i < slices.size() && shape[along] > 1; ++i) {
      if (slices[i].count < RoundingNoise::kLeastSlice)
        continue;
      // Where single integers flip, it is chance which slice they are in.
      const double noise = std::sqrt(slices[i].meanNoise() + whole.meanNoise());
      if (slices[i].rootOfError() > RoundingNoise::kSliceMargin * noise)
        return fmt::format("slice {} along axis {} {}", i, along,
                           describe(slices[i], noise, RoundingNoise::kSliceMargin));
    }
  }
  return "";
}

} // namespace

Expected<RoundingNoise> RoundingNoise::measure(mlir::ModuleOp lowered, const TensorMap &inputs,
                                               const TensorMap &outputs, unsigned numThreads) {
  RoundingNoise noise;
  for (const auto &[name, tensor] : outputs)
    noise.outputs[name] = {convert(tensor, DataType::F32),
                           std::vector<float>(static_cast<size_t>(tensor.numElements()))};
  const DetectionOutputs detections = detectionOutputs(lowered);
  const llvm::StringMap<Movement> movements = movementsOf(lowered);
  noise.layers = static_cast<int64_t>(movements.size());
  for (int run = 0; run < kRuns; ++run) {
    // Two ops may make a tensor of one name; the first is the one that is moved.
    std::set<std::string> seen;
    const TensorSubstitute substitute =
        [&](const std::string &name, const Tensor &tensor) -> Expected<std::optional<Tensor>> {
      auto movement = movements.find(name);
      std::optional<Tensor> moved;
      if (movement != movements.end())
        moved = movedBy(movement->second, tensor, run);
      if (auto output = noise.outputs.find(name); output != noise.outputs.end() &&
                                                  seen.insert(name).second &&
                                                  tensor.shape() == output->second.plain.shape()) {
        Tensor made = moved ? *moved : tensor;
        if (auto rows = detections.find(name); rows != detections.end()) {
          MatchedDetections matched = matchDetections(made, output->second.plain, rows->second);
          output->second.mostLost = std::max(output->second.mostLost, matched.numLost());
          made = std::move(matched.rows);
        }
        addSquares(made, output->second.plain, 1.0F / kRuns, /*isNoise=*/true,
                   output->second.squares);
      }
      return moved;
    };
    if (Expected<void> done = runNetwork(lowered, inputs, numThreads, nullptr, substitute); !done)
      return propagate(done);
  }
  return noise;
}

double RoundingNoise::moved(const std::string &name) const {
  const auto found = outputs.find(name);
  if (found == outputs.end())
    return 0;
  double norm = 0;
  for (float value : found->second.plain.data<float>())
    if (std::isfinite(value))
      norm += double(value) * double(value);
  double sum = 0;
  for (float square : found->second.squares)
    sum += double(square);
  if (sum == 0)
    return 0;
  return norm == 0 ? INFINITY : std::sqrt(sum / norm);
}

int64_t RoundingNoise::mostLost(const std::string &name) const {
  const auto found = outputs.find(name);
  return found == outputs.end() ? 0 : found->second.mostLost;
}

double RoundingNoise::limit(const std::string &name) const {
  const auto found = outputs.find(name);
  return found == outputs.end() ? 0 : marginOf(found->second.plain.numElements()) * moved(name);
}

Tolerance RoundingNoise::tolerance(const std::string &name) const {
  // It may be infinite.
  const double relative = std::min(limit(name), 1e3);
  // Of x and x + d with a right angle between x and d.
  return {.cosine = 1 / std::sqrt(1 + relative * relative), .euclid = 1 - relative};
}

std::string RoundingNoise::faultOf(const std::string &name, const Tensor &made,
                                   const OutputParts &parts) const {
  const auto found = outputs.find(name);
  if (found == outputs.end() || made.numElements() == 0 ||
      made.shape() != found->second.plain.shape() || made.shape().rank() == 0)
    return "";
  const SquareMap squares(made, found->second.plain, found->second.squares);
  const auto known = parts.find(name);
  if (known == parts.end())
    return squares.faultOf({.name = "", .axis = 0, .begin = 0, .end = made.shape()[0]});
  for (const OutputPart &part : known->second) {
    if (part.axis >= static_cast<int64_t>(made.shape().rank()) ||
        part.end > made.shape()[static_cast<size_t>(part.axis)])
      return "";
    if (std::string fault = squares.faultOf(part); !fault.empty())
      return fault;
  }
  return "";
}

//===- LowerElementwise.cpp - Element-wise ops on integers ------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Conversion/TopToTpu/IntegerForms.h"
#include "tpuc/Conversion/TopToTpu/LowerInteger.h"
#include "tpuc/Dialect/Top/Names.h"
#include "tpuc/Dialect/Top/ShapeInference.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Dialect/Tpu/BinaryOps.h"
#include "tpuc/Dialect/Tpu/CastOps.h"
#include "tpuc/Interpreter/Evaluate.h"
#include "tpuc/Interpreter/Kernels/FixedPoint.h"
#include "tpuc/Interpreter/Kernels/StoredCast.h"
#include "tpuc/Interpreter/Ops/OpEvaluator.h"
#include "tpuc/Interpreter/StoredOps.h"
#include "tpuc/Support/Convert.h"
#include "tpuc/Support/ThreadPool.h"

#include "llvm/ADT/ScopeExit.h"

#include <cmath>

using namespace mlir;
using namespace tpuc;

namespace {

/// A tensor of integers and the numbers that they stand for.
struct Stored {
  Value value;
  double scale = 1;
  int64_t zeroPoint = 0;
  int64_t maxMagnitude = 0;
};

/// The stored integers of largest magnitude.
int64_t maxMagnitude(quant::UniformQuantizedType type) {
  return std::max(std::abs(type.getStorage().min), type.getStorage().max);
}

/// `numbers` (f32) as stored integers within `range`: their low bits, in elements of `type`.
Tensor storedTensor(const Tensor &numbers, const QuantParams &params,
                    const tpuc::IntegerRange &range, DataType type) {
  Tensor integers(DataType::I64, numbers.shape());
  for (auto [from, to] : llvm::zip_equal(numbers.data<float>(), integers.mutableData<int64_t>()))
    to = quantize(double(from), params, range);
  return convert(integers, type, {.integerOverflow = IntegerOverflow::Wrap});
}

/// A constant whose numbers are few steps of the scale that a source states: 8 bits hold these,
/// with a zero point. None where they do not.
std::optional<Stored> statedOperand(Operation *op, unsigned index, const Tensor &numbers,
                                    double scale, Lowering &lowering) {
  Tensor steps(DataType::I64, numbers.shape());
  int64_t least = 0, most = 0;
  for (auto [from, to] : llvm::zip_equal(numbers.data<float>(), steps.mutableData<int64_t>())) {
    to = std::llround(std::clamp(double(from) / scale, -0x1p31, 0x1p31));
    least = std::min(least, to);
    most = std::max(most, to);
  }
  if (most - least > 255)
    return std::nullopt;
  const int64_t zeroPoint = std::clamp<int64_t>(0, -128 - least, 127 - most);
  for (int64_t &step : steps.mutableData<int64_t>())
    step += zeroPoint;
  Value made =
      lowering.weight(op, "_operand" + std::to_string(index) + "_i8", convert(steps, DataType::I8));
  const auto type = quant::UniformQuantizedType::get(
      quant::StorageSpec::full(true, 8), Float32Type::get(op->getContext()), {scale, zeroPoint});
  made.setType(cast<RankedTensorType>(made.getType()).clone(type));
  return Stored{made, scale, zeroPoint, 128};
}

/// An operand of an element-wise op: a tensor of the network, or a constant rounded to the integers
/// of activations by its largest magnitude, over 127 in 8 bits; where a source states its scale, by
/// that.
Expected<Stored> storedOperand(Operation *op, unsigned index, Lowering &lowering) {
  Value operand = op->getOperand(index);
  auto weight = operand.getDefiningOp<top::WeightOp>();
  if (!weight) {
    quant::UniformQuantizedType type = lowering.plan.quantized(operand);
    return Stored{lowering.asIntegers(operand), type.getScale(), type.getZeroPoint(),
                  maxMagnitude(type)};
  }
  Expected<Tensor> tensor = weight.read();
  if (!tensor)
    return propagate(tensor);
  const Tensor numbers = convert(*tensor, DataType::F32);
  double most = 0;
  for (float number : numbers.data<float>()) {
    if (!std::isfinite(number))
      return makeError("layer '" + layerName(op) + "'",
                       "operand " + std::to_string(index) + " holds " + std::to_string(number),
                       "finite numbers, which integers can stand for");
    most = std::max(most, std::abs(double(number)));
  }
  if (lowering.isFixedPoint(op))
    if (std::optional<Stored> stated = statedOperand(
            op, index, numbers, cast<FloatAttr>((*weight.getWeightScale())[0]).getValueAsDouble(),
            lowering))
      return *stated;
  const DataType element = lowering.plan.integers().activation;
  const auto highest = static_cast<int64_t>(integerRange(element).highest);
  const double scale = most > 0 ? storableScale(most / double(highest)) : 1;
  Value made = lowering.weight(
      op, "_operand" + std::to_string(index) + "_" + std::string(dataTypeName(element)),
      storedTensor(numbers, {scale, 0}, integerRange(element), element));
  const auto type =
      quant::UniformQuantizedType::get(quant::StorageSpec::full(true, bitWidth(element)),
                                       Float32Type::get(op->getContext()), {scale, 0});
  made.setType(cast<RankedTensorType>(made.getType()).clone(type));
  return Stored{made, scale, 0, highest};
}

Expected<SmallVector<Stored>> storedOperands(Operation *op, Lowering &lowering) {
  SmallVector<Stored> operands;
  for (unsigned index = 0; index < op->getNumOperands(); ++index) {
    Expected<Stored> operand = storedOperand(op, index, lowering);
    if (!operand)
      return propagate(operand);
    operands.push_back(*operand);
  }
  return operands;
}

SmallVector<Value> valuesOf(ArrayRef<Stored> operands) {
  return llvm::map_to_vector(operands, [](const Stored &operand) { return operand.value; });
}

/// The largest shift with which the integer multipliers of `factors` keep within `bits` and the sum
/// within what `accumulator` has room for; a left shift where results are far finer than operands.
int sumShift(ArrayRef<double> factors, ArrayRef<Stored> operands, unsigned bits,
             DataType accumulator) {
  double most = 0;
  double sum = 0;
  for (auto [factor, operand] : llvm::zip_equal(factors, operands)) {
    most = std::max(most, std::abs(factor));
    sum += std::abs(factor) * double(operand.maxMagnitude + std::abs(operand.zeroPoint));
  }
  if (most == 0)
    return 0;
  const double bySize = std::floor(std::log2((std::exp2(bits - 1) - 1) / most));
  const double bySum = std::floor(std::log2(maxSum(accumulator) / std::max(sum, most)));
  return static_cast<int>(std::clamp(std::min(bySize, bySum), -31.0, 30.0));
}

} // namespace

/// Whether the sum of these two is to be that of a source in fixed point: it states all three
/// scales, and the target can round as it says. A result so fine that sums are shifted to the left
/// is not.
static bool isFixedSum(Operation *op, ArrayRef<Stored> operands, const Lowering &lowering) {
  if (operands.size() != 2 || op->hasAttr("coeff") || !lowering.isFixedPoint(op))
    return false;
  const double unit = 2 * std::max(operands[0].scale, operands[1].scale);
  const double result = tpu::quantizedType(op->getResult(0)).getScale();
  return kernels::fixedPoint(unit / std::ldexp(result, 20)).rshift >= 0;
}

Expected<void> tpuc::lowerAddSub(Operation *op, Lowering &lowering) {
  Expected<SmallVector<Stored>> operands = storedOperands(op, lowering);
  if (!operands)
    return propagate(operands);
  if (isFixedSum(op, *operands, lowering)) {
    Operation *made = lowering.mirrored(op, valuesOf(*operands));
    made->setAttr("quant_mode",
                  lowering.builder.getStringAttr(requantModeName(kernels::fixedPointMode(false))));
    lowering.replace(op, made);
    return {};
  }
  quant::UniformQuantizedType result = lowering.plan.quantized(op->getResult(0));
  auto coeff = op->getAttrOfType<ArrayAttr>("coeff");
  SmallVector<double> factors;
  for (auto [index, operand] : llvm::enumerate(*operands)) {
    double factor = operand.scale / result.getScale();
    if (coeff)
      factor *= cast<FloatAttr>(coeff[index]).getValueAsDouble();
    factors.push_back(index > 0 && isa<top::SubOp>(op) ? -factor : factor);
  }
  // Of 16 bits or fewer: the sum has 32.
  const unsigned bits =
      std::min(lowering.multiplierBits(), lowering.target.requant.sumMultiplierBits);
  const int shift = sumShift(factors, *operands, bits, lowering.plan.integers().accumulator);
  SmallVector<int64_t> multipliers;
  int64_t offset = 0;
  for (auto [factor, operand] : llvm::zip_equal(factors, *operands)) {
    multipliers.push_back(std::llround(std::ldexp(factor, shift)));
    offset -= multipliers.back() * operand.zeroPoint;
  }
  Operation *made = lowering.mirrored(op, valuesOf(*operands));
  made->removeAttr("coeff");
  made->setAttr("multiplier", lowering.ints(multipliers));
  made->setAttr("offset", lowering.builder.getI64IntegerAttr(offset));
  made->setAttr("rshift", lowering.builder.getI64IntegerAttr(shift));
  made->setAttr("round_mode", lowering.roundMode());
  lowering.replace(op, made);
  return {};
}

Expected<void> tpuc::lowerMul(top::MulOp op, Lowering &lowering) {
  Expected<SmallVector<Stored>> operands = storedOperands(op, lowering);
  if (!operands)
    return propagate(operands);
  const double output = lowering.plan.quantized(op.getOutput()).getScale();
  const bool isFixed = operands->size() == 2 && lowering.isFixedPoint(op);
  const double scale = (*operands)[0].scale * (*operands)[1].scale;
  Expected<MultiplierShift> factor =
      isFixed ? kernels::productFactor((*operands)[0].scale, (*operands)[1].scale, output)
              : lowering.factor(scale / output, op);
  if (!factor)
    return propagate(factor);
  Operation *made = lowering.mirrored(op, valuesOf(*operands));
  made->setAttr("multiplier", lowering.builder.getI64IntegerAttr(factor->multiplier));
  made->setAttr("rshift", lowering.builder.getI64IntegerAttr(factor->rshift));
  if (isFixed)
    made->setAttr("quant_mode", lowering.builder.getStringAttr(
                                    requantModeName(kernels::fixedPointMode(factor->rshift < 0))));
  else
    made->setAttr("round_mode", lowering.roundMode());
  lowering.replace(op, made);
  return {};
}

Expected<void> tpuc::lowerMinMax(Operation *op, Lowering &lowering) {
  quant::UniformQuantizedType type = lowering.plan.quantized(op->getResult(0));
  SmallVector<Value> operands;
  for (Value operand : op->getOperands()) {
    if (auto weight = operand.getDefiningOp<top::WeightOp>()) {
      Expected<Tensor> tensor = weight.read();
      if (!tensor)
        return propagate(tensor);
      Tensor integers(*storageDataType(type), tensor->shape());
      ThreadPool threads(1);
      kernels::quantizeStored(convert(*tensor, DataType::F32), tpu::paramsOf(type),
                              tpu::rangeOf(type), integers, threads);
      const DataType element = signedType(integers.type());
      Value made = lowering.weight(op, "_operand_" + std::string(dataTypeName(element)),
                                   std::move(integers));
      made.setType(cast<RankedTensorType>(made.getType()).clone(type));
      operands.push_back(made);
    } else {
      operands.push_back(lowering.as(operand, type));
    }
  }
  lowering.replace(op, lowering.mirrored(op, operands));
  return {};
}

/// Whether `op`, a function of one tensor, has a table of the source's own integers.
static bool isTableOfSource(Operation *op, const Lowering &lowering) {
  return lowering.areOfSource({op->getOperand(0), op->getResult(0)});
}

Expected<void> tpuc::lowerCopy(top::CopyOp op, Lowering &lowering) {
  const bool isSame =
      lowering.plan.quantized(op.getInput()) == lowering.plan.quantized(op.getOutput());
  return !isSame && isTableOfSource(op, lowering) ? lowerTable(op, lowering)
                                                  : lowerMover(op, lowering);
}

Expected<void> tpuc::lowerLeakyRelu(top::LeakyReluOp op, Lowering &lowering) {
  if (isTableOfSource(op, lowering))
    return lowerTable(op, lowering);
  const double scale = lowering.plan.quantized(op.getInput()).getScale() /
                       lowering.plan.quantized(op.getOutput()).getScale();
  Expected<MultiplierShift> positive = lowering.factor(scale, op);
  Expected<MultiplierShift> negative = lowering.factor(scale * op.getAlpha().convertToDouble(), op);
  if (!positive || !negative)
    return positive ? propagate(negative) : propagate(positive);
  Operation *made = lowering.mirrored(op, lowering.asIntegers(op.getInput()));
  lowering.setFactors(made, {*positive, *negative});
  lowering.replace(op, made);
  return {};
}

/// `entry(q)` of all integers q of `type`, in the order of their patterns of bits.
template <typename Entry>
static Tensor tableOf(quant::UniformQuantizedType type, const Entry &entry) {
  Tensor table(DataType::I8, Shape{256});
  for (auto [index, made] : llvm::enumerate(table.mutableData<int8_t>())) {
    const auto pattern = static_cast<int64_t>(index);
    const bool isNegative = type.getStorage().isSigned && pattern > 127;
    made = static_cast<int8_t>(entry(isNegative ? pattern - 256 : pattern));
  }
  return table;
}

/// A PReLU of a source's integers: a table of the numbers of 0 or more, and the product of the
/// others with the slopes, of which one is 0 everywhere. Each is rounded as fixedPRelu does.
static Expected<void> lowerFixedPRelu(top::PReluOp op, Lowering &lowering) {
  Expected<Stored> slope = storedOperand(op, 1, lowering);
  if (!slope)
    return propagate(slope);
  OpBuilder &builder = lowering.builder;
  Value input = lowering.asIntegers(op.getInput());
  const quant::UniformQuantizedType from = lowering.plan.quantized(op.getInput());
  const quant::UniformQuantizedType to = lowering.plan.quantized(op.getOutput());
  const double scale = from.getScale() / to.getScale();
  const MultiplierShift positive = kernels::fixedPoint(scale);
  const MultiplierShift negative = kernels::fixedPoint(scale * slope->scale);
  const int64_t zero = from.getZeroPoint();
  Tensor above = tableOf(from, [&](int64_t stored) {
    return requantize(std::max<int64_t>(stored - zero, 0),
                      {.mode = kernels::fixedPointMode(positive.rshift < 0),
                       .factor = positive,
                       .zeroPoint = static_cast<int32_t>(to.getZeroPoint()),
                       .range = tpu::rangeOf(to)});
  });
  Tensor below = tableOf(from, [&](int64_t stored) { return std::min(stored, zero); });
  const auto named = [&](const char *suffix) {
    return NameLoc::get(builder.getStringAttr(layerName(op) + suffix));
  };
  const Type result = lowering.integerResult(op);
  Value kept = builder.create<tpu::LutOp>(
      named("_above"), result,
      ValueRange{input, lowering.weight(op, "_above_table", std::move(above))});
  Value rest = builder.create<tpu::LutOp>(
      named("_below"), input.getType(),
      ValueRange{input, lowering.weight(op, "_below_table", std::move(below))});
  Value sloped = builder.create<tpu::MulOp>(
      named("_sloped"), result, ValueRange{rest, slope->value},
      ArrayRef{
          builder.getNamedAttr("multiplier", builder.getI64IntegerAttr(negative.multiplier)),
          builder.getNamedAttr("rshift", builder.getI64IntegerAttr(negative.rshift)),
          builder.getNamedAttr("quant_mode", builder.getStringAttr(requantModeName(
                                                 kernels::fixedPointMode(negative.rshift < 0))))});
  auto made = builder.create<tpu::AddOp>(
      op->getLoc(), result, ValueRange{kept, sloped},
      ArrayRef{builder.getNamedAttr("multiplier", lowering.ints({1, 1})),
               builder.getNamedAttr("offset", builder.getI64IntegerAttr(-2 * to.getZeroPoint())),
               builder.getNamedAttr("rshift", builder.getI64IntegerAttr(0)),
               builder.getNamedAttr("round_mode", lowering.roundMode())});
  lowering.replace(op, made);
  return {};
}

Expected<void> tpuc::lowerPRelu(top::PReluOp op, Lowering &lowering) {
  if (lowering.isFixedPoint(op))
    return lowerFixedPRelu(op, lowering);
  const double scale = lowering.plan.quantized(op->getOperand(0)).getScale() /
                       lowering.plan.quantized(op->getResult(0)).getScale();
  Expected<Tensor> slope = op->getOperand(1).getDefiningOp<top::WeightOp>().read();
  if (!slope)
    return propagate(slope);
  Expected<MultiplierShift> positive = lowering.factor(scale, op);
  if (!positive)
    return propagate(positive);
  SmallVector<MultiplierShift> factors = {*positive};
  for (float number : convert(*slope, DataType::F32).data<float>()) {
    Expected<MultiplierShift> factor = lowering.factor(scale * double(number), op);
    if (!factor)
      return propagate(factor);
    factors.push_back(*factor);
  }
  Operation *made =
      lowering.mirrored(op, {lowering.asIntegers(op->getOperand(0)), op->getOperand(1)});
  lowering.setFactors(made, factors);
  lowering.replace(op, made);
  return {};
}

Expected<void> tpuc::lowerCompare(top::CompareOp op, Lowering &lowering) {
  quant::UniformQuantizedType left = lowering.plan.quantized(op->getOperand(0));
  quant::UniformQuantizedType right = lowering.plan.quantized(op->getOperand(1));
  // Both in the coarser scale, which holds what the other does.
  quant::UniformQuantizedType type = left.getScale() >= right.getScale() ? left : right;
  lowering.replace(op, lowering.mirrored(op, {lowering.as(op->getOperand(0), type),
                                              lowering.as(op->getOperand(1), type)}));
  return {};
}

/// What stored integers of `type` compare with as the numbers that they stand for do with `bound`:
/// the integer that stands for it, or one half above or below the nearest.
static double storedBound(float bound, quant::UniformQuantizedType type) {
  if (std::isnan(bound))
    return bound;
  const quant::StorageSpec storage = type.getStorage();
  const int64_t nearest = quantize(double(bound), tpu::paramsOf(type),
                                   {storage.min - 1, static_cast<uint64_t>(storage.max + 1)});
  const float number =
      static_cast<float>(nearest - type.getZeroPoint()) * static_cast<float>(type.getScale());
  return double(nearest) + (number == bound ? 0.0 : number < bound ? 0.5 : -0.5);
}

Expected<void> tpuc::lowerCompareConst(top::CompareConstOp op, Lowering &lowering) {
  Operation *made = lowering.mirrored(op, lowering.asIntegers(op.getInput()));
  const double stored = storedBound(static_cast<float>(op.getConstVal().convertToDouble()),
                                    lowering.plan.quantized(op.getInput()));
  made->setAttr("const_val", lowering.builder.getF64FloatAttr(stored));
  lowering.replace(op, made);
  return {};
}

/// `op` and the functions before it whose results nobody else reads, the first in front: one table
/// holds them all, and nothing is rounded between.
static SmallVector<Operation *> tableChain(Operation *op, const Lowering &lowering) {
  SmallVector<Operation *> chain = {op};
  for (;;) {
    Value between = chain.back()->getOperand(0);
    Operation *maker = between.getDefiningOp();
    if (!maker || !isTabulated(maker) || !lowering.plan.isInteger(maker) || !between.hasOneUse() ||
        tpu::isQuantized(between))
      break;
    chain.push_back(maker);
  }
  std::reverse(chain.begin(), chain.end());
  return chain;
}

/// `function`, an op of one tensor, of `numbers`: in floats, also where its types are those of
/// stored integers.
static Expected<Tensor> evaluate(Operation *function, const Tensor &numbers) {
  ThreadPool threads(1);
  const std::optional<Tensor> operand = numbers;
  EvalContext context(
      function, operand,
      [&](unsigned, DataType element, const Shape &shape) -> Expected<Tensor> {
        return Tensor(element, shape);
      },
      nullptr, threads);
  const ops::OpEvaluator *inFloats = ops::findEvaluator(function->getName().stripDialect());
  Expected<void> done = inFloats ? ops::evaluate(*inFloats, context)
                                 : cast<EvaluateInterface>(function).evaluate(context);
  if (!done)
    return propagate(done);
  return context.results()[0];
}

/// `functions`, one after the other, of the numbers that all stored integers of `type` stand for,
/// in the order of their patterns of bits.
static Expected<Tensor> tabulate(ArrayRef<Operation *> functions,
                                 quant::UniformQuantizedType type) {
  const quant::StorageSpec storage = type.getStorage();
  const auto count = int64_t{1} << storage.width;
  const auto highest = static_cast<int64_t>(integerRange(storage.width, storage.isSigned).highest);
  Tensor numbers(DataType::F32, Shape{count});
  for (auto [index, number] : llvm::enumerate(numbers.mutableData<float>())) {
    const auto pattern = static_cast<int64_t>(index);
    const int64_t stored = pattern > highest ? pattern - count : pattern;
    number = static_cast<float>(dequantize(stored, tpu::paramsOf(type)));
  }
  for (Operation *function : functions) {
    Expected<Tensor> next = evaluate(function, numbers);
    if (!next)
      return next;
    numbers = std::move(*next);
  }
  return numbers;
}

/// What the interpreter computes of all integers of operand 0, in the order of their patterns of
/// bits: the bits of the results.
static Expected<Tensor> tabulateStored(Operation *op) {
  Value source = op->getOperand(0);
  const Type given = source.getType();
  const auto restore = llvm::make_scope_exit([&] { source.setType(given); });
  source.setType(cast<TensorType>(given).clone(Lowering::statedType(source)));
  Tensor all(*storageDataType(source.getType()), Shape{256});
  for (auto [index, byte] : llvm::enumerate(all.mutableBytes()))
    byte = static_cast<std::byte>(index);
  ThreadPool threads(1);
  const std::optional<Tensor> operand = all;
  EvalContext context(
      op, operand,
      [&](unsigned, DataType element, const Shape &shape) -> Expected<Tensor> {
        return Tensor(element, shape);
      },
      nullptr, threads);
  if (Expected<void> done = evaluateOnStoredNumbers(op, context); !done)
    return propagate(done);
  Tensor table(DataType::I8, Shape{256});
  std::ranges::copy(context.results()[0].rawBytes(), table.mutableBytes().begin());
  return table;
}

/// The same of functions that a chain computes in floats, with the integers of the plan.
static Expected<Tensor> tabulateNumbers(ArrayRef<Operation *> chain, const Lowering &lowering) {
  quant::UniformQuantizedType output = lowering.plan.quantized(chain.back()->getResult(0));
  Expected<Tensor> numbers = tabulate(chain, lowering.plan.quantized(chain.front()->getOperand(0)));
  if (!numbers)
    return numbers;
  // The bits of the results; their sign is the output's business.
  return storedTensor(*numbers, tpu::paramsOf(output), tpu::rangeOf(output),
                      signedType(*storageDataType(output)))
      .reshaped(Shape{numbers->numElements()});
}

Expected<void> tpuc::lowerTable(Operation *op, Lowering &lowering) {
  const SmallVector<Operation *> chain = tableChain(op, lowering);
  Value source = chain.front()->getOperand(0);
  Expected<Tensor> table = chain.size() == 1 && isTableOfSource(op, lowering)
                               ? tabulateStored(op)
                               : tabulateNumbers(chain, lowering);
  if (!table)
    return propagate(table);
  Value entries = lowering.weight(op, "_table", std::move(*table));
  auto made = lowering.builder.create<tpu::LutOp>(op->getLoc(), lowering.integerResult(op),
                                                  ValueRange{lowering.asIntegers(source), entries});
  lowering.replace(op, made);
  return {};
}

//===- Matching.cpp - What the patterns of --top-fuse share -------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Transforms/Matching.h"
#include "tpuc/Dialect/Top/BinaryOps.h"
#include "tpuc/Dialect/Top/MovementOps.h"
#include "tpuc/Dialect/Top/Names.h"
#include "tpuc/Dialect/Top/OpChecks.h"
#include "tpuc/Dialect/Top/ReduceOps.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Dialect/Top/UnaryOps.h"
#include "tpuc/Support/Convert.h"
#include "tpuc/Support/Float.h"

#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace tpuc;
using namespace tpuc::top;

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

std::optional<Doubles> tpuc::constantFloats(Value value, int64_t count) {
  if (!isF32(value) || (count >= 0 && staticElements(value) != count))
    return std::nullopt;
  std::optional<Tensor> tensor = constantTensor(value);
  if (!tensor || tensor->type() != DataType::F32)
    return std::nullopt;
  auto data = tensor->data<float>();
  return Doubles(data.begin(), data.end());
}

std::optional<Doubles> tpuc::constantFloats(Value value, int64_t count, double otherwise) {
  if (!isPresent(value))
    return Doubles(static_cast<size_t>(count), otherwise);
  return constantFloats(value, count);
}

std::optional<double> tpuc::constantScalar(Value value) {
  if (!isa<FloatType>(elementTypeOf(value)) || staticElements(value) != 1)
    return std::nullopt;
  std::optional<Tensor> tensor = constantTensor(value);
  if (!tensor)
    return std::nullopt;
  return convert(*tensor, DataType::F64).data<double>()[0];
}

std::optional<Doubles> tpuc::constantAlong(Value value, int64_t axis, int64_t rank, int64_t count) {
  std::optional<Dims> dims = dimsOf(value);
  int64_t elements = staticElements(value);
  if (!dims || (elements != 1 && elements != count))
    return std::nullopt;
  auto missing = rank - static_cast<int64_t>(dims->size());
  if (missing < 0)
    return std::nullopt;
  for (auto [index, extent] : llvm::enumerate(*dims))
    if (extent != 1 && missing + static_cast<int64_t>(index) != axis)
      return std::nullopt;
  std::optional<Doubles> values = constantFloats(value);
  if (values && elements == 1)
    values->assign(static_cast<size_t>(count), values->front());
  return values;
}

Value tpuc::makeWeight(PatternRewriter &rewriter, Operation *op, StringRef suffix,
                       ArrayRef<int64_t> dims, const Doubles &values) {
  Tensor tensor(DataType::F32, Shape(std::span(dims.data(), dims.size())));
  std::ranges::transform(values, tensor.mutableData<float>().begin(),
                         [](double value) { return static_cast<float>(value); });
  return WeightOp::create(rewriter, op->getParentOfType<ModuleOp>(), layerName(op) + suffix.str(),
                          std::move(tensor))
      .getOutput();
}

Value tpuc::makeWeight(PatternRewriter &rewriter, Operation *op, StringRef suffix,
                       const Doubles &values) {
  return makeWeight(rewriter, op, suffix, {static_cast<int64_t>(values.size())}, values);
}

Location tpuc::locWith(PatternRewriter &rewriter, Operation *op, StringRef suffix) {
  return NameLoc::get(rewriter.getStringAttr(layerName(op) + suffix.str()));
}

Value tpuc::makeNone(PatternRewriter &rewriter, Location loc) {
  return rewriter.create<NoneOp>(loc, rewriter.getNoneType());
}

Value tpuc::reshaped(PatternRewriter &rewriter, Location loc, Value value, const Dims &dims) {
  if (dimsOf(value) == std::optional(dims))
    return value;
  Dims shape = dims;
  std::ranges::replace(shape, kDynamic, int64_t(-1));
  return rewriter.create<ReshapeOp>(loc, RankedTensorType::get(dims, elementTypeOf(value)), value,
                                    makeNone(rewriter, loc), rewriter.getI64ArrayAttr(shape),
                                    BoolAttr());
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

bool tpuc::isPlain(Operation *op) {
  auto integerIs = [&](StringRef name, int64_t wanted) {
    auto attribute = op->getAttrOfType<IntegerAttr>(name);
    return !attribute || attribute.getInt() == wanted;
  };
  auto relu = op->getAttrOfType<BoolAttr>("do_relu");
  return !(relu && relu.getValue()) && !op->hasAttr("coeff") && integerIs("multiplier", 1) &&
         integerIs("rshift", 0);
}

std::optional<ElementRange> tpuc::slicedAlong(Operation *op, int64_t axis) {
  auto slice = dyn_cast_or_null<SliceOp>(op);
  const std::optional<Dims> from = slice ? dimsOf(slice.getInput()) : std::nullopt;
  const std::optional<Dims> own = slice ? dimsOf(slice.getOutput()) : std::nullopt;
  if (!from || !own)
    return std::nullopt;
  const std::optional<Dims> axes = intsOf(slice.getAxes(), slice.getAxesTensor());
  const std::optional<Dims> offset = intsOf(slice.getOffset(), slice.getOffsetTensor());
  const std::optional<Dims> steps = intsOf(slice.getSteps(), slice.getStepsTensor());
  if (!axes || axes->size() != 1 || frontAxis(axes->front(), std::ssize(*from)) != axis ||
      !offset || offset->size() != 1 || (steps && steps->front() != 1))
    return std::nullopt;
  const int64_t extent = (*from)[static_cast<size_t>(axis)];
  const int64_t count = (*own)[static_cast<size_t>(axis)];
  if (extent == kDynamic || count == kDynamic)
    return std::nullopt;
  // A slice may begin in front of the first element.
  const int64_t begin = std::clamp<int64_t>(frontAxis(offset->front(), extent), 0, extent);
  return ElementRange{begin, begin + count};
}

bool tpuc::isOutput(Value value) {
  return llvm::any_of(value.getUsers(),
                      [](Operation *user) { return user->hasTrait<OpTrait::IsTerminator>(); });
}

bool tpuc::haveSameType(Value a, Value b) {
  auto type = dyn_cast<RankedTensorType>(a.getType());
  return type && type.hasStaticShape() && type == b.getType();
}

bool tpuc::isReshape(Operation *op) { return op && op->hasTrait<traits::ViewLike>(); }

bool tpuc::isF32(Value value) { return isPresent(value) && elementTypeOf(value).isF32(); }

int64_t tpuc::rankOf(Value value) {
  std::optional<Dims> dims = dimsOf(value);
  return dims ? static_cast<int64_t>(dims->size()) : 0;
}

bool tpuc::isNear(double a, double b) {
  constexpr double kStep = 1e-6, kShortStep = 0x1p-11;
  const double off = std::abs(a - b);
  const auto isShort = [](double number) {
    const auto single = static_cast<float>(number);
    return roundToFormat<DataType::F16>(single) == single;
  };
  return off <= kStep * std::abs(b) ||
         (off <= kShortStep * std::abs(b) && (isShort(a) || isShort(1 / a)));
}

/// Operand `index` of an op of two as scalar, the other one as tensor of the result's shape.
static std::optional<WithScalar> scalarAt(Operation *op, unsigned index) {
  if (op->getNumOperands() != 2 || !isPlain(op))
    return std::nullopt;
  Value tensor = op->getOperand(1 - index);
  std::optional<double> scalar = constantScalar(op->getOperand(index));
  // A constant of a higher rank than the tensor adds dimensions.
  if (!scalar || !dimsOf(tensor) || dimsOf(tensor) != dimsOf(op->getResult(0)))
    return std::nullopt;
  return WithScalar{tensor, *scalar};
}

static std::optional<WithScalar> scalarAtEither(Operation *op) {
  std::optional<WithScalar> found = scalarAt(op, 1);
  return found ? found : scalarAt(op, 0);
}

std::optional<WithScalar> tpuc::sumOf(Operation *op) {
  if (!op || !isPlain(op))
    return std::nullopt;
  if (isa<AddOp>(op))
    return scalarAtEither(op);
  if (auto sum = dyn_cast<AddConstOp>(op))
    return WithScalar{sum.getInput(), sum.getConstVal().convertToDouble()};
  if (auto difference = dyn_cast<SubConstOp>(op); difference && !difference.getIsReverse())
    return WithScalar{difference.getInput(), -difference.getConstVal().convertToDouble()};
  std::optional<WithScalar> found = isa<SubOp>(op) ? scalarAt(op, 1) : std::nullopt;
  if (found)
    found->scalar = -found->scalar;
  return found;
}

std::optional<WithScalar> tpuc::productOf(Operation *op) {
  if (!op || !isPlain(op))
    return std::nullopt;
  if (isa<MulOp>(op))
    return scalarAtEither(op);
  if (auto product = dyn_cast<MulConstOp>(op))
    return WithScalar{product.getInput(), product.getConstVal().convertToDouble()};
  if (auto quotient = dyn_cast<DivConstOp>(op); quotient && !quotient.getIsReverse())
    return WithScalar{quotient.getInput(), 1 / quotient.getConstVal().convertToDouble()};
  std::optional<WithScalar> found = isa<DivOp>(op) ? scalarAt(op, 1) : std::nullopt;
  if (found)
    found->scalar = 1 / found->scalar;
  return found;
}

std::optional<WithScalar> tpuc::maximumOf(Operation *op) {
  if (!op || !isPlain(op))
    return std::nullopt;
  if (isa<MaxOp>(op))
    return scalarAtEither(op);
  if (auto maximum = dyn_cast<MaxConstOp>(op))
    return WithScalar{maximum.getInput(), maximum.getConstVal().convertToDouble()};
  if (auto relu = dyn_cast<ReluOp>(op); relu && relu.getReluLimit().isNegative())
    return WithScalar{relu.getInput(), 0};
  return std::nullopt;
}

bool Reduction::isAligned(Value value) const {
  std::optional<Dims> dims = dimsOf(value);
  std::optional<Dims> kept = dimsOf(input);
  if (!dims || !kept || dims->size() > kept->size())
    return false;
  for (int64_t axis : axes)
    (*kept)[static_cast<size_t>(axis)] = 1;
  dims->insert(dims->begin(), kept->size() - dims->size(), 1);
  return *dims == *kept;
}

int64_t Reduction::count() const {
  Dims dims = *dimsOf(input);
  int64_t result = 1;
  for (int64_t axis : axes) {
    if (dims[static_cast<size_t>(axis)] == kDynamic)
      return kDynamic;
    result *= dims[static_cast<size_t>(axis)];
  }
  return result;
}

bool Interior::takeOp(Operation *op) {
  if (op->getBlock() != root->getBlock() || !isPlain(op))
    return false;
  if (op != root)
    ops.insert(op);
  return true;
}

std::optional<WithScalar> Interior::takeSum(Value value) {
  std::optional<WithScalar> found = sumOf(value.getDefiningOp());
  if (!found || !takeOp(value.getDefiningOp()))
    return std::nullopt;
  return found;
}

std::optional<WithScalar> Interior::takeProduct(Value value) {
  std::optional<WithScalar> found = productOf(value.getDefiningOp());
  if (!found || !takeOp(value.getDefiningOp()))
    return std::nullopt;
  return found;
}

Value Interior::takeFactors(Value value, double &scale) {
  while (value.hasOneUse()) {
    std::optional<WithScalar> product = takeProduct(value);
    if (!product)
      break;
    scale *= product->scalar;
    value = product->tensor;
  }
  return value;
}

std::optional<WithScalar> Interior::takeMaximum(Value value) {
  std::optional<WithScalar> found = maximumOf(value.getDefiningOp());
  if (!found || !takeOp(value.getDefiningOp()))
    return std::nullopt;
  return found;
}

Value Interior::takeReshapes(Value value) {
  while (isReshape(value.getDefiningOp()) && takeOp(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  return value;
}

std::optional<Reduction> Interior::takeReduction(Value value, StringRef mode) {
  auto reduce = take<top::ReduceOp>(takeReshapes(value));
  std::optional<Dims> dims = reduce ? dimsOf(reduce.getInput()) : std::nullopt;
  std::optional<Dims> axes = dims ? intsOf(reduce.getAxes(), reduce.getAxesTensor()) : std::nullopt;
  if (!axes || axes->empty() || reduce.getMode() != mode)
    return std::nullopt;
  for (int64_t &axis : *axes)
    axis += axis < 0 ? static_cast<int64_t>(dims->size()) : 0;
  llvm::sort(*axes);
  return Reduction{reduce.getInput(), *axes};
}

Value Interior::takeSquare(Value value) {
  if (auto product = value.getDefiningOp<MulOp>();
      product && product.getInputs().size() == 2 &&
      product.getInputs()[0] == product.getInputs()[1] && take<MulOp>(value))
    return product.getInputs()[0];
  if (auto power = value.getDefiningOp<PowOp>();
      power && constantScalar(power.getExponent()) == 2.0 &&
      dimsOf(power.getInput()) == dimsOf(value) && take<PowOp>(value))
    return power.getInput();
  if (auto power = value.getDefiningOp<PowConstOp>();
      power && power.getConstVal().convertToDouble() == 2 && take<PowConstOp>(value))
    return power.getInput();
  return {};
}

bool Interior::isClosed(llvm::function_ref<bool(Operation *)> mayBeRead) const {
  return llvm::all_of(ops, [&](Operation *op) {
    if (mayBeRead && mayBeRead(op))
      return true;
    return llvm::all_of(op->getUsers(),
                        [&](Operation *user) { return user == root || ops.contains(user); });
  });
}

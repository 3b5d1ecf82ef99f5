//===- IntegerKernels.cpp - Kernels of stored integers --------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684/Codegen/IntegerKernels.h"
#include "tpuc/Codegen/Decompose/ResizeTaps.h"
#include "tpuc/Dialect/Top/ShapeInference.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Dialect/Tpu/BinaryOps.h"
#include "tpuc/Dialect/Tpu/CastOps.h"
#include "tpuc/Dialect/Tpu/ConvolutionOps.h"
#include "tpuc/Dialect/Tpu/MatrixOps.h"
#include "tpuc/Dialect/Tpu/PoolOps.h"
#include "tpuc/Dialect/Tpu/ReduceOps.h"
#include "tpuc/Dialect/Tpu/ResizeOps.h"
#include "tpuc/Dialect/Tpu/StoredType.h"
#include "tpuc/Dialect/Tpu/UnaryOps.h"
#include "tpuc/Target/BM1684/Codegen/FloatKernels.h"
#include "tpuc/Target/BM1684/Codegen/OpWindows.h"
#include "tpuc/Target/BM1684/Kernels/Elementwise.h"
#include "tpuc/Target/BM1684/Kernels/Integers.h"

using namespace mlir;
using namespace tpuc::codegen;

namespace tpuc::bm1684::backend {

// Not the machine's.
using mlir::Operation;

/// Functions here have the names of those of floats.
namespace integers {
namespace {

bool isByteTensor(Value value) {
  quant::UniformQuantizedType type = tpu::quantizedType(value);
  return type && type.getStorage().width == 8 && type.getZeroPoint() == 0;
}

/// Errors unless all stored integers have 8 bits and the zero point 0.
Expected<void> checkStored(const TiledOp &tiled) {
  const auto isKnown = [](Value value) { return !tpu::isQuantized(value) || isByteTensor(value); };
  if (!llvm::all_of(tiled.op->getOperands(), isKnown) ||
      !llvm::all_of(tiled.op->getResults(), isKnown))
    return makeError("", "stored integers with a zero point, or of other than 8 bits",
                     "8 bits and the zero point 0");
  return {};
}

/// The same, where operand 0 and the result are to be stored integers.
Expected<void> checkIntegers(const TiledOp &tiled) {
  if (!isByteTensor(tiled.op->getOperand(0)) || !isByteTensor(tiled.op->getResult(0)))
    return makeError("", "an operand or result in other than stored integers of 8 bits",
                     "both in stored integers");
  return checkStored(tiled);
}

IntegerBounds boundsOf(Operation *op) {
  const Activation activation = activationOf(op);
  const tpu::StoredRange range =
      tpu::reluRange(tpu::quantizedType(op->getResult(0)), activation.relu, activation.limit);
  return {range.low, range.high};
}

/// The integers of an attribute: one, or an array.
SmallVector<int64_t> integersOf(Operation *op, StringRef name) {
  if (auto array = op->getAttrOfType<ArrayAttr>(name))
    return top::toInts(array);
  if (auto one = op->getAttrOfType<IntegerAttr>(name))
    return {one.getInt()};
  return {};
}

/// Errors unless sums are rounded as the chip does.
Expected<void> checkModes(Operation *op) {
  for (auto [name, allowed] : {std::pair<StringRef, SmallVector<StringRef>>{
                                   "quant_mode", {"MultiplierShift", "OnlyShift"}},
                               {"round_mode", {"HalfUp"}}})
    if (auto mode = op->getAttrOfType<StringAttr>(name);
        mode && !llvm::is_contained(allowed, mode.getValue()))
      return makeError("", name.str() + " " + mode.str(), allowed.back().str());
  return {};
}

/// The factors of a requantization: one, or those of several channels or counts.
Expected<SmallVector<IntegerFactor>> factorsOf(Operation *op) {
  if (Expected<void> checked = checkModes(op); !checked)
    return propagate(checked);
  const SmallVector<int64_t> multipliers = integersOf(op, "multiplier");
  const SmallVector<int64_t> shifts = integersOf(op, "rshift");
  if (multipliers.empty() || multipliers.size() != shifts.size())
    return makeError("", "no multiplier and shift for each factor", "a requantization");
  SmallVector<IntegerFactor> factors;
  for (auto [multiplier, shift] : llvm::zip_equal(multipliers, shifts))
    factors.push_back({multiplier, shift});
  return factors;
}

Expected<IntegerFactor> factorOf(Operation *op) {
  Expected<SmallVector<IntegerFactor>> factors = factorsOf(op);
  if (!factors)
    return propagate(factors);
  if (factors->size() != 1)
    return makeError("", std::to_string(factors->size()) + " factors", "one");
  return factors->front();
}

/// The one shift of a product.
Expected<int64_t> shiftOf(Operation *op) {
  Expected<IntegerFactor> factor = factorOf(op);
  if (!factor)
    return propagate(factor);
  if (factor->multiplier != 1)
    return makeError("", "sums times " + std::to_string(factor->multiplier), "a shift alone");
  return factor->shift;
}

/// The shifts of the channels of a convolution's tile: one, or one for each.
Expected<std::vector<int64_t>> shiftsOf(const TiledOp &tiled) {
  Expected<SmallVector<IntegerFactor>> factors = factorsOf(tiled.op);
  if (!factors)
    return propagate(factors);
  ArrayRef<IntegerFactor> own = *factors;
  if (own.size() != 1) {
    const Range channels = tiled.result.tile[kAxisC];
    if (std::ssize(own) != tiled.model->result[kAxisC])
      return makeError("", std::to_string(own.size()) + " factors", "one, or one for each channel");
    own = own.slice(static_cast<size_t>(channels.begin), static_cast<size_t>(channels.size));
  }
  std::vector<int64_t> shifts;
  for (const IntegerFactor &factor : own) {
    if (factor.multiplier != 1)
      return makeError("", "sums times " + std::to_string(factor.multiplier), "a shift alone");
    shifts.push_back(factor.shift);
  }
  return shifts;
}

Expected<IntegerConvolution> convolutionOf(const TiledOp &tiled, const Window2d &window) {
  Expected<std::vector<int64_t>> shifts = shiftsOf(tiled);
  if (!shifts)
    return propagate(shifts);
  IntegerConvolution conv;
  conv.input = operandOf(tiled, 0);
  conv.output = resultOf(tiled);
  conv.filterAddress = operandOf(tiled, 1).address;
  conv.group = groupsOf(tiled, conv.output.shape[1]);
  conv.window = window;
  conv.shifts = std::move(*shifts);
  conv.bounds = boundsOf(tiled.op);
  conv.scratch = scratchRoom(tiled);
  if (elementTypeOf(tiled.op, 1) != DataType::I8)
    return makeError("", "a filter that is not i8");
  if (isPresent(tiled.op, 2))
    conv.biasAddress = operandOf(tiled, 2).address;
  return conv;
}

Kernels convKernels(const TiledOp &tiled) {
  Expected<Window2d> window = convolutionWindowOf(tiled);
  if (!window)
    return propagate(window);
  Expected<IntegerConvolution> conv = convolutionOf(tiled, *window);
  if (!conv)
    return propagate(conv);
  return one<integerConvolutionScratch, emitIntegerConvolution>(*conv);
}

Kernels deconvKernels(const TiledOp &tiled) {
  Expected<Window2d> window = transposedWindowOf(tiled);
  if (!window)
    return propagate(window);
  Expected<IntegerConvolution> conv = convolutionOf(tiled, *window);
  if (!conv)
    return propagate(conv);
  conv->isTransposed = true;
  return one<integerConvolutionScratch, emitIntegerConvolution>(*conv);
}

Kernels maxPoolKernels(const TiledOp &tiled) {
  Expected<Window2d> window = windowOf(tiled);
  if (!window)
    return propagate(window);
  return oneChecked<checkIntegerMaxPool, emitIntegerMaxPool>(
      IntegerMaxPool{.input = operandOf(tiled, 0),
                     .output = resultOf(tiled),
                     .window = *window,
                     .bounds = boundsOf(tiled.op)});
}

Kernels windowSumKernels(const TiledOp &tiled, const Window2d &window) {
  Expected<IntegerFactor> factor = factorOf(tiled.op);
  if (!factor)
    return propagate(factor);
  return one<integerWindowSumScratch, emitIntegerWindowSum>(
      IntegerWindowSum{.input = operandOf(tiled, 0),
                       .output = resultOf(tiled),
                       .window = window,
                       .factor = *factor,
                       .bounds = boundsOf(tiled.op),
                       .scratch = scratchRoom(tiled)});
}

Kernels averageKernels(const TiledOp &tiled) {
  Expected<Window2d> window = windowOf(tiled);
  if (!window)
    return propagate(window);
  return windowSumKernels(tiled, *window);
}

Kernels reduceKernels(tpu::ReduceOp op, const TiledOp &tiled) {
  const LocalTensor input = operandOf(tiled, 0);
  Window2d window;
  window.kernel = {input.shape[2], input.shape[3]};
  if (op.getMode() == "ReduceMax")
    return oneChecked<checkIntegerMaxPool, emitIntegerMaxPool>(IntegerMaxPool{
        .input = input, .output = resultOf(tiled), .window = window, .bounds = boundsOf(op)});
  if (op.getMode() != "ReduceMean" && op.getMode() != "ReduceSum")
    return makeError("", "mode " + op.getMode().str(), "a sum, mean or maximum");
  return windowSumKernels(tiled, window);
}

/// A product whose matrices lie as rows.
Kernels rowProductKernels(tpu::MatMulOp op, const TiledOp &tiled) {
  Expected<int64_t> shift = shiftOf(op);
  if (!shift)
    return propagate(shift);
  IntegerRowProduct product{.leftType = elementTypeOf(op, 0),
                            .rightType = elementTypeOf(op, 1),
                            .outputType = elementTypeOf(op, op->getNumOperands()),
                            .left = operandOf(tiled, 0),
                            .right = operandOf(tiled, 1),
                            .output = resultOf(tiled),
                            .bias = std::nullopt,
                            .shift = *shift,
                            .bounds = boundsOf(op),
                            .scratch = scratchRoom(tiled)};
  if (isPresent(tiled.op, 2))
    product.bias = operandOf(tiled, 2);
  return one<integerRowProductScratch, emitIntegerRowProduct>(product);
}

Kernels matMulKernels(tpu::MatMulOp op, const TiledOp &tiled) {
  if (layoutOf(tiled).result().form == OperandForm::Rows)
    return rowProductKernels(op, tiled);
  if (op.getLeftTranspose() || (op.getRightTranspose() && !packedLayoutOf(op->getOpOperand(1))))
    return makeError("", "a transposed operand that is computed", "rows as they lie");
  Expected<int64_t> shift = shiftOf(op);
  if (!shift)
    return propagate(shift);
  const auto size = [](const LocalTile &local, unsigned axis) { return local.tile[axis].size; };
  const LocalTile &left = tiled.operands[0], &right = tiled.operands[1];
  IntegerProduct product;
  product.leftType = elementTypeOf(op, 0);
  product.rightType = elementTypeOf(op, 1);
  product.outputType = elementTypeOf(op, op->getNumOperands());
  product.rows = size(left, kAxisC);
  product.depth = size(left, kAxisW);
  product.columns = size(right, kAxisW);
  product.shift = *shift;
  product.bounds = boundsOf(op);
  if (isPresent(op, 2)) {
    if (tiled.model->operands[2].extents[kAxisW] != tiled.model->result[kAxisW] ||
        !packedLayoutOf(op->getOpOperand(2)))
      return makeError("", "a bias that is computed, or one for all columns", "one for each");
    product.bias = static_cast<uint32_t>(tiled.operands[2].address);
  }
  const auto matrixAt = [&](const LocalTile &local, DataType type, int64_t n) {
    const uint32_t bytes = matrixBytes(type, size(local, kAxisC), size(local, kAxisW));
    return static_cast<uint32_t>(local.address) +
           (size(local, kAxisN) == 1 ? 0 : static_cast<uint32_t>(n) * bytes);
  };
  std::vector<Kernel> products;
  for (int64_t n = 0; n < size(tiled.result, kAxisN); ++n) {
    product.left = matrixAt(left, product.leftType, n);
    product.right = matrixAt(right, product.rightType, n);
    product.output = matrixAt(tiled.result, product.outputType, n);
    if (Kernels one = oneChecked<checkIntegerProduct, emitIntegerProduct>(product); one)
      llvm::append_range(products, *one);
  }
  return products;
}

/// An operand of an element-wise op.
IntegerOperand elementsOf(const TiledOp &tiled, unsigned index) {
  const TensorLayout &layout = layoutOf(tiled).operand(index);
  if (layout.number)
    return IntegerNumber{layout.type, static_cast<int64_t>(*layout.number)};
  return operandOf(tiled, index);
}

Kernels sumKernels(Operation *op, const TiledOp &tiled) {
  if (Expected<void> checked = checkModes(op); !checked)
    return propagate(checked);
  const SmallVector<int64_t> multipliers = integersOf(op, "multiplier");
  const SmallVector<int64_t> shifts = integersOf(op, "rshift"), offsets = integersOf(op, "offset");
  if (op->hasAttr("quant_mode") || shifts.size() != 1 ||
      llvm::any_of(offsets, [](int64_t offset) { return offset != 0; }))
    return makeError("", "a sum with an offset, or whose factors are those of its types",
                     "multipliers and a shift");
  IntegerSum sum;
  for (unsigned index = 0; index < op->getNumOperands(); ++index)
    sum.inputs.push_back(elementsOf(tiled, index));
  sum.multipliers.assign(multipliers.begin(), multipliers.end());
  sum.shift = shifts.front();
  sum.output = resultOf(tiled);
  sum.bounds = boundsOf(op);
  sum.scratch = scratchRoom(tiled);
  return one<integerSumScratch, emitIntegerSum>(sum);
}

Kernels mulKernels(Operation *op, const TiledOp &tiled) {
  Expected<IntegerFactor> factor = factorOf(op);
  if (!factor)
    return propagate(factor);
  if (op->getNumOperands() != 2)
    return makeError("", std::to_string(op->getNumOperands()) + " operands", "two");
  return one<integerMultiplicationScratch, emitIntegerMultiplication>(
      IntegerMultiplication{.left = elementsOf(tiled, 0),
                            .right = elementsOf(tiled, 1),
                            .factor = *factor,
                            .output = resultOf(tiled),
                            .bounds = boundsOf(op),
                            .scratch = scratchRoom(tiled)});
}

Kernels extremeKernels(Operation *op, const TiledOp &tiled) {
  if (op->getNumOperands() != 2)
    return makeError("", std::to_string(op->getNumOperands()) + " operands", "two");
  return oneChecked<checkIntegerExtreme, emitIntegerExtreme>(
      IntegerExtreme{.isMaximum = isa<tpu::MaxOp>(op),
                     .left = elementsOf(tiled, 0),
                     .right = elementsOf(tiled, 1),
                     .output = resultOf(tiled),
                     .bounds = boundsOf(op)});
}

Kernels rescalingKernels(Operation *op, const TiledOp &tiled) {
  Expected<SmallVector<IntegerFactor>> factors = factorsOf(op);
  if (!factors)
    return propagate(factors);
  const size_t wanted = isa<tpu::LeakyReluOp>(op) ? 2 : 1;
  if (factors->size() != wanted)
    return makeError("", std::to_string(factors->size()) + " factors", std::to_string(wanted));
  IntegerRescaling rescaling{.input = operandOf(tiled, 0),
                             .factor = factors->front(),
                             .negative = std::nullopt,
                             .output = resultOf(tiled),
                             .bounds = boundsOf(op),
                             .scratch = scratchRoom(tiled)};
  if (wanted == 2)
    rescaling.negative = factors->back();
  return one<integerRescalingScratch, emitIntegerRescaling>(rescaling);
}

Kernels tableKernels(const TiledOp &tiled) {
  return one<integerTableScratch, emitIntegerTable>(
      IntegerTable{.input = operandOf(tiled, 0),
                   .table = static_cast<uint32_t>(tiled.operands[1].address),
                   .output = resultOf(tiled),
                   .scratch = scratchRoom(tiled)});
}

Kernels castKernels(tpu::CastOp op, const TiledOp &tiled) {
  const bool toBytes = isByteTensor(op.getOutput());
  Value integers = toBytes ? op.getOutput() : op.getInput();
  Value floats = toBytes ? op.getInput() : op.getOutput();
  if (!isByteTensor(integers) || tpu::isQuantized(floats) ||
      elementTypeOf(op, toBytes ? 0 : 1) != DataType::F32)
    return makeError("", "a cast that is not between f32 and stored integers of 8 bits");
  const double scale = tpu::quantizedType(integers).getScale();
  IntegerCast cast{.input = operandOf(tiled, 0),
                   .output = resultOf(tiled),
                   .factor = toBytes ? 1 / scale : scale,
                   .bounds = {},
                   .scratch = scratchRoom(tiled)};
  if (toBytes)
    cast.bounds = boundsOf(op);
  return one<integerCastScratch, emitIntegerCast>(cast);
}

/// Copies of pixels: words of four batch items as they are.
Kernels upsampleKernels(const TiledOp &tiled) {
  const auto words = [](LocalTensor tensor) {
    tensor.shape[0] = ceilDiv(tensor.shape[0], tensor.items());
    return tensor.as(DataType::F32);
  };
  return oneChecked<checkUpsampleNearest, emitUpsampleNearest>(
      UpsampleNearest{.input = words(operandOf(tiled, 0)), .output = words(resultOf(tiled))});
}

Kernels interpKernels(tpu::InterpOp op, const TiledOp &tiled) {
  if (!repeatsPixels(op))
    return makeError("", "a resize that computes", "one that repeats pixels");
  return upsampleKernels(tiled);
}

KernelTable integerTable() {
  return KernelTable(isOnIntegers, checkIntegers)
      .add<tpu::ConvOp>([](Operation *, Sliced tiled) { return convKernels(tiled); })
      .add<tpu::DeconvOp>([](Operation *, Sliced tiled) { return deconvKernels(tiled); })
      .add<tpu::MaxPoolOp>([](Operation *, Sliced tiled) { return maxPoolKernels(tiled); })
      .add<tpu::AvgPoolOp>([](Operation *, Sliced tiled) { return averageKernels(tiled); })
      .add<tpu::ReduceOp>(
          [](tpu::ReduceOp reduce, Sliced tiled) { return reduceKernels(reduce, tiled); })
      .add<tpu::MatMulOp>(
          [](tpu::MatMulOp product, Sliced tiled) { return matMulKernels(product, tiled); })
      .add<tpu::AddOp, tpu::SubOp>(
          [](Operation *op, Sliced tiled) { return sumKernels(op, tiled); })
      .add<tpu::MulOp>([](Operation *op, Sliced tiled) { return mulKernels(op, tiled); })
      .add<tpu::MaxOp, tpu::MinOp>(
          [](Operation *op, Sliced tiled) { return extremeKernels(op, tiled); })
      .add<tpu::RequantIntOp, tpu::LeakyReluOp>(
          [](Operation *op, Sliced tiled) { return rescalingKernels(op, tiled); })
      .add<tpu::LutOp>([](Operation *, Sliced tiled) { return tableKernels(tiled); })
      .add<tpu::UpsampleOp>([](Operation *, Sliced tiled) { return upsampleKernels(tiled); })
      .add<tpu::InterpOp>(
          [](tpu::InterpOp interp, Sliced tiled) { return interpKernels(interp, tiled); })
      .with(checkStored)
      .add<tpu::CastOp>([](tpu::CastOp cast, Sliced tiled) { return castKernels(cast, tiled); });
}

} // namespace
} // namespace integers

const KernelTable &integerKernels() {
  static const KernelTable kTable = integers::integerTable();
  return kTable;
}

} // namespace tpuc::bm1684::backend

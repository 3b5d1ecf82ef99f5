//===- DecomposeWideConv.cpp - Convolutions beyond the fields of a command ----===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Decompose/Decompositions.h"
#include "tpuc/Dialect/Top/WindowShapes.h"
#include "tpuc/Dialect/Tpu/ConvolutionOps.h"
#include "tpuc/Dialect/Tpu/MovementOps.h"
#include "tpuc/Dialect/Tpu/StoredType.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::codegen;

namespace {

/// Zeros around the dimensions behind the channels: of integers what stands for 0.
Value padded(OpMaker &maker, Value input, ArrayRef<int64_t> before, ArrayRef<int64_t> behind) {
  SmallVector<int64_t> dims(OpMaker::dimsOf(input));
  SmallVector<int64_t> paddings(2 * dims.size());
  for (size_t dim = 2; dim < dims.size(); ++dim) {
    paddings[dim] = before[dim - 2];
    paddings[dims.size() + dim] = behind[dim - 2];
    dims[dim] += before[dim - 2] + behind[dim - 2];
  }
  if (ArrayRef(dims) == OpMaker::dimsOf(input))
    return input;
  NamedAttrList attributes;
  attributes.set("paddings", maker.builder.getI64ArrayAttr(paddings));
  attributes.set("val",
                 maker.builder.getF64FloatAttr(static_cast<double>(tpu::zeroPointOf(input))));
  const Value no = maker.none();
  return maker.make<tpu::PadOp>("padded", dims, {input, no, no, no}, attributes);
}

/// The attributes of `op` with another window, without padding.
NamedAttrList withWindow(OpMaker &maker, ArrayRef<int64_t> kernel, ArrayRef<int64_t> strides,
                         ArrayRef<int64_t> dilations) {
  NamedAttrList attributes(maker.op->getAttrDictionary());
  attributes.set("auto_pad", maker.builder.getStringAttr("NOTSET"));
  attributes.set("kernel_shape", maker.builder.getI64ArrayAttr(kernel));
  attributes.set("strides", maker.builder.getI64ArrayAttr(strides));
  attributes.set("dilations", maker.builder.getI64ArrayAttr(dilations));
  attributes.set("pads", maker.builder.getI64ArrayAttr(SmallVector<int64_t>(2 * kernel.size(), 0)));
  return attributes;
}

/// What an op was made of, should it be of no use.
void erase(Value made, Value input) {
  while (made != input) {
    Operation *op = made.getDefiningOp();
    const Value from = op->getOperand(0);
    op->erase();
    made = from;
  }
}

/// Padding as an op of its own. Says no where the chip does not compute the rest either.
bool padFirst(OpMaker &maker, tpu::ConvOp op, const top::Window &window) {
  if (llvm::all_of(window.padsBegin, [](int64_t pad) { return pad == 0; }) &&
      llvm::all_of(window.padsEnd, [](int64_t pad) { return pad == 0; }))
    return false;
  const Value input = padded(maker, op.getInput(), window.padsBegin, window.padsEnd);
  const Value made =
      maker.make(tpu::ConvOp::getOperationName(), "of_padded",
                 Type(OpMaker::typeOf(op.getOutput())), {input, op.getFilter(), op.getBias()},
                 withWindow(maker, window.kernel, window.strides, window.dilations));
  if (!maker.backend.placeOf(made.getDefiningOp())) {
    erase(made, op.getInput());
    return false;
  }
  maker.replace(0, made);
  return true;
}

/// Elements that are `dilation` apart stand below each other: [N, C, m * dilation] is [N, C, m,
/// dilation], over whose rows the taps go one by one.
bool foldDilation(OpMaker &maker, tpu::ConvOp op, const top::Window &window) {
  const std::optional<Tensor> filter = OpMaker::constantOf(op.getFilter());
  const ArrayRef<int64_t> dims = OpMaker::dimsOf(op.getInput());
  if (dims.size() != 3 || window.strides[0] != 1 || window.dilations[0] == 1 || !filter)
    return false;
  const int64_t dilation = window.dilations[0];
  const int64_t length = dims[2] + window.padsBegin[0] + window.padsEnd[0];
  const int64_t rows = (length + dilation - 1) / dilation;
  const int64_t made = rows - window.kernel[0] + 1;
  Value value = padded(maker, op.getInput(), window.padsBegin,
                       {window.padsEnd[0] + rows * dilation - length});
  value = maker.reshaped(value, {dims[0], dims[1], rows, dilation}, "rows");
  const Value taps = maker.reshaped(
      op.getFilter(), {filter->shape()[0], filter->shape()[1], filter->shape()[2], 1}, "taps");
  const auto type = OpMaker::typeOf(op.getOutput());
  const int64_t channels = type.getShape()[1];
  value =
      maker.make(tpu::ConvOp::getOperationName(), "of_rows",
                 Type(type.clone({dims[0], channels, made, dilation})), {value, taps, op.getBias()},
                 withWindow(maker, {window.kernel[0], 1}, {1, 1}, {1, 1}));
  value = maker.reshaped(value, {dims[0], channels, made * dilation}, "row");
  maker.replace(0, type.getShape()[2] == made * dilation
                       ? value
                       : maker.sliced(value, 2, 0, type.getShape()[2], "kept"));
  return true;
}

} // namespace

bool codegen::decomposeWideConv(OpMaker &maker) {
  auto op = dyn_cast<tpu::ConvOp>(maker.op);
  // Pads that are no zeros would have to be filled channel by channel.
  if (!op || op.getInserts() || op.getPadValue() || op.getPadValues())
    return false;
  const Expected<top::Window> window = top::convolutionWindow(
      top::windowSpec(op), OpMaker::dimsOf(op.getInput()), OpMaker::dimsOf(op.getFilter()));
  return window && (padFirst(maker, op, *window) || foldDilation(maker, op, *window));
}

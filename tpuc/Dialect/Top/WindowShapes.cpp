//===- WindowShapes.cpp - Shapes of what slides a window over its input ---===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Top/WindowShapes.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::top;

LogicalResult tpuc::top::emit(Operation *op, const Error &error) {
  return op->emitOpError(error.expected.empty() ? error.found
                                                : error.found + "; expected " + error.expected);
}

Expected<Window> tpuc::top::windowOf(ConvOp op, ArrayRef<int64_t> input, ArrayRef<int64_t> filter) {
  return convolutionWindow(windowSpec(op), input, filter);
}

Expected<Window> tpuc::top::windowOf(ConvIntegerOp op, ArrayRef<int64_t> input,
                                     ArrayRef<int64_t> filter) {
  return convolutionWindow(windowSpec(op), input, filter);
}

Expected<Window> tpuc::top::windowOf(QLinearConvOp op, ArrayRef<int64_t> input,
                                     ArrayRef<int64_t> filter) {
  return convolutionWindow(windowSpec(op), input, filter);
}

Expected<Window> tpuc::top::windowOf(DeconvOp op, ArrayRef<int64_t> input,
                                     ArrayRef<int64_t> filter) {
  return transposedWindow(windowSpec(op), input, filter);
}

Expected<Window> tpuc::top::windowOf(DeformConv2DOp op, ArrayRef<int64_t> input,
                                     ArrayRef<int64_t> filter, ArrayRef<int64_t> offset) {
  return shapes::deformableWindow(windowSpec(op), static_cast<int64_t>(op.getOffsetGroup()), input,
                                  filter, offset);
}

Expected<Window> tpuc::top::windowOf(AvgPoolOp op, ArrayRef<int64_t> input) {
  return poolWindow(windowSpec(op), input);
}
Expected<Window> tpuc::top::windowOf(MaxPoolOp op, ArrayRef<int64_t> input) {
  return poolWindow(windowSpec(op), input);
}
Expected<Window> tpuc::top::windowOf(MaxPoolWithMaskOp op, ArrayRef<int64_t> input) {
  return poolWindow(windowSpec(op), input);
}
Expected<Window> tpuc::top::windowOf(LpPoolOp op, ArrayRef<int64_t> input) {
  return poolWindow(windowSpec(op), input);
}

static std::optional<shapes::Dims> plain(const std::optional<Dims> &dims) {
  return dims ? std::optional(shapes::Dims(dims->begin(), dims->end())) : std::nullopt;
}

Expected<Window> tpuc::top::windowOf(MaxUnpoolOp op, ArrayRef<int64_t> input,
                                     const std::optional<Dims> &outputShape) {
  WindowSpec spec;
  spec.kernel = intVector(op.getKernelShape());
  spec.strides = intVector(op.getStrides());
  spec.pads = intVector(op.getPads());
  return shapes::unpoolWindow(spec, input, plain(outputShape), isPresent(op.getOutputShape()));
}

Expected<Window> tpuc::top::windowOf(Col2ImOp op, ArrayRef<int64_t> input,
                                     const std::optional<Dims> &image,
                                     const std::optional<Dims> &block) {
  return shapes::blocksWindow(windowSpec(op), input, plain(image), plain(block));
}

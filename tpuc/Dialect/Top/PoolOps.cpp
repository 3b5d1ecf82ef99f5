//===- PoolOps.cpp - Pooling ----------------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Top/PoolOps.h"
#include "tpuc/Dialect/Top/WindowAttributes.h"
#include "tpuc/Dialect/Top/WindowShapes.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::top;

/// The output of a pool, and its explicit pads once they are known.
template <typename Op> static LogicalResult inferPool(Op op) {
  std::optional<Dims> input = dimsOf(op.getInput());
  if (!input)
    return setResult(op, 0, elementTypeOf(op.getInput()), std::nullopt);
  Expected<Window> window = windowOf(op, *input);
  if (!window)
    return emit(op, window.error());
  if (op.getAutoPad() != "NOTSET" &&
      !llvm::is_contained(ArrayRef(window->output).drop_front(2), kDynamic))
    setPads(op, *window);
  return setResult(op, 0, elementTypeOf(op.getInput()), window->output);
}

static Count windowElements(ArrayAttr kernelShape) { return elementsOf(toInts(kernelShape)); }

LogicalResult AvgPoolOp::verify() { return verifyWindow(*this, getKernelShape().size()); }
LogicalResult AvgPoolOp::inferShape() { return inferPool(*this); }
int64_t AvgPoolOp::flops() {
  return staticElements(getOutput()) * windowElements(getKernelShape());
}

LogicalResult MaxPoolOp::verify() { return verifyWindow(*this, getKernelShape().size()); }
LogicalResult MaxPoolOp::inferShape() { return inferPool(*this); }
int64_t MaxPoolOp::flops() {
  return staticElements(getOutput()) * windowElements(getKernelShape());
}

LogicalResult MaxPoolWithMaskOp::verify() { return verifyWindow(*this, getKernelShape().size()); }
LogicalResult MaxPoolWithMaskOp::inferShape() {
  if (failed(inferPool(*this)))
    return failure();
  return setResult(*this, 1, IntegerType::get(getContext(), 64), dimsOf(getOutput()));
}
int64_t MaxPoolWithMaskOp::flops() {
  return staticElements(getOutput()) * windowElements(getKernelShape());
}

LogicalResult MaxUnpoolOp::verify() {
  size_t spatial = getKernelShape().size();
  return verifyWindow(*this, spatial);
}
LogicalResult MaxUnpoolOp::inferShape() {
  Type element = elementTypeOf(getInput());
  std::optional<Dims> input = dimsOf(getInput());
  if (!input)
    return setResult(*this, 0, element, std::nullopt);
  std::optional<Dims> shape;
  if (isPresent(getOutputShape()))
    shape = constantInts(getOutputShape());
  Expected<Window> window = windowOf(*this, *input, shape);
  if (!window)
    return emit(*this, window.error());
  return setResult(*this, 0, element, window->output);
}
int64_t MaxUnpoolOp::flops() { return 0; }

LogicalResult LpPoolOp::verify() { return verifyWindow(*this, getKernelShape().size()); }
LogicalResult LpPoolOp::inferShape() { return inferPool(*this); }
int64_t LpPoolOp::flops() {
  return staticElements(getOutput()) * 2 * windowElements(getKernelShape());
}

LogicalResult RoiAlignOp::verify() {
  if (getMode() != "Avg" && getMode() != "Max")
    return emitOpError("mode is '") << getMode() << "'; expected Avg or Max";
  return success();
}

LogicalResult RoiAlignOp::inferShape() {
  std::optional<Dims> input = dimsOf(getInput());
  std::optional<Dims> rois = dimsOf(getRois());
  std::optional<Dims> batches = dimsOf(getBatchIndices());
  if (input && input->size() != 4)
    return emitOpError("input has shape ") << dimsText(*input) << "; expected 4 dimensions";
  if (rois && (rois->size() != 2 || ((*rois)[1] != 4 && (*rois)[1] != kDynamic)))
    return emitOpError("rois has shape ") << dimsText(*rois) << "; expected [?, 4]";
  int64_t count = rois ? (*rois)[0] : batches && batches->size() == 1 ? (*batches)[0] : kDynamic;
  return setResult(*this, 0, elementTypeOf(getInput()),
                   Dims{count, input ? (*input)[1] : kDynamic,
                        static_cast<int64_t>(getOutputHeight()),
                        static_cast<int64_t>(getOutputWidth())});
}

int64_t RoiAlignOp::flops() {
  // With a stated number of samples: each bilinear one takes 4 products and 4 sums.
  int64_t ratio = std::max<int64_t>(getSamplingRatio(), 1);
  return staticElements(getOutput()) * 8 * ratio * ratio;
}

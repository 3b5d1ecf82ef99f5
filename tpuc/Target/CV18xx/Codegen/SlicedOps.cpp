//===- SlicedOps.cpp - Products whose sums do not fit the lanes -----------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/CV18xx/Codegen/SlicedOps.h"
#include "tpuc/Codegen/Layers.h"
#include "tpuc/Dialect/Top/ShapeInference.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Dialect/Top/WindowShapes.h"
#include "tpuc/Dialect/Tpu/ConvolutionOps.h"
#include "tpuc/Dialect/Tpu/MatrixOps.h"
#include "tpuc/Target/CV18xx/Codegen/Site.h"
#include "tpuc/Target/CV18xx/Kernels/SlicedWindows.h"

using namespace mlir;
using namespace tpuc::codegen;

namespace tpuc::cv18xx::backend {

// Not the machine's.
using mlir::Operation;

namespace {

/// A dense tensor [n, c, h, w].
GlobalTensor pictures(Value value, const std::array<int64_t, 4> &dims) {
  GlobalTensor tensor = placeOf(addressIn(value));
  tensor.isBf16 = storageDataType(value.getType()) == DataType::BF16;
  const uint64_t bytes = tensor.isBf16 ? 2 : 1;
  for (size_t i = 0; i < 4; ++i)
    tensor.shape[i] = static_cast<uint32_t>(dims[i]);
  const uint64_t row = tensor.shape[3] * bytes, plane = row * tensor.shape[2];
  tensor.strides = {plane * tensor.shape[1], plane, row};
  return tensor;
}

/// The rows of a matrix as one picture whose channels are the columns.
GlobalTensor columnsOf(Value value) {
  const int64_t columns = extentsIn(value).back();
  GlobalTensor tensor =
      pictures(value, {1, columns, ShapedType::getNumElements(extentsIn(value)) / columns, 1});
  const uint64_t bytes = tensor.isBf16 ? 2 : 1;
  tensor.strides = {0, bytes, static_cast<uint64_t>(columns) * bytes};
  return tensor;
}

std::array<int64_t, 4> planarDims(Value value) {
  const ArrayRef<int64_t> dims = extentsIn(value);
  return {dims[0], dims[1], dims.size() == 4 ? dims[2] : 1, dims.back()};
}

bool hasKnownTypes(Operation *op) {
  for (const Value value :
       std::array<Value, 3>{op->getOperand(0), op->getOperand(1), op->getResult(0)}) {
    const auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type || !type.hasStaticShape() || type.getNumElements() == 0)
      return false;
    const auto stored = storageDataType(type);
    if (stored != storageDataType(op->getOperand(0).getType()) ||
        (stored != DataType::I8 && stored != DataType::BF16))
      return false;
  }
  const Value bias = op->getOperand(2);
  return constantOf(op->getOperand(1)) && (isa<NoneType>(bias.getType()) || constantOf(bias));
}

/// What the command of the first group works on. None for forms that slices do not know.
std::optional<SlicedConvolution> convolutionOf(tpu::ConvOp op) {
  const ArrayRef<int64_t> input = extentsIn(op.getInput());
  const auto outside = op->getAttrOfType<FloatAttr>("pad_value");
  const bool isOfZeros = !outside || outside.getValueAsDouble() == 0;
  if (input.size() > 4 || input.size() < 3 || op.getPadValues() || !isOfZeros ||
      (op.getInserts() && llvm::any_of(top::toInts(*op.getInserts()), [](int64_t n) { return n; })))
    return std::nullopt;
  const Expected<top::Window> window =
      top::convolutionWindow(top::windowSpec(op), input, extentsIn(op.getFilter()));
  if (!window)
    return std::nullopt;
  SlicedConvolution made{.input = pictures(op.getInput(), planarDims(op.getInput())),
                         .result = pictures(op.getOutput(), planarDims(op.getOutput())),
                         .window = {},
                         .filter = {},
                         .parameters = std::nullopt};
  for (size_t i = 0; i < window->kernel.size(); ++i) {
    const size_t axis = 2 - window->kernel.size() + i;
    made.window.kernel[axis] = static_cast<uint32_t>(window->kernel[i]);
    made.window.stride[axis] = static_cast<uint32_t>(window->strides[i]);
    made.window.dilation[axis] = static_cast<uint32_t>(window->dilations[i]);
    made.window.padBegin[axis] = static_cast<uint32_t>(window->padsBegin[i]);
  }
  // From one place there is no way to the next.
  for (size_t axis = 0; axis < 2; ++axis)
    if (made.result.shape[2 + axis] == 1)
      made.window.stride[axis] = 1;
  const auto groups = static_cast<uint32_t>(op.getGroup());
  made.input.shape[1] /= groups;
  made.result.shape[1] /= groups;
  return made;
}

std::optional<SlicedConvolution> convolutionOf(tpu::MatMulOp op) {
  if (!hasConstantMatrix(op) || op.getLeftTranspose())
    return std::nullopt;
  return SlicedConvolution{.input = columnsOf(op.getInput()),
                           .result = columnsOf(op.getOutput()),
                           .window = {},
                           .filter = {},
                           .parameters = std::nullopt};
}

int64_t groupsOf(Operation *op) {
  auto conv = dyn_cast<tpu::ConvOp>(op);
  return conv ? static_cast<int64_t>(conv.getGroup()) : 1;
}

std::optional<SlicedConvolution> convolutionOf(Operation *op) {
  if (!isa<tpu::ConvOp, tpu::MatMulOp>(op) || !hasKnownTypes(op))
    return std::nullopt;
  auto conv = dyn_cast<tpu::ConvOp>(op);
  std::optional<SlicedConvolution> made =
      conv ? convolutionOf(conv) : convolutionOf(cast<tpu::MatMulOp>(op));
  if (!made)
    return std::nullopt;
  const FilterLayout filter = filterOf(op, 1);
  if (filter.isDepthwise)
    return std::nullopt;
  made->filter = placeOf(addressIn(op->getOperand(1)));
  if (filter.carried != 0)
    made->parameters = made->filter.offset +
                       static_cast<uint64_t>(filter.channels * filter.row * filter.elementBytes());
  made->halfDistance = static_cast<uint64_t>(filter.channels) * 2;
  const Relu relu = reluOf(op);
  made->hasRelu = relu.is;
  made->limit = relu.limit;
  return made;
}

/// A product of computed matrices of BF16. None for forms that slices do not know.
std::optional<SlicedProduct> productOf(Operation *op) {
  auto product = dyn_cast<tpu::MatMulOp>(op);
  if (!product || hasConstantMatrix(op) || product.getLeftTranspose() ||
      !isa<NoneType>(product.getBias().getType()) || reluOf(op).limit)
    return std::nullopt;
  for (const Value value : {product.getInput(), product.getRight(), product.getOutput()}) {
    const auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type || !type.hasStaticShape() || type.getRank() < 2 ||
        storageDataType(type) != DataType::BF16)
      return std::nullopt;
  }
  const ArrayRef<int64_t> left = extentsIn(product.getInput()),
                          right = extentsIn(product.getRight()),
                          result = extentsIn(product.getOutput());
  const int64_t count = ShapedType::getNumElements(left.drop_back(2));
  const int64_t rights = ShapedType::getNumElements(right.drop_back(2));
  if (ShapedType::getNumElements(result.drop_back(2)) != count || (rights != 1 && rights != count))
    return std::nullopt;
  SlicedProduct made;
  made.rows = static_cast<uint32_t>(left[left.size() - 2]);
  made.inner = static_cast<uint32_t>(left.back());
  made.columns = static_cast<uint32_t>(result.back());
  made.count = static_cast<uint32_t>(count);
  const auto matrix = [](Value value, uint64_t columns) {
    return GlobalMatrix{placeOf(addressIn(value)), 2 * columns, 2};
  };
  made.left = matrix(product.getInput(), made.inner);
  made.result = matrix(product.getOutput(), made.columns);
  made.right = matrix(product.getRight(), made.columns);
  if (product.getRightTranspose()) {
    made.right.rowStride = 2;
    made.right.columnStride = uint64_t{made.inner} * 2;
  }
  made.leftStep = uint64_t{made.rows} * made.inner * 2;
  made.rightStep = rights == 1 ? 0 : uint64_t{made.inner} * made.columns * 2;
  made.resultStep = uint64_t{made.rows} * made.columns * 2;
  made.hasRelu = reluOf(op).is;
  return made;
}

} // namespace

bool isSliced(Operation *op) { return op->hasAttr(kSlicePlan); }

void planSlices(const Chip &chip, Operation *op) {
  const auto mark = [op](ArrayRef<int64_t> plan) {
    op->setAttr(kSlicePlan, OpBuilder(op->getContext()).getI64ArrayAttr(plan));
  };
  if (const std::optional<SlicedProduct> product = productOf(op)) {
    if (const std::optional<ProductPlan> plan = bestSlices(chip, *product))
      mark({plan->rows, plan->inner, plan->columns});
    return;
  }
  const std::optional<SlicedConvolution> convolution = convolutionOf(op);
  if (!convolution)
    return;
  if (const std::optional<SlicePlan> plan = bestSlices(chip, *convolution))
    mark({plan->inputs, plan->outputs, plan->rows, plan->columns});
}

Expected<void> emitSliced(Builder &builder, Operation *op) {
  const auto planned = op->getAttrOfType<ArrayAttr>(kSlicePlan);
  if (const std::optional<SlicedProduct> product = productOf(op); product && planned) {
    const SmallVector<int64_t> numbers = top::toInts(planned);
    if (numbers.size() != 3 || llvm::any_of(numbers, [](int64_t n) { return n < 1; }))
      return makeError("", "a plan of slices that a product does not have", "three extents");
    return emitSliced(builder, *product,
                      {static_cast<uint32_t>(numbers[0]), static_cast<uint32_t>(numbers[1]),
                       static_cast<uint32_t>(numbers[2])});
  }
  std::optional<SlicedConvolution> one = convolutionOf(op);
  if (!planned || planned.size() != 4 || !one)
    return makeError("", "a plan of slices that an op of this kind does not have", "none");
  const SmallVector<int64_t> numbers = top::toInts(planned);
  SlicePlan plan;
  for (auto [number, to] :
       llvm::zip(numbers, std::array{&plan.inputs, &plan.outputs, &plan.rows, &plan.columns}))
    *to = static_cast<uint32_t>(std::clamp<int64_t>(number, 0, UINT32_MAX));
  const uint64_t bytes = one->input.isBf16 ? 2 : 1;
  const uint64_t row =
      uint64_t{one->window.kernel[0]} * one->window.kernel[1] * one->input.shape[1] * bytes;
  for (int64_t group = 0; group < groupsOf(op); ++group) {
    if (Expected<void> done = emitSliced(builder, *one, plan); !done)
      return done;
    const uint64_t outputs = one->result.shape[1];
    one->input.offset += one->input.shape[1] * one->input.strides[1];
    one->result.offset += outputs * one->result.strides[1];
    one->filter.offset += outputs * row;
    if (one->parameters)
      *one->parameters += outputs * (one->input.isBf16 ? 2 : kRequantBytes);
  }
  return {};
}

} // namespace tpuc::cv18xx::backend

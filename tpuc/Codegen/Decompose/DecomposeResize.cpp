//===- DecomposeResize.cpp - Other extents as products with constants -----------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a resize gives is a sum of its input's elements, weighed by constants, along one dimension
// after the other. So is a product with a matrix, which is 0 where an element is not read.
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Decompose/Decompositions.h"
#include "tpuc/Codegen/Decompose/ResizeTaps.h"
#include "tpuc/Dialect/Tpu/ConvolutionOps.h"
#include "tpuc/Dialect/Tpu/MatrixOps.h"
#include "tpuc/Dialect/Tpu/ResizeOps.h"
#include "tpuc/Dialect/Tpu/UnaryOps.h"
#include "tpuc/Interpreter/Evaluate.h"
#include "tpuc/Interpreter/Kernels/ResizeTaps.h"
#include "tpuc/Interpreter/Ops/ResizeParams.h"

#include <algorithm>

using namespace mlir;
using namespace tpuc;
using namespace tpuc::codegen;

namespace {

/// Elements that one product gives at most: of more, each reads too little of the input.
constexpr int64_t kMostPerProduct = 256;

/// A tensor of the shape of `value`, whose elements nobody reads.
std::optional<Tensor> shapeOnly(Value value) {
  const ArrayRef<int64_t> dims = OpMaker::dimsOf(value);
  if (dims.size() > Shape::kMaxRank)
    return std::nullopt;
  return Tensor::borrow(DataType::F32, Shape(std::span(dims.data(), dims.size())), nullptr,
                        nullptr);
}

/// How `op` resamples its input; none where that is computed.
std::optional<kernels::ResizeParams> resampling(tpu::InterpOp op) {
  SmallVector<std::optional<Tensor>> operands;
  for (Value operand : op->getOperands()) {
    if (isa<NoneType>(operand.getType())) {
      operands.emplace_back();
      continue;
    }
    operands.push_back(operands.empty() ? shapeOnly(operand) : OpMaker::constantOf(operand));
    if (!operands.back())
      return std::nullopt;
  }
  ThreadPool threads(1);
  EvalContext context(op, operands, nullptr, nullptr, threads);
  kernels::ResizeParams params;
  const Expected<ops::Dims> dims = ops::readResize(context, params);
  if (!dims || !std::ranges::equal(*dims, OpMaker::dimsOf(op.getOutput())))
    return std::nullopt;
  return params;
}

/// Whether elements along `axis`, as many as before, are those of the input.
bool stays(const kernels::ResizeParams &params, size_t axis) {
  const bool isWhole = params.coordinates != kernels::CoordinateMode::TfCropAndResize ||
                       (params.roiBegin[axis] == 0 && params.roiEnd[axis] == 1);
  return params.scales[axis] == 1 && isWhole;
}

/// The weights of elements [begin, end) of an axis: a row for each, of what is read for them, from
/// `low` on.
struct WeightRows {
  int64_t low = 0, count = 0;
  std::vector<float> weights;
};

WeightRows weightsOf(const kernels::Taps &taps, int64_t begin, int64_t end, int64_t extent) {
  const auto first = taps.positions.begin() + begin * taps.perOutput;
  const auto last = taps.positions.begin() + end * taps.perOutput;
  WeightRows rows;
  rows.low = *std::min_element(first, last);
  rows.count = *std::max_element(first, last) + 1 - rows.low;
  // A part that is nearly the whole is not worth the copy.
  if (rows.count > extent / 2) {
    rows.low = 0;
    rows.count = extent;
  }
  std::vector<double> sums(static_cast<size_t>((end - begin) * rows.count), 0);
  for (int64_t row = begin; row < end; ++row) {
    if (!taps.outside.empty() && taps.outside[static_cast<size_t>(row)])
      continue;
    for (int64_t tap = row * taps.perOutput; tap < (row + 1) * taps.perOutput; ++tap)
      sums[static_cast<size_t>((row - begin) * rows.count +
                               taps.positions[static_cast<size_t>(tap)] - rows.low)] +=
          taps.weights[static_cast<size_t>(tap)];
  }
  rows.weights.assign(sums.begin(), sums.end());
  return rows;
}

/// Sums of dimension 1 of `input`, [n, taps, 1, columns] or [n, taps].
Value product(OpMaker &maker, Value input, const WeightRows &rows, const std::string &what) {
  SmallVector<int64_t> dims(OpMaker::dimsOf(input));
  const bool isOfRows = dims.size() == 4;
  const int64_t taps = rows.count, sums = std::ssize(rows.weights) / taps;
  dims[1] = sums;
  Tensor matrix(DataType::F32, isOfRows ? Shape{sums, taps, 1, 1} : Shape{taps, sums});
  const auto elements = matrix.mutableData<float>();
  for (int64_t sum = 0; sum < sums; ++sum)
    for (int64_t tap = 0; tap < taps; ++tap)
      elements[static_cast<size_t>(isOfRows ? sum * taps + tap : tap * sums + sum)] =
          rows.weights[static_cast<size_t>(sum * taps + tap)];
  const Value weights = maker.weight(matrix, what + "_weights", input);
  NamedAttrList attributes;
  if (!isOfRows)
    return maker.make<tpu::MatMulOp>(what, dims, {input, weights, maker.none()}, attributes);
  attributes.set("kernel_shape", maker.builder.getI64ArrayAttr({1, 1}));
  attributes.set("strides", maker.builder.getI64ArrayAttr({1, 1}));
  attributes.set("pads", maker.builder.getI64ArrayAttr({0, 0, 0, 0}));
  return maker.make<tpu::ConvOp>(what, dims, {input, weights, maker.none()}, attributes);
}

/// `value` resized along one axis.
Value resizedAlong(OpMaker &maker, Value value, size_t axis, int64_t to,
                   const kernels::ResizeParams &params) {
  SmallVector<int64_t> dims(OpMaker::dimsOf(value));
  const int64_t from = dims[axis];
  const kernels::Taps taps = kernels::tapsAlong(params, axis, from, to);
  int64_t outer = 1, inner = 1;
  for (size_t each = 0; each < dims.size(); ++each)
    (each < axis ? outer : inner) *= each == axis ? 1 : dims[each];
  const std::string what = "axis_" + std::to_string(axis);
  const SmallVector<int64_t> flat =
      inner == 1 ? SmallVector<int64_t>{outer, from} : SmallVector<int64_t>{outer, from, 1, inner};
  const Value input = maker.reshaped(value, flat, what + "_flat");
  const int64_t perProduct = llvm::divideCeil(to, llvm::divideCeil(to, kMostPerProduct));
  SmallVector<Value> parts;
  for (int64_t begin = 0; begin < to; begin += perProduct) {
    const std::string part = what + "_part_" + std::to_string(begin);
    const WeightRows rows = weightsOf(taps, begin, std::min(begin + perProduct, to), from);
    parts.push_back(
        product(maker, maker.part(input, 1, rows.low, rows.count, part + "_taps"), rows, part));
  }
  dims[axis] = to;
  return maker.reshaped(maker.joined(parts, 1, what + "_parts"), dims, what + "_apart");
}

/// Whether the elements of planes are made of one or two neighbours along each dimension, which is
/// for the chip to compute.
bool isOfNeighbours(tpu::InterpOp op) {
  const ArrayRef<int64_t> from = OpMaker::dimsOf(op.getInput());
  const ArrayRef<int64_t> to = OpMaker::dimsOf(op.getOutput());
  return from.size() == 4 && from.take_front(2) == to.take_front(2) &&
         resizeTaps(op, 0, {0, to[2]}, {0, from[2]}) && resizeTaps(op, 1, {0, to[3]}, {0, from[3]});
}

} // namespace

bool codegen::decomposeResize(OpMaker &maker) {
  auto op = dyn_cast<tpu::InterpOp>(maker.op);
  if (!op || !OpMaker::isFloat(op.getInput()) || op->hasAttr("as_stored") || isOfNeighbours(op))
    return false;
  const std::optional<kernels::ResizeParams> params = resampling(op);
  if (!params || (params->extrapolation != 0 &&
                  params->coordinates == kernels::CoordinateMode::TfCropAndResize))
    return false;
  const SmallVector<int64_t> to(OpMaker::dimsOf(op.getOutput()));
  const SmallVector<int64_t> from(OpMaker::dimsOf(op.getInput()));
  // What shrinks comes first: there are fewer products then.
  SmallVector<size_t> axes;
  for (size_t axis = 0; axis < from.size(); ++axis)
    if (!stays(*params, axis) || from[axis] != to[axis])
      axes.push_back(axis);
  llvm::stable_sort(axes, [&](size_t a, size_t b) { return to[a] * from[b] < to[b] * from[a]; });
  Value value = op.getInput();
  for (size_t axis : axes)
    value = resizedAlong(maker, value, axis, to[axis], *params);
  if (axes.empty())
    value = maker.makeLike<tpu::CopyOp>("same", value);
  maker.replace(0, maker.finished(value, 0));
  return true;
}

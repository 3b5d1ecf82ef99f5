//===- LowerPictureResize.cpp - Pictures of bytes in other extents --------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Conversion/TopToTpu/LowerPictureResize.h"
#include "tpuc/Conversion/TopToTpu/LowerPreprocess.h"
#include "tpuc/Dialect/Top/Names.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Dialect/Tpu/CastOps.h"
#include "tpuc/Dialect/Tpu/ConvolutionOps.h"
#include "tpuc/Dialect/Tpu/MatrixOps.h"
#include "tpuc/Dialect/Tpu/MovementOps.h"
#include "tpuc/Interpreter/Kernels/Resize.h"
#include "tpuc/Interpreter/Kernels/ResizeTaps.h"
#include "tpuc/Support/Convert.h"

#include <algorithm>
#include <cmath>
#include <tuple>

using namespace mlir;
using namespace tpuc;

/// Rows or columns that one product gives at most. More need more products with nothing, fewer are
/// copied apart and joined.
static constexpr int64_t kMostPerProduct = 256;

bool tpuc::isPictureResize(top::InterpOp op, const TargetInfo &target) {
  const auto isPicture = [](Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return type && type.hasStaticShape() && type.getRank() == 4 && holdsPictureBytes(value);
  };
  return hasScheme(target, schemes::kF16) && isPicture(op.getInput()) &&
         isPicture(op.getOutput()) && op.getMode() == "linear" &&
         op.getCoordMode() == "half_pixel" && !op.getAntialias();
}

namespace {

class PictureResize {
public:
  PictureResize(top::InterpOp op, Lowering &lowering)
      : op(op), lowering(lowering), builder(lowering.builder), name(layerName(op)) {}

  void run();

private:
  static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }
  Value make(StringRef opName, const Twine &what, ArrayRef<int64_t> dims, ValueRange operands,
             const NamedAttrList &attributes = {});
  Value reshaped(Value value, ArrayRef<int64_t> dims, const Twine &what);
  Value floats(Value value);
  Value product(Value input, ArrayRef<float> weights, int64_t taps, const Twine &what);
  Value resized(Value value, int64_t to, StringRef what);
  Value rows(Value value, int64_t to);
  Value columns(Value value, int64_t to);

  top::InterpOp op;
  Lowering &lowering;
  OpBuilder &builder;
  std::string name;
};

Value PictureResize::make(StringRef opName, const Twine &what, ArrayRef<int64_t> dims,
                          ValueRange operands, const NamedAttrList &attributes) {
  OperationState state(NameLoc::get(builder.getStringAttr(name + what)), opName, operands,
                       Type(typeOf(operands.front()).clone(dims)), attributes.getAttrs());
  return builder.create(state)->getResult(0);
}

Value PictureResize::reshaped(Value value, ArrayRef<int64_t> dims, const Twine &what) {
  NamedAttrList shape;
  shape.set("shape", builder.getI64ArrayAttr(dims));
  return make(tpu::ReshapeOp::getOperationName(), what, dims, {value, lowering.none()}, shape);
}

/// `value` as F16. Bytes become so with rows or lines as channels: the cast fills all lanes then,
/// and forms a group with the product that reads it.
Value PictureResize::floats(Value value) {
  if (typeOf(value).getElementType().isF16())
    return value;
  const Type type = typeOf(value).clone(Type(builder.getF16Type()));
  OperationState state(NameLoc::get(builder.getStringAttr(name + "_f16")),
                       tpu::CastOp::getOperationName(), value, type);
  return builder.create(state)->getResult(0);
}

/// Sums of the second dimension of `input`, [n, taps, 1, W] or [m, taps]: `weights` has `taps`
/// numbers for each of them.
Value PictureResize::product(Value input, ArrayRef<float> weights, int64_t taps,
                             const Twine &what) {
  const int64_t sums = std::ssize(weights) / taps;
  SmallVector<int64_t> dims(typeOf(input).getShape());
  dims[1] = sums;
  const bool isOfRows = dims.size() == 4;
  Tensor filter(DataType::F32, isOfRows ? Shape{sums, taps, 1, 1} : Shape{taps, sums});
  const auto elements = filter.mutableData<float>();
  for (int64_t sum = 0; sum < sums; ++sum)
    for (int64_t tap = 0; tap < taps; ++tap)
      elements[static_cast<size_t>(isOfRows ? sum * taps + tap : tap * sums + sum)] =
          weights[static_cast<size_t>(sum * taps + tap)];
  const Value constant =
      lowering.weight(op, (what + "_weights").str(), convert(filter, DataType::F16));
  NamedAttrList attributes;
  if (isOfRows) {
    attributes.set("kernel_shape", builder.getI64ArrayAttr({1, 1}));
    attributes.set("strides", builder.getI64ArrayAttr({1, 1}));
    attributes.set("pads", builder.getI64ArrayAttr({0, 0, 0, 0}));
  }
  return make(isOfRows ? tpu::ConvOp::getOperationName() : tpu::MatMulOp::getOperationName(), what,
              dims, {input, constant, lowering.none()}, attributes);
}

/// The second dimension of `value` as `to` elements.
Value PictureResize::resized(Value value, int64_t to, StringRef what) {
  SmallVector<int64_t> dims(typeOf(value).getShape());
  const int64_t from = dims[1];
  kernels::ResizeParams params;
  params.mode = kernels::ResampleMode::Linear;
  params.scales = {static_cast<double>(to) / static_cast<double>(from)};
  const kernels::Taps taps = kernels::tapsAlong(params, 0, from, to);
  const int64_t perProduct = llvm::divideCeil(to, llvm::divideCeil(to, kMostPerProduct));
  SmallVector<Value> parts;
  for (int64_t begin = 0; begin < to; begin += perProduct) {
    const int64_t end = std::min(begin + perProduct, to);
    const auto first = taps.positions.begin() + begin * taps.perOutput;
    const auto last = taps.positions.begin() + end * taps.perOutput;
    auto [low, high] = std::pair(*std::min_element(first, last), *std::max_element(first, last));
    // A part that is nearly the whole is not worth the copy.
    if (high + 1 - low > from / 2)
      std::tie(low, high) = std::pair(0, from - 1);
    const int64_t count = high + 1 - low;
    std::vector<float> weights(static_cast<size_t>((end - begin) * count), 0);
    for (auto at = begin * taps.perOutput; at < end * taps.perOutput; ++at) {
      const auto index = static_cast<size_t>(at);
      const int64_t row = at / taps.perOutput - begin;
      // What one of two taps is rounded up by, the other is rounded down by.
      constexpr double kUnit = 2048;
      const double units = taps.weights[index] * kUnit;
      weights[static_cast<size_t>(row * count + taps.positions[index] - low)] += static_cast<float>(
          (at % 2 == 0 ? std::floor(units + 0.5) : std::ceil(units - 0.5)) / kUnit);
    }
    const std::string part = (what + "_" + Twine(begin / perProduct)).str();
    Value input = value;
    if (count < from) {
      NamedAttrList slice;
      slice.set("offset", builder.getI64ArrayAttr({low}));
      slice.set("ends", builder.getI64ArrayAttr({low + count}));
      slice.set("steps", builder.getI64ArrayAttr({1}));
      slice.set("axes", builder.getI64ArrayAttr({1}));
      dims[1] = count;
      const Value no = lowering.none();
      input = make(tpu::SliceOp::getOperationName(), part + "_taps", dims, {value, no, no, no, no},
                   slice);
    }
    parts.push_back(product(input, weights, count, part));
  }
  if (parts.size() == 1)
    return parts.front();
  NamedAttrList axis;
  axis.set("axis", builder.getI64IntegerAttr(1));
  dims[1] = to;
  return make(tpu::ConcatOp::getOperationName(), what, dims, parts, axis);
}

/// Of [N, C, H, W]: rows as channels.
Value PictureResize::rows(Value value, int64_t to) {
  SmallVector<int64_t> dims(typeOf(value).getShape());
  if (dims[2] == to)
    return value;
  const Value apart = reshaped(value, {dims[0] * dims[1], dims[2], 1, dims[3]}, "_apart");
  dims[2] = to;
  return reshaped(resized(floats(apart), to, "_rows"), dims, "_of_rows");
}

Value PictureResize::columns(Value value, int64_t to) {
  SmallVector<int64_t> dims(typeOf(value).getShape());
  if (dims[3] == to)
    return value;
  const Value apart = reshaped(value, {dims[0] * dims[1] * dims[2], dims[3]}, "_lines");
  dims[3] = to;
  return reshaped(resized(floats(apart), to, "_columns"), dims, "_of_columns");
}

void PictureResize::run() {
  const ArrayRef<int64_t> from = typeOf(op.getInput()).getShape();
  const ArrayRef<int64_t> to = typeOf(op.getOutput()).getShape();
  Value value = lowering.asIntegers(op.getInput());
  // The order of fewer products.
  const bool isRowsFirst = to[2] * from[3] <= to[3] * from[2];
  if (isRowsFirst)
    value = rows(value, to[2]);
  value = columns(value, to[3]);
  if (!isRowsFirst)
    value = rows(value, to[2]);
  OperationState state(op.getLoc(), tpu::CastOp::getOperationName(), floats(value),
                       op.getOutput().getType());
  lowering.replace(op, builder.create(state));
}

} // namespace

Expected<void> tpuc::lowerPictureResize(top::InterpOp op, Lowering &lowering) {
  PictureResize(op, lowering).run();
  return {};
}

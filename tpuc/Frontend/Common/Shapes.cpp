//===- Shapes.cpp - Axes, shapes and types that converters work out -------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Top/MovementOps.h"
#include "tpuc/Dialect/Top/ShapeOps.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Frontend/Common/LayerBuilder.h"
#include "tpuc/Support/Convert.h"

#include <fmt/format.h>

using namespace mlir;
using namespace tpuc;
using namespace tpuc::frontend;

int64_t frontend::frontAxis(LayerBuilder &layer, int64_t axis, int64_t rank, bool endAllowed) {
  if (axis < -rank || axis > rank || (axis == rank && !endAllowed)) {
    layer.fail(fmt::format("axis {} does not exist", axis),
               fmt::format("{} to {}", -rank, endAllowed ? rank : rank - 1));
    return 0;
  }
  return axis < 0 ? axis + rank : axis;
}

TypedAttr frontend::elementAttr(MLIRContext *context, const Tensor &tensor) {
  Type type = elementType(context, tensor.type());
  if (auto floatType = dyn_cast<FloatType>(type))
    return FloatAttr::get(floatType, convert(tensor, DataType::F64).data<double>()[0]);
  // The low bits are the same for either sign.
  ConvertOptions wrap;
  wrap.integerOverflow = IntegerOverflow::Wrap;
  int64_t value = convert(tensor, DataType::I64, wrap).data<int64_t>()[0];
  unsigned width = cast<IntegerType>(type).getWidth();
  return IntegerAttr::get(type, APInt(64, static_cast<uint64_t>(value)).trunc(width));
}

Value frontend::reshapeLike(LayerBuilder &layer, Value input, Value like) {
  std::optional<Ints> dims = LayerBuilder::dims(like);
  if (dims && llvm::count(*dims, ShapedType::kDynamic) <= 1 && !llvm::is_contained(*dims, 0)) {
    std::replace(dims->begin(), dims->end(), ShapedType::kDynamic, int64_t(-1));
    return layer.emit<top::ReshapeOp>({input, layer.none()}, layer.attrs().setInts("shape", dims));
  }
  Value shape = layer.temp<top::ShapeOp>("shape", like);
  return layer.emit<top::ReshapeOp>({input, shape}, layer.attrs().setBool("allowzero", true));
}

void frontend::emitShape(LayerBuilder &layer, Value input, int64_t start,
                         std::optional<int64_t> end) {
  if (std::optional<Ints> dims = LayerBuilder::dims(input)) {
    auto rank = static_cast<int64_t>(dims->size());
    int64_t last = end.value_or(rank);
    int64_t from = std::clamp(start < 0 ? start + rank : start, int64_t(0), rank);
    int64_t to = std::clamp(last < 0 ? last + rank : last, from, rank);
    Ints wanted(dims->begin() + from, dims->begin() + to);
    if (LayerBuilder::isStatic(wanted))
      return layer.emitConstant(
          Tensor::of<int64_t>({to - from}, std::span(wanted.data(), wanted.size())));
  }
  layer.emit<top::ShapeOp>(input, layer.attrs().setInt("start", start).setInt("end", end));
}

/// The most exact type that covers both; null where the elements differ.
static Type covering(Type a, Type b) {
  if (a == b)
    return a;
  auto first = cast<TensorType>(a);
  auto second = cast<TensorType>(b);
  if (first.getElementType() != second.getElementType())
    return {};
  if (!first.hasRank() || !second.hasRank() || first.getRank() != second.getRank())
    return UnrankedTensorType::get(first.getElementType());
  Ints dims;
  for (auto [x, y] : llvm::zip_equal(first.getShape(), second.getShape()))
    dims.push_back(x == y ? x : ShapedType::kDynamic);
  return RankedTensorType::get(dims, first.getElementType());
}

bool frontend::widenCarried(LayerBuilder &layer, MutableArrayRef<Type> carried,
                            ArrayRef<Type> given) {
  bool changed = false;
  for (auto [index, type] : llvm::enumerate(carried)) {
    Type wide = covering(type, given[index]);
    if (!wide) {
      layer.fail(fmt::format("the body changes the element type of carried value {}", index));
      return false;
    }
    changed |= wide != type;
    type = wide;
  }
  return changed;
}

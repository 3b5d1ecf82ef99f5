//===- AttentionMasks.cpp - What hides keys as numbers to add -----------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Decompose/AttentionMasks.h"
#include "tpuc/Codegen/Decompose/RewriteOps.h"
#include "tpuc/Codegen/Layers.h"
#include "tpuc/Codegen/Tile/Tiling.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Dialect/Tpu/BinaryOps.h"
#include "tpuc/Dialect/Tpu/IndexOps.h"
#include "tpuc/Dialect/Tpu/MovementOps.h"
#include "tpuc/Support/Convert.h"

#include <cmath>

using namespace mlir;
using namespace tpuc;
using namespace tpuc::codegen;

namespace {

/// A constant mask as numbers for `keys` keys, at least `hidden`: 0 or `hidden` of booleans,
/// `hidden` behind the last element.
Tensor foldedMask(const Tensor &mask, int64_t keys, float hidden) {
  Tensor numbers = convert(mask, DataType::F32).clone();
  for (float &number : numbers.mutableData<float>())
    if (mask.type() == DataType::Bool)
      number = number != 0 ? 0 : hidden;
    else
      number = number < hidden ? hidden : number;
  SmallVector<int64_t> dims = llvm::to_vector(mask.shape().dims());
  const auto width = static_cast<size_t>(dims.back());
  if (dims.back() == keys)
    return numbers;
  dims.back() = keys;
  Tensor all(DataType::F32, Shape(std::span(dims.data(), dims.size())));
  const std::span<const float> from = numbers.data<float>();
  const std::span<float> to = all.mutableData<float>();
  std::ranges::fill(to, hidden);
  const auto length = static_cast<size_t>(keys);
  for (size_t row = 0; row < to.size() / length; ++row)
    std::ranges::copy(from.subspan(row * width, width), to.subspan(row * length).begin());
  return all;
}

/// mask + places, where places are [Q, T] and the mask may be the same for all queries.
Tensor added(const Tensor &mask, const Tensor &places) {
  SmallVector<int64_t> dims = llvm::to_vector(mask.shape().dims());
  while (dims.size() < 2)
    dims.insert(dims.begin(), 1);
  const int64_t keys = places.shape()[1];
  const int64_t rows = places.shape()[0];
  const int64_t own = dims[dims.size() - 2];
  dims[dims.size() - 2] = rows;
  Tensor sum(DataType::F32, Shape(std::span(dims.data(), dims.size())));
  const std::span<const float> numbers = mask.data<float>();
  const std::span<const float> hidden = places.data<float>();
  const std::span<float> to = sum.mutableData<float>();
  for (size_t i = 0; i < to.size(); ++i) {
    const auto at = static_cast<int64_t>(i);
    const int64_t row = at / keys % rows;
    const int64_t matrix = at / (keys * rows);
    const auto from = static_cast<size_t>((matrix * own + (own == 1 ? 0 : row)) * keys + at % keys);
    to[i] = numbers[from] + hidden[static_cast<size_t>(row * keys + at % keys)];
  }
  return sum;
}

bool isGiven(Value value) { return !isa<NoneType>(value.getType()); }

/// The elements of what is added to scores: F32 where the mask is, which may be beyond the range of
/// 16 bits.
Type numberElementOf(tpu::ScaleDotProductAttentionOp op) {
  const Type element = OpMaker::typeOf(op.getQuery()).getElementType();
  if (!isGiven(op.getMask()))
    return element;
  const Type mask = OpMaker::typeOf(op.getMask()).getElementType();
  return mask.isF32() ? mask : element;
}

} // namespace

AttentionSizes codegen::attentionSizes(tpu::ScaleDotProductAttentionOp op) {
  const ArrayRef<int64_t> query = OpMaker::dimsOf(op.getQuery());
  const ArrayRef<int64_t> key = OpMaker::dimsOf(op.getKey());
  const bool isPacked = op.getQNumHeads().has_value();
  const int64_t past = isGiven(op.getPastKey()) ? OpMaker::dimsOf(op.getPastKey())[2] : 0;
  return {.samples = query[0],
          .heads = isPacked ? static_cast<int64_t>(*op.getQNumHeads()) : query[1],
          .keyHeads = isPacked ? static_cast<int64_t>(*op.getKvNumHeads()) : key[1],
          .rows = query[isPacked ? 1 : 2],
          .keys = past + key[isPacked ? 1 : 2],
          .place = past};
}

Value codegen::maskNumbers(OpMaker &maker, tpu::ScaleDotProductAttentionOp op, Type element,
                           float hidden) {
  Value mask = op.getMask();
  const int64_t keys = attentionSizes(op).keys;
  const DataType type = *storageDataType(element);
  if (std::optional<Tensor> constant = OpMaker::constantOf(mask)) {
    if (storageDataType(mask.getType()) == type && OpMaker::dimsOf(mask).back() == keys &&
        hidden == kHidden)
      return mask;
    return maker.weight(convert(foldedMask(*constant, keys, hidden), type), "mask");
  }
  if (storageDataType(mask.getType()) == DataType::Bool) {
    const auto number = [&](float chosen, StringRef what) {
      return maker.weight(convert(Tensor::of<float>(Shape({1}), std::array{chosen}), type), what);
    };
    mask = maker.make(tpu::WhereOp::getOperationName(), "mask",
                      Type(OpMaker::typeOf(mask).clone(element)),
                      {mask, number(0, "visible"), number(hidden, "hidden")}, {});
  } else if (OpMaker::typeOf(mask).getElementType() != element) {
    mask = maker.converted(mask, element, "mask");
  }
  SmallVector<int64_t> dims(OpMaker::dimsOf(mask));
  if (dims.back() == keys)
    return mask;
  // Keys behind the end of the mask are hidden.
  SmallVector<int64_t> paddings(2 * dims.size());
  paddings.back() = keys - dims.back();
  dims.back() = keys;
  NamedAttrList attributes;
  attributes.set("paddings", maker.builder.getI64ArrayAttr(paddings));
  attributes.set("val", maker.builder.getF64FloatAttr(hidden));
  const Value no = maker.none();
  return maker.make<tpu::PadOp>("mask_of_all", dims, {mask, no, no, no}, attributes);
}

std::optional<Tensor> codegen::hiddenPlaces(tpu::ScaleDotProductAttentionOp op, float hidden) {
  const auto left = static_cast<int64_t>(op.getLeftWindow());
  const auto right = static_cast<int64_t>(op.getRightWindow());
  if (!op.getIsCausal() && left < 0 && right < 0)
    return std::nullopt;
  const AttentionSizes sizes = attentionSizes(op);
  Tensor places(DataType::F32, Shape({sizes.rows, sizes.keys}));
  const auto numbers = places.mutableData<float>();
  for (int64_t i = 0; i < sizes.rows; ++i) {
    const int64_t place = sizes.place + i;
    for (int64_t j = 0; j < sizes.keys; ++j) {
      const bool hides = (op.getIsCausal() && j > place) || (left >= 0 && j < place - left) ||
                         (right >= 0 && j > place + right);
      numbers[static_cast<size_t>(i * sizes.keys + j)] = hides ? hidden : 0;
    }
  }
  return places;
}

bool codegen::hidesRows(const Tensor &numbers, float hidden) {
  const Tensor wide = convert(numbers, DataType::F32);
  const std::span<const float> all = wide.data<float>();
  const auto width = static_cast<size_t>(numbers.shape()[numbers.shape().rank() - 1]);
  for (size_t begin = 0; begin < all.size(); begin += width)
    if (llvm::all_of(all.subspan(begin, width), [&](float number) { return number <= hidden; }))
      return true;
  return false;
}

bool codegen::mayHideRows(Value numbers, float hidden) {
  const std::optional<Tensor> constant = OpMaker::constantOf(numbers);
  return !constant || hidesRows(*constant, hidden);
}

bool codegen::isAttentionAlone(tpu::ScaleDotProductAttentionOp op) {
  constexpr unsigned kMask = 3;
  const Type wide = Float32Type::get(op.getContext());
  for (auto [index, operand] : llvm::enumerate(op->getOperands()))
    if (isGiven(operand) && (index > kMask || !staticType(operand)))
      return false;
  if (llvm::any_of(op->getResults().drop_front(), isGiven) ||
      op.getSoftcap().convertToDouble() != 0 || !op.getSoftmaxType().value_or(wide).isF32())
    return false;
  const bool isOfIntegers = !OpMaker::isFloat(op.getQuery());
  if (!isGiven(op.getMask()))
    return !isOfIntegers || !hiddenPlaces(op);
  return !isOfIntegers && (storageDataType(op.getMask().getType()) == DataType::Bool ||
                           OpMaker::isFloat(op.getMask()));
}

void codegen::addBiases(tpu::ScaleDotProductAttentionOp op, Value numbers) {
  if (numbers)
    op.getMaskMutable().assign(numbers);
  op.setIsCausal(false);
  op.setLeftWindow(static_cast<uint64_t>(-1));
  op.setRightWindow(static_cast<uint64_t>(-1));
}

bool codegen::isFitting(tpu::ScaleDotProductAttentionOp made, const Backend &backend) {
  if (fittingPlaceOf(made, backend))
    return true;
  OpBuilder builder(made);
  made.getMaskMutable().assign(builder.create<top::NoneOp>(made.getLoc(), builder.getNoneType()));
  codegen::eraseUnused(made);
  return false;
}

Value AttentionBiases::of(OpMaker &maker, tpu::ScaleDotProductAttentionOp op) {
  const AttentionSizes sizes = attentionSizes(op);
  const bool hasMask = isGiven(op.getMask());
  const Type element = numberElementOf(op);
  const Key key{hasMask ? op.getMask().getAsOpaquePointer() : nullptr,
                element.getAsOpaquePointer(),
                op.getIsCausal(),
                static_cast<int64_t>(op.getLeftWindow()),
                static_cast<int64_t>(op.getRightWindow()),
                sizes.rows,
                sizes.keys,
                sizes.place};
  if (const auto found = made.find(key); found != made.end())
    return found->second;
  Value numbers = hasMask ? maskNumbers(maker, op, element) : Value();
  if (const std::optional<Tensor> places = hiddenPlaces(op)) {
    const DataType type = *storageDataType(element);
    const std::optional<Tensor> constant = hasMask ? OpMaker::constantOf(numbers) : std::nullopt;
    if (!hasMask) {
      numbers = maker.weight(convert(*places, type), "places");
    } else if (constant) {
      numbers =
          maker.weight(convert(added(convert(*constant, DataType::F32), *places), type), "biases");
    } else {
      SmallVector<int64_t> dims(OpMaker::dimsOf(numbers));
      while (dims.size() < 2)
        dims.insert(dims.begin(), 1);
      numbers = maker.reshaped(numbers, dims, "mask_rows");
      dims[dims.size() - 2] = sizes.rows;
      numbers = maker.make<tpu::AddOp>("biases", dims,
                                       {numbers, maker.weight(convert(*places, type), "places")});
    }
  }
  made[key] = numbers;
  return numbers;
}

void AttentionBiases::eraseUnused() {
  for (auto &[key, numbers] : made)
    if (numbers && numbers.use_empty() && numbers.getDefiningOp())
      codegen::eraseUnused(numbers.getDefiningOp());
}

//===- Attention.cpp - Attention over rows---------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Kernels/Attention.h"
#include "tpuc/Target/BM1684X/Kernels/Commands.h"
#include "tpuc/Target/BM1684X/Kernels/DataMovement.h"
#include "tpuc/Target/BM1684X/Kernels/Matrix.h"
#include "tpuc/Target/BM1684X/Kernels/Reduction.h"
#include "tpuc/Target/BM1684X/Kernels/Room.h"
#include "tpuc/Target/BM1684X/Kernels/Windows.h"

#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tpuc::bm1684x {

namespace {

/// How much of each lane the scores of heads that are computed together may take.
constexpr uint32_t kMostScores = 16384;

struct HeadSizes {
  int64_t rows, keys, width, valueWidth;
};

HeadSizes sizesOf(const Attention &attention) {
  return {attention.query.shape[1], attention.key.shape[1],
          attention.query.shape[3] / attention.heads,
          attention.value.shape[3] / attention.keyHeads};
}

/// Heads that are computed together.
int64_t headsAtOnce(const Attention &attention) {
  const HeadSizes sizes = sizesOf(attention);
  const uint32_t one = laneBytes(DataType::F32, {1, sizes.rows, 1, sizes.keys});
  return std::clamp<int64_t>(kMostScores / one, 1, attention.heads);
}

/// Tensors of `heads` heads, n the head.
struct HeadRoom {
  LocalTensor query, key, value, scores, output;
  Scratch rest;
};

HeadRoom roomOf(const Attention &attention, int64_t heads, Room &room) {
  const HeadSizes sizes = sizesOf(attention);
  const DataType type = attention.query.type;
  HeadRoom made;
  made.query = room.take(type, {heads, sizes.rows, 1, sizes.width});
  made.key = room.take(type, {heads, sizes.keys, 1, sizes.width});
  made.value = room.take(type, {heads, sizes.keys, 1, sizes.valueWidth});
  made.scores = room.take(type, {heads, sizes.rows, 1, sizes.keys});
  made.output = room.take(type, {heads, sizes.rows, 1, sizes.valueWidth});
  made.rest.address = room.next;
  return made;
}

MatrixProduct scoresOf(const HeadRoom &room, int64_t head) {
  MatrixProduct product;
  product.left = room.query.slice(0, head, 1);
  product.right = room.key.slice(0, head, 1);
  product.output = room.scores.slice(0, head, 1);
  product.rightIsTransposed = true;
  product.scratch = room.rest;
  return product;
}

MatrixProduct meansOf(const HeadRoom &room, int64_t head) {
  MatrixProduct product;
  product.left = room.scores.slice(0, head, 1);
  product.right = room.value.slice(0, head, 1);
  product.output = room.output.slice(0, head, 1);
  product.scratch = room.rest;
  return product;
}

Softmax softmaxOf(const HeadRoom &room) {
  Softmax softmax;
  softmax.input = softmax.output = room.scores;
  softmax.scratch = room.rest;
  return softmax;
}

/// Heads [first, first + count) of rows that hold `heads` of them, n the head.
LocalTensor headsOf(const LocalTensor &rows, int64_t heads, int64_t first, int64_t count) {
  const int64_t width = rows.shape[3] / heads;
  LocalTensor view = rows.slice(3, first * width, width);
  view.explicitStride = view.strides();
  view.layout = Layout::Explicit;
  view.shape[0] = count;
  view.explicitStride[0] = width;
  return view;
}

Expected<void> check(const std::string &where, const Attention &attention) {
  const LocalTensor *tensors[] = {&attention.query, &attention.key, &attention.value,
                                  &attention.output};
  for (const LocalTensor *tensor : tensors) {
    if (Expected<void> fits = checkFloatTensor(where, "a tensor", *tensor); !fits)
      return fits;
    if (Expected<void> fits = checkLayout(where, "a tensor", *tensor, Layout::Aligned); !fits)
      return fits;
    if (tensor->type != attention.query.type || tensor->startLane != 0)
      return makeError(
          where,
          fmt::format("a tensor of {} from lane {}", dataTypeName(tensor->type), tensor->startLane),
          fmt::format("{} from lane 0", dataTypeName(attention.query.type)));
  }
  const int64_t samples = attention.query.shape[0];
  const auto [rows, keys, width, valueWidth] = sizesOf(attention);
  const bool fits =
      attention.heads % attention.keyHeads == 0 &&
      attention.query.shape == Extents{samples, rows, 1, attention.heads * width} &&
      attention.key.shape == Extents{samples, keys, 1, attention.keyHeads * width} &&
      attention.value.shape == Extents{samples, keys, 1, attention.keyHeads * valueWidth} &&
      attention.output.shape == Extents{samples, rows, 1, attention.heads * valueWidth};
  if (fits)
    return {};
  return makeError(where,
                   fmt::format("{} and {} heads of [{}], [{}], [{}] to [{}]", attention.heads,
                               attention.keyHeads, fmt::join(attention.query.shape, ","),
                               fmt::join(attention.key.shape, ","),
                               fmt::join(attention.value.shape, ","),
                               fmt::join(attention.output.shape, ",")),
                   "[n,Q,1,H*D], [n,K,1,G*D], [n,K,1,G*E] to [n,Q,1,H*E], G dividing H");
}

/// What the kernels of `room` want beside it.
Expected<uint32_t> restBytes(const HeadRoom &room) {
  uint32_t bytes = 0;
  for (const Expected<uint32_t> &wanted :
       {matrixProductScratch(scoresOf(room, 0)), softmaxScratch(softmaxOf(room)),
        matrixProductScratch(meansOf(room, 0))}) {
    if (!wanted)
      return wanted;
    bytes = std::max(bytes, *wanted);
  }
  return bytes;
}

/// The keys and values that heads [first, first + count) of queries read: `emit` with the head of
/// keys and, among `count`, the first head and the number of heads that share it.
template <typename Emit>
void forSharedHeads(const Attention &attention, int64_t first, int64_t count, Emit emit) {
  const int64_t shared = attention.heads / attention.keyHeads;
  if (shared == 1)
    return emit(first, 0, count);
  for (int64_t head = 0; head < count; ++head)
    emit((first + head) / shared, head, 1);
}

/// Heads [first, first + count) of one sample.
Expected<void> emitHeads(Builder &builder, const Attention &attention, HeadRoom room, int64_t first,
                         int64_t count) {
  const DataType type = attention.query.type;
  for (LocalTensor *tensor : {&room.query, &room.key, &room.value, &room.scores, &room.output})
    *tensor = tensor->slice(0, 0, count);
  const Immediate factor = immediate(type, std::sqrt(attention.scale));
  addArith(builder, ArithOp::Mul, room.query,
           headsOf(attention.query, attention.heads, first, count), factor);
  forSharedHeads(attention, first, count, [&](int64_t from, int64_t to, int64_t heads) {
    addArith(builder, ArithOp::Mul, room.key.slice(0, to, heads),
             headsOf(attention.key, attention.keyHeads, from, heads), factor);
    addUnaryArith(builder, ArithOp::Copy, room.value.slice(0, to, heads),
                  headsOf(attention.value, attention.keyHeads, from, heads));
  });
  for (int64_t head = 0; head < count; ++head)
    if (Expected<void> done = emitMatrixProduct(builder, scoresOf(room, head)); !done)
      return done;
  if (Expected<void> done = emitSoftmax(builder, softmaxOf(room)); !done)
    return done;
  for (int64_t head = 0; head < count; ++head)
    if (Expected<void> done = emitMatrixProduct(builder, meansOf(room, head)); !done)
      return done;
  addUnaryArith(builder, ArithOp::Copy, headsOf(attention.output, attention.heads, first, count),
                room.output);
  return {};
}

} // namespace

Expected<uint32_t> attentionScratch(const Attention &attention) {
  if (Expected<void> checked = check("attention", attention); !checked)
    return propagate(checked);
  Room room;
  const HeadRoom heads = roomOf(attention, headsAtOnce(attention), room);
  Expected<uint32_t> rest = restBytes(heads);
  if (!rest)
    return rest;
  return room.next + *rest;
}

Expected<void> emitAttention(Builder &builder, const Attention &attention) {
  Expected<uint32_t> needed = attentionScratch(attention);
  if (!needed)
    return propagate(needed);
  if (Expected<void> fits = checkScratch(builder.layer(), attention.scratch, *needed); !fits)
    return fits;
  const int64_t step = headsAtOnce(attention);
  Room room{attention.scratch.address};
  HeadRoom heads = roomOf(attention, step, room);
  heads.rest.bytes = attention.scratch.address + *needed - heads.rest.address;
  for (int64_t sample = 0; sample < attention.query.shape[0]; ++sample) {
    Attention one = attention;
    for (LocalTensor *tensor : {&one.query, &one.key, &one.value, &one.output})
      *tensor = tensor->slice(0, sample, 1);
    for (int64_t first = 0; first < attention.heads; first += step)
      if (Expected<void> done =
              emitHeads(builder, one, heads, first, std::min(step, attention.heads - first));
          !done)
        return done;
  }
  return {};
}

} // namespace tpuc::bm1684x

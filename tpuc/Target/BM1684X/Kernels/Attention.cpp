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

namespace tpuc::bm1684x {

namespace {

/// Tensors of `heads` heads, n the head.
struct HeadRoom {
  LocalTensor query, key, value, scores, output;
  Scratch rest;
};

HeadRoom roomOf(const Attention &attention, int64_t heads, Room &room) {
  const HeadSizes sizes = headSizes(attention);
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

Expected<void> check(const std::string &where, const Attention &attention) {
  for (const LocalTensor *tensor :
       {&attention.query, &attention.key, &attention.value, &attention.output}) {
    if (Expected<void> fits = checkFloatTensor(where, "a tensor", *tensor); !fits)
      return fits;
    if (tensor->type != attention.query.type)
      return makeError(where, fmt::format("a tensor of {}", dataTypeName(tensor->type)),
                       fmt::format("{}", dataTypeName(attention.query.type)));
  }
  return checkHeads(where, attention);
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

/// Heads [first, first + count) of one sample, or samples of one head.
Expected<void> emitHeads(Builder &builder, const Attention &attention, HeadRoom room, int64_t first,
                         int64_t count) {
  const DataType type = attention.query.type;
  for (LocalTensor *tensor : {&room.query, &room.key, &room.value, &room.scores, &room.output})
    *tensor = tensor->slice(0, 0, count);
  const Immediate factor = immediate(type, std::sqrt(attention.scale));
  addArith(builder, ArithOp::Mul, room.query,
           headsOfRows(attention.query, attention.heads, first, count), factor);
  forSharedHeads(attention, first, count, [&](int64_t from, int64_t to, int64_t heads) {
    addArith(builder, ArithOp::Mul, room.key.slice(0, to, heads),
             headsOfRows(attention.key, attention.keyHeads, from, heads), factor);
    addUnaryArith(builder, ArithOp::Copy, room.value.slice(0, to, heads),
                  headsOfRows(attention.value, attention.keyHeads, from, heads));
  });
  for (int64_t head = 0; head < count; ++head)
    if (Expected<void> done = emitMatrixProduct(builder, scoresOf(room, head)); !done)
      return done;
  if (Expected<void> done = emitSoftmax(builder, softmaxOf(room)); !done)
    return done;
  for (int64_t head = 0; head < count; ++head)
    if (Expected<void> done = emitMatrixProduct(builder, meansOf(room, head)); !done)
      return done;
  addUnaryArith(builder, ArithOp::Copy,
                headsOfRows(attention.output, attention.heads, first, count), room.output);
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
  if (Expected<void> fits = checkScratch(builder.layer(), attention.scratch, needed); !fits)
    return fits;
  const int64_t step = headsAtOnce(attention);
  Room room{attention.scratch.address};
  HeadRoom heads = roomOf(attention, step, room);
  heads.rest.bytes = attention.scratch.address + *needed - heads.rest.address;
  return forHeads(attention, [&](const AttentionOperands &operands, int64_t first, int64_t count) {
    Attention part = attention;
    static_cast<AttentionOperands &>(part) = operands;
    return emitHeads(builder, part, heads, first, count);
  });
}

} // namespace tpuc::bm1684x

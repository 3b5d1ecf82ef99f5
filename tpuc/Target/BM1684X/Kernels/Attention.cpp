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
#include "tpuc/Target/BM1684X/Kernels/ScratchAllocator.h"
#include "tpuc/Target/BM1684X/Kernels/Windows.h"

#include <cmath>
#include <fmt/format.h>

namespace tpuc::bm1684x {

namespace {

/// Tensors of `heads` matrices of scores, n the matrix.
struct HeadScratch {
  LocalTensor query, key, value, scores, output;
  LocalTensor products; ///< Scores without the mask: the same where there is none.
  Scratch rest;
};

HeadScratch scratchOf(const Attention &attention, int64_t heads, ScratchAllocator &space) {
  const HeadSizes sizes = headSizes(attention);
  const DataType type = attention.query.type;
  HeadScratch made;
  made.query = space.take(type, {heads, sizes.rows, 1, sizes.width});
  made.key = space.take(type, {heads, sizes.keys, 1, sizes.width});
  made.value = space.take(type, {heads, sizes.keys, 1, sizes.valueWidth});
  made.scores = space.take(type, {heads, sizes.rows, 1, sizes.keys});
  made.output = space.take(type, {heads, sizes.rows, 1, sizes.valueWidth});
  made.products = attention.mask ? space.take(type, made.scores.shape) : made.scores;
  made.rest.address = space.next;
  return made;
}

MatrixProduct scoresOf(const HeadScratch &space, int64_t head) {
  MatrixProduct product;
  product.left = space.query.slice(0, head, 1);
  product.right = space.key.slice(0, head, 1);
  product.output = space.products.slice(0, head, 1);
  product.rightIsTransposed = true;
  product.scratch = space.rest;
  return product;
}

MatrixProduct meansOf(const HeadScratch &space, int64_t head) {
  MatrixProduct product;
  product.left = space.scores.slice(0, head, 1);
  product.right = space.value.slice(0, head, 1);
  product.output = space.output.slice(0, head, 1);
  product.scratch = space.rest;
  return product;
}

Softmax softmaxOf(const Attention &attention, const HeadScratch &space) {
  Softmax softmax;
  softmax.mayBeHidden = attention.mask.has_value();
  softmax.input = softmax.output = space.scores;
  softmax.scratch = space.rest;
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

/// What the kernels of `space` want beside it.
Expected<uint32_t> restBytes(const Attention &attention, const HeadScratch &space) {
  uint32_t bytes = 0;
  for (const Expected<uint32_t> &wanted :
       {matrixProductScratch(scoresOf(space, 0)), softmaxScratch(softmaxOf(attention, space)),
        matrixProductScratch(meansOf(space, 0))}) {
    if (!wanted)
      return wanted;
    bytes = std::max(bytes, *wanted);
  }
  return bytes;
}

/// Heads [first, first + count) of some samples.
Expected<void> emitHeads(Builder &builder, const Attention &attention, HeadScratch space,
                         int64_t first, int64_t count) {
  const DataType type = attention.query.type;
  const int64_t matrices = count * attention.query.shape[0];
  for (LocalTensor *tensor :
       {&space.query, &space.key, &space.value, &space.scores, &space.output, &space.products})
    *tensor = tensor->slice(0, 0, matrices);
  const Immediate factor = immediate(type, std::sqrt(attention.scale));
  const auto placeIn = [](const LocalTensor &tensor, int64_t to, const LocalTensor &from) {
    return tensor.slice(0, to, from.shape[0]);
  };
  forHeadsOfRows(attention.query, attention.heads, first, count,
                 [&](int64_t to, const LocalTensor &from) {
                   addArith(builder, ArithOp::Mul, placeIn(space.query, to, from), from, factor);
                 });
  forSharedHeads(attention, attention.key, first, count, [&](int64_t to, const LocalTensor &from) {
    addArith(builder, ArithOp::Mul, placeIn(space.key, to, from), from, factor);
  });
  forSharedHeads(attention, attention.value, first, count,
                 [&](int64_t to, const LocalTensor &from) {
                   addUnaryArith(builder, ArithOp::Copy, placeIn(space.value, to, from), from);
                 });
  for (int64_t matrix = 0; matrix < matrices; ++matrix)
    if (Expected<void> done = emitMatrixProduct(builder, scoresOf(space, matrix)); !done)
      return done;
  if (attention.mask)
    forMasks(attention, first, count, [&](int64_t to, const LocalTensor &added) {
      addArith(builder, ArithOp::Add, placeIn(space.scores, to, added),
               placeIn(space.products, to, added), added);
    });
  if (Expected<void> done = emitSoftmax(builder, softmaxOf(attention, space)); !done)
    return done;
  for (int64_t matrix = 0; matrix < matrices; ++matrix)
    if (Expected<void> done = emitMatrixProduct(builder, meansOf(space, matrix)); !done)
      return done;
  forHeadsOfRows(attention.output, attention.heads, first, count,
                 [&](int64_t from, const LocalTensor &to) {
                   addUnaryArith(builder, ArithOp::Copy, to, placeIn(space.output, from, to));
                 });
  return {};
}

} // namespace

Expected<uint32_t> attentionScratch(const Attention &attention) {
  if (Expected<void> checked = check("attention", attention); !checked)
    return propagate(checked);
  ScratchAllocator space;
  const HeadScratch heads = scratchOf(attention, headsAtOnce(attention), space);
  Expected<uint32_t> rest = restBytes(attention, heads);
  if (!rest)
    return rest;
  return space.next + *rest;
}

Expected<void> emitAttention(Builder &builder, const Attention &attention) {
  Expected<uint32_t> needed = attentionScratch(attention);
  if (Expected<void> fits = checkScratch(builder.layer(), attention.scratch, needed); !fits)
    return fits;
  const int64_t step = headsAtOnce(attention);
  ScratchAllocator space{attention.scratch.address};
  HeadScratch heads = scratchOf(attention, step, space);
  heads.rest.bytes = attention.scratch.address + *needed - heads.rest.address;
  return forHeads(attention, [&](const AttentionOperands &operands, int64_t first, int64_t count) {
    Attention part = attention;
    static_cast<AttentionOperands &>(part) = operands;
    return emitHeads(builder, part, heads, first, count);
  });
}

} // namespace tpuc::bm1684x

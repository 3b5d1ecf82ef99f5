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
#include "tpuc/Target/BM1684X/Kernels/ShortWeights.h"
#include "tpuc/Target/BM1684X/Kernels/Windows.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace tpuc::bm1684x {

namespace {

/// Tensors of matrices of scores, n the matrix. All is F32 but for what products of 16 bits read.
/// With short weights, a column of ones stands behind those of the values: the product with it is
/// the sum of the weights.
struct HeadScratch {
  LocalTensor query, key, value;
  LocalTensor products; ///< Scores without the mask: the same where there is none.
  LocalTensor scores;   ///< Then the weights, which still want their factors.
  LocalTensor mask;     ///< Where it is of 16 bits.
  LocalTensor factors;
  /// With short weights: 1 where a row has a score, and their sums, at least 1.
  LocalTensor isSeen, seenSums;
  LocalTensor sums;  ///< Weighed values without the factors.
  LocalTensor means; ///< With them, to be rounded.
  Scratch rest;
};

HeadScratch scratchOf(const Attention &attention, int64_t matrices, ScratchAllocator &space) {
  const HeadSizes sizes = headSizes(attention);
  const DataType type = attention.query.type;
  const Extents scores = {matrices, sizes.rows, 1, sizes.keys};
  const Extents output = {matrices, sizes.rows, 1, sizes.valueWidth};
  const int64_t columns = sizes.valueWidth + (attention.hasShortWeights ? 1 : 0);
  HeadScratch made;
  made.query = space.take(type, {matrices, sizes.rows, 1, sizes.width});
  made.key = space.take(type, {matrices, sizes.keys, 1, sizes.width});
  made.value = space.take(type, {matrices, sizes.keys, 1, columns});
  made.scores = space.take(DataType::F32, scores);
  made.products = attention.mask ? space.take(DataType::F32, scores) : made.scores;
  if (attention.mask && type != DataType::F32)
    made.mask = space.take(DataType::F32, scores);
  made.factors = space.take(DataType::F32, {matrices, sizes.rows, 1, 1});
  if (attention.hasShortWeights)
    for (LocalTensor *row : {&made.isSeen, &made.seenSums})
      *row = space.take(DataType::F32, {matrices, sizes.rows, 1, 1});
  made.sums = space.take(DataType::F32, {matrices, sizes.rows, 1, columns});
  if (type != DataType::F32)
    made.means = space.take(DataType::F32, output);
  made.rest.address = space.next;
  return made;
}

/// Weights as sums of two numbers of 16 bits, in the place of what the softmax took.
struct WeightParts {
  LocalTensor first, second; ///< Of 16 bits
  LocalTensor wide, distance;
};

WeightParts partsOf(DataType type, const HeadScratch &space, ScratchAllocator &room) {
  const Extents &shape = space.scores.shape;
  return {.first = room.take(type, shape),
          .second = room.take(type, shape),
          .wide = room.take(DataType::F32, shape),
          .distance = room.take(DataType::F32, shape)};
}

MatrixProduct scoresOf(const HeadScratch &space, int64_t matrix) {
  MatrixProduct product;
  product.left = space.query.slice(0, matrix, 1);
  product.right = space.key.slice(0, matrix, 1);
  product.output = space.products.slice(0, matrix, 1);
  product.rightIsTransposed = true;
  product.scratch = space.rest;
  return product;
}

MatrixProduct sumsOf(const HeadScratch &space, const LocalTensor &weights, int64_t matrix) {
  MatrixProduct product;
  product.left = weights.slice(0, matrix, 1);
  product.right = space.value.slice(0, matrix, 1);
  product.output = space.sums.slice(0, matrix, 1);
  product.scratch = space.rest;
  return product;
}

/// The scale where queries of 16 bits can take it without a rounding: a power of 2 below 1.
double scaleOfQueries(const Attention &attention) {
  int exponent = 0;
  const bool isPower = std::frexp(attention.scale, &exponent) == 0.5;
  return attention.query.type == DataType::F32 || (isPower && exponent <= 1) ? attention.scale : 1;
}

/// What the scores still want.
double scaleOfScores(const Attention &attention) {
  return scaleOfQueries(attention) == attention.scale ? 1 : attention.scale;
}

Softmax softmaxOf(const Attention &attention, const HeadScratch &space) {
  Softmax softmax;
  softmax.mayBeHidden = attention.mask.has_value();
  if (!attention.mask)
    softmax.beta = scaleOfScores(attention);
  softmax.input = softmax.output = space.scores;
  softmax.factors = space.factors;
  softmax.result = attention.query.type;
  softmax.scratch = space.rest;
  return softmax;
}

ShortWeights shortWeightsOf(const Attention &attention, const HeadScratch &space,
                            ScratchAllocator &room) {
  ShortWeights weights;
  weights.scores = space.scores;
  weights.weights = room.take(DataType::F16, space.scores.shape);
  weights.scale = attention.mask ? 1 : scaleOfScores(attention);
  weights.scratch.address = room.next;
  weights.scratch.bytes = shortWeightsScratch(weights);
  room.next += weights.scratch.bytes;
  return weights;
}

Expected<void> check(const std::string &where, const Attention &attention) {
  if (attention.hasShortWeights && attention.query.type != DataType::F16)
    return makeError(where, fmt::format("short weights of {}", dataTypeName(attention.query.type)),
                     "f16");
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
  if (attention.hasShortWeights) {
    ScratchAllocator room;
    shortWeightsOf(attention, space, room);
    return room.next;
  }
  if (attention.query.type != DataType::F32) {
    ScratchAllocator room;
    partsOf(attention.query.type, space, room);
    bytes = room.next;
  }
  // Products of 16 bits want nothing.
  const LocalTensor weights = space.scores.as(space.value.type);
  for (const Expected<uint32_t> &wanted :
       {matrixProductScratch(scoresOf(space, 0)), softmaxScratch(softmaxOf(attention, space)),
        matrixProductScratch(sumsOf(space, weights, 0))}) {
    if (!wanted)
      return wanted;
    bytes = std::max(bytes, *wanted);
  }
  return bytes;
}

/// Queries, keys and values of heads [first, first + count), each matrix by itself.
void addOperands(Builder &builder, const Attention &attention, const HeadScratch &space,
                 int64_t first, int64_t count) {
  const auto copyTo = [&](const LocalTensor &tensor, double factor = 1) {
    return [&builder, tensor, factor](int64_t to, const LocalTensor &from) {
      const LocalTensor part = tensor.slice(0, to, from.shape[0]);
      if (factor != 1)
        addArith(builder, ArithOp::Mul, part, from, immediate(tensor.type, factor));
      else
        addUnaryArith(builder, ArithOp::Copy, part, from);
    };
  };
  forHeadsOfRows(attention.query, attention.heads, first, count,
                 copyTo(space.query, scaleOfQueries(attention)));
  forSharedHeads(attention, attention.key, first, count, copyTo(space.key));
  const int64_t width = attention.value.shape[3] / attention.keyHeads;
  forSharedHeads(attention, attention.value, first, count, copyTo(space.value.slice(3, 0, width)));
  if (attention.hasShortWeights)
    addUnaryArith(builder, ArithOp::Copy, space.value.slice(3, width, 1),
                  immediate(space.value.type, 1));
}

/// products * scale + mask to the scores.
void addMasks(Builder &builder, const Attention &attention, const HeadScratch &space, int64_t first,
              int64_t count) {
  if (const double scale = scaleOfScores(attention); scale != 1)
    addLinear(builder, space.products, space.products, scale, 0);
  forMasks(attention, first, count, [&](int64_t to, const LocalTensor &numbers) {
    LocalTensor added = numbers;
    if (numbers.type != DataType::F32) {
      // What matrices or rows share is converted once: the latter in each lane.
      const bool isShared = numbers.strides()[0] == 0;
      const bool isForAllRows = numbers.strides()[1] == 0;
      LocalTensor from = isShared ? numbers.slice(0, 0, 1) : numbers;
      if (isForAllRows)
        from = from.slice(1, 0, std::min<int64_t>(numbers.shape[1], kLanes));
      const LocalTensor wide = space.mask.slice(0, to, from.shape[0]).slice(1, 0, from.shape[1]);
      addCast(builder, wide, from);
      added = repeated(wide, numbers.shape);
      if (isForAllRows)
        added = repeatedOverLanes(added, numbers.shape[1]);
    }
    const auto part = [&](const LocalTensor &tensor) {
      return tensor.slice(0, to, numbers.shape[0]);
    };
    addArith(builder, ArithOp::Add, part(space.scores), part(space.products), added);
  });
}

Expected<void> addProducts(Builder &builder, int64_t matrices, auto productOf) {
  for (int64_t matrix = 0; matrix < matrices; ++matrix)
    if (Expected<void> done = emitMatrixProduct(builder, productOf(matrix)); !done)
      return done;
  return {};
}

/// Weights times values in F32. Weights of one number of 16 bits add as large an error as rounding
/// the result.
Expected<void> addSums(Builder &builder, const Attention &attention, const HeadScratch &space) {
  const int64_t matrices = space.query.shape[0];
  const DataType type = attention.query.type;
  if (type == DataType::F32)
    return addProducts(builder, matrices,
                       [&](int64_t matrix) { return sumsOf(space, space.scores, matrix); });
  ScratchAllocator room{space.rest.address};
  const WeightParts parts = partsOf(type, space, room);
  addCast(builder, parts.first, space.scores);
  addCast(builder, parts.wide, parts.first);
  addArith(builder, ArithOp::Sub, parts.distance, space.scores, parts.wide);
  addCast(builder, parts.second, parts.distance);
  for (const LocalTensor *part : {&parts.first, &parts.second})
    if (Expected<void> done = addProducts(builder, matrices,
                                          [&](int64_t matrix) {
                                            MatrixProduct product = sumsOf(space, *part, matrix);
                                            product.accumulates = part == &parts.second;
                                            return product;
                                          });
        !done)
      return done;
  return {};
}

/// Short weights times values, and the factors 1 / the sums of these weights; 0 where a row has no
/// score.
Expected<void> addShortSums(Builder &builder, const Attention &attention,
                            const HeadScratch &space) {
  ScratchAllocator room{space.rest.address};
  const ShortWeights weights = shortWeightsOf(attention, space, room);
  addShortWeights(builder, weights);
  if (Expected<void> done =
          addProducts(builder, space.query.shape[0],
                      [&](int64_t matrix) { return sumsOf(space, weights.weights, matrix); });
      !done)
    return done;
  const LocalTensor sums = space.sums.slice(3, space.sums.shape[3] - 1, 1);
  addSelect(builder, ArithOp::SelectGreater, space.isSeen, sums,
            immediate(DataType::F32, kLargestShortWeight / 2), immediate(DataType::F32, 1));
  // Two steps are exact enough for bytes. Nothing is divided by 0.
  constexpr unsigned kSteps = 2;
  addArith(builder, ArithOp::Max, space.seenSums, sums, immediate(DataType::F32, 1));
  addArith(builder, ArithOp::Div, space.factors, space.isSeen, space.seenSums, kSteps);
  return {};
}

/// sums * factors to the output, rounded.
void addMeans(Builder &builder, const Attention &attention, const HeadScratch &space, int64_t first,
              int64_t count) {
  const bool rounds = attention.query.type != DataType::F32;
  const LocalTensor sums = space.sums.slice(3, 0, attention.value.shape[3] / attention.keyHeads);
  const LocalTensor factors = repeated(space.factors, sums.shape);
  if (rounds)
    addArith(builder, ArithOp::Mul, space.means, sums, factors);
  forHeadsOfRows(attention.output, attention.heads, first, count,
                 [&](int64_t from, const LocalTensor &to) {
                   const auto part = [&](const LocalTensor &tensor) {
                     return tensor.slice(0, from, to.shape[0]);
                   };
                   if (rounds)
                     addCast(builder, to, part(space.means));
                   else
                     addArith(builder, ArithOp::Mul, to, part(sums), part(factors));
                 });
}

/// Heads [first, first + count) of some samples.
Expected<void> emitHeads(Builder &builder, const Attention &attention, const HeadScratch &space,
                         int64_t first, int64_t count) {
  addOperands(builder, attention, space, first, count);
  const int64_t matrices = space.query.shape[0];
  if (Expected<void> done =
          addProducts(builder, matrices, [&](int64_t matrix) { return scoresOf(space, matrix); });
      !done)
    return done;
  if (attention.mask)
    addMasks(builder, attention, space, first, count);
  if (attention.hasShortWeights) {
    if (Expected<void> done = addShortSums(builder, attention, space); !done)
      return done;
  } else {
    if (Expected<void> done = emitSoftmax(builder, softmaxOf(attention, space)); !done)
      return done;
    if (Expected<void> done = addSums(builder, attention, space); !done)
      return done;
  }
  addMeans(builder, attention, space, first, count);
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
  return forHeads(attention, [&](const AttentionOperands &operands, int64_t first, int64_t count) {
    Attention part = attention;
    static_cast<AttentionOperands &>(part) = operands;
    ScratchAllocator space{attention.scratch.address};
    HeadScratch heads = scratchOf(part, count * part.query.shape[0], space);
    heads.rest.bytes = attention.scratch.address + *needed - heads.rest.address;
    return emitHeads(builder, part, heads, first, count);
  });
}

} // namespace tpuc::bm1684x

//===- QuantizedAttention.cpp - Attention on integers----------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Support/BitExactMath.h"
#include "tpuc/Target/BM1684X/Kernels/AttentionHeads.h"
#include "tpuc/Target/BM1684X/Kernels/Commands.h"
#include "tpuc/Target/BM1684X/Kernels/Quantized.h"
#include "tpuc/Target/BM1684X/Kernels/QuantizedRows.h"
#include "tpuc/Target/BM1684X/Kernels/Requant.h"
#include "tpuc/Target/BM1684X/Kernels/SoftmaxWeights.h"
#include "tpuc/Target/BM1684X/Kernels/Windows.h"

#include <fmt/format.h>

namespace tpuc::bm1684x {

namespace {

/// The bits of the lower byte of a weight.
constexpr int kByteBits = 8;

/// Tensors of some heads, n the head. Behind the columns of the values stands one of ones, whose
/// product with the weights is their sum.
struct IntegerHeads {
  LocalTensor query, key, values;
  SoftmaxRegisters registers;
  LocalTensor weights;              ///< U16
  std::array<LocalTensor, 2> bytes; ///< U8: the lower and the upper ones of the weights.
  std::array<LocalTensor, 2> sums;  ///< 32 bits
  LocalTensor share;                ///< F32, one for each row.
  std::array<LocalTensor, 2> means; ///< F32
  Scratch rest;
};

IntegerHeads takeHeads(const QuantizedAttention &attention, int64_t heads,
                       ScratchAllocator &space) {
  const auto [rows, keys, width, valueWidth] = headSizes(attention);
  const Extents scores = {heads, rows, 1, keys};
  IntegerHeads made;
  made.query = space.take(attention.query.type, {heads, rows, 1, width});
  made.key = space.take(attention.key.type, {heads, keys, 1, width});
  made.values = space.take(attention.value.type, {heads, keys, 1, valueWidth + 1});
  made.registers = takeSoftmaxRegisters(scores, 0, space);
  made.weights = space.take(DataType::U16, scores);
  for (LocalTensor &tensor : made.bytes)
    tensor = space.take(DataType::U8, scores);
  for (LocalTensor &tensor : made.sums)
    tensor = space.take(DataType::I32, {heads, rows, 1, valueWidth + 1});
  made.share = space.take(DataType::F32, {heads, rows, 1, 1});
  for (LocalTensor &tensor : made.means)
    tensor = space.take(DataType::F32, {heads, rows, 1, valueWidth});
  made.rest.address = space.next;
  return made;
}

QuantizedMatrixProduct scoresOf(const QuantizedAttention &attention, const IntegerHeads &space,
                                int64_t head) {
  QuantizedMatrixProduct product;
  product.left = space.query.slice(0, head, 1);
  product.right = space.key.slice(0, head, 1);
  product.output = space.registers.full[0].as(DataType::I32).slice(0, head, 1);
  product.rightIsTransposed = true;
  product.leftZero = attention.queryAs.zeroPoint;
  product.rightZero = attention.keyAs.zeroPoint;
  product.scratch = space.rest;
  return product;
}

/// The sums of the values by the upper bytes of the weights, or by both.
QuantizedMatrixProduct sumsOf(const IntegerHeads &space, int64_t head, bool isUpper) {
  QuantizedMatrixProduct product;
  product.left = space.bytes[isUpper ? 1 : 0].slice(0, head, 1);
  product.right = space.values.slice(0, head, 1);
  product.output = space.sums[isUpper ? 0 : 1].slice(0, head, 1);
  product.accumulates = !isUpper;
  product.scratch = space.rest;
  return product;
}

Expected<void> checkStored(const std::string &where, const QuantizedAttention &attention) {
  for (const LocalTensor *tensor :
       {&attention.query, &attention.key, &attention.value, &attention.output})
    if (Expected<void> fits = checkByteTensor(where, "a tensor", *tensor); !fits)
      return fits;
  if (Expected<void> fits = checkHeads(where, attention); !fits)
    return fits;
  if (const int64_t keys = attention.key.shape[1]; keys > steps::kLongestSoftmax)
    return makeError(where, fmt::format("{} keys", keys),
                     fmt::format("at most {}", steps::kLongestSoftmax));
  return {};
}

/// What the products want beside `space`.
Expected<uint32_t> restBytes(const QuantizedAttention &attention, const IntegerHeads &space) {
  uint32_t bytes = 0;
  for (const QuantizedMatrixProduct &product :
       {scoresOf(attention, space, 0), sumsOf(space, 0, true), sumsOf(space, 0, false)}) {
    Expected<uint32_t> wanted = quantizedMatrixProductScratch(product);
    if (!wanted)
      return wanted;
    bytes = std::max(bytes, *wanted);
  }
  return bytes;
}

/// The operands of heads to `space`; `first` is the first of these heads.
void addOperands(Builder &builder, const QuantizedAttention &attention, const IntegerHeads &space,
                 int64_t first) {
  const int64_t count = space.query.shape[0] / attention.query.shape[0];
  const int64_t width = space.values.shape[3] - 1;
  const auto copyTo = [&](const LocalTensor &tensor) {
    return [&builder, tensor](int64_t to, const LocalTensor &from) {
      addUnaryArith(builder, ArithOp::Copy, tensor.slice(0, to, from.shape[0]), from);
    };
  };
  forHeadsOfRows(attention.query, attention.heads, first, count, copyTo(space.query));
  forSharedHeads(attention, attention.key, first, count, copyTo(space.key));
  forSharedHeads(attention, attention.value, first, count, copyTo(space.values.slice(3, 0, width)));
  addUnaryArith(builder, ArithOp::Copy, space.values.slice(3, width, 1),
                immediate(space.values.type, 1));
}

/// The bytes of the weights: every second one, from the first or the second on.
void addBytes(Builder &builder, const IntegerHeads &space) {
  addCast(builder, space.weights, space.registers.full[3], Rounding::HalfToEven);
  for (uint32_t byte = 0; byte < 2; ++byte) {
    LocalTensor bytes = space.weights;
    bytes.explicitStride = space.weights.strides();
    for (int64_t &stride : bytes.explicitStride)
      stride *= 2;
    bytes.layout = Layout::Explicit;
    bytes.type = DataType::U8;
    bytes.address += byte;
    addUnaryArith(builder, ArithOp::Copy, space.bytes[byte], bytes);
  }
}

/// What the sums of weighed values of heads stand for, stored; `first` is the first of them.
void addMeans(Builder &builder, const QuantizedAttention &attention, const IntegerHeads &space,
              int64_t first) {
  const auto &[upper, both] = space.sums;
  const int64_t width = both.shape[3] - 1;
  // The sums lie where they were shifted from, in F32.
  const LocalTensor wide = upper.as(DataType::F32);
  addCast(builder, wide, both);
  addArith(builder, ArithOp::Div, space.share, immediate(DataType::F32, 1), wide.slice(3, width, 1),
           steps::kRootSteps);
  const auto &[means, scaled] = space.means;
  addArith(builder, ArithOp::Mul, means, wide.slice(3, 0, width),
           repeated(space.share, means.shape));
  const StoredAs &to = attention.outputAs;
  const double ratio = attention.valueAs.scale / to.scale;
  addLinear(builder, scaled, means, ratio, to.zeroPoint - attention.valueAs.zeroPoint * ratio);
  forHeadsOfRows(
      attention.output, attention.heads, first, space.query.shape[0] / attention.query.shape[0],
      [&](int64_t from, const LocalTensor &output) {
        addCast(builder, output, scaled.slice(0, from, output.shape[0]), Rounding::HalfAway);
      });
}

/// The heads of some samples from `first` on, as many as `space` is for.
Expected<void> emitHeads(Builder &builder, const QuantizedAttention &attention,
                         const IntegerHeads &space, int64_t first) {
  const int64_t count = space.query.shape[0];
  addOperands(builder, attention, space, first);
  for (int64_t head = 0; head < count; ++head)
    if (Expected<void> done = emitQuantizedMatrixProduct(builder, scoresOf(attention, space, head));
        !done)
      return done;
  const LocalTensor &scores = space.registers.full[1];
  addCast(builder, scores, space.registers.full[0].as(DataType::I32));
  addSoftmaxWeights(builder, scores,
                    attention.scale * attention.queryAs.scale * attention.keyAs.scale,
                    space.registers);
  addBytes(builder, space);
  for (int64_t head = 0; head < count; ++head)
    if (Expected<void> done = emitQuantizedMatrixProduct(builder, sumsOf(space, head, true)); !done)
      return done;
  addShift(builder, ArithOp::ArithShift, space.sums[1], space.sums[0], kByteBits);
  for (int64_t head = 0; head < count; ++head)
    if (Expected<void> done = emitQuantizedMatrixProduct(builder, sumsOf(space, head, false));
        !done)
      return done;
  addMeans(builder, attention, space, first);
  return {};
}

} // namespace

Expected<uint32_t> quantizedAttentionScratch(const QuantizedAttention &attention) {
  if (Expected<void> checked = checkStored("attention", attention); !checked)
    return propagate(checked);
  ScratchAllocator space;
  const IntegerHeads heads = takeHeads(attention, headsAtOnce(attention), space);
  Expected<uint32_t> rest = restBytes(attention, heads);
  if (!rest)
    return rest;
  return space.next + *rest;
}

Expected<void> emitQuantizedAttention(Builder &builder, const QuantizedAttention &attention) {
  Expected<uint32_t> needed = quantizedAttentionScratch(attention);
  if (Expected<void> fits = checkScratch(builder.layer(), attention.scratch, needed); !fits)
    return fits;
  return forHeads(attention, [&](const AttentionOperands &operands, int64_t first, int64_t count) {
    QuantizedAttention part = attention;
    static_cast<AttentionOperands &>(part) = operands;
    ScratchAllocator space{attention.scratch.address};
    IntegerHeads heads = takeHeads(part, count * part.query.shape[0], space);
    heads.rest.bytes = attention.scratch.address + *needed - heads.rest.address;
    return emitHeads(builder, part, heads, first);
  });
}

} // namespace tpuc::bm1684x

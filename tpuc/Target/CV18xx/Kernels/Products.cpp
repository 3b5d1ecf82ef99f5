//===- Products.cpp - Products of matrices --------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/CV18xx/Kernels/Products.h"
#include "tpuc/Target/CV18xx/Kernels/Fields.h"

#include <utility>

namespace tpuc::cv18xx {

namespace {

/// Pieces `first` to `first + count` of `width` columns each: a transfer's two sides.
struct Sides {
  GlobalTensor global;
  LocalTensor local;
};

Sides sidesOf(const Chip &chip, const GlobalMatrix &from, const LocalMatrix &to, uint32_t first,
              uint32_t count, uint32_t width) {
  const uint32_t whole = to.width(chip);
  Sides sides{from.begin, {.address = to.address + first * kLaneBytes, .isBf16 = to.isBf16}};
  sides.global.isBf16 = to.isBf16;
  sides.global.offset += uint64_t{first} * whole * from.columnStride;
  const bool isDense = from.columnStride == to.elementBytes();
  sides.global.shape = {to.rows, count, isDense ? 1 : width, isDense ? width : 1};
  sides.global.strides = {from.rowStride, whole * from.columnStride, from.columnStride};
  sides.local.shape = sides.global.shape;
  sides.local.strides = {to.rowBytes(chip), to.rowBytes(chip), to.elementBytes(),
                         to.elementBytes()};
  return sides;
}

template <typename Emit>
Expected<void> overPieces(const Chip &chip, const GlobalMatrix &global, const LocalMatrix &local,
                          Emit emit) {
  const uint32_t width = local.width(chip);
  const uint32_t whole = local.columns / width, rest = local.columns % width;
  if (whole != 0)
    if (Expected<void> done = emit(sidesOf(chip, global, local, 0, whole, width)); !done)
      return done;
  return rest == 0 ? Expected<void>() : emit(sidesOf(chip, global, local, whole, 1, rest));
}

} // namespace

uint32_t LocalMatrix::width(const Chip &chip) const {
  const uint32_t share = (columns + chip.lanes - 1) / chip.lanes;
  const uint32_t line = kEuBytes / elementBytes();
  return (share + line - 1) / line * line;
}
uint32_t LocalMatrix::pieces(const Chip &chip) const {
  return (columns + width(chip) - 1) / width(chip);
}

Expected<void> emitLoad(Builder &builder, const GlobalMatrix &from, const LocalMatrix &to) {
  return overPieces(builder.chip(), from, to, [&](const Sides &sides) {
    return emitLoad(builder, sides.global, sides.local);
  });
}
Expected<void> emitPadded(Builder &builder, const GlobalMatrix &from, const LocalMatrix &to) {
  const Chip &chip = builder.chip();
  if (to.columns % to.width(chip) != 0)
    if (Expected<void> done =
            emitFill(builder,
                     alignedTensor(chip, to.address, {to.rows, to.pieces(chip), 1, to.width(chip)},
                                   to.isBf16),
                     0);
        !done)
      return done;
  return emitLoad(builder, from, to);
}

GlobalMatrix denseMatrix(const GlobalTensor &begin, const LocalMatrix &matrix) {
  return {begin, uint64_t{matrix.columns} * matrix.elementBytes(), matrix.elementBytes()};
}

Expected<void> emitStore(Builder &builder, const LocalMatrix &from, const GlobalMatrix &to) {
  return overPieces(builder.chip(), to, from, [&](const Sides &sides) {
    return emitStore(builder, sides.local, sides.global);
  });
}

Expected<void> emitProduct(Builder &builder, const LocalMatrix &result, const LocalMatrix &left,
                           const LocalMatrix &right, bool hasRelu, std::optional<SumScale> scale,
                           std::optional<uint32_t> bias, std::optional<ProductPart> part) {
  const Chip &chip = builder.chip();
  Command command = builder.make("matmul");
  FieldSetter fields(command);
  const uint32_t pieces = result.pieces(chip), width = result.width(chip);
  const bool isPiece = part && part->count != 0;
  const uint32_t last =
      isPiece ? part->count : left.columns - (left.pieces(chip) - 1) * left.width(chip);
  fields.set(Field::Res0Addr, result.address).shape(kRes0Shape, {result.rows, pieces, 1, width});
  fields.set(Field::Opd0Addr,
             left.address +
                 (isPiece ? part->piece * kLaneBytes + part->first * left.elementBytes() : 0));
  if (isPiece)
    fields.shape(kOpd0Shape, {left.rows, 1, 1, part->count});
  else
    fields.shape(kOpd0Shape, {left.rows, left.pieces(chip), 1, left.width(chip)});
  fields.set(Field::Opd1Addr, right.address).shape(kOpd1Shape, {right.rows, pieces, 1, last});
  fields.shape(kOpd2Shape, {1, pieces, 1, width}).set(Field::Opd2Narrow, 0);
  if (bias)
    fields.set(Field::Opd2Addr, *bias).set(Field::Opd2StrB, result.rowBytes(chip));
  fields.set(Field::Operands, bias ? 3 : 2).set(Field::Kind, result.isBf16).allSigned();
  fields.set(Field::Relu, hasRelu);
  if (scale)
    fields.set(Field::Requant, 1)
        .set(Field::Multiplier, scale->multiplier)
        .set(Field::Shift, scale->shift);
  if (part && (part->addsSums || part->leavesSums))
    fields.set(Field::Partial, (part->addsSums ? 1 : 0) + (part->leavesSums ? 2 : 0))
        .set(Field::Res0StrB, result.bytes(chip));
  if (Expected<void> done = fields.done(); !done)
    return done;
  return builder.add(command);
}

namespace {

/// Two places for what is loaded with each slice, and the sums.
struct ProductPlaces {
  std::array<uint32_t, 2> left = {}, right = {};
  uint32_t sums = 0, end = 0;

  ProductPlaces(const Chip &chip, const ProductPlan &plan) {
    const auto take = [&](uint32_t bytes) { return std::exchange(end, end + bytes); };
    for (uint32_t &place : left)
      place = take(LocalMatrix{0, plan.rows, plan.inner}.bytes(chip));
    for (uint32_t &place : right)
      place = take(LocalMatrix{0, plan.inner, plan.columns}.bytes(chip));
    sums = take(2 * LocalMatrix{0, plan.rows, plan.columns}.bytes(chip));
  }
};

constexpr uint32_t kMostRows = 4095;

GlobalMatrix partOf(GlobalMatrix matrix, uint64_t row, uint64_t column) {
  matrix.begin.offset += row * matrix.rowStride + column * matrix.columnStride;
  return matrix;
}

/// Parts of `extent` that are worth a try: equal ones, in whole lines.
std::vector<uint32_t> partSizes(uint32_t extent) {
  constexpr uint32_t kLine = kEuBytes / 2;
  std::vector<uint32_t> sizes;
  for (uint32_t count = 1;; count += 1 + count / 3) {
    const uint32_t share = (extent + count - 1) / count;
    const uint32_t size = std::min((share + kLine - 1) / kLine * kLine, extent);
    if (size <= kMostRows && (sizes.empty() || size < sizes.back()))
      sizes.push_back(size);
    if (share <= kLine)
      return sizes;
  }
}

} // namespace

std::optional<ProductPlan> bestSlices(const Chip &chip, const SlicedProduct &product) {
  // What a slice costs at its start, in bytes.
  constexpr uint64_t kSliceBytes = 2048;
  const auto times = [](uint32_t extent, uint32_t size) {
    return uint64_t{(extent + size - 1) / size};
  };
  std::optional<ProductPlan> best;
  uint64_t least = 0;
  for (const uint32_t rows : partSizes(product.rows))
    for (const uint32_t columns : partSizes(product.columns))
      for (const uint32_t inner : partSizes(product.inner)) {
        const ProductPlan plan = {rows, inner, columns};
        if (ProductPlaces(chip, plan).end > kLaneBytes)
          continue;
        const uint64_t ofRows = times(product.rows, rows),
                       ofColumns = times(product.columns, columns);
        const uint64_t bytes =
            2 * uint64_t{product.inner} * (product.rows * ofColumns + product.columns * ofRows) +
            kSliceBytes * ofRows * ofColumns * times(product.inner, inner);
        if (best && bytes >= least)
          continue;
        best = plan;
        least = bytes;
      }
  return best;
}

Expected<void> emitSliced(Builder &builder, const SlicedProduct &product, const ProductPlan &plan) {
  const ProductPlaces places(builder.chip(), plan);
  if (plan.rows == 0 || plan.inner == 0 || plan.columns == 0 || places.end > kLaneBytes)
    return makeError("", "slices that do not fit the lanes", "smaller ones");
  uint32_t number = 0;
  const auto emitPart = [&](const SlicedProduct &one, uint32_t row,
                            uint32_t column) -> Expected<void> {
    const LocalMatrix sums{places.sums, std::min(plan.rows, one.rows - row),
                           std::min(plan.columns, one.columns - column)};
    for (uint32_t inner = 0; inner < one.inner; inner += plan.inner, ++number) {
      const uint32_t count = std::min(plan.inner, one.inner - inner);
      const LocalMatrix left{places.left[number % 2], sums.rows, count};
      const LocalMatrix right{places.right[number % 2], count, sums.columns};
      if (Expected<void> done = emitLoad(builder, partOf(one.left, row, inner), left); !done)
        return done;
      if (Expected<void> done = emitPadded(builder, partOf(one.right, inner, column), right); !done)
        return done;
      const ProductPart part{
          .count = 0, .addsSums = inner != 0, .leavesSums = inner + count < one.inner};
      if (Expected<void> done =
              emitProduct(builder, sums, left, right, one.hasRelu && !part.leavesSums, std::nullopt,
                          std::nullopt, part);
          !done)
        return done;
    }
    return emitStore(builder, sums, partOf(one.result, row, column));
  };
  SlicedProduct one = product;
  for (uint32_t i = 0; i < product.count; ++i) {
    for (uint32_t row = 0; row < product.rows; row += plan.rows)
      for (uint32_t column = 0; column < product.columns; column += plan.columns)
        if (Expected<void> done = emitPart(one, row, column); !done)
          return done;
    one.left.begin.offset += product.leftStep;
    one.right.begin.offset += product.rightStep;
    one.result.begin.offset += product.resultStep;
  }
  return {};
}

} // namespace tpuc::cv18xx

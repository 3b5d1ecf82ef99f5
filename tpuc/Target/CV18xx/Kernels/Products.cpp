//===- Products.cpp - Products of matrices --------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/CV18xx/Kernels/Products.h"
#include "tpuc/Target/CV18xx/Kernels/Fields.h"

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
  const uint32_t last =
      part ? part->count : left.columns - (left.pieces(chip) - 1) * left.width(chip);
  fields.set(Field::Res0Addr, result.address).shape(kRes0Shape, {result.rows, pieces, 1, width});
  fields.set(Field::Opd0Addr,
             left.address +
                 (part ? part->piece * kLaneBytes + part->first * left.elementBytes() : 0));
  if (part)
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

} // namespace tpuc::cv18xx

//===- DataMovement.cpp - Transfers of the BM1684 -------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684/Kernels/DataMovement.h"
#include "tpuc/Target/BM168x/Timing.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tpuc::bm1684 {

namespace {

constexpr int64_t kMostExtent = 65535;

/// One end of a transfer; strides count elements.
struct Side {
  uint64_t address;
  bool isLocal;
  int64_t bytes;
  Extents shape, stride;
};

Side sideOf(const LocalTensor &tensor) {
  Side side{tensor.commandAddress(), true, 4, tensor.shape, tensor.strides()};
  side.shape[0] = ceilDiv(tensor.shape[0], tensor.items());
  return side;
}

Side sideOf(const GlobalTensor &tensor) {
  return {tensor.address, false, byteSize(tensor.type, 1), tensor.shape, tensor.stride};
}

Side slice(const Side &side, size_t axis, int64_t first, int64_t count) {
  Side part = side;
  part.shape[axis] = count;
  if (!side.isLocal || axis != 1) {
    part.address += static_cast<uint64_t>(first * side.stride[axis] * side.bytes);
    return part;
  }
  const uint64_t offset = side.address - kLocalBase;
  const int64_t lane = static_cast<int64_t>(offset / kLaneBytes) + first;
  part.address = kLocalBase + static_cast<uint64_t>(lane % kLanes) * kLaneBytes +
                 offset % kLaneBytes +
                 static_cast<uint64_t>(lane / kLanes * side.stride[1] * side.bytes);
  return part;
}

struct SideFields {
  Field low, high;
  std::array<Field, 4> extent, stride;
};
constexpr SideFields kSource{
    Field::SrcAddrL32,
    Field::SrcAddrH8,
    {Field::SrcNsize, Field::SrcCsize, Field::SrcHsize, Field::SrcWsize},
    {Field::SrcNstride, Field::SrcCstride, Field::SrcHstride, Field::SrcWstride}};
constexpr SideFields kTarget{
    Field::DstAddrL32,
    Field::DstAddrH8,
    {Field::DstNsize, Field::DstCsize, Field::DstHsize, Field::DstWsize},
    {Field::DstNstride, Field::DstCstride, Field::DstHstride, Field::DstWstride}};

void setSide(Builder &builder, Command &command, const SideFields &fields, const Side &side) {
  command.set(fields.low, side.address & 0xFFFFFFFF).set(fields.high, side.address >> 32);
  for (size_t axis = 0; axis < 4; ++axis) {
    setField(builder, command, fields.extent[axis], side.shape[axis]);
    setField(builder, command, fields.stride[axis], side.stride[axis]);
  }
}

uint64_t formatOf(int64_t bytes) {
  return static_cast<uint64_t>(bytes == 4   ? Format::Bits32
                               : bytes == 2 ? Format::Bits16
                                            : Format::Bits8);
}

bm168x::Direction directionOf(bool fromLocal, bool toLocal) {
  using bm168x::Direction;
  if (fromLocal)
    return toLocal ? Direction::LocalToLocal : Direction::LocalToSystem;
  return toLocal ? Direction::SystemToLocal : Direction::SystemToSystem;
}

Command dmaCommand(unsigned opcode, int64_t bytes, bm168x::Direction direction) {
  Command command = Command::make(*mc::findOp(kCommandTable, Engine::Gdma, opcode, false));
  command.set(Field::StrideEnable, 1).set(Field::Direction, direction);
  return command.set(Field::SrcFormat, formatOf(bytes)).set(Field::DstFormat, formatOf(bytes));
}

/// Calls `body(from, to)` for parts whose extents all fit in the fields.
template <typename Body>
void inPieces(const Side &from, const Side &to, size_t axis, const Body &body) {
  if (axis == 4)
    return body(from, to);
  for (int64_t first = 0; first < to.shape[axis]; first += kMostExtent) {
    const int64_t count = std::min(kMostExtent, to.shape[axis] - first);
    if (count == to.shape[axis])
      return inPieces(from, to, axis + 1, body);
    inPieces(slice(from, axis, first, count), slice(to, axis, first, count), axis + 1, body);
  }
}

/// Columns that do not follow each other become rows: skipped elements of a row take time.
void useRows(Side &from, Side &to) {
  if (from.shape[2] != 1 || (from.stride[3] == 1 && to.stride[3] == 1))
    return;
  for (Side *side : {&from, &to}) {
    std::swap(side->shape[2], side->shape[3]);
    side->stride[2] = side->stride[3];
    side->stride[3] = 1;
  }
}

/// The same with the columns of both sides as rows one by one.
Expected<void> copyColumns(Builder &builder, const Side &from, const Side &to);

Expected<void> copy(Builder &builder, Side from, Side to) {
  if (from.bytes != to.bytes || from.shape != to.shape || std::ranges::min(from.shape) < 1)
    return makeError(builder.layer(),
                     fmt::format("a transfer from [{}] of {} bytes to [{}] of {}",
                                 fmt::join(from.shape, ","), from.bytes, fmt::join(to.shape, ","),
                                 to.bytes),
                     "equal shapes and sizes of elements, extents of at least 1");
  // A single column needs no stride, and it may be too long for the engine.
  if (from.shape[3] == 1)
    from.stride[3] = to.stride[3] = 1;
  useRows(from, to);
  if (from.shape[3] > 1 && (from.stride[3] != 1 || to.stride[3] != 1))
    return copyColumns(builder, from, to);
  inPieces(from, to, 0, [&](const Side &source, const Side &target) {
    Command command =
        dmaCommand(gdma::kCopy, source.bytes, directionOf(source.isLocal, target.isLocal));
    setSide(builder, command, kSource, source);
    setSide(builder, command, kTarget, target);
    builder.add(command);
  });
  return {};
}

Expected<void> copyColumns(Builder &builder, const Side &from, const Side &to) {
  // The shorter of rows and columns one after the other.
  const size_t axis = from.shape[2] < from.shape[3] ? 2 : 3;
  for (int64_t i = 0; i < from.shape[axis]; ++i)
    if (Expected<void> done = copy(builder, slice(from, axis, i, 1), slice(to, axis, i, 1)); !done)
      return done;
  return {};
}

Side turned(Side side) {
  std::swap(side.shape[1], side.shape[3]);
  std::swap(side.stride[1], side.stride[3]);
  return side;
}

} // namespace

Expected<void> emitLoad(Builder &builder, const GlobalTensor &from, const LocalTensor &to) {
  return copy(builder, sideOf(from), sideOf(to));
}

Expected<void> emitStore(Builder &builder, const LocalTensor &from, const GlobalTensor &to) {
  return copy(builder, sideOf(from), sideOf(to));
}

Expected<void> emitGlobalCopy(Builder &builder, const GlobalTensor &from, const GlobalTensor &to) {
  return copy(builder, sideOf(from), sideOf(to));
}

Expected<void> emitLocalMove(Builder &builder, const LocalTensor &from, const LocalTensor &to) {
  return copy(builder, sideOf(from), sideOf(to));
}

Expected<void> emitLoadTurned(Builder &builder, const GlobalTensor &from, const LocalTensor &to) {
  return copy(builder, turned(sideOf(from)), sideOf(to));
}

Expected<void> emitStoreTurned(Builder &builder, const LocalTensor &from, const GlobalTensor &to) {
  return copy(builder, sideOf(from), turned(sideOf(to)));
}

Expected<void> emitGlobalFill(Builder &builder, const GlobalTensor &to, uint32_t bits) {
  const Side side = sideOf(to);
  inPieces(side, side, 0, [&](const Side &, const Side &target) {
    Command command = dmaCommand(gdma::kFill, target.bytes, bm168x::Direction::SystemToSystem);
    command.set(Field::ConstantValue, bits);
    setSide(builder, command, kTarget, target);
    builder.add(command);
  });
  return {};
}

} // namespace tpuc::bm1684

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

/// Batch item `n` of words that several items share: 1 or 2 bytes of each word.
Side itemOf(const LocalTensor &tensor, int64_t n) {
  const int64_t items = tensor.items(), bytes = 4 / items;
  Side side{tensor.commandAddress(), true, bytes, tensor.shape, tensor.strides()};
  side.address += static_cast<uint64_t>(n / items * side.stride[0] * 4 + n % items * bytes);
  side.shape[0] = 1;
  for (int64_t &stride : side.stride)
    stride *= items;
  return side;
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

/// Whether rows are moved as they are, where columns stand apart: what the source skips takes as
/// long as what is moved, but rows of one column take a whole burst each.
bool takesSkippedColumns(const Side &from, const Side &to) {
  constexpr int64_t kBurst = 30, kMostBytes = 10;
  const bool isApart = from.stride[3] != 1 || to.stride[3] != 1;
  return isApart && from.shape[3] * from.bytes >= kBurst && from.stride[3] > 0 &&
         from.stride[3] * from.bytes <= kMostBytes;
}

/// Rows of one column as a row.
Side rowsAsColumns(Side side) {
  std::swap(side.shape[2], side.shape[3]);
  side.stride[3] = side.stride[2];
  side.stride[2] = side.shape[3] * side.stride[3];
  return side;
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
  if (from.shape[3] == 1 && takesSkippedColumns(rowsAsColumns(from), rowsAsColumns(to))) {
    from = rowsAsColumns(from);
    to = rowsAsColumns(to);
  }
  // A single column needs no stride, and it may be too long for the engine.
  if (from.shape[3] == 1)
    from.stride[3] = to.stride[3] = 1;
  const bool isMovedSo = takesSkippedColumns(from, to);
  if (!isMovedSo)
    useRows(from, to);
  if (!isMovedSo && from.shape[3] > 1 && (from.stride[3] != 1 || to.stride[3] != 1))
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

/// Rows of bytes that stand apart in local memory, as they are: what is skipped takes time, but
/// less than a row for each byte would.
void copyItem(Builder &builder, const Side &from, const Side &to) {
  inPieces(from, to, 0, [&](const Side &source, const Side &target) {
    Command command =
        dmaCommand(gdma::kCopy, source.bytes, directionOf(source.isLocal, target.isLocal));
    setSide(builder, command, kSource, source);
    setSide(builder, command, kTarget, target);
    builder.add(command);
  });
}

/// Calls `move(words, elements)` for each batch item of a tensor that shares its words, where
/// `global` holds one after the other.
template <typename Move>
Expected<void> forEachItem(Builder &builder, const LocalTensor &local, const GlobalTensor &global,
                           const Move &move) {
  if (local.shape != global.shape || byteSize(global.type, 1) * local.items() != 4 ||
      std::ranges::min(local.shape) < 1)
    return makeError(builder.layer(),
                     fmt::format("a transfer of [{}] {} as [{}] {}", fmt::join(global.shape, ","),
                                 dataTypeName(global.type), fmt::join(local.shape, ","),
                                 dataTypeName(local.type)),
                     "equal shapes and sizes of elements, extents of at least 1");
  for (int64_t n = 0; n < local.shape[0]; ++n)
    move(itemOf(local, n), slice(sideOf(global), 0, n, 1));
  return {};
}

Side turned(Side side) {
  std::swap(side.shape[1], side.shape[3]);
  std::swap(side.stride[1], side.stride[3]);
  return side;
}

} // namespace

Expected<void> emitLoad(Builder &builder, const GlobalTensor &from, const LocalTensor &to) {
  if (to.items() > 1)
    return forEachItem(builder, to, from, [&](const Side &item, const Side &elements) {
      copyItem(builder, elements, item);
    });
  return copy(builder, sideOf(from), sideOf(to));
}

Expected<void> emitStore(Builder &builder, const LocalTensor &from, const GlobalTensor &to) {
  if (from.items() > 1)
    return forEachItem(builder, from, to, [&](const Side &item, const Side &elements) {
      copyItem(builder, item, elements);
    });
  return copy(builder, sideOf(from), sideOf(to));
}

Expected<void> emitGlobalCopy(Builder &builder, const GlobalTensor &from, const GlobalTensor &to) {
  return copy(builder, sideOf(from), sideOf(to));
}

namespace {

/// The rows of a matrix [n,c,1,1] become its columns: n and c are exchanged.
Command exchange(Builder &builder, const Side &from, const Side &to) {
  Command command = dmaCommand(gdma::kTranspose, from.bytes, bm168x::Direction::SystemToSystem);
  setSide(builder, command, kSource, from);
  setSide(builder, command, kTarget, to);
  return command;
}

} // namespace

Expected<void> emitGlobalTurn(Builder &builder, const GlobalTensor &from, const GlobalTensor &to) {
  const auto &[batches, rows, height, columns] = from.shape;
  const int64_t bytes = byteSize(from.type, 1);
  if (to.shape != Extents{batches, columns, height, rows} || byteSize(to.type, 1) != bytes ||
      bytes > 4 || from.stride[3] != 1 || to.stride[3] != 1 || std::ranges::min(from.shape) < 1)
    return makeError(builder.layer(),
                     fmt::format("[{}] of {} turned to [{}] of {}", fmt::join(from.shape, ","),
                                 dataTypeName(from.type), fmt::join(to.shape, ","),
                                 dataTypeName(to.type)),
                     "[n,c,h,w] to [n,w,h,c] of one type, columns that follow each other");
  const auto start = [&](const GlobalTensor &tensor, int64_t n, int64_t h, int64_t row,
                         int64_t column) {
    return tensor.address + static_cast<uint64_t>((n * tensor.stride[0] + row * tensor.stride[1] +
                                                   h * tensor.stride[2] + column) *
                                                  bytes);
  };
  for (int64_t n = 0; n < batches; ++n)
    for (int64_t h = 0; h < height; ++h)
      for (int64_t row = 0; row < rows; row += kMostExtent)
        for (int64_t column = 0; column < columns; column += kMostExtent) {
          const int64_t high = std::min(kMostExtent, rows - row);
          const int64_t wide = std::min(kMostExtent, columns - column);
          // Rows of single elements without gaps: then the engine takes long bursts.
          builder.add(exchange(builder,
                               {start(from, n, h, row, column),
                                false,
                                bytes,
                                {high, wide, 1, 1},
                                {from.stride[1], 1, 1, 1}},
                               {start(to, n, h, column, row),
                                false,
                                bytes,
                                {wide, high, 1, 1},
                                {to.stride[1], 1, 1, 1}}));
        }
  return {};
}

Expected<void> emitLocalMove(Builder &builder, const LocalTensor &from, const LocalTensor &to) {
  return copy(builder, sideOf(from), sideOf(to));
}

Expected<void> emitLoadDense(Builder &builder, const GlobalTensor &from, uint32_t address) {
  Side to = sideOf(from);
  to.address = kLocalBase + address;
  to.isLocal = true;
  to.stride = {0, from.shape[2] * from.shape[3], from.shape[3], 1};
  return copy(builder, sideOf(from), to);
}

/// As one end of a transfer of bytes of this shape.
static Side sideOf(const DenseRows &rows, const Extents &shape) {
  const uint64_t lane = kLocalBase + uint64_t{rows.startLane} * kLaneBytes;
  return {lane + rows.address, true, 1, shape, {0, rows.slotBytes, shape[3], 1}};
}

static Expected<void> checkRows(const Builder &builder, const GlobalTensor &tensor) {
  if (tensor.shape[0] != 1 || byteSize(tensor.type, 1) != 1)
    return makeError(
        builder.layer(),
        fmt::format("rows of [{}] {}", fmt::join(tensor.shape, ","), dataTypeName(tensor.type)),
        "bytes of one batch item");
  return {};
}

Expected<void> emitLoadRows(Builder &builder, const GlobalTensor &from, const DenseRows &to) {
  if (Expected<void> fits = checkRows(builder, from); !fits)
    return fits;
  return copy(builder, sideOf(from), sideOf(to, from.shape));
}

Expected<void> emitStoreRows(Builder &builder, const DenseRows &from, const GlobalTensor &to) {
  if (Expected<void> fits = checkRows(builder, to); !fits)
    return fits;
  return copy(builder, sideOf(from, to.shape), sideOf(to));
}

MatrixPieces MatrixPieces::of(int64_t columns) {
  constexpr int64_t kAtOnce = 64;
  MatrixPieces pieces;
  // Wider pieces take as long as a second round of lanes, and half the memory.
  pieces.width = columns <= kAtOnce * int64_t{kLanes} ? kAtOnce : int64_t{kEuBytes};
  pieces.width = std::min(pieces.width, columns);
  pieces.count = ceilDiv(columns, pieces.width);
  pieces.last = columns - (pieces.count - 1) * pieces.width;
  pieces.slots = ceilDiv(pieces.count, kLanes);
  return pieces;
}

uint32_t matrixBytes(DataType type, int64_t rows, int64_t columns) {
  const int64_t bytes = byteSize(type, 1);
  return static_cast<uint32_t>(rows * MatrixPieces::of(columns).pitch(bytes) * bytes);
}

namespace {

Expected<void> moveMatrix(Builder &builder, const GlobalTensor &outside, uint32_t address,
                          bool toLocal) {
  const Extents &shape = outside.shape;
  const int64_t bytes = byteSize(outside.type, 1), columns = shape[3];
  if (shape[0] * shape[1] != 1 || outside.stride[3] != 1 || columns > kMostExtent)
    return makeError(
        builder.layer(),
        fmt::format("a matrix [{}] of columns {} apart", fmt::join(shape, ","), outside.stride[3]),
        fmt::format("[1,1,rows,columns] of at most {} dense columns", kMostExtent));
  const MatrixPieces pieces = MatrixPieces::of(columns);
  Side inside{kLocalBase + address, true, bytes, {shape[2], pieces.count, 1, pieces.width}, {}};
  inside.stride = {pieces.pitch(bytes), alignUp(pieces.width, kEuBytes / bytes), pieces.width, 1};
  const Side memory = sideOf(outside);
  for (int64_t first = 0; first < shape[2]; first += kMostExtent) {
    const int64_t rows = std::min(kMostExtent, shape[2] - first);
    Command command = Command::make(*mc::findOp(kCommandTable, Engine::Gdma, gdma::kCopy, true));
    command.set(Field::StrideEnable, 1).set(Field::Direction, directionOf(!toLocal, toLocal));
    command.set(Field::SrcFormat, formatOf(bytes)).set(Field::DstFormat, formatOf(bytes));
    setSide(builder, command, toLocal ? kTarget : kSource, slice(inside, 0, first, rows));
    setSide(builder, command, toLocal ? kSource : kTarget, slice(memory, 2, first, rows));
    builder.add(command);
  }
  return {};
}

} // namespace

Expected<void> emitLoadMatrix(Builder &builder, const GlobalTensor &from, uint32_t address) {
  return moveMatrix(builder, from, address, /*toLocal=*/true);
}

Expected<void> emitStoreMatrix(Builder &builder, uint32_t address, const GlobalTensor &to) {
  return moveMatrix(builder, to, address, /*toLocal=*/false);
}

Expected<void> emitLoadTable(Builder &builder, const GlobalTensor &from, uint32_t table) {
  constexpr int64_t kEntries = 256;
  if (from.type != DataType::I8 && from.type != DataType::U8)
    return makeError(builder.layer(), fmt::format("a table of {}", dataTypeName(from.type)),
                     "bytes");
  Side bytes{from.address, false, 1, {1, 1, 1, kEntries}, {kEntries, kEntries, kEntries, 1}};
  Side words{kL2Base + table, false, 1, {1, 1, 1, kEntries}, {}};
  words.stride = {4 * kEntries, 4 * kEntries, 4 * kEntries, 4};
  copyItem(builder, bytes, words);
  return {};
}

/// Columns that lie apart on both sides, as rows of one.
static Side columnsAsRows(Side side) {
  std::swap(side.shape[2], side.shape[3]);
  std::swap(side.stride[2], side.stride[3]);
  side.stride[3] = 1;
  return side;
}

/// The tensor with its columns and channels exchanged.
static GlobalTensor turned(GlobalTensor tensor) {
  std::swap(tensor.shape[1], tensor.shape[3]);
  std::swap(tensor.stride[1], tensor.stride[3]);
  return tensor;
}

Expected<void> emitLoadTurned(Builder &builder, const GlobalTensor &from, const LocalTensor &to) {
  if (to.items() > 1 && to.shape[2] == 1)
    return forEachItem(builder, to, turned(from), [&](const Side &item, const Side &elements) {
      copyItem(builder, columnsAsRows(elements), columnsAsRows(item));
    });
  return copy(builder, turned(sideOf(from)), sideOf(to));
}

Expected<void> emitStoreTurned(Builder &builder, const LocalTensor &from, const GlobalTensor &to) {
  if (from.items() > 1 && from.shape[2] == 1)
    return forEachItem(builder, from, turned(to), [&](const Side &item, const Side &elements) {
      copyItem(builder, columnsAsRows(item), columnsAsRows(elements));
    });
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

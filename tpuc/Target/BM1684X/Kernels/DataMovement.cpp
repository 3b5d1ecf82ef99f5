//===- DataMovement.cpp - Loads, stores, copies, transposes----------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Kernels/DataMovement.h"
#include "tpuc/Target/BM1684X/Kernels/Commands.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tpuc::bm1684x {

namespace {

constexpr int64_t kMostExtent = 65535;

/// One side of a transfer.
struct Side {
  DataType type = DataType::F32;
  uint64_t address = 0;
  Extents shape{};
  Extents stride{};
  /// Where the channel axis counts lanes, the c stride is that of a slot of 64 channels.
  bool isLocal = false;
};

Side sideOf(const GlobalTensor &tensor) {
  return {tensor.type, tensor.address, tensor.shape, tensor.stride, false};
}
Side sideOf(const LocalTensor &tensor) {
  // Refused by `checkSides`.
  if (!precOf(tensor.type))
    return {tensor.type, 0, tensor.shape, {}, true};
  return {tensor.type, tensor.gdmaAddress(), tensor.shape, tensor.strides(), true};
}

/// Elements [first, first + count) of an axis.
Side slice(const Side &side, size_t axis, int64_t first, int64_t count) {
  Side part = side;
  part.shape[axis] = count;
  auto bytes = static_cast<int64_t>(precBytes(*precOf(side.type)));
  if (!side.isLocal || axis != 1) {
    part.address += static_cast<uint64_t>(first * side.stride[axis] * bytes);
    return part;
  }
  uint64_t offset = side.address - kLocalBase;
  int64_t lane = static_cast<int64_t>(offset / kLaneBytes) + first;
  part.address = kLocalBase + static_cast<uint64_t>(lane % kLanes) * kLaneBytes +
                 offset % kLaneBytes +
                 static_cast<uint64_t>(lane / kLanes * side.stride[1] * bytes);
  return part;
}

struct SideFields {
  Field low, high;
  Field n, c, h, w;
  Field nStride, cStride, hStride, wStride;
};
constexpr SideFields kSource{
    Field::SrcAddrL32, Field::SrcAddrH8,  Field::SrcNsize,   Field::SrcCsize,   Field::SrcHsize,
    Field::SrcWsize,   Field::SrcNstride, Field::SrcCstride, Field::SrcHstride, Field::SrcWstride};
constexpr SideFields kTarget{
    Field::DstAddrL32, Field::DstAddrH8,  Field::DstNsize,   Field::DstCsize,   Field::DstHsize,
    Field::DstWsize,   Field::DstNstride, Field::DstCstride, Field::DstHstride, Field::DstWstride};

void setAddress(Command &command, const SideFields &fields, uint64_t address) {
  command.set(fields.low, address & 0xFFFFFFFF).set(fields.high, address >> 32);
}

void setSide(Builder &builder, Command &command, const SideFields &fields, const Side &side) {
  setAddress(command, fields, side.address);
  Field extents[] = {fields.n, fields.c, fields.h, fields.w};
  Field strides[] = {fields.nStride, fields.cStride, fields.hStride, fields.wStride};
  for (size_t axis = 0; axis < 4; ++axis) {
    setField(builder, command, extents[axis], side.shape[axis]);
    setField(builder, command, strides[axis], side.stride[axis]);
  }
}

Command dmaCommand(unsigned opcode, unsigned sub, DataType type) {
  Command command = Command::make(*findCommandOp(Engine::Gdma, opcode, sub));
  command.set(Field::SrcPrec, *precOf(type)).set(Field::StrideEnable, 1);
  return command;
}

constexpr unsigned kCopy = 0, kBroadcast = 3, kGeneralCopy = 0, kGeneralBroadcast = 1;

Expected<void> checkSides(Builder &builder, const Side &from, const Side &to,
                          const Extents &expected) {
  std::string shapes = fmt::format("a transfer from [{}] to [{}]", fmt::join(from.shape, ","),
                                   fmt::join(to.shape, ","));
  if (!precOf(from.type) || !precOf(to.type) ||
      precBytes(*precOf(from.type)) != precBytes(*precOf(to.type)))
    return makeError(
        builder.layer(),
        fmt::format("a transfer from {} to {}", dataTypeName(from.type), dataTypeName(to.type)),
        "elements of 1, 2 or 4 bytes, equal on both sides");
  if (to.shape != expected)
    return makeError(builder.layer(), shapes, "shapes that fit");
  for (int64_t extent : from.shape)
    if (extent < 1)
      return makeError(builder.layer(), shapes, "extents of at least 1");
  return {};
}

/// Calls `body(from, to)` for parts whose extents all fit in the fields. `axes[i]` is the axis of
/// `from` that axis i of `to` is.
template <typename Body>
void inPieces(const Side &from, const Side &to, const std::array<size_t, 4> &axes, size_t axis,
              const Body &body) {
  if (axis == 4)
    return body(from, to);
  for (int64_t first = 0; first < to.shape[axis]; first += kMostExtent) {
    int64_t count = std::min(kMostExtent, to.shape[axis] - first);
    if (count == to.shape[axis])
      return inPieces(from, to, axes, axis + 1, body);
    inPieces(slice(from, axes[axis], first, count), slice(to, axis, first, count), axes, axis + 1,
             body);
  }
}

constexpr std::array<size_t, 4> kSameAxes{0, 1, 2, 3};

Expected<void> copy(Builder &builder, const Side &from, const Side &to) {
  if (Expected<void> fits = checkSides(builder, from, to, from.shape); !fits)
    return fits;
  inPieces(from, to, kSameAxes, 0, [&](const Side &source, const Side &target) {
    Command command = dmaCommand(gdma::kTensor, kCopy, source.type);
    command.set(Field::NchwCopy, 1);
    setSide(builder, command, kSource, source);
    setSide(builder, command, kTarget, target);
    builder.add(command);
  });
  return {};
}

Extents swappedCW(const Extents &shape) { return {shape[0], shape[3], shape[2], shape[1]}; }

Expected<void> transposeCW(Builder &builder, const Side &from, const Side &to) {
  if (Expected<void> fits = checkSides(builder, from, to, swappedCW(from.shape)); !fits)
    return fits;
  if (from.stride[3] != 1 || to.stride[3] != 1)
    return makeError(builder.layer(), "a transposing transfer with a w stride other than 1",
                     "rows without gaps");
  inPieces(from, to, {0, 3, 2, 1}, 0, [&](const Side &source, const Side &target) {
    Command command = dmaCommand(gdma::kCwTranspose, 0, source.type);
    setSide(builder, command, kSource, source);
    setSide(builder, command, kTarget, target);
    builder.add(command);
  });
  return {};
}

Expected<void> fill(Builder &builder, const Side &to, uint32_t bits) {
  if (Expected<void> fits = checkSides(builder, to, to, to.shape); !fits)
    return fits;
  inPieces(to, to, kSameAxes, 0, [&](const Side &, const Side &target) {
    Command command = dmaCommand(gdma::kTensor, kCopy, target.type);
    command.set(Field::NchwCopy, 1).set(Field::FillConstantEn, 1).set(Field::ConstantValue, bits);
    // The sizes are those of the source.
    setSide(builder, command, kSource, target);
    setSide(builder, command, kTarget, target);
    builder.add(command);
  });
  return {};
}

} // namespace

Expected<void> emitLoad(Builder &builder, const GlobalTensor &from, const LocalTensor &to) {
  return copy(builder, sideOf(from), sideOf(to));
}

Expected<void> emitStore(Builder &builder, const LocalTensor &from, const GlobalTensor &to) {
  return copy(builder, sideOf(from), sideOf(to));
}

/// The first axis from which on the elements of both tensors follow each other.
static size_t firstDenseAxis(const GlobalTensor &from, const GlobalTensor &to) {
  int64_t next = 1;
  size_t first = 4;
  for (; first > 0; next *= from.shape[--first])
    for (const GlobalTensor *tensor : {&from, &to})
      if (tensor->shape[first - 1] != 1 && tensor->stride[first - 1] != next)
        return first;
  return first;
}

/// Copies `count` elements that follow each other.
static void copyBlock(Builder &builder, const GlobalTensor &from, const GlobalTensor &to,
                      int64_t count) {
  Command command = dmaCommand(gdma::kGeneral, kGeneralCopy, from.type);
  command.set(Field::StrideEnable, 0);
  setAddress(command, kSource, from.address);
  setAddress(command, kTarget, to.address);
  setField(builder, command, Field::SrcCstride, count);
  builder.add(command);
}

Expected<void> emitGlobalCopy(Builder &builder, const GlobalTensor &from, const GlobalTensor &to) {
  if (Expected<void> fits = checkSides(builder, sideOf(from), sideOf(to), from.shape); !fits)
    return fits;
  // Blocks of any length, where they are no more than the tensors that extents have room for. A
  // tensor in one page of memory takes four times as long.
  const size_t first = firstDenseAxis(from, to);
  int64_t blocks = 1, tensors = 1, count = 1;
  for (size_t axis = 0; axis < 4; ++axis) {
    (axis < first ? blocks : count) *= from.shape[axis];
    tensors *= ceilDiv(from.shape[axis], kMostExtent);
  }
  if (blocks > tensors)
    return copy(builder, sideOf(from), sideOf(to));
  for (int64_t block = 0; block < blocks; ++block) {
    GlobalTensor source = from, target = to;
    int64_t rest = block;
    for (auto axis = static_cast<unsigned>(first); axis-- > 0; rest /= from.shape[axis]) {
      source = source.slice(axis, rest % from.shape[axis], 1);
      target = target.slice(axis, rest % from.shape[axis], 1);
    }
    copyBlock(builder, source, target, count);
  }
  return {};
}

Expected<void> emitLocalMove(Builder &builder, const LocalTensor &from, const LocalTensor &to) {
  return copy(builder, sideOf(from), sideOf(to));
}

Expected<void> emitLocalCopy(Builder &builder, const LocalTensor &from, const LocalTensor &to) {
  if (Expected<void> fits = checkSides(builder, sideOf(from), sideOf(to), from.shape); !fits)
    return fits;
  if (from.startLane != to.startLane)
    return makeError(builder.layer(),
                     fmt::format("a copy from lane {} to lane {}", from.startLane, to.startLane),
                     "the same lane (or a transfer by the GDMA)");
  addUnaryArith(builder, ArithOp::Copy, to, from);
  return {};
}

Expected<void> emitLocalTurn(Builder &builder, const LocalTensor &from, const LocalTensor &to) {
  const Extents turned{from.shape[0], from.shape[3], 1, from.shape[1]};
  if (!precOf(from.type) || from.type != to.type || from.shape[2] != 1 || to.shape != turned ||
      !from.liesAs(Layout::Aligned) || !to.liesAs(Layout::Aligned) || from.startLane != 0 ||
      to.startLane != 0)
    return makeError(builder.layer(),
                     fmt::format("[{}] of {} turned to [{}] of {}", fmt::join(from.shape, ","),
                                 dataTypeName(from.type), fmt::join(to.shape, ","),
                                 dataTypeName(to.type)),
                     "[n,c,1,w] to [n,w,1,c] of one type, aligned, from lane 0");
  addTurned(builder, to, from);
  return {};
}

Expected<void> emitLoadToLanes(Builder &builder, const GlobalTensor &from, const LocalTensor &to) {
  Extents repeated = from.shape;
  repeated[1] = to.shape[1];
  if (Expected<void> fits = checkSides(builder, sideOf(from), sideOf(to), repeated); !fits)
    return fits;
  if (from.shape[1] != 1 || to.startLane + to.shape[1] > kLanes)
    return makeError(builder.layer(),
                     fmt::format("{} channels to {} lanes from lane {}", from.shape[1], to.shape[1],
                                 to.startLane),
                     "one channel, and lanes up to the last");
  if (from.stride[3] != 1 || to.strides()[3] != 1)
    return makeError(builder.layer(), "a broadcast with a w stride other than 1",
                     "rows without gaps");
  Side source = sideOf(from);
  source.shape[1] = to.shape[1];
  source.stride[1] = 0;
  inPieces(source, sideOf(to), kSameAxes, 0, [&](const Side &part, const Side &target) {
    Command command = dmaCommand(gdma::kTensor, kBroadcast, part.type);
    Side one = part;
    one.shape[1] = 1;
    setSide(builder, command, kSource, one);
    setSide(builder, command, kTarget, target);
    builder.add(command);
  });
  return {};
}

Expected<void> emitLoadTableToLanes(Builder &builder, uint64_t from, DataType type, int64_t length,
                                    uint32_t address) {
  if (!precOf(type) || length < 1)
    return makeError(builder.layer(),
                     fmt::format("a table of {} elements of {}", length, dataTypeName(type)),
                     "at least one element of 1, 2 or 4 bytes");
  Command command = dmaCommand(gdma::kGeneral, kGeneralBroadcast, type);
  command.set(Field::StrideEnable, 0);
  setAddress(command, kSource, from);
  setAddress(command, kTarget, kLocalBase + address);
  setField(builder, command, Field::SrcCstride, length);
  setField(builder, command, Field::DstCsize, kLanes);
  builder.add(command);
  return {};
}

Expected<void> emitLoadTransposedCW(Builder &builder, const GlobalTensor &from,
                                    const LocalTensor &to) {
  return transposeCW(builder, sideOf(from), sideOf(to));
}

Expected<void> emitStoreTransposedCW(Builder &builder, const LocalTensor &from,
                                     const GlobalTensor &to) {
  return transposeCW(builder, sideOf(from), sideOf(to));
}

Expected<void> emitGlobalTransposeCW(Builder &builder, const GlobalTensor &from,
                                     const GlobalTensor &to) {
  return transposeCW(builder, sideOf(from), sideOf(to));
}

Expected<void> emitGlobalPermute(Builder &builder, const GlobalTensor &from,
                                 const std::array<unsigned, 4> &axes, const GlobalTensor &to) {
  return copy(builder, sideOf(from.permuted(axes)), sideOf(to));
}

Expected<void> emitGlobalFill(Builder &builder, const GlobalTensor &to, uint32_t bits) {
  return fill(builder, sideOf(to), bits);
}

Expected<void> emitLocalFill(Builder &builder, const LocalTensor &to, uint32_t bits) {
  if (!precOf(to.type))
    return makeError(builder.layer(), fmt::format("a tensor of {}", dataTypeName(to.type)),
                     "elements of 1, 2 or 4 bytes");
  addUnaryArith(builder, ArithOp::Copy, to, Immediate{to.type, bits});
  return {};
}

Expected<void> emitGlobalGather(Builder &builder, const GlobalTensor &from,
                                const GlobalTensor &indices, const GlobalTensor &to,
                                uint32_t fill) {
  bool fits = from.shape[0] == 1 && to.shape[0] == 1 && from.shape[1] == to.shape[1] &&
              from.shape[3] == to.shape[3] && indices.shape[2] == to.shape[2] &&
              (indices.shape[1] == 1 || indices.shape[1] == to.shape[1]);
  bool hasTypes = precOf(from.type) && precOf(from.type) == precOf(to.type) &&
                  precOf(indices.type) == Prec::I32;
  if (!fits || !hasTypes || from.stride[3] != 1 || to.stride[3] != 1)
    return makeError(builder.layer(),
                     fmt::format("a gather from [{}] {} with [{}] {} to [{}] {}",
                                 fmt::join(from.shape, ","), dataTypeName(from.type),
                                 fmt::join(indices.shape, ","), dataTypeName(indices.type),
                                 fmt::join(to.shape, ","), dataTypeName(to.type)),
                     "[1,c,rows,w], 32-bit [1,1 or c,count,1] and [1,c,count,w]");
  Command command = dmaCommand(gdma::kGather, 0, from.type);
  command.set(Field::ConstantValue, fill);
  setAddress(command, kSource, from.address);
  setAddress(command, kTarget, to.address);
  command.set(Field::IndexAddrL32, indices.address & 0xFFFFFFFF);
  command.set(Field::IndexAddrH8, indices.address >> 32);
  setFields(builder, command,
            {{Field::SrcCsize, from.shape[1]},
             {Field::SrcHsize, from.shape[2]},
             {Field::SrcWsize, from.shape[3]},
             {Field::SrcCstride, from.stride[1]},
             {Field::SrcHstride, from.stride[2]},
             {Field::DstCsize, to.shape[1]},
             {Field::DstHsize, to.shape[2]},
             {Field::DstWsize, to.shape[3]},
             {Field::DstCstride, to.stride[1]},
             {Field::DstHstride, to.stride[2]},
             {Field::IndexCsize, indices.shape[1]},
             {Field::IndexHsize, indices.shape[2]},
             {Field::IndexCstride, indices.stride[1]},
             {Field::IndexHstride, indices.stride[2]}});
  builder.add(command);
  return {};
}

} // namespace tpuc::bm1684x

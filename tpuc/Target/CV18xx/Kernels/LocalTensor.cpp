//===- LocalTensor.cpp - Tensors in lanes and in global memory ------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/CV18xx/Kernels/LocalTensor.h"
#include "tpuc/Target/CV18xx/Machine/Timing.h"

#include <fmt/format.h>

namespace tpuc::cv18xx {

namespace {

LocalTensor tensorIn(const Chip &chip, uint32_t address, const Extents &shape, bool isBf16,
                     Layout layout) {
  const View view = viewOf(chip, address, shape, isBf16 ? 2 : 1, layout);
  LocalTensor made{.address = address, .shape = shape, .strides = {}, .isBf16 = isBf16};
  for (size_t i = 0; i < 4; ++i)
    made.strides[i] = static_cast<uint32_t>(view.strides[i]);
  return made;
}

/// A side of a transfer.
struct Side {
  bool isLocal = false;
  unsigned base = 0;
  uint64_t address = 0;
  Extents shape = {};
  std::array<uint64_t, 3> strides = {};
  bool isBf16 = false;
};

Side sideOf(const LocalTensor &tensor) {
  return {true,
          0,
          tensor.address,
          tensor.shape,
          {tensor.strides[0], tensor.strides[1], tensor.strides[2]},
          tensor.isBf16};
}
Side sideOf(const Chip &chip, const GlobalTensor &tensor) {
  return {false,        tensor.base,    chip.globalBase + tensor.offset,
          tensor.shape, tensor.strides, tensor.isBf16};
}

void setSource(Command &command, const Side &side) {
  command.set(Field::SrcN, side.shape[0]).set(Field::SrcC, side.shape[1]);
  command.set(Field::SrcH, side.shape[2]).set(Field::SrcW, side.shape[3]);
  command.set(Field::SrcStrN, side.strides[0]).set(Field::SrcStrH, side.strides[2]);
  command.set(Field::SrcStrCLow, side.strides[1] & 0xFFFF);
  command.set(Field::SrcStrCHigh, side.strides[1] >> 16);
  command.set(Field::SrcAddrLow, side.address & 0xFFFFFFFF);
  command.set(Field::SrcAddrHigh, side.address >> 32).set(Field::SrcBase, side.base);
  command.set(Field::SrcKind, side.isBf16 ? 2 : 1);
}

void setTarget(Command &command, const Side &side) {
  command.set(Field::DstC, side.shape[1]);
  command.set(Field::DstH, side.shape[2]).set(Field::DstW, side.shape[3]);
  command.set(Field::DstStrN, side.strides[0]).set(Field::DstStrH, side.strides[2]);
  command.set(Field::DstStrCLow, side.strides[1] & 0xFFFF);
  command.set(Field::DstStrCHigh, side.strides[1] >> 16);
  command.set(Field::DstAddrLow, side.address & 0xFFFFFFFF);
  command.set(Field::DstAddrHigh, side.address >> 32).set(Field::DstBase, side.base);
  command.set(Field::DstKind, side.isBf16 ? 2 : 1);
}

/// Strides along h have 16 bits, others 32; longer ones become a command for each row.
constexpr uint64_t kMostRowStride = 0xFFFF, kMostStride = 0xFFFFFFFF;
constexpr uint32_t kMostExtent = 0xFFFF;

/// How integers are converted from and to BF16.
struct Integers {
  bool areSigned = true, truncate = false;
};

Command transferOf(const Builder &builder, std::string_view name, const Side &from, const Side &to,
                   Integers integers) {
  Command command = builder.make(name);
  if (integers.areSigned && (!from.isBf16 || !to.isBf16))
    command.set(Field::Int8Signed, 1);
  command.set(Field::Truncate, integers.truncate);
  setSource(command, from);
  setTarget(command, to);
  return command;
}

/// Whether the rows of a load or a store are single elements, and those of the channels follow each
/// other in global memory.
bool isOfSingleElements(const Side &from, const Side &to) {
  if (from.isLocal == to.isLocal || from.shape[3] != 1 || from.shape[2] == 1 || from.shape[1] == 1)
    return false;
  const Side &global = from.isLocal ? to : from;
  return global.strides[1] == (global.isBf16 ? 2 : 1);
}

/// The rows of the first picture take the place of pictures: the channels of each are one run.
Side withRowsAsPictures(Side side) {
  side.shape = {side.shape[2], side.shape[1], 1, 1};
  side.strides = {side.strides[2], side.strides[1], 0};
  return side;
}

Expected<void> emitSides(Builder &builder, std::string_view name, Side from, Side to,
                         Integers integers = {}) {
  for (const uint32_t extent : from.shape)
    if (extent > kMostExtent)
      return makeError("", fmt::format("a transfer of {} elements along an axis", extent),
                       fmt::format("at most {}", kMostExtent));
  for (size_t axis = 0; axis < 3; ++axis) {
    // The stride of one element does not matter.
    if (from.shape[axis] == 1)
      from.strides[axis] = to.strides[axis] = 0;
    const uint64_t most = axis == 2 ? kMostRowStride : kMostStride;
    if (from.strides[axis] <= most && to.strides[axis] <= most)
      continue;
    const uint32_t count = from.shape[axis];
    from.shape[axis] = to.shape[axis] = 1;
    Side source = from;
    Side target = to;
    for (uint32_t i = 0; i < count; ++i) {
      if (Expected<void> done = emitSides(builder, name, source, target, integers); !done)
        return done;
      source.address += from.strides[axis];
      target.address += to.strides[axis];
    }
    return {};
  }
  const Command command = transferOf(builder, name, from, to, integers);
  if (!isOfSingleElements(from, to))
    return builder.add(command);
  const Command other =
      transferOf(builder, name, withRowsAsPictures(from), withRowsAsPictures(to), integers);
  const Chip &chip = builder.chip();
  const TimingParameters parameters = timingSets(chip).front();
  const bool isFaster =
      !checkCommand(chip, other, "") && nanosecondsOf(chip, other, parameters) * from.shape[0] <
                                            nanosecondsOf(chip, command, parameters);
  if (!isFaster)
    return builder.add(command);
  for (uint32_t n = 0; n < from.shape[0]; ++n) {
    const auto picture = [n](Side side) {
      side.address += n * side.strides[0];
      side.shape[0] = 1;
      return withRowsAsPictures(side);
    };
    if (Expected<void> done =
            builder.add(transferOf(builder, name, picture(from), picture(to), integers));
        !done)
      return done;
  }
  return {};
}

} // namespace

LocalTensor alignedTensor(const Chip &chip, uint32_t address, const Extents &shape, bool isBf16) {
  return tensorIn(chip, address, shape, isBf16, Layout::Aligned);
}

uint32_t alignedBytes(const Chip &chip, const Extents &shape, bool isBf16) {
  return shape[0] * alignedTensor(chip, 0, shape, isBf16).strides[0];
}

LocalTensor compactTensor(const Chip &chip, uint32_t address, const Extents &shape, bool isBf16) {
  return tensorIn(chip, address, shape, isBf16, Layout::Compact);
}

bool LocalTensor::isAligned(const Chip &chip) const {
  const LocalTensor wanted = alignedTensor(chip, address, shape, isBf16);
  const uint32_t slots = (shape[1] + chip.lanes - 1) / chip.lanes;
  const std::array<uint32_t, 4> counts = {shape[0], slots, shape[2], shape[3]};
  for (size_t i = 0; i < 4; ++i)
    if (counts[i] != 1 && strides[i] != wanted.strides[i])
      return false;
  return address % kEuBytes == 0;
}

Expected<void> emitLoad(Builder &builder, const GlobalTensor &from, const LocalTensor &to) {
  return emitSides(builder, "dma.load", sideOf(builder.chip(), from), sideOf(to));
}

Expected<void> emitStore(Builder &builder, const LocalTensor &from, const GlobalTensor &to) {
  return emitSides(builder, "dma.store", sideOf(from), sideOf(builder.chip(), to));
}

Expected<void> emitMove(Builder &builder, const GlobalTensor &from, const GlobalTensor &to) {
  return emitSides(builder, "dma.global", sideOf(builder.chip(), from), sideOf(builder.chip(), to));
}

static Expected<void> addFill(Builder &builder, Command command, const Side &to, bool isBf16,
                              uint16_t bits) {
  setTarget(command, to);
  command.set(Field::SrcN, to.shape[0]).set(Field::Value, bits);
  command.set(Field::SrcKind, isBf16 ? 2 : 1).set(Field::Int8Signed, isBf16 ? 0 : 1);
  return builder.add(command);
}

Expected<void> emitFill(Builder &builder, const LocalTensor &to, uint16_t bits) {
  return addFill(builder, builder.make("dma.load_fill"), sideOf(to), to.isBf16, bits);
}

Expected<void> emitFill(Builder &builder, const GlobalTensor &begin, uint64_t count,
                        uint16_t bits) {
  constexpr uint64_t kRow = 32768, kMostRows = 65535;
  const uint64_t bytes = begin.isBf16 ? 2 : 1;
  for (uint64_t done = 0; done < count;) {
    const uint64_t rows = std::min((count - done) / kRow, kMostRows);
    GlobalTensor part = begin;
    part.offset += done * bytes;
    part.shape = rows == 0 ? Extents{1, 1, 1, static_cast<uint32_t>(count - done)}
                           : Extents{1, static_cast<uint32_t>(rows), 1, kRow};
    part.strides = {0, kRow * bytes, 0};
    Command command = builder.make("dma.store_fill");
    if (Expected<void> added =
            addFill(builder, std::move(command), sideOf(builder.chip(), part), begin.isBf16, bits);
        !added)
      return added;
    done += rows == 0 ? count - done : rows * kRow;
  }
  return {};
}

Expected<void> emitConversion(Builder &builder, const LocalTensor &from, const LocalTensor &to,
                              bool isSigned, bool truncates) {
  return emitSides(builder, "dma.local", sideOf(from), sideOf(to), {isSigned, truncates});
}

} // namespace tpuc::cv18xx

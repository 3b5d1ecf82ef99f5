//===- GdmaOperands.cpp - What memory a GDMA command reads and writes -----===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Support/Sizes.h"
#include "tpuc/Target/BM1684X/Machine/Operands.h"

#include <fmt/format.h>

namespace tpuc::bm1684x::detail {

namespace {

bool isLocalAddress(uint64_t address) { return kLocalMemory.contains(address); }

View gdmaView(uint64_t address, Prec prec, const Extents &shape, const Extents &stride) {
  return bm168x::transferView(kLocalMemory, address, prec, shape, stride);
}

/// Row-major outside, 64-byte aligned channels in local memory.
Extents defaultStrides(uint64_t address, const Extents &shape, unsigned bytes) {
  return bm168x::transferStrides(kLocalMemory, address, shape, bytes);
}

struct GdmaReader : bm168x::Transfer {
  const Command &command;
  const std::string &where;
  bool isFill;
  OperandList list;

  tl::unexpected<Error> error(std::string found, std::string expected) const {
    return makeError(where, fmt::format("{}: {}", command.operation().name, found),
                     std::move(expected));
  }
};

GdmaReader makeReader(const Command &command, const std::string &where) {
  return {bm168x::transferOf(command), command, where, command.get(Field::FillConstantEn) != 0, {}};
}

Expected<OperandList> general(GdmaReader &r) {
  int64_t length = r.srcStride[1];
  if (length == 0)
    return r.error("src_stride c0", "a length of at least 1 element");
  // Linear even in local memory: a block may run from one lane into the next.
  if (!r.isFill)
    r.list.add(Role::Opd0, {r.src, r.prec, {1, 1, 1, length}, {0, 0, 0, 1}, false});
  if (r.command.operation().sub == 0) {
    r.list.addResult(Role::Res0, {r.dst, r.prec, {1, 1, 1, length}, {0, 0, 0, 1}, false});
    return std::move(r.list);
  }
  int64_t lanes = r.dstShape[1];
  if (!isLocalAddress(r.dst) || lanes == 0 ||
      static_cast<int64_t>((r.dst - kLocalBase) / kLaneBytes) + lanes > kLanes)
    return r.error(fmt::format("dst [c{}] at {:#x}", lanes, r.dst),
                   "1 to 64 lanes of local memory");
  r.list.addResult(Role::Res0, gdmaView(r.dst, r.prec, {1, lanes, 1, length}, {0, 0, 0, 1}));
  return std::move(r.list);
}

/// The local side is a tensor [rows, chunks, 1, width], the other one a matrix [h, w].
Expected<OperandList> matrix(GdmaReader &r) {
  bool toLocal = isLocalAddress(r.dst);
  if (toLocal == isLocalAddress(r.src))
    return r.error(fmt::format("src_addr {:#x}, dst_addr {:#x}", r.src, r.dst),
                   "one of them in local memory");
  const Extents &local = toLocal ? r.dstShape : r.srcShape;
  const Extents &global = toLocal ? r.srcShape : r.dstShape;
  const Extents &localStride = toLocal ? r.dstStride : r.srcStride;
  const Extents &globalStride = toLocal ? r.srcStride : r.dstStride;
  bool isTransposed = r.command.operation().sub == 1;
  int64_t rows = isTransposed ? global[3] : global[2];
  int64_t columns = isTransposed ? global[2] : global[3];
  int64_t width = local[3];
  if (rows == 0 || columns == 0 || width == 0)
    return r.error(fmt::format("a matrix of {} x {} in chunks of {}", rows, columns, width),
                   "extents of at least 1");
  if (rows != local[0] || ceilDiv(columns, width) != local[1])
    return r.error(fmt::format("{} rows and {} chunks for a matrix of {} x {} in chunks of {}",
                               local[0], local[1], rows, columns, width),
                   fmt::format("{} rows and {} chunks", rows, ceilDiv(columns, width)));
  View localView =
      gdmaView(toLocal ? r.dst : r.src, r.prec, {rows, ceilDiv(columns, width), 1, width},
               {localStride[0], localStride[1], 0, 1});
  View globalView = gdmaView(toLocal ? r.src : r.dst, r.prec, {1, 1, global[2], global[3]},
                             {0, 0, globalStride[2], 1});
  if (!r.isFill)
    r.list.add(Role::Opd0, toLocal ? globalView : localView);
  // The padding of the last chunk keeps its bytes.
  r.list.addResult(Role::Res0, toLocal ? localView : globalView, true);
  return std::move(r.list);
}

Expected<OperandList> gatherScatter(GdmaReader &r) {
  const Command &command = r.command;
  auto value = [&](Field field) { return static_cast<int64_t>(command.get(field)); };
  bool isGather = command.operation().opcode == gdma::kGather;
  int64_t c = r.srcShape[1];
  int64_t width = r.srcShape[3];
  int64_t indexC = value(Field::IndexCsize);
  int64_t count = value(Field::IndexHsize);
  if (c == 0 || width == 0 || count == 0 || r.srcShape[2] == 0 || r.dstShape[2] == 0)
    return r.error("an extent of 0", "extents of at least 1");
  if (indexC != 1 && indexC != c)
    return r.error(fmt::format("index [c{}]", indexC), fmt::format("1 or {} channels", c));
  // Channels and columns of the target are the source's, whatever its own fields say.
  int64_t moved = isGather ? r.dstShape[2] : r.srcShape[2];
  if (moved != count)
    return r.error(fmt::format("{} rows for {} indices", moved, count), "as many");
  const bool hasStrides = command.get(Field::StrideEnable) != 0;
  for (int64_t rows : {r.srcShape[2], r.dstShape[2], count})
    if (Count(rows) * c * std::max<int64_t>(width, 1) > kMostExtent)
      return r.error(fmt::format("{} rows of {} elements in {} channels", rows, width, c),
                     "at most 2^40 elements");
  const auto viewOf = [&](uint64_t address, Prec prec, const Extents &shape, int64_t cStride,
                          int64_t hStride) {
    Extents stride = {0, cStride, hStride, 1};
    return gdmaView(address, prec, shape,
                    hasStrides ? stride : defaultStrides(address, shape, precBytes(prec)));
  };
  const uint64_t index = command.address(Field::IndexAddrL32, Field::IndexAddrH8);
  r.list.add(Role::Opd0,
             viewOf(r.src, r.prec, {1, c, r.srcShape[2], width}, r.srcStride[1], r.srcStride[2]));
  r.list.add(Role::Opd1, viewOf(index, Prec::I32, {1, indexC, count, 1}, value(Field::IndexCstride),
                                value(Field::IndexHstride)));
  r.list.addResult(
      Role::Res0,
      viewOf(r.dst, r.prec, {1, c, r.dstShape[2], width}, r.dstStride[1], r.dstStride[2]),
      !isGather);
  return std::move(r.list);
}

/// Chosen elements, or the indices of those that are not zero, follow each other from the target's
/// address on. The result is as long as the source, and keeps what is not filled.
Expected<OperandList> compaction(GdmaReader &r, bool isSelect) {
  const Command &command = r.command;
  if (isLocalAddress(r.dst))
    return r.error(fmt::format("dst_addr {:#x}", r.dst), "an address outside of local memory");
  uint64_t count = 1;
  for (int64_t extent : r.srcShape)
    count *= static_cast<uint64_t>(extent);
  constexpr uint64_t kMost = uint64_t{1} << 31;
  if (count == 0 || count > kMost)
    return r.error(fmt::format("src [{}]", fmt::join(r.srcShape, ",")),
                   fmt::format("1 to {} elements", kMost));
  const auto packed = [&](uint64_t address, Prec prec) {
    return gdmaView(address, prec, r.srcShape,
                    defaultStrides(address, r.srcShape, precBytes(prec)));
  };
  r.list.add(Role::Opd0, packed(r.src, r.prec));
  if (isSelect)
    r.list.add(Role::Opd1, packed(command.address(Field::MaskAddrL32, Field::MaskAddrH8),
                                  command.as<Prec>(Field::MaskPrec)));
  r.list.addResult(Role::Res0,
                   {r.dst,
                    isSelect ? r.prec : command.as<Prec>(Field::IndexPrec),
                    {1, 1, 1, static_cast<int64_t>(count)},
                    {0, 0, 0, 1},
                    false},
                   true);
  return std::move(r.list);
}

Expected<OperandList> tensor(GdmaReader &r) {
  unsigned opcode = r.command.operation().opcode;
  unsigned sub = r.command.operation().sub;
  bool isCw = opcode == gdma::kCwTranspose || sub == 2 || sub == 4;
  bool isNc = opcode == gdma::kTensor && sub == 1;
  bool isBroadcast = opcode == gdma::kTensor && sub == 3;
  Extents source = r.srcShape;
  Extents target = r.dstShape;
  if (isCw)
    target = {source[0], source[3], source[2], source[1]};
  else if (isNc)
    target = {source[1], source[0], source[2], source[3]};
  else if (isBroadcast) {
    source[1] = 1;
    target = {source[0], target[1], source[2], source[3]};
  } else if (r.command.get(Field::NchwCopy) != 0)
    target = source;
  // Four extents of 16 bits each.
  auto count = [](const Extents &e) {
    uint64_t product = 1;
    for (int64_t extent : e)
      product *= static_cast<uint64_t>(extent);
    return product;
  };
  if ((!r.isFill && count(source) == 0) || count(target) == 0)
    return r.error(
        fmt::format("src [{}], dst [{}]", fmt::join(source, ","), fmt::join(target, ",")),
        "extents of at least 1");
  if (!r.isFill && !isBroadcast && count(source) != count(target))
    return r.error(
        fmt::format("src [{}], dst [{}]", fmt::join(source, ","), fmt::join(target, ",")),
        "equally many elements");
  Extents srcStride = r.srcStride;
  Extents dstStride = r.dstStride;
  if (isCw || isNc || isBroadcast)
    srcStride[3] = dstStride[3] = 1;
  if (r.command.get(Field::StrideEnable) == 0) {
    srcStride = defaultStrides(r.src, source, precBytes(r.prec));
    dstStride = defaultStrides(r.dst, target, precBytes(r.prec));
  }
  if (!r.isFill)
    r.list.add(Role::Opd0, gdmaView(r.src, r.prec, source, srcStride));
  uint64_t allLanes = ~uint64_t{0};
  bool isMasked = r.command.address(Field::LanesL32, Field::LanesH32) != allLanes;
  r.list.addResult(Role::Res0, gdmaView(r.dst, r.prec, target, dstStride), isMasked);
  const View &result = r.list.back();
  if (isBroadcast && (!result.isLocal || startLane(result) + target[1] > kLanes))
    return r.error(fmt::format("dst [c{}] at {:#x}", target[1], r.dst),
                   "channels that do not pass the last lane of local memory");
  return std::move(r.list);
}

} // namespace

Expected<OperandList> gdmaOperands(const Command &command, const std::string &where) {
  GdmaReader reader = makeReader(command, where);
  switch (command.operation().opcode) {
  case gdma::kTensor:
    return command.operation().sub <= 4 ? tensor(reader) : Expected<OperandList>();
  case gdma::kCwTranspose:
    return tensor(reader);
  case gdma::kMatrix:
    return matrix(reader);
  case gdma::kGeneral:
    return general(reader);
  case gdma::kGather:
  case gdma::kScatter:
    return gatherScatter(reader);
  case gdma::kSelect:
  case gdma::kNonzero:
    return command.form() == command.operation().form
               ? compaction(reader, command.operation().opcode == gdma::kSelect)
               : OperandList();
  default:
    return OperandList();
  }
}

} // namespace tpuc::bm1684x::detail

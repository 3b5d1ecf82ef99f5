//===- GdmaOperands.cpp - What memory a transfer reads and writes ---------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684/Machine/Operands.h"

#include "tpuc/Target/BM168x/Timing.h"

#include <fmt/format.h>

namespace tpuc::bm1684::detail {

namespace {

using bm168x::Transfer;

/// The longest step between columns of a source, in elements; the field has room for more.
constexpr uint64_t kMostSourceColumnStride = 4095;

/// Refuses what transfers of a matrix cannot be: the rows and columns outside, the pieces in lanes.
std::optional<Error> checkMatrix(const Command &command, const View &outside, const View &lanes,
                                 const std::string &where) {
  const bool isTransposed = command.operation().opcode == gdma::kTranspose;
  const int64_t rows = outside.shape[isTransposed ? 3 : 2];
  const int64_t columns = outside.shape[isTransposed ? 2 : 3];
  const int64_t pieces = lanes.shape[1], width = lanes.shape[3];
  if (rows == lanes.shape[0] && columns > (pieces - 1) * width && columns <= pieces * width)
    return std::nullopt;
  return Error{where,
               fmt::format("{}: {} rows of {} columns in {} rows of {} pieces of {}",
                           command.operation().name, rows, columns, lanes.shape[0], pieces, width),
               "as many rows, and pieces that hold the columns"};
}

/// Of any extents that the fields hold.
int64_t elementsOf(const View &view) {
  return bm168x::product({view.shape[0], view.shape[1], view.shape[2], view.shape[3]});
}

/// A view of memory outside of the lanes that has rows and columns only.
View matrixView(View view) {
  view.shape = {1, 1, view.shape[2], view.shape[3]};
  view.stride = {0, 0, view.stride[2], 1};
  return view;
}

} // namespace

Expected<OperandList> gdmaOperands(const Command &command, const std::string &where) {
  const auto wrong = [&](std::string what, std::string expected) {
    return makeError(where, fmt::format("{}: {}", command.operation().name, what),
                     std::move(expected));
  };
  const unsigned bytes = formatBytes(command.get(Field::SrcFormat));
  const unsigned opcode = command.operation().opcode;
  const bool isFill = opcode == gdma::kFill;
  const bool isMatrix = command.operation().sub == 1;
  if (bytes == 0 || (!isFill && command.get(Field::DstFormat) != command.get(Field::SrcFormat)))
    return wrong(fmt::format("formats {} and {}", command.get(Field::SrcFormat),
                             command.get(Field::DstFormat)),
                 "the same format on both sides: 0, 1 or 3");
  for (const Field field : {Field::AccWriteEnable, Field::CommonMode, Field::ChwCopy,
                            Field::SrcHshift, Field::SrcWshift, Field::DstHshift, Field::DstWshift})
    if (command.get(field) != 0)
      return wrong(fmt::format("{} {}", bm168x::fieldName(field), command.get(field)), "0");
  // Even a single column, and a fill without a source, may not have more.
  const uint64_t columnStride = command.get(Field::SrcWstride);
  if (command.get(Field::StrideEnable) != 0 && !isMatrix && columnStride > kMostSourceColumnStride)
    return wrong(fmt::format("{} {}", bm168x::fieldName(Field::SrcWstride), columnStride),
                 fmt::format("at most {}", kMostSourceColumnStride));
  Transfer transfer = bm168x::transferOf(command);
  if (command.get(Field::StrideEnable) == 0) {
    transfer.srcStride =
        bm168x::transferStrides(kLocalMemory, transfer.src, transfer.srcShape, bytes);
    transfer.dstStride =
        bm168x::transferStrides(kLocalMemory, transfer.dst, transfer.dstShape, bytes);
  }
  View to = transferView(transfer.dst, bytes, transfer.dstShape, transfer.dstStride);
  View from = transferView(transfer.src, bytes, transfer.srcShape, transfer.srcStride);
  const auto direction = command.as<bm168x::Direction>(Field::Direction);
  const bool toLocal =
      direction == bm168x::Direction::SystemToLocal || direction == bm168x::Direction::LocalToLocal;
  const bool fromLocal =
      direction == bm168x::Direction::LocalToSystem || direction == bm168x::Direction::LocalToLocal;
  if (to.isLocal != toLocal || (!isFill && from.isLocal != fromLocal))
    return wrong(fmt::format("direction {} from {:#x} to {:#x}", bm168x::directionName(direction),
                             transfer.src, transfer.dst),
                 "the direction of these addresses");
  if (direction == bm168x::Direction::SystemToSystem && command.get(Field::StrideEnable) == 0)
    return wrong("outside of local memory without strides", "stride_enable=1");
  OperandList operands;
  if (isMatrix) {
    if (isFill || from.isLocal == to.isLocal)
      return wrong("a matrix that does not cross the border of local memory", "one that does");
    View &outside = from.isLocal ? to : from;
    View &lanes = from.isLocal ? from : to;
    outside = matrixView(outside);
    lanes.shape[2] = 1;
    if (std::optional<Error> error = checkMatrix(command, outside, lanes, where))
      return tl::unexpected<Error>(std::move(*error));
  } else if (opcode == gdma::kTranspose || opcode == gdma::kCwTranspose) {
    if (opcode == gdma::kCwTranspose && direction != bm168x::Direction::LocalToLocal)
      return wrong(fmt::format("direction {}", bm168x::directionName(direction)), "l2l");
    if (opcode == gdma::kCwTranspose &&
        (from.shape[0] != 1 || from.shape[2] != 1 || from.stride[3] != 1 || to.stride[3] != 1))
      return wrong(fmt::format("[{}] with w strides of {} and {}", fmt::join(from.shape, ","),
                               from.stride[3], to.stride[3]),
                   "one row of one batch item, w strides of 1");
    // The extents are those of the source in another order.
    const std::array<size_t, 4> axes = opcode == gdma::kTranspose
                                           ? std::array<size_t, 4>{1, 0, 2, 3}
                                           : std::array<size_t, 4>{0, 3, 2, 1};
    for (size_t i = 0; i < 4; ++i)
      to.shape[i] = from.shape[axes[i]];
  } else if (!isFill && elementsOf(to) != elementsOf(from)) {
    return wrong(fmt::format("{} elements to {}", elementsOf(from), elementsOf(to)),
                 "as many on both sides");
  }
  operands.addResult(Role::Res0, to);
  if (!isFill)
    operands.add(Role::Opd0, from);
  return operands;
}

} // namespace tpuc::bm1684::detail

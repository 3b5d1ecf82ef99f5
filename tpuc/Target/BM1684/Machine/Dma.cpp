//===- Dma.cpp - Moving data (GDMA) ---------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684/Machine/Exec.h"
#include "tpuc/Target/BM168x/CopyRow.h"

#include <cstring>
#include <fmt/format.h>

namespace tpuc::bm1684 {

using bm168x::copyRow;

namespace {

/// One side of a transfer, in this process.
struct Side {
  View view;
  /// Element (0,0,0,0) of a tensor whose channel 0 is in lane 0.
  uint8_t *base = nullptr;
  unsigned startLane = 0;

  uint8_t *at(const Extents &index) const {
    int64_t element =
        index[0] * view.stride[0] + index[2] * view.stride[2] + index[3] * view.stride[3];
    int64_t bytes = 0;
    if (view.isLocal) {
      const int64_t lane = startLane + index[1];
      element += lane / kLanes * view.stride[1];
      bytes = lane % kLanes * kLaneBytes;
    } else {
      element += index[1] * view.stride[1];
    }
    return base + bytes + element * view.bytes();
  }
};

struct DmaPlan {
  View to, from;
  /// Elements of the constant instead of a source.
  std::optional<uint32_t> fill;
  uint64_t lanes = ~uint64_t{0};
  /// Dimension i of `to` is dimension axes[i] of `from`.
  std::array<size_t, 4> axes = {0, 1, 2, 3};
  bool isTransposed = false; ///< Matrices: rows outside are columns in the lanes.
  std::string where;

  bool isKept(const Side &side, int64_t c) const {
    return (lanes >> ((side.startLane + c) % kLanes) & 1) != 0;
  }
};

/// Finds the bytes of a view in whichever memory; fails where there is no memory.
Expected<Side> locateSide(Exec &exec, const View &view, bool forWriting, const std::string &where) {
  if (view.isLocal)
    return Side{view, exec.memory.local().data() + view.address % kLaneBytes,
                bm168x::startLane(kLocalMemory, view.address)};
  const auto size = static_cast<uint64_t>(bm168x::touchedBytes(kLocalMemory, view).last);
  uint8_t *bytes = exec.memory.resolve(view.address, size, forWriting);
  if (!bytes)
    return makeError(where, fmt::format("{} bytes at {:#x}", size, view.address),
                     forWriting ? "an address of memory that may be written"
                                : "an address of memory");
  return Side{view, bytes, 0};
}

/// The elements of a side, in the order of its own dimensions.
std::vector<uint8_t> readAll(const Side &side) {
  const Extents &shape = side.view.shape;
  const unsigned bytes = side.view.bytes();
  std::vector<uint8_t> all(static_cast<size_t>(side.view.numElements()) * bytes);
  uint8_t *to = all.data();
  for (int64_t n = 0; n < shape[0]; ++n)
    for (int64_t c = 0; c < shape[1]; ++c)
      for (int64_t h = 0; h < shape[2]; ++h, to += shape[3] * bytes)
        copyRow(bytes, to, 1, side.at({n, c, h, 0}), side.view.stride[3], shape[3]);
  return all;
}

/// Writes elements that lie in `packed` in the order of the side's dimensions.
void writeAll(Exec &exec, const DmaPlan &plan, const Side &side, const uint8_t *packed) {
  const Extents &shape = side.view.shape;
  const unsigned bytes = side.view.bytes();
  const auto channels = [&](int64_t begin, int64_t end) {
    for (int64_t n = 0; n < shape[0]; ++n)
      for (int64_t c = begin; c < end; ++c) {
        if (side.view.isLocal && !plan.isKept(side, c))
          continue;
        for (int64_t h = 0; h < shape[2]; ++h)
          copyRow(bytes, side.at({n, c, h, 0}), side.view.stride[3],
                  packed + ((n * shape[1] + c) * shape[2] + h) * shape[3] * bytes, 1, shape[3]);
      }
  };
  overIndices(exec.pool, shape[1], shape[0] * shape[2] * shape[3] * bytes / 4, channels);
}

bool overlap(const View &a, const View &b) {
  if (a.isLocal != b.isLocal)
    return false;
  const auto first = [](const View &view) {
    return static_cast<int64_t>(view.isLocal ? view.address % kLaneBytes : view.address);
  };
  const auto length = [](const View &view) {
    return bm168x::touchedBytes(kLocalMemory, view).last;
  };
  return first(a) < first(b) + length(b) && first(b) < first(a) + length(a);
}

/// Elements that keep their index, but for the order of the dimensions.
void moveRows(Exec &exec, const DmaPlan &plan, const Side &to, const Side &from) {
  const Extents &shape = to.view.shape;
  const unsigned bytes = to.view.bytes();
  const size_t width = plan.axes[3];
  const bool crossesLanes = width == 1 && from.view.isLocal;
  // Whole images are rows where both sides have them so.
  const bool isPlane = !crossesLanes && width == 3 && plan.axes[2] == 2 &&
                       to.view.stride[2] == shape[3] * to.view.stride[3] &&
                       from.view.stride[2] == shape[3] * from.view.stride[3];
  const int64_t numRows = isPlane ? 1 : shape[2];
  const int64_t length = isPlane ? shape[2] * shape[3] : shape[3];
  const auto channels = [&](int64_t begin, int64_t end) {
    for (int64_t n = 0; n < shape[0]; ++n)
      for (int64_t c = begin; c < end; ++c) {
        if (to.view.isLocal && !plan.isKept(to, c))
          continue;
        for (int64_t h = 0; h < numRows; ++h) {
          Extents index{};
          index[plan.axes[0]] = n;
          index[plan.axes[1]] = c;
          index[plan.axes[2]] = h;
          uint8_t *row = to.at({n, c, h, 0});
          if (!crossesLanes) {
            copyRow(bytes, row, to.view.stride[3], from.at(index), from.view.stride[width], length);
            continue;
          }
          for (int64_t w = 0; w < length; ++w) {
            index[1] = w;
            std::memcpy(row + w * to.view.stride[3] * bytes, from.at(index), bytes);
          }
        }
      }
  };
  overIndices(exec.pool, shape[1], shape[0] * shape[2] * shape[3] * bytes / 4, channels);
}

std::optional<Error> runTensor(Exec &exec, const DmaPlan &plan) {
  const Expected<Side> to = locateSide(exec, plan.to, true, plan.where);
  if (!to)
    return to.error();
  if (plan.fill) {
    View view = plan.to;
    view.isLocal = false;
    view.stride = {};
    moveRows(exec, plan, *to,
             {view, reinterpret_cast<uint8_t *>(const_cast<uint32_t *>(&*plan.fill)), 0});
    return std::nullopt;
  }
  const Expected<Side> from = locateSide(exec, plan.from, false, plan.where);
  if (!from)
    return from.error();
  const bool keepsOrder = plan.axes == std::array<size_t, 4>{0, 1, 2, 3};
  if (!overlap(plan.to, plan.from) && (!keepsOrder || plan.to.shape == plan.from.shape)) {
    moveRows(exec, plan, *to, *from);
    return std::nullopt;
  }
  // Everything is read before anything is written.
  std::vector<uint8_t> packed = readAll(*from);
  if (keepsOrder) {
    writeAll(exec, plan, *to, packed.data());
    return std::nullopt;
  }
  View view = plan.from;
  view.isLocal = false;
  const Extents &shape = view.shape;
  view.stride = {shape[1] * shape[2] * shape[3], shape[2] * shape[3], shape[3], 1};
  moveRows(exec, plan, *to, {view, packed.data(), 0});
  return std::nullopt;
}

/// Rows and columns of a matrix to or from its pieces in local memory.
std::optional<Error> runMatrix(Exec &exec, const DmaPlan &plan) {
  const Expected<Side> to = locateSide(exec, plan.to, true, plan.where);
  if (!to)
    return to.error();
  const Expected<Side> from = locateSide(exec, plan.from, false, plan.where);
  if (!from)
    return from.error();
  const bool toLocal = plan.to.isLocal;
  const Side &lanes = toLocal ? *to : *from, &outside = toLocal ? *from : *to;
  const View &local = lanes.view, &matrix = outside.view;
  const int64_t width = local.shape[3];
  const int64_t columns = matrix.shape[plan.isTransposed ? 2 : 3];
  const int64_t across = plan.isTransposed ? matrix.stride[2] : 1;
  const int64_t down = plan.isTransposed ? 1 : matrix.stride[2];
  const unsigned bytes = local.bytes();
  const auto pieces = [&](int64_t begin, int64_t end) {
    for (int64_t row = 0; row < local.shape[0]; ++row)
      for (int64_t piece = begin; piece < end; ++piece) {
        if (toLocal && !plan.isKept(lanes, piece))
          continue;
        const int64_t count = std::min(width, columns - piece * width);
        uint8_t *inside = lanes.at({row, piece, 0, 0});
        uint8_t *beyond = outside.base + (row * down + piece * width * across) * bytes;
        if (toLocal)
          copyRow(bytes, inside, local.stride[3], beyond, across, count);
        else
          copyRow(bytes, beyond, across, inside, local.stride[3], count);
      }
  };
  overIndices(exec.pool, local.shape[1], local.shape[0] * width * bytes / 4, pieces);
  return std::nullopt;
}

} // namespace

Expected<Step> prepareGdma(const Command &command, const OperandList &operands,
                           const std::string &where) {
  DmaPlan plan;
  plan.where = where;
  plan.to = *operands.find(Role::Res0);
  plan.lanes = command.address(Field::LanesL32, Field::LanesH32);
  if (const View *from = operands.find(Role::Opd0))
    plan.from = *from;
  else
    plan.fill = static_cast<uint32_t>(command.get(Field::ConstantValue));
  const unsigned opcode = command.operation().opcode;
  if (command.operation().sub == 1) {
    plan.isTransposed = opcode == gdma::kTranspose;
    return Step([plan](Exec &exec) { return runMatrix(exec, plan); });
  }
  if (opcode == gdma::kLrnShift)
    return makeError(where, "dma.lrn_shift",
                     "an operation whose meaning is known (docs/bm1684.md)");
  if (opcode == gdma::kTranspose)
    plan.axes = {1, 0, 2, 3};
  else if (opcode == gdma::kCwTranspose)
    plan.axes = {0, 3, 2, 1};
  return Step([plan](Exec &exec) { return runTensor(exec, plan); });
}

} // namespace tpuc::bm1684

//===- Views.h - Tensors in lanes of local memory ------------- -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM168X_VIEWS_H
#define TPUC_TARGET_BM168X_VIEWS_H

#include "tpuc/Target/BM168x/Fields.h"
#include "tpuc/Target/BM168x/LocalMemory.h"
#include "tpuc/Target/Common/Command.h"
#include "tpuc/Target/Common/Order.h"

#include <optional>

namespace tpuc::bm168x {

using Extents = std::array<int64_t, 4>;

constexpr int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }
constexpr int64_t alignUp(int64_t a, int64_t b) { return ceilDiv(a, b) * b; }

/// How a tensor lies in local memory; the codes of the stride mode fields up to Explicit.
enum class Layout : uint8_t {
  Aligned = 0,    ///< Channels start at whole lines.
  Compact = 1,    ///< Channels follow each other.
  PerChannel = 2, ///< One element per channel, for all n, h, w.
  Explicit = 3,   ///< By the fields.
  LineAligned,    ///< Rows start at whole lines.
};

/// A tensor [n,c,h,w] in one of the memories. Strides count elements. In local memory channel c
/// lies in lane (start lane + c) mod 64, and the c stride counts from one slot of 64 lanes to the
/// next: element (n,c,h,w) is at `address` mod laneBytes + (n * stride[0] + (start lane + c) / 64 *
/// stride[1] + h * stride[2] + w * stride[3]) * bytes in its lane.
struct View {
  uint64_t address = 0;
  Prec prec = Prec::I8;
  Extents shape{};
  Extents stride{};
  /// True in local memory, where `address` is an offset; else `address` is absolute.
  bool isLocal = true;

  unsigned bytes() const { return precBytes(prec); }
  int64_t numElements() const { return shape[0] * shape[1] * shape[2] * shape[3]; }
};

/// The lane of channel 0 of a tensor at this offset.
constexpr unsigned startLane(const LocalMemory &memory, uint64_t offset) {
  return static_cast<unsigned>(offset / memory.laneBytes);
}

/// The strides of `layout` (not Explicit) for a tensor at `offset`. `bytes` are those of an
/// element.
inline Extents layoutStrides(const LocalMemory &memory, Layout layout, const Extents &shape,
                             unsigned bytes, uint64_t offset) {
  const int64_t perLine = memory.lineBytes / bytes;
  const int64_t hStride = layout == Layout::LineAligned ? alignUp(shape[3], perLine) : shape[3];
  int64_t cStride = shape[2] * hStride;
  if (layout == Layout::Aligned)
    cStride = alignUp(cStride, perLine);
  if (layout == Layout::PerChannel)
    return {0, 1, 0, 0};
  const int64_t lane = startLane(memory, offset);
  return {ceilDiv(lane + shape[1], kLanes) * cStride, cStride, hStride, 1};
}

/// A tensor in local memory with one of the regular layouts.
inline View localView(const LocalMemory &memory, uint64_t offset, Prec prec, const Extents &shape,
                      Layout layout) {
  return {offset, prec, shape, layoutStrides(memory, layout, shape, precBytes(prec), offset), true};
}

/// The bytes of a lane, or of linear memory, that a view touches: [first, last), relative to the
/// address.
struct ByteRange {
  int64_t first = 0;
  int64_t last = 0;
};
inline ByteRange touchedBytes(const LocalMemory &memory, const View &view) {
  if (view.numElements() == 0)
    return {};
  Extents last;
  for (size_t i = 0; i < 4; ++i)
    last[i] = view.shape[i] - 1;
  int64_t firstSlot = 0;
  if (view.isLocal) {
    const int64_t start = startLane(memory, view.address) % kLanes;
    last[1] = (start + view.shape[1] - 1) / kLanes;
    // A tensor that starts in a late lane and wraps around has its first channels in slot 0.
    firstSlot = start / kLanes;
  }
  int64_t end = firstSlot * view.stride[1];
  for (size_t i = 0; i < 4; ++i)
    end += last[i] * view.stride[i];
  return {0, (end + 1) * view.bytes()};
}

/// The bytes [first, last) of its lanes that a view touches, whichever lanes these are; none in
/// other memories.
struct LaneBytes {
  uint32_t first;
  uint32_t last;
};
std::optional<LaneBytes> laneBytesOf(const LocalMemory &lanes, const View &view);

/// One side of a transfer, at an absolute address.
inline View transferView(const LocalMemory &memory, uint64_t address, Prec prec,
                         const Extents &shape, const Extents &stride) {
  const bool isLocal = memory.contains(address);
  return {isLocal ? address - memory.base : address, prec, shape, stride, isLocal};
}

/// The strides of a transfer that names none: row-major outside, aligned in local memory.
Extents transferStrides(const LocalMemory &memory, uint64_t address, const Extents &shape,
                        unsigned bytes);

/// What the fields of the chips' tensor transfers say; extents and strides are as they stand there.
struct Transfer {
  Prec prec;
  uint64_t src, dst;
  Extents srcShape, dstShape;
  Extents srcStride, dstStride;
};
Transfer transferOf(const mc::Command &command);

/// What an operand is to its command. Opd3 stands for the tensor of pad and insert values, too.
enum class Role : uint8_t { Res0, Res1, Opd0, Opd1, Opd2, Opd3 };
std::string_view roleName(Role role);

struct Operand {
  Role role;
  View view;
  bool isWritten = false;
  /// Results that are also read: accumulation, or elements that the command leaves alone.
  bool isRead = true;
};

/// All operands that lie in memory; immediates are left out.
class OperandList {
public:
  void add(Role role, const View &view);
  void addResult(Role role, const View &view, bool isRead = false);
  const View *find(Role role) const;
  /// The operand added last.
  const View &back() const { return operands.back().view; }
  std::span<const Operand> all() const { return operands; }

private:
  std::vector<Operand> operands;
};

/// What operands touch in local memory, for `mc::findHazard`. Lanes are not told apart.
std::vector<mc::Access> localAccesses(const LocalMemory &memory, const OperandList &operands);

/// Refuses views that are not aligned to their elements, have too many of them, or leave their lane
/// or the local memory. Errors name `where`.
std::optional<Error> checkOperands(const LocalMemory &memory, const OperandList &operands,
                                   const std::string &where);

/// The extents of a group of fields, such as Field::Res0N to Field::Res0W.
Extents extentsOf(const mc::Command &command, Field n, Field c, Field h, Field w);
inline Extents resultShape(const mc::Command &command) {
  return extentsOf(command, Field::Res0N, Field::Res0C, Field::Res0H, Field::Res0W);
}

} // namespace tpuc::bm168x

#endif // TPUC_TARGET_BM168X_VIEWS_H

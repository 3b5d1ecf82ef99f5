//===- Operands.h - What memory a command reads and writes ---- -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM1684X_MACHINE_OPERANDS_H
#define TPUC_TARGET_BM1684X_MACHINE_OPERANDS_H

#include "tpuc/Target/BM1684X/Machine/Command.h"

#include <array>
#include <optional>
#include <vector>

namespace tpuc::bm1684x {

using Extents = std::array<int64_t, 4>;

/// How a tensor lies in local memory; the codes of the stride mode fields up to Explicit.
enum class Layout : uint8_t {
  Aligned = 0,    ///< Channels start at multiples of 64 bytes.
  Compact = 1,    ///< Channels follow each other.
  PerChannel = 2, ///< One element per channel, for all n, h, w.
  Explicit = 3,   ///< By the fields.
  LineAligned,    ///< Rows start at multiples of 64 bytes.
};

/// A tensor [n,c,h,w] in one of the memories. Strides count elements. In local memory channel c
/// lies in lane (startLane + c) mod 64, and the c stride counts from one slot of 64 lanes to the
/// next: element (n,c,h,w) is at `address` mod 256 KiB + (n * stride[0] + (startLane + c) / 64 *
/// stride[1] + h * stride[2] + w * stride[3]) * bytes in its lane.
struct View {
  uint64_t address = 0;
  Prec prec = Prec::I8;
  Extents shape{};
  Extents stride{};
  /// True in local memory, where `address` is an offset; else `address` is absolute.
  bool isLocal = true;

  unsigned bytes() const { return precBytes(prec); }
  unsigned startLane() const { return static_cast<unsigned>(address / kLaneBytes); }
  int64_t numElements() const { return shape[0] * shape[1] * shape[2] * shape[3]; }
};

/// The strides of `layout` (not Explicit) for a tensor at `address`.
Extents layoutStrides(Layout layout, const Extents &shape, unsigned bytes, uint64_t address);

/// A tensor in local memory with one of the regular layouts.
View localView(uint64_t address, Prec prec, const Extents &shape, Layout layout = Layout::Aligned);

/// The bytes of a lane, or of linear memory, that a view touches: [first, last), relative to the
/// address.
struct ByteRange {
  int64_t first = 0;
  int64_t last = 0;
};
ByteRange touchedBytes(const View &view);

/// What an operand is to its command. Pad stands for the tensor of pad and insert values.
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

/// The memory operands of `command`. Errors name `where`: precisions without a size, layouts that
/// the operation does not know, sizes that contradict each other. Commands of operations whose
/// meaning is not known have no operands here and are refused by `prepare` (Simulator.h).
Expected<OperandList> operandsOf(const Command &command, const std::string &where);

/// Refuses views that are not aligned to their elements, leave their lane or address memory
/// that the chip does not have. Errors name `where`.
std::optional<Error> checkOperands(const OperandList &operands, const std::string &where);

/// The extents of a group of fields, such as Field::Res0N to Field::Res0W.
Extents extentsOf(const Command &command, Field n, Field c, Field h, Field w);
inline Extents resultShape(const Command &command) {
  return extentsOf(command, Field::Res0N, Field::Res0C, Field::Res0H, Field::Res0W);
}

constexpr int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }
constexpr int64_t alignUp(int64_t a, int64_t b) { return ceilDiv(a, b) * b; }

/// Input channels per block of a convolution's weights: 64, 32 or 1 with the size of an element.
constexpr int64_t channelBlock(Prec prec) {
  return precBytes(prec) == 1 ? 64 : precBytes(prec) == 2 ? 32 : 1;
}

namespace detail {
Expected<OperandList> gdmaOperands(const Command &command, const std::string &where);
} // namespace detail

} // namespace tpuc::bm1684x

#endif // TPUC_TARGET_BM1684X_MACHINE_OPERANDS_H

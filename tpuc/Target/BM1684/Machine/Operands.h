//===- Operands.h - What memory a command reads and writes ---- -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM1684_MACHINE_OPERANDS_H
#define TPUC_TARGET_BM1684_MACHINE_OPERANDS_H

#include "tpuc/Target/BM1684/Machine/Command.h"
#include "tpuc/Target/BM168x/Views.h"

#include <vector>

namespace tpuc::bm1684 {

using bm168x::alignUp;
using bm168x::ceilDiv;
using bm168x::Extents;
using bm168x::extentsOf;
using bm168x::Layout;
using bm168x::Operand;
using bm168x::OperandList;
using bm168x::resultShape;
using bm168x::Role;
using bm168x::roleName;
using bm168x::View;

/// A tensor [n,c,h,w] in local memory. Strides count units, which are words of 32 bits in most
/// tensors; a unit holds `items` batch items beside each other. Element (n,c,h,w) is in lane
/// (start lane + c) mod 64 at byte
///   offset mod laneBytes + (n / items * stride[0] + (start lane + c) / 64 * stride[1] +
///   h * stride[2] + w * stride[3]) * unit + n % items * bytes.
struct Tensor {
  /// In local memory.
  uint64_t offset = 0;
  Prec prec = Prec::F32;
  bool isSigned = true;
  Extents shape{};
  Extents stride{};
  uint8_t unit = 4;
  uint8_t items = 1;

  unsigned bytes() const { return precBytes(prec); }
  unsigned startLane() const { return static_cast<unsigned>(offset / kLaneBytes); }
  /// The same bytes as 32-bit words, or as elements where these stand alone, for checks: one view,
  /// or two of which each has one word of every unit.
  std::vector<View> views() const;
};

/// The tensors of a computing command, with what it does to them; immediates are left out.
class TensorList {
public:
  struct Entry {
    Role role;
    Tensor tensor;
    bool isWritten;
  };
  void add(Role role, const Tensor &tensor) { entries.push_back({role, tensor, false}); }
  void addResult(Role role, const Tensor &tensor) { entries.push_back({role, tensor, true}); }
  const Tensor *find(Role role) const;
  std::span<const Entry> all() const { return entries; }

private:
  std::vector<Entry> entries;
};

/// Tensors of commands of the TIU. Errors name `where`: layouts that the operation does not know,
/// types that it lacks, sizes that contradict each other, addresses outside of local memory.
Expected<TensorList> tensorsOf(const Command &command, const std::string &where);

/// The memory operands of any command, of the TIU as `Tensor::views`. Errors: those of `tensorsOf`,
/// and transfers between memories that contradict their direction.
Expected<OperandList> operandsOf(const Command &command, const std::string &where);

/// One view of a transfer at an absolute address.
inline View transferView(uint64_t address, unsigned bytes, const Extents &shape,
                         const Extents &stride) {
  const Prec prec = bytes == 4 ? Prec::I32 : bytes == 2 ? Prec::I16 : Prec::I8;
  return bm168x::transferView(kLocalMemory, address, prec, shape, stride);
}

/// Whether the command is a convolution, pool or product of 32-bit floats.
inline bool isFloat(const Command &command) {
  return command.as<Prec>(Field::Opd0Prec) == Prec::F32;
}
/// Columns of the left matrix of a product, or rows where it is transposed.
int64_t leftColumns(const Command &command);

namespace detail {
Expected<OperandList> gdmaOperands(const Command &command, const std::string &where);
} // namespace detail

} // namespace tpuc::bm1684

#endif // TPUC_TARGET_BM1684_MACHINE_OPERANDS_H

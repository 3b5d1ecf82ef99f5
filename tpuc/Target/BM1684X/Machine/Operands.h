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
#include "tpuc/Target/BM168x/Views.h"

namespace tpuc::bm1684x {

using bm168x::alignUp;
using bm168x::ByteRange;
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

// The functions of tpuc/Target/BM168x/Views.h for the local memory of this chip.

/// The lane of channel 0 of a view in local memory.
constexpr unsigned startLane(const View &view) {
  return bm168x::startLane(kLocalMemory, view.address);
}
/// The strides of `layout` (not Explicit) for a tensor at `address`.
Extents layoutStrides(Layout layout, const Extents &shape, unsigned bytes, uint64_t address);
/// A tensor in local memory with one of the regular layouts.
View localView(uint64_t address, Prec prec, const Extents &shape, Layout layout = Layout::Aligned);
/// The bytes of a lane, or of linear memory, that a view touches.
ByteRange touchedBytes(const View &view);

/// The memory operands of `command`. Errors name `where`: precisions without a size, layouts that
/// the operation does not know, sizes that contradict each other. Commands of operations whose
/// meaning is not known have no operands here and are refused by `prepare` (Simulator.h).
Expected<OperandList> operandsOf(const Command &command, const std::string &where);

/// Refuses views that are not aligned to their elements, leave their lane or address memory
/// that the chip does not have. Errors name `where`.
std::optional<Error> checkOperands(const OperandList &operands, const std::string &where);

/// Input channels per block of a convolution's weights: 64, 32 or 1 with the size of an element.
constexpr int64_t channelBlock(Prec prec) {
  return precBytes(prec) == 1 ? 64 : precBytes(prec) == 2 ? 32 : 1;
}

namespace detail {
Expected<OperandList> gdmaOperands(const Command &command, const std::string &where);
} // namespace detail

} // namespace tpuc::bm1684x

#endif // TPUC_TARGET_BM1684X_MACHINE_OPERANDS_H

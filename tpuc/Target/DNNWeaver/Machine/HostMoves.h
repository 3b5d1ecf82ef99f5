//===- HostMoves.h - What the host does around a run -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// Beside the words of the machine, a compiled network has records for the host: which machine it is
// made for, what the halos of images are filled with, and how dense tensors become images and back.
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_DNNWEAVER_MACHINE_HOSTMOVES_H
#define TPUC_TARGET_DNNWEAVER_MACHINE_HOSTMOVES_H

#include "tpuc/Target/DNNWeaver/Machine/Parameters.h"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace tpuc::dnnweaver {

/// One record: twelve little-endian words of 64 bits.
struct HostMove {
  enum class Kind : uint8_t {
    Machine, ///< `from` is the set (0 public, 1 patent), `to` the rows, `counts[0]` the columns.
    Fill,    ///< `counts[0]` elements at `to` become `from`, sign-extended.
    Move     ///< counts[0] x counts[1] x counts[2] elements, the last the innermost.
  };
  Kind kind = Kind::Fill;
  /// Of an element: 1 or 2.
  unsigned bytes = 1;
  uint64_t from = 0, to = 0;
  std::array<uint64_t, 3> counts = {1, 1, 1};
  /// In bytes.
  std::array<uint64_t, 3> fromStrides = {}, toStrides = {};

  friend bool operator==(const HostMove &, const HostMove &) = default;
};

inline constexpr size_t kHostMoveBytes = 96;
/// The engines of a compiled network's streams.
inline constexpr std::string_view kHostStream = "host";
inline constexpr std::string_view kArrayStream = "array";

HostMove machineMove(const Parameters &machine);
std::vector<std::byte> encodeMoves(std::span<const HostMove> moves);
/// Errors name `where` and the record: unknown kinds, elements of other sizes, lengths that are no
/// multiple of a record.
Expected<std::vector<HostMove>> decodeMoves(std::span<const std::byte> bytes,
                                            const std::string &where);
/// The machine that a record names. Errors name `where`.
Expected<Parameters> machineOf(const HostMove &move, const std::string &where);
/// One line: `fill 16 x 1 bytes at 0x1000 with -128`.
std::string moveText(const HostMove &move);
/// Fills or moves in `memory`, whose first byte has address 0. Errors name `where`: bytes outside
/// of memory, more than `kMostMoved` elements.
Expected<void> runMove(const HostMove &move, std::span<uint8_t> memory, const std::string &where);
inline constexpr uint64_t kMostMoved = uint64_t{1} << 32;

} // namespace tpuc::dnnweaver

#endif // TPUC_TARGET_DNNWEAVER_MACHINE_HOSTMOVES_H

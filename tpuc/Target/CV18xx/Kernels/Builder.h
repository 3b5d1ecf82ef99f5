//===- Builder.h - Collecting the commands of both engines ---- -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_CV18XX_KERNELS_BUILDER_H
#define TPUC_TARGET_CV18XX_KERNELS_BUILDER_H

#include "tpuc/Target/CV18xx/Machine/Operands.h"

#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace tpuc::cv18xx {

/// The commands of a sub-network in issue order, and the layer of each as an index into `layers`.
struct CommandStream {
  std::vector<Command> commands;
  std::vector<uint32_t> layerOf;
  std::vector<std::string> layers;
  /// What kernels bring along: words that loads find from `kKeptConstants` on behind the base
  /// register of the constants, until the network's constants are complete.
  std::vector<uint16_t> constants;
};

/// The base register of constants, and where those of kernels begin for the time being.
inline constexpr unsigned kConstantBase = 1;
inline constexpr uint64_t kKeptConstants = uint64_t{1} << 36;

/// Takes commands of both engines in program order and gives them ids and waits. A command waits
/// for the other engine's last command that writes what it reads or writes, or reads what it
/// writes. Both engines work in order, and the TIU sees local memory alone, so nothing else can
/// bring a conflict. Bytes are compared in pieces of 16, all lanes alike. Ids have 16 bits: where
/// one engine has used them up, both begin anew, and what follows waits for all before.
class Builder {
public:
  explicit Builder(const Chip &chip) : chipInfo(&chip) {}

  const Chip &chip() const { return *chipInfo; }
  /// A command of that name with all fields at their presets.
  Command make(std::string_view name) const;

  /// The following commands belong to this layer. A name may come again.
  void beginLayer(std::string_view name);
  /// Appends a command; its id and wait are set here. Errors (without `where`): what the chip
  /// refuses.
  Expected<void> add(Command command);

  /// The offset at which loads find these words; equal ones are kept once.
  uint64_t keep(std::span<const uint16_t> words);

  size_t numCommands(Engine engine) const { return numbers[static_cast<size_t>(engine)]; }
  /// Hands everything over; the builder is as new afterwards.
  CommandStream finish();

private:
  static constexpr size_t kPiece = kEuBytes, kPieces = kLaneBytes / kPiece;
  /// The ids of the last commands of an engine that wrote and read each piece.
  struct Accesses {
    std::array<uint32_t, kPieces> writers = {}, readers = {};
  };
  /// Bytes [begin, end) of all lanes.
  struct Touched {
    uint64_t begin = 0, end = 0;
    bool isWritten = false;
  };
  std::vector<Touched> touchedBy(const Command &command) const;
  uint32_t neededWait(std::span<const Touched> touched, size_t other) const;

  const Chip *chipInfo;
  CommandStream stream;
  std::unordered_map<std::string, uint32_t> layerIndices;
  std::map<std::vector<uint16_t>, uint64_t> kept;
  std::array<Accesses, 2> accesses = {};
  std::array<uint32_t, 2> ids = {};
  std::array<size_t, 2> numbers = {};
  uint32_t currentLayer = 0;
};

} // namespace tpuc::cv18xx

#endif // TPUC_TARGET_CV18XX_KERNELS_BUILDER_H

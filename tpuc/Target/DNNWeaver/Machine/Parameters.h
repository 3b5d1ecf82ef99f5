//===- Parameters.h - Sizes and speeds of the arrays ---------- -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two kinds of one machine. `public` is the array whose hardware description is published with
// DNNWeaver v2. `patent` is the one of the Chinese patent on a compiler for it
// (tables 3.1 and 4.4), which adds pairs of int8 products, rounding shifts, copies and up-sampling.
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_DNNWEAVER_MACHINE_PARAMETERS_H
#define TPUC_TARGET_DNNWEAVER_MACHINE_PARAMETERS_H

#include "tpuc/Support/Error.h"

#include <array>
#include <cstdint>
#include <string_view>

namespace tpuc::dnnweaver {

/// The on-chip buffers, in the numbering of the instructions.
enum class Buffer : uint8_t { Input, Output, Weight, Bias };
inline constexpr unsigned kNumBuffers = 4;
inline constexpr std::array<std::string_view, kNumBuffers> kBufferNames = {"input", "output",
                                                                           "weight", "bias"};
constexpr unsigned index(Buffer buffer) { return static_cast<unsigned>(buffer); }

/// Which instructions the machine has.
enum class IsaKind : uint8_t { Public, Patent };

/// One machine. Sizes are those of one of the two tags of a double buffer.
struct Parameters {
  std::string_view name;
  IsaKind isa = IsaKind::Public;
  /// Rows take input channels (N), columns compute kernels (M).
  unsigned rows = 32;
  unsigned columns = 32;
  /// Of feature maps and weights in DDR, in bits; sums and biases have fixed widths.
  unsigned dataBits = 16;
  /// A number of the low bits of a sum that the ALU adds, multiplies and compares.
  unsigned aluBits = 16;
  /// The ALU's shift adds a half first, with ties away from zero; without it the shift rounds down.
  bool roundingShift = false;
  /// Two int8 activations share one multiplier (instruction `mode`).
  bool hasPairs = false;
  /// A second stream of stores, and stores that repeat a result.
  bool hasCopies = false;
  /// A set of weights arrives in as many cycles as the array has rows, and must be kept that long.
  bool weightsByRow = false;
  /// Words of each tag: N activations, M sums, N x M weights, M biases. In the order of `Buffer`.
  std::array<uint32_t, kNumBuffers> words = {512, 512, 128, 512};
  /// Instructions of a program, and operations of an ALU program.
  unsigned programWords = 4096;
  unsigned aluWords = 1024;
  /// Each of the five DDR ports moves so many bytes in a cycle.
  unsigned portBytes = 32;
  /// Cycles from a request for a burst to its first beat.
  unsigned readLatency = 20;
  /// What each iteration of a loop costs but the innermost one.
  unsigned loopSwitchCycles = 2;
  unsigned megahertz = 150;

  /// Bytes in DDR of one word of `buffer`: activations and weights have `dataBits`, or 8 bits where
  /// `pairs` is set.
  uint64_t wordBytes(Buffer buffer, bool pairs = false) const;
};

inline constexpr unsigned kSumBits = 64;
inline constexpr unsigned kBiasBits = 32;

/// The set of that name with its usual 32 x 32 array. Errors name `where` and list the names.
Expected<Parameters> parametersNamed(std::string_view name, const std::string &where);

/// The same machine with `rows` x `columns` elements; words of the buffers stay as many. Errors:
/// a side that is no power of two of 4 to 128, or words that do not fill beats of a port.
Expected<Parameters> withArray(Parameters set, unsigned rows, unsigned columns,
                               const std::string &where);

} // namespace tpuc::dnnweaver

#endif // TPUC_TARGET_DNNWEAVER_MACHINE_PARAMETERS_H

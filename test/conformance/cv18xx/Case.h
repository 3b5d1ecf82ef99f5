//===- Case.h - One command and the memory it finds -------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A case is a command for one of the four chips and a seed, from which both memories are filled.
// Cases are written as lines of text:
//
//   cv181x 17 floats conv #1 ... = 0123456789abcdef
//
// The number at the end is a hash of both memories afterwards. The conformance program makes such
// lines with the vendor's functional model; a unit test replays them on ours.
//
//===----------------------------------------------------------------------===//

#ifndef TEST_CONFORMANCE_CV18XX_CASE_H
#define TEST_CONFORMANCE_CV18XX_CASE_H

#include "test/fuzz/common/Random.h"
#include "tpuc/Target/CV18xx/Machine/Simulator.h"

#include <string>

namespace tpuc::cv18xx::conformance {

using fuzz::Random;

/// Global memory that cases may use; base registers point to its beginning.
inline constexpr uint64_t kGlobalBytes = 1 << 18;

/// What the memories are filled with.
enum class Content : uint8_t {
  Bits,    ///< Any bytes.
  Floats,  ///< BF16 of magnitude 2^-8 to 2^8, some zeros.
  Special, ///< BF16 of any exponent, no number among them.
  Large,   ///< BF16 near the largest number, infinite ones, zeros of both signs, and others.
};

struct Case {
  const Chip *chip;
  Command command;
  uint64_t seed = 0;
  Content content = Content::Bits;
};

/// Fills both memories. Packed parameters get shifts and biases that leave something of the sums;
/// compressed loads find a stream.
void fillMemories(const Case &one, std::span<uint8_t> local, std::span<uint8_t> global);

uint64_t hashMemories(std::span<const uint8_t> local, std::span<const uint8_t> global);

/// Runs a case on our machine. Errors: what the checks or the machine refuse.
Expected<void> runHere(const Case &one, Memory &memory);

std::string caseText(const Case &one);
Expected<Case> parseCase(std::string_view text, const std::string &where);

} // namespace tpuc::cv18xx::conformance

#endif // TEST_CONFORMANCE_CV18XX_CASE_H

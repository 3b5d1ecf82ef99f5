//===- Case.h - One command and what it works on, reproducibly - -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A case is a command and, for each of its operands, what the operand is filled with: a kind of
// values and a seed. Cases are written as lines of text:
//
//   vc.add #1 ... | opd0 float 17 0 | opd1 float 18 0 | res0 bits 19 0 = 0123456789abcdef
//
// The number at the end is a hash of the results. The program `conformance` makes such lines with
// the vendor's functional model; a unit test replays them on ours.
//
//===----------------------------------------------------------------------===//

#ifndef TEST_CONFORMANCE_BM168X_CASE_H
#define TEST_CONFORMANCE_BM168X_CASE_H

#include "tpuc/Target/BM168x/Views.h"

#include <functional>

namespace tpuc::bm168x::conformance {

/// A small generator whose numbers never change (splitmix64).
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}
  uint64_t next();
  /// Uniform in [low, high].
  int64_t range(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(next() % static_cast<uint64_t>(high - low + 1));
  }
  bool chance(int64_t oneIn) { return range(1, oneIn) == 1; }
  template <typename T, size_t N> T pick(const T (&values)[N]) {
    return values[static_cast<size_t>(range(0, N - 1))];
  }

private:
  uint64_t state;
};

/// What an operand is filled with. All but Float and Special are integers of the operand's size.
enum class Kind : uint8_t {
  Bits,     ///< Any bits.
  Small,    ///< Signed, -limit to limit.
  Index,    ///< 0 to limit - 1.
  Distinct, ///< Indices 0 to limit - 1, no two alike in a row.
  Float,    ///< Numbers of magnitude 2^-4 to 2^4, both signs, some zeros; `limit` widens the
            ///< exponents.
  Positive, ///< The same without signs or zeros.
  Special,  ///< The same with denormals, infinities and NaN among them.
  Requant,  ///< 32-bit words for requantization, by column: see Case.cpp.
  Pairs,    ///< Pairs {x, y} below limit % 65536 and limit / 65536.
};

struct Fill {
  Role role;
  Kind kind;
  uint64_t seed;
  uint32_t limit;
};

struct Case {
  mc::Command command;
  std::vector<Fill> fills;
};

/// The bytes of an element, wherever the machine keeps it.
using ElementAt =
    std::function<uint8_t *(const View &view, int64_t n, int64_t c, int64_t h, int64_t w)>;

/// Writes the operands of a case into a machine's memory.
void fillOperands(const Case &one, const OperandList &operands, const ElementAt &at);

/// A hash of the elements of all results. NaNs of f32 count as one value.
uint64_t hashResults(const OperandList &operands, const ElementAt &at);

/// Element addresses of a machine with these lanes; `absolute` gives what is at an address of any
/// memory.
ElementAt elementsOf(const LocalMemory &lanes, uint8_t *local,
                     std::function<uint8_t *(uint64_t address)> absolute);

std::string caseText(const Case &one);
Expected<Case> parseCase(const mc::CommandTable &table, std::string_view text,
                         const std::string &where);

} // namespace tpuc::bm168x::conformance

#endif // TEST_CONFORMANCE_BM168X_CASE_H

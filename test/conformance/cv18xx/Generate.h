//===- Generate.h - Random legal commands -----------------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TEST_CONFORMANCE_CV18XX_GENERATE_H
#define TEST_CONFORMANCE_CV18XX_GENERATE_H

#include "test/conformance/cv18xx/Case.h"

#include <functional>

namespace tpuc::cv18xx::conformance {

/// A kind of case.
struct Recipe {
  std::string_view name;
  std::function<Case(const Chip &chip, Random &random)> make;
};

/// All kinds that the machine runs; the chip may lack some functions, which are then not made.
std::vector<Recipe> allRecipes();

/// Gives one or two fields other values: those of other fields, neighbours, none, the largest, any.
/// Ids, waits, what the runtime sets and where moves go to stay. The command may be illegal then.
void changeFields(Command &command, Random &random);

namespace detail {

/// Uniform, both ends included.
inline uint32_t from(Random &random, uint32_t low, uint32_t high) {
  return low + static_cast<uint32_t>(random.below(high - low + 1));
}

/// Makes a command field by field; fields that the chip's layout lacks are left out.
class Maker {
public:
  Maker(const Chip &chip, std::string_view operation)
      : made(Command::make(*mc::findOp(commandTable(chip), operation))) {
    made.trySet(Field::Id, 1);
  }
  Maker &set(Field field, uint64_t value) {
    made.trySet(field, value);
    return *this;
  }
  Maker &shape(Field n, const Extents &extents);
  Maker &strides(Field n, const View &view);
  const Command &command() const { return made; }

private:
  Command made;
};

Command makeConv(const Chip &chip, Random &random, bool isBf16);
Command makePool(const Chip &chip, Random &random, bool isBf16);
Command makeMatrix(const Chip &chip, Random &random, bool isBf16);
Command makeElementwise(const Chip &chip, Random &random, bool isBf16);
Command makeLookup(const Chip &chip, Random &random, bool isBf16);
Command makeMove(const Chip &chip, Random &random, bool isBf16);
Command makeConversion(const Chip &chip, Random &random, bool isBf16);
Command makeImageMove(const Chip &chip, Random &random, bool isBf16);
Command makeTableIndex(const Chip &chip, Random &random, bool isBf16);
Command makeMatrixMove(const Chip &chip, Random &random, bool isBf16);
Command makeCompressed(const Chip &chip, Random &random, bool isBf16);

} // namespace detail

} // namespace tpuc::cv18xx::conformance

#endif // TEST_CONFORMANCE_CV18XX_GENERATE_H

//===- Recurrent.cpp - Shapes of recurrent layers -------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Support/OpShapes/Recurrent.h"
#include "tpuc/Support/Sizes.h"

#include <fmt/format.h>

using namespace tpuc;
using namespace tpuc::shapes;

/// Checks `found` against `expected`, in which what is not yet known is kDynamic and is learned.
static Expected<void> match(std::string_view name, const std::optional<Dims> &found,
                            std::span<int64_t *const> expected) {
  if (!found)
    return {};
  Dims wanted;
  bool fits = found->size() == expected.size();
  for (size_t axis = 0; axis < expected.size(); ++axis) {
    wanted.push_back(*expected[axis]);
    if (fits && *expected[axis] == kDynamic)
      *expected[axis] = (*found)[axis];
    fits = fits && ((*found)[axis] == kDynamic || (*found)[axis] == *expected[axis]);
  }
  if (!fits)
    return makeError("", fmt::format("{} has shape {}", name, dimsText(*found)), dimsText(wanted));
  return {};
}

Expected<RecurrentShapes> shapes::recurrentShapes(const RecurrentSpec &spec,
                                                  const RecurrentOperands &operands) {
  int64_t hidden = spec.hidden;
  const bool batchFirst = spec.batchFirst;
  RecurrentShapes shapes{kDynamic, kDynamic, spec.isBidirectional ? 2 : 1, kDynamic, {}, {}};
  int64_t *batch = &shapes.batch;
  int64_t *directions = &shapes.directions;
  int64_t rows = Count(spec.gates) * hidden;
  int64_t biases = Count(2) * rows;
  int64_t peepholes = Count(3) * hidden;
  using Row = std::vector<int64_t *>;
  Row input = batchFirst ? Row{batch, &shapes.sequence, &shapes.inputSize}
                         : Row{&shapes.sequence, batch, &shapes.inputSize};
  Row state = batchFirst ? Row{batch, directions, &hidden} : Row{directions, batch, &hidden};
  struct Check {
    std::string_view name;
    const std::optional<Dims> &found;
    Row expected;
  };
  for (const Check &check : {Check{"input", operands.input, input},
                             {"filter", operands.filter, {directions, &rows, &shapes.inputSize}},
                             {"recurrence", operands.recurrence, {directions, &rows, &hidden}},
                             {"bias", operands.bias, {directions, &biases}},
                             {"sequence_lens", operands.sequenceLens, {batch}},
                             {"initial_h", operands.initialH, state},
                             {"initial_c", operands.initialC, state},
                             {"peephole", operands.peephole, {directions, &peepholes}}})
    if (Expected<void> matched = match(check.name, check.found, check.expected); !matched)
      return propagate(matched);
  if (batchFirst) {
    shapes.y = {shapes.batch, shapes.sequence, shapes.directions, hidden};
    shapes.yH = {shapes.batch, shapes.directions, hidden};
  } else {
    shapes.y = {shapes.sequence, shapes.directions, shapes.batch, hidden};
    shapes.yH = {shapes.directions, shapes.batch, hidden};
  }
  return shapes;
}

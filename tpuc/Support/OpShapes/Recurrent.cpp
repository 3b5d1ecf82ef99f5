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

namespace {

using Row = std::vector<int64_t *>;

/// What an operand is to be.
struct ShapeCheck {
  std::string_view name;
  const std::optional<Dims> &found;
  Row expected;
};

} // namespace

static Expected<void> matchAll(std::initializer_list<ShapeCheck> checks) {
  for (const ShapeCheck &check : checks)
    if (Expected<void> matched = match(check.name, check.found, check.expected); !matched)
      return matched;
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
  Row input = batchFirst ? Row{batch, &shapes.sequence, &shapes.inputSize}
                         : Row{&shapes.sequence, batch, &shapes.inputSize};
  Row state = batchFirst ? Row{batch, directions, &hidden} : Row{directions, batch, &hidden};
  if (Expected<void> matched =
          matchAll({{"input", operands.input, input},
                    {"filter", operands.filter, {directions, &rows, &shapes.inputSize}},
                    {"recurrence", operands.recurrence, {directions, &rows, &hidden}},
                    {"bias", operands.bias, {directions, &biases}},
                    {"sequence_lens", operands.sequenceLens, {batch}},
                    {"initial_h", operands.initialH, state},
                    {"initial_c", operands.initialC, state},
                    {"peephole", operands.peephole, {directions, &peepholes}}});
      !matched)
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

Expected<Dims> shapes::integerLstmShape(int64_t gates, const IntegerLstmOperands &operands) {
  int64_t first = kDynamic;
  int64_t second = kDynamic;
  int64_t elements = kDynamic;
  int64_t rows = kDynamic;
  int64_t outputs = kDynamic;
  if (Expected<void> matched = matchAll({{"input", operands.input, {&first, &second, &elements}},
                                         {"filter", operands.filter, {&rows, &elements}},
                                         {"recurrence", operands.recurrence, {&rows, &outputs}},
                                         {"bias", operands.bias, {&rows}},
                                         {"norm", operands.norm, {&rows}}});
      !matched)
    return propagate(matched);
  if (rows != kDynamic && (rows < gates || rows % gates != 0))
    return makeError("", fmt::format("filter has {} rows", rows),
                     fmt::format("a multiple of {}, the number of gates", gates));
  int64_t units = rows == kDynamic ? kDynamic : rows / gates;
  int64_t peepholes = rows == kDynamic ? kDynamic : rows - units;
  if (Expected<void> matched = matchAll({{"peephole", operands.peephole, {&peepholes}},
                                         {"projection", operands.projection, {&outputs, &units}},
                                         {"projection_bias", operands.projectionBias, {&outputs}}});
      !matched)
    return propagate(matched);
  if (!operands.projection && units != kDynamic && outputs != kDynamic && outputs != units)
    return makeError("", fmt::format("recurrence has {} columns", outputs),
                     fmt::format("{}, the number of units", units));
  if (operands.peephole && units != kDynamic && outputs > units)
    return makeError("", fmt::format("has {} outputs beside peepholes", outputs),
                     fmt::format("at most {}, the number of units", units));
  return Dims{first, second, outputs};
}

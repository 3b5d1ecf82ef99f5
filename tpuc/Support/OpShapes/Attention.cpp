//===- Attention.cpp - Shapes of attention and what comes with it ---------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Support/OpShapes/Attention.h"
#include "tpuc/Support/Sizes.h"

#include <fmt/format.h>

using namespace tpuc;
using namespace tpuc::shapes;

/// One extent of an operand: `*extent` of `parts` of them side by side.
namespace {
struct Extent {
  int64_t *extent;
  int64_t parts = 1;
};
} // namespace

/// Checks the shape of the operand `name` against `expected`; extents that are not yet known are
/// learned.
static Expected<void> match(std::string_view name, const std::optional<Dims> &found,
                            std::span<const Extent> expected) {
  if (!found)
    return {};
  Dims wanted;
  bool fits = found->size() == expected.size();
  for (size_t axis = 0; axis < expected.size(); ++axis) {
    auto [extent, parts] = expected[axis];
    int64_t given = fits ? (*found)[axis] : kDynamic;
    if (*extent == kDynamic && given != kDynamic && given % parts == 0)
      *extent = given / parts;
    wanted.push_back(*extent == kDynamic ? kDynamic : int64_t(Count(*extent) * parts));
    fits = fits && (given == kDynamic || given == wanted.back());
  }
  if (!fits)
    return makeError("", fmt::format("{} has shape {}", name, dimsText(*found)), dimsText(wanted));
  return {};
}

namespace {
struct Check {
  std::string_view name;
  std::optional<Dims> found;
  std::vector<Extent> expected;
};
} // namespace

static Expected<void> matchAll(std::span<const Check> checks) {
  for (const Check &check : checks)
    if (Expected<void> matched = match(check.name, check.found, check.expected); !matched)
      return matched;
  return {};
}

static int64_t plus(int64_t a, int64_t b) {
  return a == kDynamic || b == kDynamic ? kDynamic : int64_t(Count(a) + b);
}

static int64_t times(int64_t a, int64_t b) {
  return a == kDynamic || b == kDynamic ? kDynamic : int64_t(Count(a) * b);
}

/// Checks that `mask` broadcasts to `scores`, of which its last extent may be shorter.
static Expected<void> checkMask(const std::optional<Dims> &mask, std::span<const int64_t> scores) {
  if (!mask)
    return {};
  bool fits = !mask->empty() && mask->size() <= scores.size();
  for (size_t back = 1; fits && back <= mask->size(); ++back) {
    int64_t found = (*mask)[mask->size() - back];
    int64_t wanted = scores[scores.size() - back];
    fits = found == kDynamic || wanted == kDynamic || found == wanted ||
           (back == 1 ? found < wanted : found == 1);
  }
  if (!fits)
    return makeError("", "mask has shape " + dimsText(*mask),
                     "one that broadcasts to " + dimsText(scores));
  return {};
}

Expected<AttentionShapes> shapes::attentionShapes(const AttentionSpec &spec, OperandDims operands) {
  bool isPacked = spec.queryHeads.has_value();
  int64_t queryHeads = spec.queryHeads.value_or(kDynamic);
  int64_t keyHeads = spec.keyHeads.value_or(kDynamic);
  int64_t batch = kDynamic;
  int64_t queries = kDynamic;
  int64_t keys = kDynamic;
  int64_t past = spec.hasPast ? kDynamic : 0;
  int64_t size = kDynamic;
  int64_t valueSize = kDynamic;
  std::vector<Check> checks;
  if (isPacked)
    checks = {{"query", operands[0], {{&batch}, {&queries}, {&size, queryHeads}}},
              {"key", operands[1], {{&batch}, {&keys}, {&size, keyHeads}}},
              {"value", operands[2], {{&batch}, {&keys}, {&valueSize, keyHeads}}}};
  else
    checks = {{"query", operands[0], {{&batch}, {&queryHeads}, {&queries}, {&size}}},
              {"key", operands[1], {{&batch}, {&keyHeads}, {&keys}, {&size}}},
              {"value", operands[2], {{&batch}, {&keyHeads}, {&keys}, {&valueSize}}}};
  checks.push_back({"past_key", operands[4], {{&batch}, {&keyHeads}, {&past}, {&size}}});
  checks.push_back({"past_value", operands[5], {{&batch}, {&keyHeads}, {&past}, {&valueSize}}});
  checks.push_back({"lengths", operands[6], {{&batch}}});
  if (Expected<void> matched = matchAll(checks); !matched)
    return propagate(matched);
  if (queryHeads != kDynamic && keyHeads != kDynamic &&
      (keyHeads == 0 ? queryHeads != 0 : queryHeads % keyHeads != 0))
    return makeError("", fmt::format("has {} heads of queries", queryHeads),
                     fmt::format("a multiple of the {} heads of keys", keyHeads));
  int64_t total = plus(past, keys);
  AttentionShapes shapes;
  shapes.presentKey = {batch, keyHeads, total, size};
  shapes.presentValue = {batch, keyHeads, total, valueSize};
  shapes.scores = {batch, queryHeads, queries, total};
  if (isPacked)
    shapes.output = Dims{batch, queries, times(queryHeads, valueSize)};
  else
    shapes.output = Dims{batch, queryHeads, queries, valueSize};
  if (Expected<void> checked = checkMask(operands[3], shapes.scores); !checked)
    return propagate(checked);
  return shapes;
}

Expected<void> shapes::checkRope(const RopeSpec &spec, OperandDims operands) {
  int64_t heads = spec.heads;
  int64_t batch = kDynamic;
  int64_t steps = kDynamic;
  int64_t size = kDynamic;
  int64_t positions = kDynamic;
  int64_t angles = kDynamic;
  std::vector<Check> checks;
  if (operands[0] && operands[0]->size() == 3) {
    if (heads < 1)
      return makeError("", "input has rank 3 and num_heads is " + std::to_string(heads),
                       "at least 1");
    checks.push_back({"input", operands[0], {{&batch}, {&steps}, {&size, heads}}});
  } else {
    heads = kDynamic;
    checks.push_back({"input", operands[0], {{&batch}, {&heads}, {&steps}, {&size}}});
  }
  if (Expected<void> matched = matchAll(checks); !matched)
    return matched;
  int64_t rotated = spec.rotated;
  if (rotated == 0)
    rotated = size;
  if (rotated != kDynamic && (rotated % 2 != 0 || (size != kDynamic && rotated > size)))
    return makeError("", fmt::format("turns {} of {} elements", rotated, size),
                     "an even number, at most all of them");
  int64_t pairs = rotated == kDynamic ? kDynamic : rotated / 2;
  if (spec.hasPositions)
    checks = {{"cos", operands[1], {{&positions}, {&pairs}}},
              {"sin", operands[2], {{&positions}, {&pairs}}},
              {"positions", operands[3], {{&batch}, {&steps}}}};
  else
    checks = {{"cos", operands[1], {{&angles}, {&steps}, {&pairs}}},
              {"sin", operands[2], {{&angles}, {&steps}, {&pairs}}}};
  if (Expected<void> matched = matchAll(checks); !matched || angles == 1 || angles == kDynamic)
    return matched;
  return matchAll(std::vector<Check>{{"cos", operands[1], {{&batch}, {&steps}, {&pairs}}}});
}

Expected<LinearAttentionShapes> shapes::linearAttentionShapes(int64_t queryHeads, int64_t keyHeads,
                                                              OperandDims operands) {
  int64_t batch = kDynamic;
  int64_t steps = kDynamic;
  int64_t size = kDynamic;
  int64_t valueSize = kDynamic;
  if (Expected<void> matched = matchAll(std::vector<Check>{
          {"query", operands[0], {{&batch}, {&steps}, {&size, queryHeads}}},
          {"key", operands[1], {{&batch}, {&steps}, {&size, keyHeads}}},
          {"value", operands[2], {{&batch}, {&steps}, {&valueSize, keyHeads}}},
          {"past_state", operands[3], {{&batch}, {&keyHeads}, {&size}, {&valueSize}}}});
      !matched)
    return propagate(matched);
  // One number per head, or one per element of a key; one number, or one per head.
  int64_t decays = operands[4] && operands[4]->size() == 3 && operands[4]->back() == keyHeads
                       ? keyHeads
                       : times(keyHeads, size);
  int64_t betas =
      operands[5] && operands[5]->size() == 3 && operands[5]->back() == 1 ? 1 : keyHeads;
  if (Expected<void> matched =
          matchAll(std::vector<Check>{{"decay", operands[4], {{&batch}, {&steps}, {&decays}}},
                                      {"beta", operands[5], {{&batch}, {&steps}, {&betas}}}});
      !matched)
    return propagate(matched);
  return LinearAttentionShapes{{batch, steps, times(queryHeads, valueSize)},
                               {batch, keyHeads, size, valueSize}};
}

Expected<Dims> shapes::causalConvState(OperandDims operands) {
  int64_t batch = kDynamic;
  int64_t channels = kDynamic;
  int64_t steps = kDynamic;
  int64_t one = 1;
  int64_t kernel = kDynamic;
  if (Expected<void> matched =
          matchAll(std::vector<Check>{{"input", operands[0], {{&batch}, {&channels}, {&steps}}},
                                      {"filter", operands[1], {{&channels}, {&one}, {&kernel}}},
                                      {"bias", operands[2], {{&channels}}}});
      !matched)
    return propagate(matched);
  if (kernel == 0)
    return makeError("", "filter is empty", "at least one column");
  int64_t kept = plus(kernel, -1);
  if (Expected<void> matched = matchAll(
          std::vector<Check>{{"past_state", operands[3], {{&batch}, {&channels}, {&kept}}}});
      !matched)
    return propagate(matched);
  return Dims{batch, channels, kept};
}

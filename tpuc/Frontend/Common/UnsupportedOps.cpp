//===- UnsupportedOps.cpp - The ops of a model that cannot be imported ----===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Frontend/Common/UnsupportedOps.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <span>

using namespace tpuc;
using namespace tpuc::frontend;

/// How many layers are named for each operator.
static constexpr size_t kNamedLayers = 5;

Expected<void> UnsupportedOps::check(const std::string &where) const {
  if (layers.empty())
    return {};
  std::vector<std::string> lines;
  for (const auto &[name, all] : layers) {
    std::span named = std::span(all).first(std::min(all.size(), kNamedLayers));
    size_t others = all.size() - named.size();
    lines.push_back(fmt::format("{} ({}{})", name, fmt::join(named, ", "),
                                others > 0 ? fmt::format(" and {} more", others) : ""));
  }
  return makeError(where,
                   fmt::format("operators that are not supported: {}", fmt::join(lines, "; ")));
}

//===- Registry.cpp - The chips that this build knows ---------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/Registry.h"

#include "tpuc/Support/Suggest.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace tpuc {

namespace {

std::string lowerCase(std::string_view text) {
  std::string lower(text);
  for (char &c : lower)
    if (c >= 'A' && c <= 'Z')
      c = static_cast<char>(c - 'A' + 'a');
  return lower;
}

} // namespace

std::vector<const TargetInfo *> knownTargets() {
  std::vector<const TargetInfo *> targets;
  for (DescribeTargets describeTargets : chipFolders())
    for (const TargetInfo &target : describeTargets())
      targets.push_back(&target);
  return targets;
}

Expected<const TargetInfo *> lookupTarget(std::string_view name) {
  const std::string wanted = lowerCase(name);
  std::vector<std::string_view> names, spellings;
  for (const TargetInfo *target : knownTargets()) {
    if (target->name == wanted ||
        std::ranges::find(target->aliases, wanted) != target->aliases.end())
      return target;
    names.push_back(target->name);
    spellings.push_back(target->name);
    spellings.insert(spellings.end(), target->aliases.begin(), target->aliases.end());
  }
  std::string found = fmt::format("unknown target '{}'", name);
  if (const auto near = closestMatch(wanted, spellings))
    found += fmt::format(", did you mean '{}'?", *near);
  return makeError("--chip", std::move(found), fmt::format("one of {}", fmt::join(names, ", ")));
}

} // namespace tpuc

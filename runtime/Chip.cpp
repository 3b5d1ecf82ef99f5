//===- Chip.cpp - Machines that run the commands of a model file ----------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/Chip.h"
#include "runtime/Chips.h"

#include <fmt/format.h>

namespace tpuc::runtime {

Expected<const Chip *> findChip(std::string_view name, const std::string &where) {
  const std::array<const Chip *, 1> chips = {&chipBM1684X()};
  std::string known;
  for (const Chip *chip : chips) {
    if (chip->name() == name)
      return chip;
    known += (known.empty() ? "" : ", ") + std::string(chip->name());
  }
  return makeError(where, fmt::format("a model for {}, which this runtime cannot simulate", name),
                   known);
}

Expected<std::unique_ptr<const TimeLine>> Chip::time(const bmodel::Stage &,
                                                     std::span<const uint32_t>, const LayerNames &,
                                                     const std::string &where) const {
  return makeError(where, fmt::format("a model for {}", name()), "a chip with a timing model");
}

} // namespace tpuc::runtime

//===- Aliases.h - Earlier names of passes and heuristics ------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_CODEGEN_ALIASES_H
#define TPUC_CODEGEN_ALIASES_H

#include <string_view>
#include <utility>

namespace tpuc::codegen {

/// Names that command lines of earlier versions have, and today's. No help text lists them.
inline constexpr std::pair<std::string_view, std::string_view> kAliases[] = {
    {"attention-rows", "fold-head-reshapes"}, {"constant-pool", "resident-constants"},
    {"early-results", "hoist-outputs"},       {"joins", "in-place-concat"},
    {"row-products", "gemv-to-conv"},         {"stack-rows", "pack-rows"},
    {"table-steps", "lut-to-arith"},          {"turn-stores", "fold-transpose-into-store"}};

/// Today's name of `name`, which may be an earlier one.
constexpr std::string_view currentName(std::string_view name) {
  for (const auto &[earlier, current] : kAliases)
    if (name == earlier)
      return current;
  return name;
}

} // namespace tpuc::codegen

#endif // TPUC_CODEGEN_ALIASES_H

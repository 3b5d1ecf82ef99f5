//===- Nesting.h - Texts that are nested too deep for a parser --*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_SUPPORT_NESTING_H
#define TPUC_SUPPORT_NESTING_H

#include "tpuc/Support/Error.h"

#include <string>
#include <string_view>

namespace tpuc {

/// Brackets, or signs in a row, within each other: parsers that call themselves for each of them
/// take some hundred bytes of stack. Modules and tables have less than 20.
inline constexpr size_t kMostNesting = 256;

/// Checks that in `text`, MLIR or JSON, no more than `most` brackets of any kind are open at a
/// time, and no more than `most` minus signs follow each other. Strings and comments (`//`) count
/// as nothing, and `->`, `>=` and `<=` as no brackets. Errors name `where` and the line.
Expected<void> checkNesting(std::string_view text, const std::string &where,
                            size_t most = kMostNesting);

} // namespace tpuc

#endif // TPUC_SUPPORT_NESTING_H

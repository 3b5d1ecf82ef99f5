//===- Trimmed.h - A text without the blanks around it -------- -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_SUPPORT_TRIMMED_H
#define TPUC_SUPPORT_TRIMMED_H

#include <algorithm>
#include <string_view>

namespace tpuc {

/// A line of a text without the blanks around it; the end of a line of Windows counts as one.
inline std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r";
  text.remove_prefix(std::min(text.size(), text.find_first_not_of(kBlanks)));
  return text.substr(0, text.find_last_not_of(kBlanks) + 1);
}

} // namespace tpuc

#endif // TPUC_SUPPORT_TRIMMED_H

//===- Error.cpp - What a user is told when something is wrong ------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Support/Error.h"

#include <fmt/format.h>

namespace tpuc {

std::string Error::message() const {
  std::string text = where;
  if (!found.empty())
    text += (text.empty() ? "" : ": ") + found;
  if (!expected.empty())
    text += (text.empty() ? "expected " : "; expected ") + expected;
  std::string line;
  for (unsigned char c : text) {
    if (c < 0x20 || c == 0x7f)
      line += fmt::format("\\x{:02x}", c);
    else
      line += static_cast<char>(c);
  }
  return line;
}

} // namespace tpuc

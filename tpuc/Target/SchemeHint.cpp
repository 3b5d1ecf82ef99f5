//===- SchemeHint.cpp - The number format that was meant ------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/SchemeHint.h"
#include "tpuc/Support/Suggest.h"
#include "tpuc/Target/QuantScheme.h"

#include <algorithm>
#include <cctype>
#include <iterator>

using namespace tpuc;

static std::string digitsOf(std::string_view text) {
  std::string digits;
  std::ranges::copy_if(text, std::back_inserter(digits),
                       [](unsigned char c) { return std::isdigit(c) != 0; });
  return digits;
}

std::string tpuc::schemeHint(std::string_view name) {
  std::vector<std::string_view> alike = schemeNames();
  std::erase_if(alike, [&](std::string_view each) { return digitsOf(each) != digitsOf(name); });
  const std::optional<std::string_view> near = closestMatch(name, alike);
  return near ? "; did you mean '" + std::string(*near) + "'?" : "";
}

//===- ToyFormat.cpp - What a toy file is ---------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Frontend/Formats.h"

#include <algorithm>

namespace tpuc::toy {

static bool beginsLikeToy(std::span<const std::byte> beginning) {
  constexpr std::string_view kMagic = "toy\n";
  return beginning.size() >= kMagic.size() &&
         std::equal(kMagic.begin(), kMagic.end(), beginning.begin(),
                    [](char a, std::byte b) { return std::byte(a) == b; });
}

const SourceFormat &describeFormat() {
  static constexpr std::string_view kEndings[] = {".toy", ".toys"};
  static constexpr SourceFormat kFormat = {"TOY", "a .toy file", kEndings, beginsLikeToy};
  return kFormat;
}

} // namespace tpuc::toy

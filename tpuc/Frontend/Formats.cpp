//===- Formats.cpp - The formats of trained networks ----------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Frontend/Formats.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>

using namespace tpuc;

/// Endings of formats that have no front end yet.
static constexpr std::array<std::string_view, 2> kLater = {".pt", ".pth"};

std::string tpuc::knownFormats() {
  std::string known;
  for (const SourceFormat *format : sourceFormats())
    known += (known.empty() ? "" : " or ") + std::string(format->description);
  return known;
}

Expected<const SourceFormat *> tpuc::formatOfName(const std::string &path) {
  std::string ending = std::filesystem::path(path).extension().string();
  std::ranges::transform(ending, ending.begin(),
                         [](unsigned char letter) { return std::tolower(letter); });
  for (const SourceFormat *format : sourceFormats())
    if (std::ranges::find(format->endings, ending) != format->endings.end())
      return format;
  // `a .caffemodel file`
  for (const SourceFormat *format : sourceFormats())
    if (!ending.empty() && format->weights.find(" " + ending + " ") != std::string_view::npos)
      return makeError(path, "holds weights alone",
                       std::string(format->description) + ", and this as its weights");
  if (std::ranges::find(kLater, ending) != kLater.end())
    return makeError(path, "models of the format '" + ending + "' cannot be read yet",
                     knownFormats());
  return makeError(path, "the format '" + ending + "' is not known", knownFormats());
}

const SourceFormat *tpuc::formatOfContents(std::span<const std::byte> beginning) {
  for (const SourceFormat *format : sourceFormats())
    if (format->beginsLike(beginning))
      return format;
  return nullptr;
}

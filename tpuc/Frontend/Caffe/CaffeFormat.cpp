//===- CaffeFormat.cpp - What a Caffe network is --------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Frontend/Caffe/CaffeFormat.h"

#include <algorithm>

using namespace tpuc;

/// Whether the text begins with a field of a network: a word that Caffe has, then `:` or `{`.
static bool beginsLikeCaffe(std::span<const std::byte> beginning) {
  std::string_view text(reinterpret_cast<const char *>(beginning.data()), beginning.size());
  constexpr std::string_view kSpaces = " \t\r\n";
  while (!text.empty()) {
    text.remove_prefix(std::min(text.find_first_not_of(kSpaces), text.size()));
    if (!text.starts_with('#'))
      break;
    text.remove_prefix(std::min(text.find('\n'), text.size()));
  }
  size_t end = text.find_first_not_of("abcdefghijklmnopqrstuvwxyz_");
  if (end == std::string_view::npos)
    return false;
  std::string_view word = text.substr(0, end);
  size_t next = text.find_first_not_of(kSpaces, end);
  constexpr std::string_view kWords[] = {"name",        "input",          "input_dim",
                                         "input_shape", "layer",          "layers",
                                         "state",       "force_backward", "debug_info"};
  return next != std::string_view::npos && (text[next] == ':' || text[next] == '{') &&
         std::ranges::find(kWords, word) != std::end(kWords);
}

const SourceFormat &tpuc::caffe::describeFormat() {
  static constexpr std::string_view kEndings[] = {".prototxt"};
  static constexpr SourceFormat kFormat = {.name = "CAFFE",
                                           .description = "a .prototxt file",
                                           .endings = kEndings,
                                           .beginsLike = beginsLikeCaffe,
                                           .weights = "a .caffemodel file"};
  return kFormat;
}

//===- TFLiteFormat.cpp - What a TFLite model is --------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Frontend/TFLite/TFLiteFormat.h"

using namespace tpuc;

/// The identifier of the FlatBuffer stands behind the place of its root table.
static bool beginsLikeTFLite(std::span<const std::byte> beginning) {
  std::string_view text(reinterpret_cast<const char *>(beginning.data()), beginning.size());
  return text.size() >= 8 && text.substr(4, 4) == "TFL3";
}

const SourceFormat &tpuc::tflite::describeFormat() {
  static constexpr std::string_view kEndings[] = {".tflite", ".lite"};
  static constexpr SourceFormat kFormat = {.name = "TFLITE",
                                           .description = "a .tflite file",
                                           .endings = kEndings,
                                           .beginsLike = beginsLikeTFLite,
                                           .hasHybrid = true};
  return kFormat;
}

//===- OnnxFormat.cpp - What an ONNX file is ------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Frontend/Onnx/OnnxFormat.h"

using namespace tpuc;

/// Whether the bytes begin with a field that an ONNX model has. There is no magic number: the first
/// byte is a field's number and how it is written, and models begin with their version (field 1).
static bool beginsLikeOnnx(std::span<const std::byte> beginning) {
  constexpr std::byte kVersion{0x08};
  constexpr std::byte kMostVersions{0x40};
  return beginning.size() >= 2 && beginning[0] == kVersion && beginning[1] < kMostVersions;
}

const SourceFormat &tpuc::onnx::describeFormat() {
  static constexpr std::string_view kEndings[] = {".onnx"};
  static constexpr SourceFormat kFormat = {"ONNX", "an .onnx file", kEndings, beginsLikeOnnx};
  return kFormat;
}

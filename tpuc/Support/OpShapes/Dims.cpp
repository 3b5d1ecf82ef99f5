//===- Dims.cpp - Extents of tensors while shapes are worked out ----------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Support/OpShapes/Dims.h"

using namespace tpuc;

std::string shapes::dimsText(std::span<const int64_t> dims) {
  std::string text = "[";
  for (int64_t extent : dims) {
    if (text.size() > 1)
      text += ", ";
    text += extent == kDynamic ? "?" : std::to_string(extent);
  }
  return text + "]";
}

//===- Counted.h - "1 layer", "2 layers" ------------------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_SUPPORT_COUNTED_H
#define TPUC_SUPPORT_COUNTED_H

#include <cstdint>
#include <string>
#include <string_view>

namespace tpuc {

/// `count` and `noun`, which gets an s unless the count is 1: "0 layers", "1 layer".
inline std::string counted(int64_t count, std::string_view noun) {
  return std::to_string(count) + " " + std::string(noun) + (count == 1 ? "" : "s");
}

} // namespace tpuc

#endif // TPUC_SUPPORT_COUNTED_H

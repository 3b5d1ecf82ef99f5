//===- MemoryLimit.h - The most memory that a run may take ------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_SUPPORT_MEMORYLIMIT_H
#define TPUC_SUPPORT_MEMORYLIMIT_H

#include "tpuc/Support/Error.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace tpuc {

/// `1500000`, `512K`, `800M`, `4G`, `1T`: a number of bytes, the letters for powers of 1024.
/// Errors: other texts, zero, more than 2^62.
Expected<uint64_t> parseMemorySize(std::string_view text);

/// Lets this process ask for `text` bytes of memory at most: heap, stacks, and what libraries take
/// for themselves (RLIMIT_DATA). Files that are mapped do not count: their pages leave memory when
/// others need it. So a network with weights larger than the limit can still be read.
///
/// Where operator new meets the limit, the program `tool` says so in one line and ends with status
/// 1; no file that is not complete is left behind. For the beginning of a program. Errors: as
/// parseMemorySize; the system refuses.
Expected<void> limitMemory(std::string_view text, std::string_view tool);

} // namespace tpuc

#endif // TPUC_SUPPORT_MEMORYLIMIT_H

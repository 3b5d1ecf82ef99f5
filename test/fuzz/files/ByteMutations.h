//===- ByteMutations.h - Files with other bytes --------------------------------------------*- C++
//-*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TEST_FUZZ_FILES_BYTEMUTATIONS_H
#define TEST_FUZZ_FILES_BYTEMUTATIONS_H

#include "test/fuzz/common/Random.h"

namespace tpuc::fuzz {

/// Changes some bytes of a file: bits, bytes, integers of 16 to 64 bits, bytes that go, come, are
/// moved or repeated, the end of the file. `other` is a file of the same kind, of which a part may
/// be taken. What is changed, and to what, depends on `seed` and both files only.
Change mutateBytes(std::string &bytes, const std::string &other, uint64_t seed);

} // namespace tpuc::fuzz

#endif // TEST_FUZZ_FILES_BYTEMUTATIONS_H

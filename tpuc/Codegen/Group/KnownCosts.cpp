//===- KnownCosts.cpp - What is known of kinds of layers ------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Group/KnownCosts.h"

#include "llvm/Support/xxhash.h"

using namespace tpuc::codegen;

KnownCosts::Key KnownCosts::keyOf(llvm::ArrayRef<uint64_t> words) {
  const llvm::XXH128_hash_t hash = llvm::xxh3_128bits(
      {reinterpret_cast<const uint8_t *>(words.data()), words.size() * sizeof(words[0])});
  return {hash.low64, hash.high64};
}

//===- Sha256.cpp - The checksum of the coefficients ----------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Model/Bmodel/Sha256.h"

#include <openssl/evp.h>

namespace tpuc::bmodel {

Expected<std::array<std::byte, kSha256Bytes>> sha256(Bytes bytes, const std::string &where) {
  std::array<std::byte, kSha256Bytes> digest;
  unsigned length = 0;
  const int ok =
      EVP_Digest(bytes.data(), bytes.size(), reinterpret_cast<unsigned char *>(digest.data()),
                 &length, EVP_sha256(), nullptr);
  if (ok != 1 || length != kSha256Bytes)
    return makeError(where, "libcrypto cannot compute SHA-256");
  return digest;
}

} // namespace tpuc::bmodel

//===- Sha256.cpp - The checksum of the coefficients ----------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Model/Bmodel/Sha256.h"

#include <openssl/evp.h>
#include <openssl/sha.h>

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

/// The bytes from which on a length in bits has more than 32 bits.
static constexpr size_t kLongLength = size_t{1} << 29;

bool isSha256Of(const std::array<std::byte, kSha256Bytes> &stated,
                const std::array<std::byte, kSha256Bytes> &digest, Bytes bytes) {
  if (stated == digest || bytes.size() < kLongLength)
    return stated == digest;
  // The interface of libcrypto that shows the length.
  SHA256_CTX state;
  SHA256_Init(&state);
  SHA256_Update(&state, bytes.data(), bytes.size());
  state.Nh = 0;
  std::array<std::byte, kSha256Bytes> cut;
  SHA256_Final(reinterpret_cast<unsigned char *>(cut.data()), &state);
  return stated == cut;
}

} // namespace tpuc::bmodel

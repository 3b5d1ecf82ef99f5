//===- Format.cpp - What reader and writer share --------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Model/Cvimodel/Format.h"

#include <openssl/evp.h>

namespace tpuc::cvimodel {

Expected<std::array<std::byte, kMd5Bytes>> md5(Bytes bytes, const std::string &where) {
  std::array<std::byte, kMd5Bytes> digest;
  unsigned length = 0;
  const int ok =
      EVP_Digest(bytes.data(), bytes.size(), reinterpret_cast<unsigned char *>(digest.data()),
                 &length, EVP_md5(), nullptr);
  if (ok != 1 || length != kMd5Bytes)
    return makeError(where, "libcrypto cannot compute MD5");
  return digest;
}

PictureAlignment frameAlignment(std::string_view chip) {
  return chip == "cv183x" ? PictureAlignment{32, 4096} : PictureAlignment{64, 64};
}

std::vector<int64_t> pictureShape(const model::PictureInfo &picture, int64_t batch) {
  const int64_t channels = numChannels(picture.format);
  if (picture.alignment.isPresent())
    return {batch, channels, picture.height, picture.width};
  if (isPacked(picture.format))
    return {batch, picture.height, picture.width, channels};
  if (isYuv(picture.format))
    return {batch, 1, picture.height / 2 * 3, picture.width};
  return {batch, channels, picture.height, picture.width};
}

} // namespace tpuc::cvimodel

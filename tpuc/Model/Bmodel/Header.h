//===- Header.h - The first 64 bytes of a .bmodel file ----------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_MODEL_BMODEL_HEADER_H
#define TPUC_MODEL_BMODEL_HEADER_H

#include "tpuc/Model/Bmodel/Bmodel.h"

#include <bit>

namespace tpuc::bmodel {

/// "TPDI" in the first reserved word: the words after it name the debug information.
inline constexpr uint32_t kDebugTag = 0x49445054;
inline constexpr uint32_t kDebugVersion = 1;

/// As it lies in the file.
struct Header {
  uint32_t magic = kMagic;
  uint32_t headerBytes = kHeaderBytes;
  uint32_t tableBytes = 0;
  // 64 bits; two words, because it lies at offset 12.
  uint32_t blobBytesLow = 0, blobBytesHigh = 0;
  uint32_t debugTag = 0;
  uint64_t debugStart = 0;
  uint64_t debugBytes = 0;
  uint32_t debugVersion = 0;
  std::array<uint32_t, 5> reserved{};

  uint64_t blobBytes() const { return uint64_t{blobBytesHigh} << 32U | blobBytesLow; }
  void setBlobBytes(uint64_t bytes) {
    blobBytesLow = static_cast<uint32_t>(bytes);
    blobBytesHigh = static_cast<uint32_t>(bytes >> 32U);
  }
};
static_assert(sizeof(Header) == kHeaderBytes && offsetof(Header, debugStart) == 24);
static_assert(std::endian::native == std::endian::little,
              "the header, the commands and the coefficients are little endian");

} // namespace tpuc::bmodel

#endif // TPUC_MODEL_BMODEL_HEADER_H

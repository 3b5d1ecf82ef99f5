//===- Crc32.cpp - The checksum of zip archives ---------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "tpuc/Support/Crc32.h"

#include <isa-l/crc.h>

uint32_t tpuc::crc32(std::span<const std::byte> bytes, uint32_t before) {
  const auto *data = reinterpret_cast<const unsigned char *>(bytes.data());
  return bytes.empty() ? before : crc32_gzip_refl(before, data, bytes.size());
}

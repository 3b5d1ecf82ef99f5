//===- Crc32.h - The checksum of zip archives -------------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef TPUC_SUPPORT_CRC32_H
#define TPUC_SUPPORT_CRC32_H

#include <cstddef>
#include <cstdint>
#include <span>

namespace tpuc {

/// CRC-32 as zip and gzip have it (polynomial 0x04C11DB7, bits reflected) of the bytes whose
/// checksum is `before`, followed by `bytes`.
uint32_t crc32(std::span<const std::byte> bytes, uint32_t before = 0);

} // namespace tpuc

#endif // TPUC_SUPPORT_CRC32_H

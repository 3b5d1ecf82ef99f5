//===- Inflater.h - Deflated bytes in memory ------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef TPUC_SUPPORT_INFLATER_H
#define TPUC_SUPPORT_INFLATER_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace tpuc {

/// Inflates a raw deflate stream that lies in memory, piece by piece, and takes the CRC of what
/// comes out.
class Inflater {
public:
  /// `input` must outlive the object. Throws std::bad_alloc.
  explicit Inflater(std::span<const std::byte> input);
  Inflater(const Inflater &) = delete;
  Inflater &operator=(const Inflater &) = delete;
  ~Inflater();

  /// Fills `output` as far as the stream reaches; gives the number of bytes. Less than
  /// `output.size()` means that the stream has ended or is damaged (`isWhole`).
  size_t read(std::span<std::byte> output);

  /// Whether the stream has ended as it should, exactly at the end of the input. Reads on to see
  /// it, but for a byte that would come out: then the answer is no.
  bool isWhole();

  /// The CRC-32 of all bytes that `read` gave.
  uint32_t crc() const { return checksum; }

private:
  struct Stream;

  std::unique_ptr<Stream> stream;
  std::span<const std::byte> pending;
  uint32_t checksum = 0;
  bool ended = false;
};

/// The most bytes that one compressed byte can stand for: deflate codes 258 bytes in two bits at
/// best. Source: zlib's technical details.
inline constexpr uint64_t kMostInflatedPerByte = 1032;

} // namespace tpuc

#endif // TPUC_SUPPORT_INFLATER_H

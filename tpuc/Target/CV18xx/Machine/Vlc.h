//===- Vlc.h - Compressed values of the DMA engine --------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A stream is a header of 16 bytes, a map of one byte for each block of 16 values, and the blocks,
// which are Golomb-Rice codes of symbols. Integers and exponents become symbols by a fold around
// biases, so that small distances are small symbols; sign and mantissa of BF16 values follow as
// they are. The header holds the bytes of the payload, type, biases and the zero guard, not the
// number of values.
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_CV18XX_MACHINE_VLC_H
#define TPUC_TARGET_CV18XX_MACHINE_VLC_H

#include "tpuc/Support/Error.h"

#include <cstdint>
#include <span>
#include <vector>

namespace tpuc::cv18xx {

/// What a header says beside the size.
struct VlcParameters {
  bool isSigned = false, isBf16 = false;
  /// Integers: the greatest positive magnitude that does not occur, likewise of negative values.
  /// BF16: the exponent in the middle, and no second one.
  uint8_t bias0 = 0, bias1 = 0;
  /// BF16 with zeros: these take one bit. Subnormal numbers and -0 become +0.
  bool zeroGuard = false;

  friend bool operator==(const VlcParameters &, const VlcParameters &) = default;
};

/// The vendor's choice for the values; integers lie in the low bytes.
VlcParameters estimateVlc(std::span<const uint16_t> values, bool isBf16, bool isSigned);

/// The most bytes that a stream of `count` values takes.
uint64_t vlcBound(uint64_t count, bool isBf16);

/// The stream of the values. The same bytes as the vendor's compiler and as compressed stores.
std::vector<uint8_t> encodeVlc(std::span<const uint16_t> values, const VlcParameters &parameters);

struct VlcStream {
  VlcParameters parameters;
  std::vector<uint16_t> values;
  /// What the stream takes of the bytes that it was read from.
  uint64_t bytes = 0;
};

/// `count` values from the stream that `bytes` begin with. Errors name `where`: a stream that is
/// cut off, a payload that is larger than any, blocks that are no codes.
Expected<VlcStream> decodeVlc(std::span<const uint8_t> bytes, uint64_t count,
                              const std::string &where);

} // namespace tpuc::cv18xx

#endif // TPUC_TARGET_CV18XX_MACHINE_VLC_H

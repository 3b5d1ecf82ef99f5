//===- Elementwise.h - Arithmetic on elements ----------------- -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_CV18XX_KERNELS_ELEMENTWISE_H
#define TPUC_TARGET_CV18XX_KERNELS_ELEMENTWISE_H

#include "tpuc/Target/CV18xx/Kernels/LocalTensor.h"

#include <variant>

namespace tpuc::cv18xx {

/// A tensor, or the same number for all elements: a signed integer of 8 bits or the bits of a BF16.
using Elements = std::variant<LocalTensor, uint16_t>;

/// One command on tensors of one shape: `mul`, `add`, `sub`, `max`, `min`, `copy`, `mac` or `ge`.
struct ElementCommand {
  std::string_view name;
  LocalTensor result, left;
  Elements right = uint16_t{0};
  bool hasRelu = false;
  /// Of integers: the plain right shift, half up, or the one behind the multiplier.
  unsigned shift = 0;
  /// Of `mul` on integers: see `kRequantBytes`.
  std::optional<uint32_t> multiplier = std::nullopt;
  /// Bytes from the lower byte of a result of 16 bits to the upper one: what `mac` adds to, and
  /// what `mul` leaves if `isWide`.
  std::optional<uint32_t> planeDistance = std::nullopt;
  bool isWide = false;
};
/// Tensors of any extents, with or without gaps. Errors (without `where`): what the chip refuses.
Expected<void> emitElements(Builder &builder, const ElementCommand &elements);

/// y = saturate(relu((a * factors[0] + b * factors[1]) / 2^shift, half up)) of signed integers.
struct WeightedSum {
  LocalTensor result, left, right;
  std::array<int64_t, 2> factors = {1, 1};
  int64_t shift = 0;
  bool hasRelu = false;
  /// Bytes of `sumScratch` in each lane.
  uint32_t scratch = 0;
};
uint32_t sumScratch(const Chip &chip, const LocalTensor &result);
/// Errors (without `where`): factors of more than 8 bits, shifts that the chip does not have.
Expected<void> emitWeightedSum(Builder &builder, const WeightedSum &sum);

/// y = saturate(x * multiplier / 2^shift, half up) of signed integers, 24 < shift <= 31.
struct Rescale {
  LocalTensor result, input;
  int64_t multiplier = 0, shift = 31;
  bool hasRelu = false;
};
Expected<void> emitRescale(Builder &builder, const Rescale &rescale);

/// The entry of each element: 256 of them lie in every lane at `table`.
Expected<void> emitLookup(Builder &builder, const LocalTensor &result, const LocalTensor &input,
                          uint32_t table);

} // namespace tpuc::cv18xx

#endif // TPUC_TARGET_CV18XX_KERNELS_ELEMENTWISE_H

//===- IntegerDepthwise.h - Depthwise convolutions of bytes -----*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_INTERPRETER_KERNELS_INTEGERDEPTHWISE_H
#define TPUC_INTERPRETER_KERNELS_INTEGERDEPTHWISE_H

#include "tpuc/Interpreter/Kernels/IntegerConvolver.h"

namespace tpuc::kernels {

/// What IntegerConvolver computes, for one input channel in each group: sixteen neighbours of the
/// output are made of 64 neighbouring bytes of a padded plane, four taps along a row at once.
class IntegerDepthwise {
public:
  /// Whether there is such a convolution.
  static bool isFor(const Geometry &geometry, int64_t groups, DataType filter, SimdLevel level);

  IntegerDepthwise(const Geometry &geometry, const FilterView &filter, const Tensor *bias,
                   DataType input, int32_t subtracted, int32_t outside, SimdLevel level);

  void run(const Tensor &input, const RowFinisher &finisher, Tensor &output,
           ThreadPool &threads) const;

private:
  void planTiles();
  void copyPlane(const uint8_t *from, uint8_t *plane) const;
  void sumTiles(const uint8_t *plane, int64_t channel, size_t first, size_t last,
                int32_t *sums) const;
  void runLarge(const uint8_t *plane, int64_t inputChannel, int32_t *sums,
                const RowFinisher &finisher, std::byte *to) const;

  Geometry g;
  const IntegerSimd &simd;
  uint8_t flip, outsideByte;
  int64_t rows;  ///< Output channels of an input channel.
  int64_t words; ///< Of a row of the kernel.
  bool isShort = true;
  /// Of the padded plane, in bytes.
  int64_t pitch, height;
  std::vector<WindowTile> tiles;
  std::vector<std::array<uint8_t, 64>> patterns;
  std::vector<uint32_t> factors; ///< [output channels][kernel rows][words].
  std::vector<int32_t> offsets;
};

} // namespace tpuc::kernels

#endif // TPUC_INTERPRETER_KERNELS_INTEGERDEPTHWISE_H

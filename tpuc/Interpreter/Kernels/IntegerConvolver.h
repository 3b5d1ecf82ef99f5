//===- IntegerConvolver.h - A convolution of bytes with its filter packed ---*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_INTERPRETER_KERNELS_INTEGERCONVOLVER_H
#define TPUC_INTERPRETER_KERNELS_INTEGERCONVOLVER_H

#include "tpuc/Interpreter/Kernels/IntegerWords.h"
#include "tpuc/Interpreter/Kernels/WindowGeometry.h"

#include <vector>

namespace tpuc::kernels {

/// How a convolution reads the elements of a filter tensor of i8 or u8.
struct FilterView {
  DataType type;
  const uint8_t *data;
  int64_t groupStep, rowStep, channelStep;
  std::array<int64_t, 3> tapSteps;
  int64_t first = 0;
  bool isEmpty = false; ///< All elements are 0.

  FilterView(const Tensor &filter, int64_t groupStep, int64_t rowStep, int64_t channelStep,
             const std::array<int64_t, 3> &tapSteps)
      : type(filter.type()), data(bytesOf(filter)), groupStep(groupStep), rowStep(rowStep),
        channelStep(channelStep), tapSteps(tapSteps) {}

  int32_t at(int64_t group, int64_t row, int64_t channel, const std::array<int64_t, 3> &tap) const {
    if (isEmpty)
      return 0;
    const uint8_t byte = data[group * groupStep + row * rowStep + channel * channelStep + first +
                              tap[0] * tapSteps[0] + tap[1] * tapSteps[1] + tap[2] * tapSteps[2]];
    return type == DataType::I8 ? static_cast<int8_t>(byte) : byte;
  }
};

/// The biases with the zero points of the input folded in: bias[m] (null: 0) - zero * the sum of
/// the filter of m.
std::vector<int32_t> foldZero(const Geometry &g, int64_t groups, const FilterView &filter,
                              const Tensor *bias, int32_t zero);

/// acc[n, m, o] = bias[m] + sum of filter * (input - subtracted) as a convolution of a fixed
/// geometry (whose small side is the output) takes them; outside of the input lies `outside`.
///
/// A strip of the input is packed so that a word holds terms of one output element, and that
/// vectors of 16 words belong to 16 neighbours of an output row; so neither the input's nor the
/// output's rows are transposed. A word holds either some channels of one pixel, or, where that
/// takes fewer words, some taps along a row of one channel. Where the window moves by more than
/// one, pixels that are one stride apart lie together.
class IntegerConvolver {
public:
  IntegerConvolver(const Geometry &geometry, int64_t groups, const FilterView &filter,
                   const Tensor *bias, DataType input, int32_t subtracted, int32_t outside,
                   SimdLevel level);

  void run(const Tensor &input, const RowFinisher &finisher, Tensor &output,
           ThreadPool &threads) const;

private:
  struct Layout;
  struct Strip;
  struct Workspace;

  void packFilter(const FilterView &filter);
  Layout layoutFor(unsigned numThreads) const;
  void runStrip(const uint8_t *input, const Layout &layout, const Strip &strip,
                const RowFinisher &finisher, Tensor &output, Workspace &space) const;
  void pack(const uint8_t *input, const Layout &layout, const Strip &strip, Workspace &space) const;
  void packChannels(const uint8_t *const *planes, const Layout &layout, const Strip &strip,
                    const uint8_t *outside, uint32_t *to) const;
  void packTaps(const uint8_t *plane, const Layout &layout, const Strip &strip, uint8_t *line,
                uint32_t *to) const;
  void packRow(const uint8_t *const *sources, int64_t stride, int64_t count, uint32_t *to) const;

  Geometry g;
  const IntegerSimd &simd;
  WordKind kind;
  uint8_t flip;
  uint8_t outsideByte;
  uint32_t outsideWord;
  int64_t groups, channels, rows; ///< Input and output channels of a group.
  bool isPointwise;
  bool byTaps;
  int64_t terms;   ///< Of a word.
  int64_t sources; ///< Channels times depth taps.
  int64_t units;   ///< Words of a pixel or, by taps, channels times depth taps.
  int64_t rowPhases, columnPlanes;
  int64_t steps;
  std::vector<TileRows> tiles;
  std::vector<uint32_t> factors; ///< [groups][tiles][steps][rows of the tile].
  std::vector<int32_t> offsets;  ///< The bias of each output channel, with all zero points folded.
};

} // namespace tpuc::kernels

#endif // TPUC_INTERPRETER_KERNELS_INTEGERCONVOLVER_H

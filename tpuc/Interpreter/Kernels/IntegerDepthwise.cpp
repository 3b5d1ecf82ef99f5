//===- IntegerDepthwise.cpp - Depthwise convolutions of bytes -------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Interpreter/Kernels/IntegerDepthwise.h"
#include "tpuc/Interpreter/Kernels/Parallel.h"

using namespace tpuc;
using namespace tpuc::kernels;

namespace {

/// Bytes of a vector, and of a word.
constexpr int64_t kVector = 64;
constexpr int64_t kWord = 4;
/// Sums that become results together.
constexpr int64_t kSums = 2048;

} // namespace

bool IntegerDepthwise::isFor(const Geometry &geometry, int64_t groups, const Tensor &filter,
                             IntegerLevel level) {
  return level == IntegerLevel::Avx512Vnni && filter.type() == DataType::I8 &&
         geometry.largeChannels == groups && geometry.kernel[0] == 1 && geometry.large[0] == 1 &&
         geometry.small[0] == 1 && geometry.pads[0] == 0 &&
         (kWord - 1) * geometry.dilations[2] < kVector;
}

IntegerDepthwise::IntegerDepthwise(const Geometry &geometry, const FilterView &filter,
                                   const Tensor *bias, DataType input, int32_t subtracted,
                                   int32_t outside, IntegerLevel level)
    : g(geometry), simd(integerSimd(level)), flip(flipOf(input)),
      outsideByte(static_cast<uint8_t>(static_cast<uint8_t>(outside) ^ flip)),
      rows(g.smallChannels / g.largeChannels),
      pitch((g.small[2] - 1) * g.strides[2] + (g.kernel[2] - 1) * g.dilations[2] + 1),
      height((g.small[1] - 1) * g.strides[1] + (g.kernel[1] - 1) * g.dilations[1] + 1),
      offsets(foldZero(g, g.largeChannels, filter, bias, subtracted + flip)) {
  planTiles();
  for (int64_t y = 0; y < g.kernel[1]; ++y)
    for (int64_t x = 0; x < g.kernel[2]; x += kWord)
      stepOffsets.push_back(y * g.dilations[1] * pitch + x * g.dilations[2]);
  for (int64_t channel = 0; channel < g.smallChannels; ++channel)
    for (int64_t y = 0; y < g.kernel[1]; ++y)
      for (int64_t x = 0; x < g.kernel[2]; x += kWord) {
        std::array<int32_t, 4> taps{};
        for (int64_t t = x; t < std::min(x + kWord, g.kernel[2]); ++t)
          taps[static_cast<size_t>(t - x)] =
              filter.at(channel / rows, channel % rows, 0, {0, y, t});
        factors.push_back(wordOf(WordKind::UnsignedLanes, taps));
      }
}

/// As many outputs as there are lanes and as a vector has bytes for, also beyond the end of a row.
void IntegerDepthwise::planTiles() {
  const int64_t taps = std::min(kWord, g.kernel[2]);
  const int64_t outputs = g.small[1] * g.small[2];
  const auto sourceOf = [&](int64_t output) {
    return output / g.small[2] * g.strides[1] * pitch + output % g.small[2] * g.strides[2];
  };
  for (int64_t first = 0; first < outputs;) {
    const int64_t source = sourceOf(first);
    std::array<uint8_t, kVector> pattern{};
    int64_t lane = 0;
    for (; lane < kWordLanes && first + lane < outputs; ++lane) {
      const int64_t start = sourceOf(first + lane) - source;
      if (start + (taps - 1) * g.dilations[2] >= kVector)
        break;
      for (int64_t t = 0; t < taps; ++t)
        pattern[static_cast<size_t>(lane * kWord + t)] =
            static_cast<uint8_t>(start + t * g.dilations[2]);
    }
    auto found = std::ranges::find(patterns, pattern);
    if (found == patterns.end())
      found = patterns.insert(found, pattern);
    tiles.push_back({source, first, found - patterns.begin()});
    first += lane;
  }
}

/// The elements of the input; what lies around them is there already.
void IntegerDepthwise::copyPlane(const uint8_t *from, uint8_t *plane) const {
  const int64_t top = std::max<int64_t>(-g.pads[1], 0);
  const int64_t left = std::max<int64_t>(-g.pads[2], 0);
  const int64_t bottom = std::min(g.large[1], height - g.pads[1]);
  const int64_t right = std::min(g.large[2], pitch - g.pads[2]);
  if (bottom > top && right > left)
    simd.copyPlane(from + top * g.large[2] + left, g.large[2], bottom - top, right - left, flip,
                   plane + (top + g.pads[1]) * pitch + left + g.pads[2], pitch);
}

void IntegerDepthwise::run(const Tensor &input, const RowFinisher &finisher, Tensor &output,
                           ThreadPool &threads) const {
  const auto steps = static_cast<int64_t>(stepOffsets.size());
  const int64_t outputs = g.small[1] * g.small[2];
  // Tiles write whole vectors. Several small planes or a part of a large one become results at
  // once.
  const int64_t sumStep = std::min(outputs, kSums) + 2 * kWordLanes;
  const int64_t planesAtOnce = std::max<int64_t>(1, kSums / sumStep);
  const int64_t planeBytes = outputs * finisher.elementBytes();
  const uint8_t *from = bytesOf(input);
  std::byte *to = output.mutableBytes().data();
  threads.parallelFor(
      g.batch * g.largeChannels, grainFor(static_cast<int64_t>(tiles.size()) * rows * (steps + 8)),
      [&](int64_t begin, int64_t end) {
        const Scratch<uint8_t> plane(height * pitch + kVector);
        const Scratch<int32_t> sums(planesAtOnce * sumStep);
        std::fill_n(plane.data(), height * pitch + kVector, outsideByte);
        int64_t waiting = 0;
        for (int64_t i = begin * rows; i < end * rows; ++i) {
          if (i % rows == 0)
            copyPlane(from + i / rows * g.largeSize, plane.data());
          const int64_t channel = i % g.smallChannels;
          WindowTileArgs args{.plane = plane.data(),
                              .tiles = tiles.data(),
                              .count = 0,
                              .patterns = patterns.data(),
                              .offsets = stepOffsets.data(),
                              .factors = factors.data() + channel * steps,
                              .steps = steps,
                              .bias = offsets[static_cast<size_t>(channel)],
                              .sums = sums.data() + waiting * sumStep};
          if (outputs <= kSums) {
            args.count = static_cast<int64_t>(tiles.size());
            simd.windowTiles(args);
            if (++waiting < planesAtOnce && i + 1 < end * rows && channel + 1 < g.smallChannels)
              continue;
            finisher.rows(sums.data(), sumStep, waiting, outputs, channel + 1 - waiting,
                          to + (i + 1 - waiting) * planeBytes, planeBytes);
            waiting = 0;
            continue;
          }
          for (size_t tile = 0; tile < tiles.size();) {
            const int64_t first = tiles[tile].first;
            const size_t start = tile;
            while (tile < tiles.size() && tiles[tile].first < first + kSums)
              ++tile;
            const int64_t last = tile < tiles.size() ? tiles[tile].first : outputs;
            args.tiles = tiles.data() + start;
            args.count = static_cast<int64_t>(tile - start);
            args.sums = sums.data() - first;
            simd.windowTiles(args);
            finisher.rows(sums.data(), 0, 1, last - first, channel,
                          to + i * planeBytes + first * finisher.elementBytes(), 0);
          }
        }
      });
}

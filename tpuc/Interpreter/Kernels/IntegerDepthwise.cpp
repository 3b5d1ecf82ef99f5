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

bool IntegerDepthwise::isFor(const Geometry &geometry, int64_t groups, DataType filter,
                             SimdLevel level) {
  return level >= SimdLevel::Avx512Vnni && filter == DataType::I8 &&
         geometry.largeChannels == groups && geometry.kernel[0] == 1 && geometry.large[0] == 1 &&
         geometry.small[0] == 1 && geometry.pads[0] == 0 &&
         geometry.kernel[2] <= kWord * kMaxWindowWords &&
         (geometry.kernel[2] - 1) * geometry.dilations[2] < kVector;
}

IntegerDepthwise::IntegerDepthwise(const Geometry &geometry, const FilterView &filter,
                                   const Tensor *bias, DataType input, int32_t subtracted,
                                   int32_t outside, SimdLevel level)
    : g(geometry), simd(integerSimd(level)), flip(flipOf(input)),
      outsideByte(static_cast<uint8_t>(static_cast<uint8_t>(outside) ^ flip)),
      rows(g.smallChannels / g.largeChannels), words((g.kernel[2] + kWord - 1) / kWord),
      pitch((g.small[2] - 1) * g.strides[2] + (g.kernel[2] - 1) * g.dilations[2] + 1),
      height((g.small[1] - 1) * g.strides[1] + (g.kernel[1] - 1) * g.dilations[1] + 1),
      offsets(foldZero(g, g.largeChannels, filter, bias, subtracted + flip)) {
  planTiles();
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
  const int64_t reach = (g.kernel[2] - 1) * g.dilations[2];
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
      if (start + reach >= kVector)
        break;
      isShort = isShort && start + reach < kVector / 2;
      // Taps behind the last one meet factors of 0.
      for (int64_t t = 0; t < kWord; ++t)
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

/// Outputs of one channel, those of the tiles [first, last).
void IntegerDepthwise::sumTiles(const uint8_t *plane, int64_t channel, size_t first, size_t last,
                                int32_t *sums) const {
  simd.windowTiles({.plane = plane,
                    .tiles = tiles.data() + first,
                    .count = static_cast<int64_t>(last - first),
                    .patterns = patterns.data(),
                    .rows = g.kernel[1],
                    .rowStep = g.dilations[1] * pitch,
                    .words = words,
                    .wordStep = kWord * g.dilations[2],
                    .isShort = isShort,
                    .factors = factors.data() + channel * g.kernel[1] * words,
                    .bias = offsets[static_cast<size_t>(channel)],
                    .sums = sums});
}

/// The output channels of a large plane, part by part.
void IntegerDepthwise::runLarge(const uint8_t *plane, int64_t inputChannel, int32_t *sums,
                                const RowFinisher &finisher, std::byte *to) const {
  const int64_t outputs = g.small[1] * g.small[2];
  for (int64_t row = 0; row < rows; ++row, to += outputs * finisher.elementBytes())
    for (size_t tile = 0; tile < tiles.size();) {
      const int64_t first = tiles[tile].first;
      const size_t start = tile;
      while (tile < tiles.size() && tiles[tile].first < first + kSums)
        ++tile;
      const int64_t last = tile < tiles.size() ? tiles[tile].first : outputs;
      const int64_t channel = inputChannel * rows + row;
      sumTiles(plane, channel, start, tile, sums - first);
      finisher.rows(sums, 0, 1, last - first, channel, to + first * finisher.elementBytes(), 0);
    }
}

void IntegerDepthwise::run(const Tensor &input, const RowFinisher &finisher, Tensor &output,
                           ThreadPool &threads) const {
  const int64_t outputs = g.small[1] * g.small[2];
  const bool isLarge = outputs > kSums;
  // Tiles write whole vectors.
  const int64_t sumStep = std::min(outputs, kSums) + 2 * kWordLanes;
  // Small planes are copied some time before they are read: a vector that is read while its parts
  // are still being written waits for them.
  const int64_t planesAtOnce = isLarge ? 1 : std::max<int64_t>(1, 2 * kSums / (sumStep * rows));
  const int64_t planeSize = height * pitch + kVector;
  const int64_t planeBytes = outputs * finisher.elementBytes();
  const int64_t cost = static_cast<int64_t>(tiles.size()) * (g.kernel[1] * words + 8) * rows;
  const uint8_t *from = bytesOf(input);
  std::byte *to = output.mutableBytes().data();
  threads.parallelFor(g.batch * g.largeChannels, grainFor(cost), [&](int64_t begin, int64_t end) {
    const Scratch<uint8_t> planes(planesAtOnce * planeSize);
    const Scratch<int32_t> sums(planesAtOnce * rows * sumStep);
    std::fill_n(planes.data(), planesAtOnce * planeSize, outsideByte);
    while (begin < end) {
      // Of one sample, as factors go by channels.
      const int64_t channel = begin % g.largeChannels;
      const int64_t count = std::min({planesAtOnce, end - begin, g.largeChannels - channel});
      for (int64_t i = 0; i < count; ++i)
        copyPlane(from + (begin + i) * g.largeSize, planes.data() + i * planeSize);
      std::byte *target = to + begin * rows * planeBytes;
      begin += count;
      if (isLarge) {
        runLarge(planes.data(), channel, sums.data(), finisher, target);
        continue;
      }
      for (int64_t i = 0; i < count * rows; ++i)
        sumTiles(planes.data() + i / rows * planeSize, channel * rows + i, 0, tiles.size(),
                 sums.data() + i * sumStep);
      finisher.rows(sums.data(), sumStep, count * rows, outputs, channel * rows, target,
                    planeBytes);
    }
  });
}

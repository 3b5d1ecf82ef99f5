//===- LayerCase.cpp - A random layer in memory, and what it gives --------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LayerCase.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace tpuc::dnnweaver {

namespace {

int64_t load(const std::vector<uint8_t> &memory, uint64_t at, unsigned bytes) {
  int64_t value = 0;
  std::memcpy(&value, &memory[at], bytes);
  const unsigned rest = 64 - 8 * bytes;
  return static_cast<int64_t>(static_cast<uint64_t>(value) << rest) >> rest;
}

int64_t clampTo(int64_t value, unsigned bits) {
  const int64_t most = (int64_t{1} << (bits - 1)) - 1;
  return std::max(-most - 1, std::min(most, value));
}

/// value / 2^shift by division: rounded down, or to the nearest with ties away from zero.
int64_t divide(int64_t value, unsigned shift, bool isRounding) {
  const long double exact = static_cast<long double>(value) / (int64_t{1} << shift);
  return static_cast<int64_t>(isRounding ? std::round(exact) : std::floor(exact));
}

} // namespace

AluRecipe LayerCase::recipe() const {
  return machine.isa == IsaKind::Public ? publicRecipe(firstShift, multiplier, secondShift, slope)
                                        : patentRecipe(multiplier, firstShift, slope, zeroPoint);
}

std::vector<uint8_t> LayerCase::expected() const {
  std::vector<uint8_t> result = memory;
  const bool isPublic = machine.isa == IsaKind::Public;
  const bool rounds = machine.roundingShift;
  const unsigned halves = layer.pairs ? 2 : 1;
  const auto sumAt = [&](unsigned half, unsigned y, unsigned x, unsigned k) {
    int64_t sum = load(memory, placement.bias + 4 * k, 4);
    for (unsigned r = 0; r < layer.kernel.h; ++r)
      for (unsigned s = 0; s < layer.kernel.w; ++s)
        for (unsigned c = 0; c < channels(); ++c) {
          const uint64_t in = placement.input.address +
                              (y * layer.stride.h + r) * placement.input.rowBytes +
                              (x * layer.stride.w + s) * placement.input.pixelBytes + c * bytes() +
                              (half == 1 ? placement.pairs->input : 0);
          // [word of kernels][r][s][word of channels][row][column]
          const uint64_t set =
              ((uint64_t{k / machine.columns} * layer.kernel.h + r) * layer.kernel.w + s) *
                  layer.inWords +
              c / machine.rows;
          const uint64_t weight =
              placement.weight +
              ((set * machine.rows + c % machine.rows) * machine.columns + k % machine.columns) *
                  bytes();
          sum += load(memory, in, bytes()) * load(memory, weight, bytes());
        }
    return sum;
  };
  for (unsigned half = 0; half < halves; ++half)
    for (unsigned y = 0; y < layer.result.h; ++y)
      for (unsigned x = 0; x < layer.result.w; ++x)
        for (unsigned k = 0; k < kernels(); ++k) {
          int64_t value = std::numeric_limits<int64_t>::min();
          for (unsigned r = 0; r < layer.pool.h; ++r)
            for (unsigned s = 0; s < layer.pool.w; ++s) {
              const int64_t sum =
                  sumAt(half, y * layer.poolStride.h + r, x * layer.poolStride.w + s, k);
              value =
                  std::max(value, isPublic ? clampTo(divide(sum, firstShift, rounds), 16) : sum);
            }
          value =
              clampTo(divide(value * multiplier, isPublic ? secondShift : firstShift, rounds), 16);
          if (slope != kNoSlope)
            value = std::max(value, clampTo(divide(value * slope, 15, rounds), 16));
          value = clampTo(value + zeroPoint, 8 * bytes());
          for (const Image *image :
               {&placement.output, placement.copy ? &*placement.copy : nullptr}) {
            if (!image)
              continue;
            const unsigned scale = placement.upsamples ? 2 : 1;
            for (unsigned dy = 0; dy < scale; ++dy)
              for (unsigned dx = 0; dx < scale; ++dx) {
                const uint64_t distance = half == 0                    ? 0
                                          : image == &placement.output ? placement.pairs->store
                                                                       : placement.pairs->copy;
                const uint64_t at = image->address + (y * scale + dy) * image->rowBytes +
                                    (x * scale + dx) * image->pixelBytes + k * bytes() + distance;
                std::memcpy(&result[at], &value, bytes());
              }
          }
        }
  return result;
}

LayerCase makeCase(const Parameters &machine, ConvLayer layer, std::mt19937 &random,
                   unsigned otherChannels) {
  LayerCase result;
  result.machine = machine;
  result.layer = layer;
  const unsigned bytes = layer.pairs ? 1 : 2;
  const auto draw = [&](int64_t least, int64_t most) {
    return std::uniform_int_distribution<int64_t>(least, most)(random);
  };
  PageAllocator memory{.end = PageAllocator::kPage};
  const unsigned halves = layer.pairs ? 2 : 1;
  const Extent whole = {layer.result.h * halves, layer.result.w};
  const Extent sums = layer.sumsOf(layer.result);
  const Extent input = layer.inputOf(layer.sumsOf(whole));
  const uint64_t channels = uint64_t{layer.inWords} * machine.rows;
  const uint64_t kernels = uint64_t{layer.outWords} * machine.columns;
  const unsigned scale = machine.hasCopies && draw(0, 1) != 0 ? 2 : 1;
  result.placement.upsamples = scale == 2;
  const auto image = [&](Extent extent, uint64_t ownChannels, uint64_t more) {
    const uint64_t pixel = (ownChannels + more) * bytes;
    Image made{.address = 0, .pixelBytes = pixel, .rowBytes = pixel * extent.w};
    made.address = memory.take(made.rowBytes * extent.h);
    return made;
  };
  Placement &to = result.placement;
  to.input = image(input, channels, 0);
  to.output = image({whole.h * scale, whole.w * scale}, kernels, otherChannels);
  if (machine.hasCopies && draw(0, 1) != 0)
    to.copy = image({whole.h * scale, whole.w * scale}, kernels, 0);
  const uint64_t sumsPixel = kernels * 8;
  to.sums = {.address = memory.take(sums.area() * sumsPixel),
             .pixelBytes = sumsPixel,
             .rowBytes = sumsPixel * sums.w};
  to.weight = memory.take(layer.kernel.area() * channels * kernels * bytes);
  to.bias = memory.take(kernels * 4);
  if (layer.pairs)
    to.pairs = PairMode{.input = uint64_t{layer.result.h} * layer.poolStride.h * layer.stride.h *
                                 to.input.rowBytes,
                        .store = uint64_t{layer.result.h} * scale * to.output.rowBytes,
                        .copy = to.copy ? uint64_t{layer.result.h} * scale * to.copy->rowBytes : 0};
  result.memory.resize(memory.end);
  for (uint8_t &byte : result.memory)
    byte = static_cast<uint8_t>(random());
  for (uint64_t k = 0; k < kernels; ++k) {
    const auto bias = static_cast<int32_t>(draw(-1000000, 1000000));
    std::memcpy(&result.memory[to.bias + 4 * k], &bias, 4);
  }
  if (machine.isa == IsaKind::Public) {
    result.firstShift = static_cast<unsigned>(draw(12, 20));
    result.secondShift = static_cast<unsigned>(draw(0, 14));
  } else {
    result.firstShift = static_cast<unsigned>(draw(layer.pairs ? 16 : 24, layer.pairs ? 26 : 31));
    result.zeroPoint = static_cast<int16_t>(draw(-100, 100));
  }
  result.multiplier = static_cast<int16_t>(draw(1, 32767));
  result.slope = draw(0, 2) == 0 ? kNoSlope : static_cast<int16_t>(draw(0, 9000));
  return result;
}

} // namespace tpuc::dnnweaver

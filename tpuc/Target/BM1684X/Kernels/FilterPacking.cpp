//===- FilterPacking.cpp - Filters as the chip reads them------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Kernels/Convolution.h"
#include "tpuc/Target/BM1684X/Kernels/Windows.h"

#include <cstring>

namespace tpuc::bm1684x {

std::array<int64_t, 2> strideFactors(const std::array<int64_t, 2> &stride) {
  std::array<int64_t, 2> factors{};
  for (size_t axis = 0; axis < 2; ++axis)
    for (int64_t factor = 1; factor <= stride[axis] && factors[axis] == 0; ++factor)
      if (stride[axis] % factor == 0 && stride[axis] / factor <= kMostStride)
        factors[axis] = factor;
  return factors;
}

/// The shape of a filter of which every `factors`-th tap makes a phase.
static Extents sharedShape(DataType type, const Extents &filter,
                           const std::array<int64_t, 2> &factors) {
  const int64_t channels = alignUp(filter[1], channelBlock(*precOf(type)));
  return {factors[0] * factors[1], filter[0], 1,
          channels * ceilDiv(filter[2], factors[0]) * ceilDiv(filter[3], factors[1])};
}

static std::vector<uint8_t> packShared(DataType type, const Extents &filter,
                                       std::span<const uint8_t> bytes,
                                       const std::array<int64_t, 2> &factors) {
  const size_t size = precBytes(*precOf(type));
  const int64_t block = channelBlock(*precOf(type));
  auto [fy, fx] = factors;
  auto [oc, ic, kh, kw] = filter;
  const int64_t subH = ceilDiv(kh, fy);
  const int64_t subW = ceilDiv(kw, fx);
  const Extents shape = sharedShape(type, filter, factors);
  std::vector<uint8_t> packed(static_cast<size_t>(shape[0] * shape[1] * shape[3]) * size);
  const uint8_t *from = bytes.data();
  for (int64_t o = 0; o < oc; ++o)
    for (int64_t i = 0; i < ic; ++i)
      for (int64_t y = 0; y < kh; ++y)
        for (int64_t x = 0; x < kw; ++x, from += size) {
          int64_t phase = y % fy * fx + x % fx;
          int64_t inBlock = (y / fy * subW + x / fx) * block + i % block;
          int64_t at = (phase * oc + o) * shape[3] + i / block * (block * subH * subW) + inBlock;
          std::memcpy(packed.data() + static_cast<size_t>(at) * size, from, size);
        }
  return packed;
}

Extents packedFilterShape(DataType type, const Extents &filter,
                          const std::array<int64_t, 2> &stride) {
  return sharedShape(type, filter, strideFactors(stride));
}

std::vector<uint8_t> packFilter(DataType type, const Extents &filter,
                                std::span<const uint8_t> bytes,
                                const std::array<int64_t, 2> &stride) {
  return packShared(type, filter, bytes, strideFactors(stride));
}

Extents phaseFilterShape(DataType type, const Extents &filter,
                         const std::array<int64_t, 2> &stride) {
  return sharedShape(type, filter, stride);
}

std::vector<uint8_t> packPhaseFilter(DataType type, const Extents &filter,
                                     std::span<const uint8_t> bytes,
                                     const std::array<int64_t, 2> &stride) {
  return packShared(type, filter, bytes, stride);
}

std::vector<uint8_t> swapFilterChannels(DataType type, const Extents &filter, int64_t group,
                                        std::span<const uint8_t> bytes) {
  auto [ic, ocPerGroup, kh, kw] = filter;
  const int64_t icPerGroup = ic / group;
  const size_t kernelBytes = static_cast<size_t>(kh * kw) * precBytes(*precOf(type));
  std::vector<uint8_t> swapped(bytes.size());
  for (int64_t i = 0; i < ic; ++i)
    for (int64_t o = 0; o < ocPerGroup; ++o) {
      int64_t g = i / icPerGroup;
      int64_t to = (g * ocPerGroup + o) * icPerGroup + i % icPerGroup;
      std::memcpy(swapped.data() + static_cast<size_t>(to) * kernelBytes,
                  bytes.data() + static_cast<size_t>(i * ocPerGroup + o) * kernelBytes,
                  kernelBytes);
    }
  return swapped;
}

} // namespace tpuc::bm1684x

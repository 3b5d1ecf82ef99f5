//===- Target.cpp - What a chip is, as plain data -------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/Target.h"

#include <cassert>

namespace tpuc {

std::optional<uint32_t> PeakMacs::of(const QuantScheme &scheme) const {
  if (scheme.weight != scheme.activation)
    return std::nullopt;
  switch (scheme.activation) {
  case DataType::F32:
    return f32;
  case DataType::F16:
    return f16;
  case DataType::BF16:
    return bf16;
  case DataType::I8:
    return int8;
  default:
    return std::nullopt;
  }
}

std::optional<size_t> TargetInfo::engineOf(EngineRole role) const {
  for (size_t number = 0; number < engines.size(); ++number)
    if (engines[number].role == role)
      return number;
  return std::nullopt;
}

std::optional<uint32_t> TargetInfo::convChannelBlock(DataType type) const {
  uint32_t block = 0;
  switch (bitWidth(type)) {
  case 8:
    block = layout.convChannelBlock8;
    break;
  case 16:
    block = layout.convChannelBlock16;
    break;
  case 32:
    block = layout.convChannelBlock32;
    break;
  default:
    break;
  }
  if (block == 0)
    return std::nullopt;
  return block;
}

std::optional<uint64_t> TargetInfo::weightsPerChannel(DataType type, uint32_t ic, uint32_t kh,
                                                      uint32_t kw) const {
  const auto block = convChannelBlock(type);
  if (!block)
    return std::nullopt;
  const uint64_t padded = (uint64_t{ic} + *block - 1) / *block * *block;
  return padded * kh * kw;
}

uint64_t TargetInfo::weightIndex(DataType type, uint32_t numIc, uint32_t kh, uint32_t kw,
                                 uint32_t ic, uint32_t y, uint32_t x) const {
  const auto block = convChannelBlock(type);
  assert(block && "no convolution of this type");
  const uint64_t p = *block, tap = uint64_t{y} * kw + x;
  if (layout.convWeightOrder == ConvWeightOrder::ChannelBlocks)
    return ic / p * (p * kh * kw) + tap * p + ic % p;
  return tap * ((numIc + p - 1) / p * p) + ic;
}

} // namespace tpuc

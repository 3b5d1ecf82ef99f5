//===- Target.cpp - What a chip is, as plain data -------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/Target.h"

#include <fmt/format.h>

#include <cassert>
#include <vector>

namespace tpuc {

namespace {

/// "a", "a or b", "a, b or c".
std::string joinWithOr(const std::vector<std::string> &words) {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i) {
    if (i > 0)
      text += i + 1 == words.size() ? " or " : ", ";
    text += words[i];
  }
  return text;
}

} // namespace

std::string_view precisionName(Precision precision) {
  constexpr std::array<std::string_view, kAllPrecisions.size()> names = {"F32", "F16", "BF16",
                                                                         "INT8"};
  return names[static_cast<size_t>(precision)];
}

std::optional<Precision> parsePrecision(std::string_view name) {
  std::string upper(name);
  for (char &c : upper)
    if (c >= 'a' && c <= 'z')
      c = static_cast<char>(c - 'a' + 'A');
  for (Precision precision : kAllPrecisions)
    if (upper == precisionName(precision))
      return precision;
  return std::nullopt;
}

std::string_view quantizationName(Quantization quantization) {
  return quantization == Quantization::Symmetric ? "symmetric" : "asymmetric";
}

DataType storageType(Precision precision) {
  constexpr std::array types = {DataType::F32, DataType::F16, DataType::BF16, DataType::I8};
  return types[static_cast<size_t>(precision)];
}

std::optional<uint32_t> PeakMacs::of(Precision precision) const {
  const std::array values = {f32, f16, bf16, int8};
  return values[static_cast<size_t>(precision)];
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

Expected<void> checkPrecision(const TargetInfo &target, Precision precision) {
  if (target.has(precision))
    return {};
  std::vector<std::string> existing;
  for (Precision other : kAllPrecisions)
    if (target.has(other))
      existing.emplace_back(precisionName(other));
  return makeError(fmt::format("--chip {}", target.name),
                   fmt::format("{} does not exist", precisionName(precision)),
                   joinWithOr(existing));
}

Expected<void> checkQuantization(const TargetInfo &target, Quantization quantization) {
  if (auto hasInt8 = checkPrecision(target, Precision::INT8); !hasInt8)
    return hasInt8;
  if (target.has(quantization))
    return {};
  std::vector<std::string> existing;
  for (Quantization other : kAllQuantizations)
    if (target.has(other))
      existing.push_back(fmt::format("{} INT8", quantizationName(other)));
  return makeError(fmt::format("--chip {}", target.name),
                   fmt::format("{} INT8 does not exist", quantizationName(quantization)),
                   joinWithOr(existing));
}

} // namespace tpuc

//===- RoundedFilters.cpp - Filters that were rounded before --------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Conversion/TopToTpu/RoundedFilters.h"

#include "llvm/Support/xxhash.h"

#include <bit>

using namespace tpuc;

namespace {

/// So many bytes of filters are kept.
constexpr size_t kMostBytes = size_t{64} << 20;

llvm::XXH128_hash_t hashOf(std::span<const std::byte> bytes) {
  return llvm::xxh3_128bits({reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size()});
}

/// All that says how a filter is rounded, as numbers.
class Question {
public:
  Question(const Tensor *bias, const ChannelOrder &order, const ProductScales &scales) {
    for (int64_t number :
         {order.inner, order.channels, order.outer, order.groups, order.taps,
          int64_t{bias != nullptr}, scales.inputZero, int64_t{scales.foldsZero},
          int64_t{scales.keepsSums}, int64_t{scales.sharesShift}, int64_t{scales.mayShiftTwice},
          int64_t{scales.scheme.zeroPoint}, static_cast<int64_t>(scales.scheme.weight),
          static_cast<int64_t>(scales.scheme.activation),
          static_cast<int64_t>(scales.scheme.accumulator),
          static_cast<int64_t>(scales.scheme.granularity)})
      add(number);
    for (const std::optional<int64_t> &number :
         {scales.maxInput, scales.maxBias, scales.shiftChannels}) {
      add(number.has_value());
      add(number.value_or(0));
    }
    for (double number : {scales.input, scales.output, scales.mostFactor.value_or(-1)})
      add(std::bit_cast<int64_t>(number));
    if (bias)
      addAll(bias->rawBytes());
    addAll(std::as_bytes(std::span(scales.filter)));
    addAll(std::as_bytes(std::span(scales.means)));
    addAll(std::as_bytes(std::span(scales.covariances)));
  }

  std::span<const std::byte> bytes() const { return std::as_bytes(std::span(numbers)); }

private:
  void add(int64_t number) { numbers.push_back(number); }
  void addAll(std::span<const std::byte> bytes) {
    const llvm::XXH128_hash_t hash = hashOf(bytes);
    add(static_cast<int64_t>(bytes.size()));
    add(std::bit_cast<int64_t>(hash.low64));
    add(std::bit_cast<int64_t>(hash.high64));
  }

  std::vector<int64_t> numbers;
};

} // namespace

QuantizedWeights RoundedFilters::quantized(const Tensor &filter, const Tensor *bias,
                                           const ChannelOrder &order, const ProductScales &scales) {
  const llvm::XXH128_hash_t contents = hashOf(filter.rawBytes());
  const auto keyOf = [&](const ProductScales &how) {
    const llvm::XXH128_hash_t question = hashOf(Question(bias, order, how).bytes());
    return Key{contents.low64, contents.high64, question.low64, question.high64};
  };
  ProductScales exact = scales;
  exact.keepsSums = true;
  const Key key = keyOf(scales);
  for (const Key &each : {keyOf(exact), key})
    if (auto found = made.find(each); found != made.end()) {
      ++known;
      return found->second;
    }
  QuantizedWeights weights = quantizeWeights(filter, bias, order, scales);
  if (const size_t size = weights.filter.rawBytes().size(); bytes + size <= kMostBytes) {
    bytes += size;
    made.emplace(key, weights);
  }
  return weights;
}

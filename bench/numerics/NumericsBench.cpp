//===- NumericsBench.cpp - How fast arrays convert ------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// numerics [MIB]: times the conversions of arrays of MIB (default 64) megabytes of f32 against
// memcpy of as many bytes as the conversion reads and writes, and against a loop over the scalar
// function that the compiler may not vectorize. `numerics --all-f32` instead compares the array
// conversions with the general scalar form over all 2^32 bit patterns.
//
//===----------------------------------------------------------------------===//

#include "tpuc/Support/Convert.h"
#include "tpuc/Support/Float.h"
#include "tpuc/Support/Quantize.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <span>
#include <string_view>
#include <vector>

using namespace tpuc;

namespace {

constexpr int kRepetitions = 9;

/// The best of several runs, in seconds.
template <typename Function> double secondsOf(Function function) {
  double best = 1e30;
  for (int i = 0; i < kRepetitions; ++i) {
    const auto start = std::chrono::steady_clock::now();
    function();
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    best = std::min(best, elapsed.count());
  }
  return best;
}

template <typename From, typename To, typename Scalar>
void scalarLoop(std::span<const From> from, std::span<To> to, Scalar scalar) {
#pragma clang loop vectorize(disable) interleave(disable)
  for (size_t i = 0; i < from.size(); ++i)
    to[i] = scalar(from[i]);
}

template <typename From, typename To, typename Array, typename Scalar>
void report(const char *name, std::span<const From> from, std::span<To> to, Array array,
            Scalar scalar) {
  // memcpy moves each byte twice, so half of the traffic of the conversion.
  const size_t bytes = (from.size_bytes() + to.size_bytes()) / 2;
  std::vector<std::byte> source(bytes, std::byte(1));
  std::vector<std::byte> target(bytes);
  const double copy = secondsOf([&] { std::memcpy(target.data(), source.data(), bytes); });
  const double whole = secondsOf([&] { array(from, to); });
  const double single = secondsOf([&] { scalarLoop(from, to, scalar); });
  std::printf("%-22s %8.2f ms  %5.2f x memcpy of the same traffic  scalar loop / array %6.2f\n",
              name, whole * 1e3, whole / copy, single / whole);
}

/// 0 if the array conversions agree with `encodeFloat` for every f32.
int compareAllFloats() {
  constexpr uint32_t kStep = 1U << 16;
  std::vector<float> values(kStep);
  std::vector<uint16_t> halves(kStep);
  std::vector<uint16_t> brains(kStep);
  uint64_t different = 0;
  for (uint64_t start = 0; start < uint64_t(1) << 32; start += kStep) {
    for (uint32_t i = 0; i < kStep; ++i)
      values[i] = std::bit_cast<float>(static_cast<uint32_t>(start) + i);
    f32ToF16(values, halves);
    f32ToBF16(values, brains);
    for (uint32_t i = 0; i < kStep; ++i)
      if (halves[i] != encodeFloat<DataType::F16>(values[i]) || halves[i] != f32ToF16(values[i]) ||
          brains[i] != encodeFloat<DataType::BF16>(values[i]) || brains[i] != f32ToBF16(values[i]))
        ++different;
  }
  std::printf("%llu of 2^32 f32 patterns differ between array, scalar and general conversion\n",
              static_cast<unsigned long long>(different));
  return different == 0 ? 0 : 1;
}

} // namespace

int main(int argc, char **argv) {
  const std::span<char *> arguments(argv, static_cast<size_t>(argc));
  if (arguments.size() > 1 && std::string_view(arguments[1]) == "--all-f32")
    return compareAllFloats();
  const size_t mebibytes =
      arguments.size() > 1 ? std::strtoul(arguments[1], nullptr, 10) : size_t(64);
  const size_t count = mebibytes * (size_t(1) << 20) / sizeof(float);
  if (count == 0) {
    std::fputs("usage: numerics [MIB | --all-f32]\n", stderr);
    return 2;
  }

  std::vector<float> floats(count);
  std::vector<uint16_t> halves(count);
  std::vector<int8_t> bytes(count);
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  for (float &value : floats)
    value = normal(random);

  report<float, uint16_t>(
      "f32 -> f16", floats, halves, [](auto from, auto to) { f32ToF16(from, to); },
      [](float value) { return f32ToF16(value); });
  report<uint16_t, float>(
      "f16 -> f32", halves, floats, [](auto from, auto to) { f16ToF32(from, to); },
      [](uint16_t bits) { return f16ToF32(bits); });
  report<float, uint16_t>(
      "f32 -> bf16", floats, halves, [](auto from, auto to) { f32ToBF16(from, to); },
      [](float value) { return f32ToBF16(value); });
  report<uint16_t, float>(
      "bf16 -> f32", halves, floats, [](auto from, auto to) { bf16ToF32(from, to); },
      [](uint16_t bits) { return bf16ToF32(bits); });
  const QuantParams params{0.02, 3};
  report<float, int8_t>(
      "f32 -> i8, quantized", floats, bytes,
      [&](auto from, auto to) { quantize<int8_t>(from, to, params); },
      [&](float value) {
        return static_cast<int8_t>(quantize(value, params, integerRange<int8_t>()));
      });
  Tensor tensor = Tensor::of<float>({static_cast<int64_t>(count)}, std::span<const float>(floats));
  for (DataType type : {DataType::F8E4M3FN, DataType::I8, DataType::I4, DataType::F64}) {
    const double seconds = secondsOf([&] { static_cast<void>(convert(tensor, type)); });
    std::printf("convert f32 -> %-8s %8.2f ms  %5.2f ns per element\n",
                std::string(dataTypeName(type)).c_str(), seconds * 1e3,
                seconds * 1e9 / static_cast<double>(count));
  }
  return 0;
}

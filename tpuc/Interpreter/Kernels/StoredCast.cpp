//===- StoredCast.cpp - Between numbers and the integers that store them ----===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Interpreter/Kernels/StoredCast.h"

#include <algorithm>
#include <cmath>

using namespace tpuc;

/// Elements that a thread takes at a time.
static constexpr int64_t kGrain = 1 << 14;

template <typename Function> static void withStored(DataType type, Function function) {
  switch (type) {
  case DataType::I8:
    return function(int8_t());
  case DataType::U8:
    return function(uint8_t());
  case DataType::I16:
    return function(int16_t());
  case DataType::U16:
    return function(uint16_t());
  default:
    assert(false && "no type in which quantized values are stored");
  }
}

template <typename T>
static void quantizeRange(const float *in, T *out, int64_t count, const QuantParams &params,
                          const IntegerRange &range) {
  const auto inverse = static_cast<float>(1.0 / params.scale);
  const auto zeroPoint = static_cast<float>(params.zeroPoint);
  // The bounds are whole numbers: what is cut off first rounds to the same.
  const float low = static_cast<float>(range.lowest) - zeroPoint;
  const float high = static_cast<float>(static_cast<int64_t>(range.highest)) - zeroPoint;
  for (int64_t i = 0; i < count; ++i) {
    const float scaled = in[i] * inverse;
    const float number = scaled == scaled ? scaled : 0.0F;
    const float bounded = number < low ? low : (number > high ? high : number);
    // Adding the largest float below one half and cutting off rounds ties away from zero.
    const float half = std::copysign(0x1.fffffep-2F, bounded);
    out[i] = static_cast<T>(static_cast<int32_t>(bounded + half) + static_cast<int32_t>(zeroPoint));
  }
}

void kernels::quantizeStored(const Tensor &input, const QuantParams &params,
                             const IntegerRange &range, Tensor &output, ThreadPool &threads) {
  const float *in = input.data<float>().data();
  withStored(output.type(), [&]<typename T>(T) {
    T *out = output.mutableData<T>().data();
    threads.parallelFor(input.numElements(), kGrain, [&](int64_t begin, int64_t end) {
      quantizeRange(in + begin, out + begin, end - begin, params, range);
    });
  });
}

void kernels::dequantizeStored(const Tensor &input, const QuantParams &params, Tensor &output,
                               ThreadPool &threads) {
  const auto scale = static_cast<float>(params.scale);
  const auto zeroPoint = static_cast<int32_t>(params.zeroPoint);
  float *out = output.mutableData<float>().data();
  withStored(input.type(), [&]<typename T>(T) {
    const T *in = input.data<T>().data();
    threads.parallelFor(input.numElements(), kGrain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        out[i] = static_cast<float>(static_cast<int32_t>(in[i]) - zeroPoint) * scale;
    });
  });
}

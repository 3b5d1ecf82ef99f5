//===- IntegerQuantize.cpp - Between floats and quantized tensors ---------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Interpreter/Kernels/IntegerQuantize.h"
#include "tpuc/Interpreter/Kernels/Elementwise.h"
#include "tpuc/Interpreter/Kernels/IntegerSimd.h"

using namespace tpuc;
using namespace tpuc::kernels;

namespace {

/// Calls `body(T())` with T the C++ type of a quantized tensor.
template <typename Body> void dispatchStored(DataType type, Body &&body) {
  switch (type) {
  case DataType::I8:
    return body(int8_t());
  case DataType::U8:
    return body(uint8_t());
  case DataType::I16:
    return body(int16_t());
  case DataType::U16:
    return body(uint16_t());
  default:
    assert(type == DataType::I32);
    return body(int32_t());
  }
}

} // namespace

void kernels::quantizeTensor(const Tensor &input, const QuantParams &params, IntegerRange range,
                             RoundingMode rounding, Tensor &output, ThreadPool &threads) {
  const OperandReader<float> reader(input, output.shape());
  const IntegerSimd &simd = integerSimd();
  // Rounding is monotone and leaves integers alone: clamping before it gives the same.
  const auto zero = static_cast<double>(params.zeroPoint);
  const QuantizeScale scale{params.scale, static_cast<double>(range.lowest) - zero,
                            static_cast<double>(range.highest) - zero, zero};
  dispatchStored(output.type(), [&]<typename T>(T) {
    T *to = output.mutableData<T>().data();
    forEachBlock(threads, output.numElements(), 4, [&](int64_t first, int64_t count) {
      std::array<float, kBlockElements> buffer;
      std::array<int32_t, kBlockElements> results;
      simd.quantizeRow(reader.read(first, count, buffer.data()), count, scale, rounding,
                       results.data());
      for (int64_t i = 0; i < count; ++i)
        to[first + i] = static_cast<T>(results[static_cast<size_t>(i)]);
    });
  });
}

void kernels::dequantizeTensor(const Tensor &input, const QuantParams &params, Tensor &output,
                               ThreadPool &threads) {
  const BlockWriter<float> writer(output);
  dispatchStored(input.type(), [&]<typename T>(T) {
    const T *from = input.data<T>().data();
    forEachBlock(threads, output.numElements(), 2, [&](int64_t first, int64_t count) {
      std::array<float, kBlockElements> buffer;
      const auto size = static_cast<size_t>(count);
      float *to = writer.room(first, buffer.data());
      dequantize<T>(std::span(from + first, size), std::span(to, size), params);
      writer.finish(first, count, to);
    });
  });
}

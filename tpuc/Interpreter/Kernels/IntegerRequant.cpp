//===- IntegerRequant.cpp - From accumulators to 8 bits -------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Interpreter/Kernels/IntegerRequant.h"
#include "tpuc/Interpreter/Kernels/Elementwise.h"
#include "tpuc/Interpreter/Kernels/IntegerRequantizer.h"
#include "tpuc/Interpreter/Kernels/IntegerTable.h"
#include "tpuc/Interpreter/Kernels/Parallel.h"

#include <algorithm>

using namespace tpuc;
using namespace tpuc::kernels;

namespace {

/// The largest shift of the fast loops.
constexpr int32_t kMaxShift = 62;

bool isFastMode(const RequantParams &params) {
  return params.mode == RequantMode::MultiplierShift && params.rounding == RoundingMode::HalfUp &&
         std::ranges::all_of(params.factors, [](MultiplierShift factor) {
           return factor.rshift >= 0 && factor.rshift <= kMaxShift;
         });
}

/// Bounds of one 8-bit type, and a zero point that 16 bits can be added to.
bool fitsFastBounds(const RequantParams &params) {
  constexpr int32_t kMaxZero = 512;
  const int64_t low = params.range.lowest;
  const auto high = static_cast<int64_t>(params.range.highest);
  return low <= high && low >= -128 && high <= (low < 0 ? 127 : 255) &&
         std::abs(int64_t(params.zeroPoint)) <= kMaxZero;
}

} // namespace

uint8_t kernels::flipOf(DataType type) {
  assert(type == DataType::I8 || type == DataType::U8);
  return type == DataType::I8 ? 0x80 : 0;
}

const uint8_t *kernels::bytesOf(const Tensor &tensor) {
  return reinterpret_cast<const uint8_t *>(tensor.rawBytes().data());
}

uint8_t *kernels::bytesOf(Tensor &tensor) {
  return reinterpret_cast<uint8_t *>(tensor.mutableBytes().data());
}

ByteRow kernels::byteRow(const Tensor &tensor, int64_t first, int32_t zero) {
  const uint8_t flip = flipOf(tensor.type());
  return {bytesOf(tensor) + first, flip, zero + flip};
}

Requantizer::Requantizer(const RequantParams &params, const IntegerSimd &simd)
    : params(params), simd(simd), isFast(isFastMode(params) && fitsFastBounds(params)),
      isWide(isFast && !std::ranges::all_of(params.factors, isNarrow)) {
  if (isFast)
    bounds = {static_cast<int32_t>(params.range.lowest - params.zeroPoint),
              static_cast<int32_t>(static_cast<int64_t>(params.range.highest) - params.zeroPoint),
              params.zeroPoint};
}

void Requantizer::rows(const RequantRows &rows, int64_t first) const {
  if (isFast) {
    const bool isOne = params.factors.size() == 1;
    return simd.requantRows(rows, params.factors.data() + (isOne ? 0 : first), isOne ? 0 : 1,
                            bounds);
  }
  for (int64_t r = 0; r < rows.rows; ++r) {
    const Requantization own = params.at(static_cast<size_t>(first + r));
    for (int64_t i = 0; i < rows.count; ++i)
      rows.to[r * rows.toStep + i] =
          static_cast<uint8_t>(tpuc::requantize(rows.sums[r * rows.sumStep + i], own));
  }
}

void Requantizer::row(const int32_t *sums, int64_t count, int64_t channel, uint8_t *to) const {
  rows({sums, 0, 1, count, to, 0}, channel);
}

void Requantizer::lanes(const int32_t *sums, int64_t count, int64_t first, uint8_t *to) const {
  if (params.factors.size() == 1)
    return row(sums, count, 0, to);
  if (isFast)
    return simd.requantLanes(sums, count, params.factors.data() + first, isWide, bounds, to);
  for (int64_t i = 0; i < count; ++i)
    row(sums + i, 1, first + i, to + i);
}

namespace {

bool isByte(DataType type) { return type == DataType::I8 || type == DataType::U8; }

/// Elements of any integer type, one by one.
void requantizeWide(const Tensor &input, int32_t inputZero, int64_t inner,
                    const RequantParams &params, Tensor &output, ThreadPool &threads) {
  const OperandReader<int64_t> reader(input, input.shape());
  const auto channels = static_cast<int64_t>(params.factors.size());
  forEachBlock(threads, output.numElements(), 8, [&](int64_t first, int64_t count) {
    std::array<int64_t, kBlockElements> values;
    std::array<int64_t, kBlockElements> results;
    const int64_t *from = reader.read(first, count, values.data());
    for (int64_t i = 0; i < count; ++i)
      results[static_cast<size_t>(i)] = tpuc::requantize(
          from[i] - inputZero, params.at(static_cast<size_t>((first + i) / inner % channels)));
    storeBlock<int64_t>(std::span(results.data(), static_cast<size_t>(count)), output, first);
  });
}

/// Elements of i16, u16 or i32 to bytes.
void requantizeToBytes(const Tensor &input, int32_t inputZero, int64_t inner,
                       const RequantParams &params, Tensor &output, ThreadPool &threads) {
  const Requantizer requantizer(params, integerSimd());
  const OperandReader<int64_t> reader(input, input.shape());
  const auto channels = static_cast<int64_t>(params.factors.size());
  uint8_t *to = bytesOf(output);
  forEachBlock(threads, output.numElements(), 4, [&](int64_t first, int64_t count) {
    std::array<int64_t, kBlockElements> values;
    std::array<int32_t, kBlockElements> sums;
    const int64_t *from = reader.read(first, count, values.data());
    for (int64_t i = 0; i < count; ++i)
      sums[static_cast<size_t>(i)] = static_cast<int32_t>(from[i] - inputZero);
    for (int64_t i = 0; i < count;) {
      const int64_t run = channels == 1 ? count : std::min(count - i, inner - (first + i) % inner);
      requantizer.row(sums.data() + i, run, (first + i) / inner % channels, to + first + i);
      i += run;
    }
  });
}

} // namespace

void kernels::dequantizeSums(const Tensor &sums, int64_t axis, std::span<const float> scales,
                             float low, float high, Tensor &output, ThreadPool &threads) {
  const auto channels = static_cast<int64_t>(scales.size());
  const int64_t inner =
      channels == 1 ? output.numElements() : sums.shape().strides()[static_cast<size_t>(axis)];
  if (output.numElements() == 0)
    return;
  const int32_t *from = sums.data<int32_t>().data();
  float *to = output.mutableData<float>().data();
  threads.parallelFor(output.numElements() / inner, grainFor(inner),
                      [&](int64_t begin, int64_t end) {
                        for (int64_t row = begin; row < end; ++row) {
                          const float scale = scales[static_cast<size_t>(row % channels)];
                          for (int64_t i = row * inner; i < (row + 1) * inner; ++i)
                            to[i] = std::clamp(static_cast<float>(from[i]) * scale, low, high);
                        }
                      });
}

void kernels::integerRequantize(const Tensor &input, int32_t inputZero, int64_t axis,
                                const RequantParams &params, Tensor &output, ThreadPool &threads) {
  if (output.numElements() == 0)
    return;
  if (isByte(input.type()) && isByte(output.type())) {
    const Requantizer requantizer(params, integerSimd());
    std::vector<ByteTable> tables(params.factors.size());
    for (size_t channel = 0; channel < tables.size(); ++channel)
      tables[channel] =
          requantTable(input.type(), inputZero, requantizer, static_cast<int64_t>(channel));
    return lookUp(input, tables, axis, output, threads);
  }
  const int64_t inner =
      params.factors.size() == 1 ? 1 : input.shape().strides()[static_cast<size_t>(axis)];
  if (isByte(output.type()))
    requantizeToBytes(input, inputZero, inner, params, output, threads);
  else
    requantizeWide(input, inputZero, inner, params, output, threads);
}

//===- IntegerTable.cpp - Functions of one 8-bit number -------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Interpreter/Kernels/IntegerTable.h"
#include "tpuc/Interpreter/Kernels/IntegerRequantizer.h"
#include "tpuc/Interpreter/Kernels/Parallel.h"

#include <algorithm>

using namespace tpuc;
using namespace tpuc::kernels;

namespace {

/// Elements that a thread takes at once, at least.
constexpr int64_t kRun = 4096;

/// Bytes of all 8-bit numbers of `type`, as differences from `zero`.
std::array<int32_t, 256> allDifferences(DataType type, int32_t zero) {
  std::array<int32_t, 256> result;
  const auto lowest = static_cast<int32_t>(integerRange(type).lowest);
  for (int32_t i = 0; i < 256; ++i)
    result[static_cast<size_t>(i)] = lowest + i - zero;
  return result;
}

} // namespace

ByteTable kernels::requantTable(DataType type, int32_t zero, const Requantizer &requantizer,
                                int64_t channel) {
  ByteTable table;
  requantizer.row(allDifferences(type, zero).data(), 256, channel, table.data());
  return table;
}

void kernels::lookUp(const Tensor &input, std::span<const ByteTable> tables, int64_t axis,
                     Tensor &output, ThreadPool &threads) {
  if (output.numElements() == 0)
    return;
  const IntegerSimd &simd = integerSimd();
  const uint8_t *from = bytesOf(input);
  uint8_t *to = bytesOf(output);
  const uint8_t flip = flipOf(input.type());
  const int64_t count = output.numElements();
  if (tables.size() == 1) {
    const int64_t runs = (count + kRun - 1) / kRun;
    return threads.parallelFor(runs, 4, [&](int64_t begin, int64_t end) {
      const int64_t first = begin * kRun;
      simd.lookUpRow(from + first, tables.front().data(), flip, std::min(end * kRun, count) - first,
                     to + first);
    });
  }
  const int64_t inner = input.shape().strides()[static_cast<size_t>(axis)];
  const auto channels = static_cast<int64_t>(tables.size());
  threads.parallelFor(count / inner, grainFor(inner), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row)
      simd.lookUpRow(from + row * inner, tables[static_cast<size_t>(row % channels)].data(), flip,
                     inner, to + row * inner);
  });
}

void kernels::integerLeakyRelu(const Tensor &input, int32_t inputZero,
                               const RequantParams &positive, const RequantParams &negative,
                               int64_t axis, Tensor &output, ThreadPool &threads) {
  const Requantizer above(positive, integerSimd());
  const Requantizer below(negative, integerSimd());
  const std::array<int32_t, 256> differences = allDifferences(input.type(), inputZero);
  const ByteTable kept = requantTable(input.type(), inputZero, above, 0);
  std::vector<ByteTable> tables(negative.factors.size());
  for (size_t channel = 0; channel < tables.size(); ++channel) {
    tables[channel] = requantTable(input.type(), inputZero, below, static_cast<int64_t>(channel));
    for (size_t i = 0; i < 256; ++i)
      if (differences[i] >= 0)
        tables[channel][i] = kept[i];
  }
  lookUp(input, tables, axis, output, threads);
}

//===- IntegerElementwise.cpp - Sums, products, extremes of 8-bit tensors --===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Interpreter/Kernels/IntegerElementwise.h"
#include "tpuc/Interpreter/Kernels/Elementwise.h"
#include "tpuc/Interpreter/Kernels/IntegerRequantizer.h"
#include "tpuc/Interpreter/Kernels/IntegerTable.h"

using namespace tpuc;
using namespace tpuc::kernels;

namespace {

/// The bytes of an operand in the order of the output.
class ByteReader {
public:
  ByteReader(const Tensor &operand, const Shape &output, int32_t zero)
      : view(operand.shape(), output), tensor(operand), zero(zero) {}

  /// `count` elements from `first`, where they lie or in `buffer`.
  ByteRow read(int64_t first, int64_t count, uint8_t *buffer) const {
    if (view.isContiguous())
      return byteRow(tensor, first, zero);
    view.gather(bytesOf(tensor), first, count, buffer);
    ByteRow row = byteRow(tensor, 0, zero);
    row.data = buffer;
    return row;
  }

private:
  BroadcastView view;
  Tensor tensor;
  int32_t zero;
};

using ByteBlock = std::array<uint8_t, kBlockElements>;
using SumBlock = std::array<int32_t, kBlockElements>;

} // namespace

void kernels::integerWeightedSum(std::span<const Tensor> inputs, const WeightedSumParams &params,
                                 Tensor &output, ThreadPool &threads) {
  const IntegerSimd &simd = integerSimd();
  const Requantizer requantizer(params.requant, simd);
  std::vector<ByteReader> readers;
  for (const Tensor &input : inputs)
    readers.emplace_back(input, output.shape(), 0);
  uint8_t *to = bytesOf(output);
  forEachBlock(threads, output.numElements(), 2, [&](int64_t first, int64_t count) {
    ByteBlock bytes;
    SumBlock sums;
    std::fill_n(sums.begin(), count, params.constant);
    for (size_t i = 0; i < readers.size(); ++i)
      simd.addRow(readers[i].read(first, count, bytes.data()), count, params.multipliers[i],
                  sums.data());
    requantizer.row(sums.data(), count, 0, to + first);
  });
}

void kernels::integerProduct(const Tensor &left, int32_t leftZero, const Tensor &right,
                             int32_t rightZero, const RequantParams &requant, Tensor &output,
                             ThreadPool &threads) {
  const IntegerSimd &simd = integerSimd();
  const Requantizer requantizer(requant, simd);
  const ByteReader leftReader(left, output.shape(), leftZero);
  const ByteReader rightReader(right, output.shape(), rightZero);
  uint8_t *to = bytesOf(output);
  forEachBlock(threads, output.numElements(), 2, [&](int64_t first, int64_t count) {
    ByteBlock leftBytes;
    ByteBlock rightBytes;
    SumBlock sums;
    simd.multiplyRows(leftReader.read(first, count, leftBytes.data()),
                      rightReader.read(first, count, rightBytes.data()), count, sums.data());
    requantizer.row(sums.data(), count, 0, to + first);
  });
}

void kernels::integerExtreme(std::span<const Tensor> inputs,
                             std::span<const ExtremeOperand> operands, bool isMax, Tensor &output,
                             ThreadPool &threads) {
  const IntegerSimd &simd = integerSimd();
  const uint8_t flip = flipOf(output.type());
  std::vector<ByteReader> readers;
  std::vector<ByteTable> tables;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Requantizer requantizer(operands[i].requant, simd);
    readers.emplace_back(inputs[i], output.shape(), 0);
    tables.push_back(requantTable(inputs[i].type(), operands[i].zero, requantizer, 0));
  }
  uint8_t *to = bytesOf(output);
  forEachBlock(threads, output.numElements(), 2, [&](int64_t first, int64_t count) {
    ByteBlock bytes;
    ByteBlock requantized;
    for (size_t i = 0; i < readers.size(); ++i) {
      const ByteRow row = readers[i].read(first, count, bytes.data());
      uint8_t *results = i == 0 ? to + first : requantized.data();
      simd.lookUpRow(row.data, tables[i].data(), row.flip, count, results);
      if (i > 0)
        simd.extremeRow(results, isMax, flip, count, to + first);
    }
  });
}

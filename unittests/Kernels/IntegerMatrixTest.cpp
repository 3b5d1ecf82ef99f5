//===- IntegerMatrixTest.cpp - Products of byte matrices against direct sums --===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Interpreter/Kernels/IntegerMatrix.h"
#include "IntegerTesting.h"

using namespace tpuc;
using namespace tpuc::kernels;
using namespace tpuc::kernels::integer;

namespace {

/// The batch extents of an operand, and which of them its matrices come from.
struct Product {
  int64_t m, n, k;
  std::vector<int64_t> leftBatch, rightBatch, batch;
  bool transposeLeft, transposeRight;

  Shape left() const { return matrix(leftBatch, transposeLeft ? k : m, transposeLeft ? m : k); }
  Shape right() const { return matrix(rightBatch, transposeRight ? n : k, transposeRight ? k : n); }
  Shape output() const { return matrix(batch, m, n); }

private:
  static Shape matrix(std::vector<int64_t> dims, int64_t rows, int64_t columns) {
    dims.push_back(rows);
    dims.push_back(columns);
    return Shape(dims);
  }
};

Product randomProduct(Random &random) {
  Product c{};
  c.m = pick(random, 1, 3) == 1 ? 1 : pick(random, 1, 150);
  c.n = pick(random, 1, 130);
  c.k = pick(random, 1, 70);
  c.transposeLeft = pick(random, 0, 1) == 1;
  c.transposeRight = pick(random, 0, 1) == 1;
  const int64_t rank = pick(random, 0, 2);
  for (int64_t i = 0; i < rank; ++i) {
    c.batch.push_back(pick(random, 1, 3));
    c.leftBatch.push_back(c.batch.back());
    c.rightBatch.push_back(pick(random, 0, 1) == 0 ? 1 : c.batch.back());
  }
  if (pick(random, 0, 1) == 0)
    c.rightBatch.clear();
  return c;
}

class IntegerMatrixTest : public testing::TestWithParam<SimdLevel> {};

TEST_P(IntegerMatrixTest, EqualsTheDirectSums) {
  Random random(3);
  for (int round = 0; round < 200; ++round) {
    const Product c = randomProduct(random);
    const DataType leftType = randomByteType(random);
    const DataType rightType = randomByteType(random);
    const DataType outputType = randomByteType(random);
    const Tensor left = randomBytes(random, leftType, c.left());
    const Tensor right = randomBytes(random, rightType, c.right());
    const int64_t biasKind = pick(random, 0, 2);
    const Tensor bias = randomInts(random, Shape{biasKind == 1 ? 1 : c.n}, 1 << 18);
    IntegerMatMulParams params{c.transposeLeft,
                               c.transposeRight,
                               randomZero(random, leftType),
                               pick(random, 0, 1) == 0 ? 0 : randomZero(random, rightType),
                               std::nullopt,
                               GetParam()};
    const auto factors = static_cast<size_t>(pick(random, 0, 1) == 0 ? 1 : c.n);
    if (pick(random, 0, 4) != 0)
      params.requant = randomRequant(random, outputType, factors, 20);
    Tensor output(params.requant ? outputType : DataType::I32, c.output());
    const std::vector<int64_t> a = numbers(left);
    const std::vector<int64_t> b = numbers(right);
    const std::vector<int64_t> d = numbers(bias);
    std::vector<int64_t> expected;
    const int64_t matrices = output.numElements() / (c.m * c.n);
    for (int64_t index = 0; index < matrices; ++index) {
      // Which right matrix: digits of the index where the extent is not 1.
      int64_t other = 0;
      int64_t step = 1;
      int64_t rest = index;
      for (size_t back = 1; back <= c.batch.size(); ++back) {
        const int64_t extent = c.batch[c.batch.size() - back];
        if (back <= c.rightBatch.size() && c.rightBatch[c.rightBatch.size() - back] != 1) {
          other += rest % extent * step;
          step *= extent;
        }
        rest /= extent;
      }
      for (int64_t row = 0; row < c.m; ++row)
        for (int64_t column = 0; column < c.n; ++column) {
          Int128 sum = biasKind == 0 ? 0 : d[biasKind == 1 ? 0 : static_cast<size_t>(column)];
          for (int64_t i = 0; i < c.k; ++i) {
            const int64_t at = c.transposeLeft ? i * c.m + row : row * c.k + i;
            const int64_t from = c.transposeRight ? column * c.k + i : i * c.n + column;
            sum += (a[static_cast<size_t>(index * c.m * c.k + at)] - params.leftZero) *
                   (b[static_cast<size_t>(other * c.k * c.n + from)] - params.rightZero);
          }
          expected.push_back(params.requant
                                 ? requantized(sum, *params.requant, static_cast<size_t>(column))
                                 : static_cast<int64_t>(sum));
        }
    }
    ThreadPool threads(static_cast<unsigned>(pick(random, 1, 3)));
    KernelCache cache;
    for (KernelCache *kept : {static_cast<KernelCache *>(nullptr), &cache, &cache}) {
      integerMatMul(left, right, biasKind == 0 ? nullptr : &bias, params, output, threads, kept);
      ASSERT_EQ(numbers(output), expected)
          << c.left().str() << " x " << c.right().str() << (c.transposeLeft ? " left" : "")
          << (c.transposeRight ? " right" : "") << " transposed, " << dataTypeName(leftType)
          << " * " << dataTypeName(rightType) << " - " << params.rightZero << " by "
          << integerSimd(GetParam()).name;
    }
  }
}

TEST_P(IntegerMatrixTest, TakesVectors) {
  ThreadPool threads(1);
  const Tensor vector = Tensor::of<uint8_t>({3}, {1, 2, 255});
  const Tensor matrix = Tensor::of<int8_t>({3, 2}, {1, -1, 2, -2, 127, -128});
  IntegerMatMulParams params;
  params.level = GetParam();
  Tensor output(DataType::I32, {2});
  integerMatMul(vector, matrix, nullptr, params, output, threads, nullptr);
  EXPECT_EQ(numbers(output), (std::vector<int64_t>{5 + 255 * 127, -5 - 255 * 128}));
  Tensor scalar(DataType::I32, Shape());
  integerMatMul(vector, vector, nullptr, params, scalar, threads, nullptr);
  EXPECT_EQ(numbers(scalar), (std::vector<int64_t>{5 + 255 * 255}));
}

INSTANTIATE_TEST_SUITE_P(Levels, IntegerMatrixTest, testing::ValuesIn(integerLevels()),
                         [](const auto &info) {
                           return std::to_string(static_cast<int>(info.param));
                         });

} // namespace

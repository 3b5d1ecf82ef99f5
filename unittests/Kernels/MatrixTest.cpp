//===- MatrixTest.cpp - Products of matrices ------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Interpreter/Kernels/Matrix.h"
#include "unittests/Kernels/TestTensors.h"

#include <gmock/gmock.h>

using namespace tpuc;
using namespace tpuc::kernels;
using testing::ElementsAre;

namespace {

TEST(MatrixTest, MultipliesEitherOrientationInEveryType) {
  ThreadPool threads(2);
  constexpr int64_t kRows = 150, kColumns = 7, kInner = 19;
  for (bool transposeLeft : {false, true})
    for (bool transposeRight : {false, true})
      for (DataType type : {DataType::F32, DataType::F64, DataType::F16, DataType::I32}) {
        Shape leftShape = transposeLeft ? Shape{2, kInner, kRows} : Shape{2, kRows, kInner};
        Shape rightShape = transposeRight ? Shape{kColumns, kInner} : Shape{kInner, kColumns};
        auto make = [&](Shape shape, unsigned seed) {
          Tensor tensor = randomQuarters(shape, seed);
          return convert(isFloat(type) ? tensor : convert(tensor, DataType::I32), type);
        };
        Tensor left = make(leftShape, 1);
        Tensor right = make(rightShape, 2);
        Tensor bias = make(Shape{kColumns}, 3);
        Tensor a = convert(left, DataType::F64);
        Tensor b = convert(right, DataType::F64);
        Tensor c = convert(bias, DataType::F64);
        std::vector<double> sums;
        for (int64_t n = 0; n < 2; ++n)
          for (int64_t row = 0; row < kRows; ++row)
            for (int64_t column = 0; column < kColumns; ++column) {
              double sum = c.data<double>()[column];
              for (int64_t i = 0; i < kInner; ++i)
                sum +=
                    a.data<double>()[n * kRows * kInner +
                                     (transposeLeft ? i * kRows + row : row * kInner + i)] *
                    b.data<double>()[transposeRight ? column * kInner + i : i * kColumns + column];
              sums.push_back(sum);
            }
        Shape shape{2, kRows, kColumns};
        Tensor expected = convert(Tensor::of<double>(shape, sums), type);
        KernelCache cache;
        // Without a cache, with an empty one, with a filled one.
        for (KernelCache *kept : {static_cast<KernelCache *>(nullptr), &cache, &cache}) {
          Tensor output(type, shape);
          matMul(left, right, &bias, {transposeLeft, transposeRight}, output, threads, kept);
          auto bytes = output.rawBytes();
          EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), expected.rawBytes().begin()))
              << dataTypeName(type) << ' ' << transposeLeft << transposeRight << !!kept;
        }
      }
}

TEST(MatrixTest, BatchesBroadcastAndVectorsLoseTheirAxis) {
  ThreadPool threads(1);
  // [2, 1] batches against [3] of vectors of two.
  Tensor left = Tensor::of<float>({2, 1, 1, 2}, {1, 2, 10, 20});
  Tensor right = Tensor::of<float>({3, 2, 1}, {1, 0, 0, 1, 1, 1});
  Tensor output(DataType::F32, {2, 3, 1, 1});
  matMul(left, right, nullptr, {}, output, threads, nullptr);
  EXPECT_THAT(output.data<float>(), ElementsAre(1, 2, 3, 10, 20, 30));
  Tensor vector = Tensor::of<float>({2}, {3, 4});
  Tensor scalar(DataType::F32, {});
  matMul(vector, vector, nullptr, {}, scalar, threads, nullptr);
  EXPECT_THAT(scalar.data<float>(), ElementsAre(25));
}

TEST(MatrixTest, AnEmptySumIsZeroAndTheBiasStays) {
  ThreadPool threads(1);
  Tensor bias = Tensor::of<float>({2}, {1, -2});
  Tensor output(DataType::F32, {1, 2});
  MatMulParams params;
  params.doRelu = true;
  matMul(Tensor(DataType::F32, {1, 0}), Tensor(DataType::F32, {0, 2}), &bias, params, output,
         threads, nullptr);
  EXPECT_THAT(output.data<float>(), ElementsAre(1, 0));
}

TEST(MatrixTest, IntegersWrapAroundAndKeepAllDigits) {
  ThreadPool threads(1);
  Tensor output(DataType::U64, {1, 1});
  uint64_t large = (uint64_t(1) << 63) + 1;
  matMul(Tensor::of<uint64_t>({1, 2}, {large, large}), Tensor::of<uint64_t>({2, 1}, {1, 1}),
         nullptr, {}, output, threads, nullptr);
  EXPECT_EQ(output.data<uint64_t>()[0], 2U);
}

TEST(MatrixTest, EinsumTakesDiagonalsAndSums) {
  ThreadPool threads(1);
  Tensor square = Tensor::of<float>({2, 2}, {1, 2, 3, 4});
  Tensor trace(DataType::F32, {});
  einsum({square}, {{{0, 0}}, {}, {2}}, trace, threads);
  EXPECT_THAT(trace.data<float>(), ElementsAre(5));
  // ij,j,k->ki
  Tensor vector = Tensor::of<float>({2}, {10, 100});
  Tensor output(DataType::F32, {3, 2});
  einsum({square, vector, Tensor::of<float>({3}, {1, 2, 0})},
         {{{0, 1}, {1}, {2}}, {2, 0}, {2, 2, 3}}, output, threads);
  EXPECT_THAT(output.data<float>(), ElementsAre(210, 430, 420, 860, 0, 0));
}

} // namespace

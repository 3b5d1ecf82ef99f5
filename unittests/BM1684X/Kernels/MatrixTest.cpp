//===- MatrixTest.cpp - Matrix products------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Kernels/Matrix.h"
#include "tpuc/Interpreter/Kernels/Matrix.h"
#include "tpuc/Support/Convert.h"
#include "unittests/BM1684X/Kernels/Bench.h"

#include <gmock/gmock.h>

using namespace tpuc;
using namespace tpuc::bm1684x;
using testing::HasSubstr;

namespace {

struct MatrixCase {
  int64_t rows, inner, columns;
  bool rightIsTransposed = false;
  bool hasBias = true;
  Activation activation = {};
};

Tensor reference(const MatrixCase &c, const Tensor &left, const Tensor &right, const Tensor &bias) {
  kernels::MatMulParams params;
  params.transposeRight = c.rightIsTransposed;
  params.doRelu = c.activation.relu;
  params.reluLimit = c.activation.limit;
  Tensor wanted(DataType::F32, {1, 1, c.rows, c.columns});
  ThreadPool threads(1);
  kernels::matMul(convert(left, DataType::F32), convert(right, DataType::F32),
                  c.hasBias ? &bias : nullptr, params, wanted, threads, nullptr);
  return wanted;
}

/// A matrix [1,1,rows,columns] with its rows as channels.
Tensor rowsAsChannels(const Tensor &matrix) {
  return matrix.reshaped({1, matrix.shape()[2], 1, matrix.shape()[3]});
}

void expectProduct(const MatrixCase &c, DataType type, DataType outputType) {
  SCOPED_TRACE(dataTypeName(type));
  Tensor left = randomNumbers(type, {1, 1, c.rows, c.inner}, 1);
  Tensor right = c.rightIsTransposed ? randomNumbers(type, {1, 1, c.columns, c.inner}, 2)
                                     : randomNumbers(type, {1, 1, c.inner, c.columns}, 2);
  Tensor bias = randomNumbers(DataType::F32, {c.columns}, 3);
  Bench bench;
  MatrixProduct product;
  product.left = bench.load(rowsAsChannels(left));
  product.right = bench.load(rowsAsChannels(right));
  product.output = bench.local(outputType, {1, c.rows, 1, c.columns});
  product.rightIsTransposed = c.rightIsTransposed;
  product.activation = c.activation;
  if (c.hasBias) {
    LocalTensor lanes = bench.local(DataType::F32, {1, 64, 1, c.columns});
    expectOk(emitLoadToLanes(bench.builder, bench.put(bias.reshaped({1, 1, 1, c.columns})), lanes));
    product.biasAddress = lanes.address;
  }
  product.scratch = bench.scratch(matrixProductScratch(product));
  expectOk(emitMatrixProduct(bench.builder, product));
  GlobalTensor stored = bench.store(product.output);
  bench.run();
  Tensor wanted = convert(reference(c, left, right, bias), outputType);
  expectClose(bench.get(stored), wanted.reshaped({1, c.rows, 1, c.columns}));
}

TEST(MatrixProduct, EveryType) {
  for (DataType type : kFloatTypes) {
    expectProduct({5, 7, 9}, type, type);
    expectProduct({70, 130, 33}, type, type);
    expectProduct({197, 64, 192, false, true, {true, -1}}, type, type);
    expectProduct({65, 32, 66, false, false}, type, DataType::F32);
    expectProduct({1, 300, 20}, type, type);
  }
}

TEST(MatrixProduct, TransposedRight) {
  for (DataType type : kFloatTypes) {
    expectProduct({70, 33, 130, true}, type, type);
    expectProduct({64, 64, 64, true, false}, type, type);
  }
}

TEST(MatrixProduct, PartsOfK) {
  for (DataType type : kFloatTypes) {
    Bench bench;
    Tensor left = randomNumbers(type, {1, 1, 70, 96}, 1);
    Tensor right = randomNumbers(type, {1, 1, 96, 20}, 2);
    GlobalTensor lefts = bench.put(rowsAsChannels(left));
    GlobalTensor rights = bench.put(rowsAsChannels(right));
    MatrixProduct product;
    product.output = bench.local(DataType::F32, {1, 70, 1, 20});
    product.left = bench.local(type, {1, 70, 1, 48});
    product.right = bench.local(type, {1, 48, 1, 20});
    for (int64_t first : {0, 48}) {
      expectOk(emitLoad(bench.builder, lefts.slice(3, first, 48), product.left));
      expectOk(emitLoad(bench.builder, rights.slice(1, first, 48), product.right));
      product.accumulates = first > 0;
      expectOk(emitMatrixProduct(bench.builder, product));
    }
    GlobalTensor stored = bench.store(product.output);
    bench.run();
    expectClose(bench.get(stored),
                reference({70, 96, 20, false, false}, left, right, left).reshaped({1, 70, 1, 20}));
  }
}

void expectRowProduct(const MatrixCase &c, int64_t leftWidth) {
  Tensor left = randomNumbers(DataType::F32, {1, 1, c.rows, c.inner}, 1);
  Tensor right = randomNumbers(DataType::F32, {1, 1, c.inner, c.columns}, 2);
  Tensor bias = randomNumbers(DataType::F32, {1, 1, 1, c.columns}, 3);
  Bench bench;
  int64_t width = rowProductWidth(c.columns);
  auto load = [&](const Tensor &matrix, int64_t chunk) {
    int64_t rows = matrix.shape()[2];
    int64_t columns = matrix.shape()[3];
    LocalTensor local = bench.local(DataType::F32, {rows, ceilDiv(columns, chunk), 1, chunk});
    GlobalTensor global = bench.put(matrix);
    expectOk(emitLoadMatrix(bench.builder, global.address, columns, columns, local));
    return local;
  };
  RowProduct product;
  product.left = load(left, leftWidth);
  product.right = load(right, width);
  product.output = bench.local(DataType::F32, {c.rows, ceilDiv(c.columns, width), 1, width});
  product.inner = c.inner;
  product.columns = c.columns;
  product.activation = c.activation;
  if (c.hasBias)
    product.biasAddress = load(bias, width).address;
  expectOk(emitRowProduct(bench.builder, product));
  GlobalTensor stored = bench.space(DataType::F32, {1, 1, c.rows, c.columns});
  expectOk(emitStoreMatrix(bench.builder, product.output, c.columns, stored.address, c.columns));
  bench.run();
  expectClose(bench.get(stored), reference(c, left, right, bias.reshaped({c.columns})));
}

TEST(RowProduct, ChunksOverLanes) {
  expectRowProduct({1, 100, 10}, 16);
  expectRowProduct({3, 70, 200, false, true, {true, -1}}, 32);
  expectRowProduct({1, 65, 1000, false, false}, 2);
  expectRowProduct({1, 33, 1500}, 33);
}

TEST(RowProduct, WidthFillsTheLanes) {
  EXPECT_EQ(rowProductWidth(10), 10);
  EXPECT_EQ(rowProductWidth(1000), 16);
  EXPECT_EQ(rowProductWidth(4096), 64);
}

TEST(MatrixProduct, RefusesByName) {
  MatrixProduct product;
  product.left = localTensor(DataType::F32, {1, 4, 1, 8});
  product.right = localTensor(DataType::F32, {1, 6, 1, 8});
  product.output = localTensor(DataType::F32, {1, 4, 1, 6});
  auto message = [](const MatrixProduct &p) {
    Expected<uint32_t> needed = matrixProductScratch(p);
    return needed ? "accepted" : needed.error().message();
  };
  EXPECT_THAT(message(product), HasSubstr("[1,4,1,8] times [1,6,1,8]"));
  product.rightIsTransposed = true;
  EXPECT_EQ(message(product), "accepted");
  product.left.type = product.right.type = DataType::F16;
  EXPECT_EQ(message(product), "accepted");
  product.output.type = DataType::F16;
  product.accumulates = true;
  EXPECT_THAT(message(product), HasSubstr("an accumulation in f16"));
  product.accumulates = false;
  product.left = localTensor(DataType::F16, {1, 4, 1, 65536});
  product.right = localTensor(DataType::F16, {1, 6, 1, 65536});
  EXPECT_THAT(message(product),
              HasSubstr("65536 rows of the right matrix; expected at most 65535"));
}

} // namespace

//===- PoolingTest.cpp - Pooling-------------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Kernels/Pooling.h"
#include "tpuc/Interpreter/Kernels/Pool.h"
#include "tpuc/Support/Convert.h"
#include "unittests/BM1684X/Kernels/Bench.h"

#include <gmock/gmock.h>

using namespace tpuc;
using namespace tpuc::bm1684x;
using testing::HasSubstr;

namespace {

struct PoolCase {
  Extents input;
  Window2d window;
  bool isAverage = false;
  bool countsPadding = false;
  Activation activation = {};
};

Extents outputOf(const PoolCase &c) {
  Extents output = c.input;
  for (size_t axis = 0; axis < 2; ++axis) {
    const Window2d &w = c.window;
    int64_t padded = c.input[axis + 2] + w.padBegin[axis] + w.padEnd[axis];
    output[axis + 2] = (padded - (w.kernel[axis] - 1) * w.dilation[axis] - 1) / w.stride[axis] + 1;
  }
  return output;
}

Tensor reference(const PoolCase &c, const Tensor &input) {
  auto vec = [](const std::array<int64_t, 2> &pair) {
    return std::vector<int64_t>(pair.begin(), pair.end());
  };
  kernels::PoolParams params;
  params.window = {vec(c.window.kernel), vec(c.window.stride), vec(c.window.dilation),
                   vec(c.window.padBegin), vec(c.window.padEnd)};
  params.countIncludePad = c.countsPadding;
  params.doRelu = c.activation.relu;
  params.reluLimit = c.activation.limit;
  Extents shape = outputOf(c);
  Tensor wanted(DataType::F32, Shape(std::span(shape)));
  ThreadPool threads(1);
  Tensor wide = convert(input, DataType::F32);
  if (c.isAverage)
    kernels::averagePool(wide, params, wanted, threads);
  else
    kernels::maxPool(wide, params, wanted, nullptr, false, threads);
  return convert(wanted, input.type());
}

void expectPool(DataType type, const PoolCase &c) {
  SCOPED_TRACE(dataTypeName(type));
  double bound = isFloat(type) ? 1 : 100;
  Tensor input = randomNumbers(type, Shape(std::span(c.input)), 1,
                               isSigned(type) && !c.isAverage ? -bound : 0, bound);
  Bench bench;
  Pooling pool{bench.load(input),
               bench.local(type, outputOf(c)),
               c.window,
               c.isAverage,
               c.countsPadding,
               c.activation,
               {}};
  pool.scratch = bench.scratch(poolingScratch(pool));
  expectOk(emitPooling(bench.builder, pool));
  GlobalTensor stored = bench.store(pool.output);
  bench.run();
  if (c.isAverage)
    expectClose(bench.get(stored), reference(c, input));
  else
    expectSame(bench.get(stored), reference(c, input));
}

TEST(Pooling, Maxima) {
  for (DataType type : {DataType::F32, DataType::F16, DataType::BF16, DataType::I8, DataType::U8}) {
    expectPool(type, {{2, 70, 9, 8}, {{2, 2}, {2, 2}}});
    expectPool(type, {{1, 5, 11, 12}, {{3, 3}, {2, 2}, {1, 1}, {1, 1}, {1, 1}}});
    expectPool(type, {{1, 5, 11, 12}, {{3, 2}, {1, 3}, {2, 2}, {1, 0}, {0, 1}}});
  }
  expectPool(DataType::F32,
             {{1, 5, 11, 12}, {{3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}}, false, false, {true, 0.5}});
}

TEST(Pooling, Averages) {
  for (DataType type : kFloatTypes)
    for (bool countsPadding : {false, true}) {
      expectPool(type, {{2, 70, 9, 8}, {{2, 2}, {2, 2}}, true, countsPadding});
      expectPool(type,
                 {{1, 66, 11, 12}, {{3, 4}, {2, 1}, {1, 1}, {1, 2}, {1, 1}}, true, countsPadding});
      // Enough elements to be summed in F32.
      expectPool(type, {{1, 66, 14, 14},
                        {{9, 9}, {1, 1}, {1, 1}, {4, 4}, {4, 4}},
                        true,
                        countsPadding,
                        {true, -1}});
    }
}

TEST(Pooling, GlobalAverages) {
  for (DataType type : kFloatTypes) {
    expectPool(type, {{2, 130, 7, 7}, {{7, 7}}, true});
    expectPool(type, {{1, 9, 28, 60}, {{28, 60}}, true});
  }
}

TEST(Pooling, RefusesByName) {
  Pooling pool;
  pool.input = localTensor(DataType::I32, {1, 1, 4, 4});
  auto message = [](const Pooling &p) {
    Expected<uint32_t> needed = poolingScratch(p);
    return needed ? "accepted" : needed.error().message();
  };
  EXPECT_THAT(message(pool), HasSubstr("input of i32"));
  pool.input.type = DataType::F32;
  EXPECT_EQ(message(pool), "accepted");
  pool.output.shape = {1, 2, 1, 1};
  EXPECT_THAT(message(pool), HasSubstr("equal types, n and c"));
}

} // namespace

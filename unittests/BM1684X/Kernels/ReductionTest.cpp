//===- ReductionTest.cpp - Reductions, softmax, norms----------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Kernels/Reduction.h"
#include "tpuc/Support/Convert.h"
#include "unittests/BM1684X/Kernels/Bench.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <numeric>

using namespace tpuc;
using namespace tpuc::bm1684x;

namespace {

double reduce(ReduceKind kind, std::span<const double> values) {
  switch (kind) {
  case ReduceKind::Sum:
    return std::accumulate(values.begin(), values.end(), 0.0);
  case ReduceKind::Mean:
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  case ReduceKind::Max:
    return *std::ranges::max_element(values);
  default:
    return *std::ranges::min_element(values);
  }
}

TEST(Reduction, EveryKind) {
  for (ReduceKind kind : {ReduceKind::Sum, ReduceKind::Mean, ReduceKind::Max, ReduceKind::Min})
    for (DataType type : kFloatTypes)
      for (bool overWidth : {false, true}) {
        SCOPED_TRACE(dataTypeName(type));
        Tensor input = randomNumbers(type, {2, 70, 6, 50}, 1, 0.5, 2);
        Bench bench;
        Reduction reduction{kind,
                            overWidth,
                            bench.load(input),
                            bench.local(type, {2, 70, overWidth ? 6 : 1, 1}),
                            {}};
        reduction.scratch = bench.scratch(reductionScratch(reduction));
        expectOk(emitReduction(bench.builder, reduction));
        GlobalTensor stored = bench.store(reduction.output);
        bench.run();
        Tensor wide = convert(input, DataType::F64);
        Tensor wanted(DataType::F64, Shape(std::span(reduction.output.shape)));
        size_t length = overWidth ? 50 : 300;
        for (size_t i = 0; i < static_cast<size_t>(wanted.numElements()); ++i)
          wanted.mutableData<double>()[i] =
              reduce(kind, wide.data<double>().subspan(i * length, length));
        expectClose(bench.get(stored), convert(wanted, type));
      }
}

} // namespace

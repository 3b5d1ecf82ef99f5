//===- Fill.cpp - Tensors from few numbers -----------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Interpreter/Kernels/Fill.h"
#include "tpuc/Interpreter/Kernels/ElementBytes.h"
#include "tpuc/Interpreter/Kernels/Parallel.h"
#include "tpuc/Support/Convert.h"
#include "tpuc/Support/Elements.h"

#include <cmath>

using namespace tpuc;

void kernels::fill(const Tensor &value, Tensor &output, ThreadPool &threads) {
  withWholeBytes(value, output, [&](const Tensor &from, Tensor &to) {
    int64_t size = elementBytes(from.type());
    const std::byte *element = from.rawBytes().data();
    std::byte *out = to.mutableBytes().data();
    threads.parallelFor(to.numElements(), grainFor(1), [&](int64_t begin, int64_t end) {
      fillElements(out + begin * size, element, size, end - begin);
    });
  });
}

static constexpr double kMostNumbers = 0x1p48;

Expected<int64_t> kernels::rangeCount(const Tensor &start, const Tensor &limit,
                                      const Tensor &delta) {
  auto tooMany = [] {
    return makeError("", "a range without end", "a delta that leads from start to limit");
  };
  if (!isFloat(start.type())) {
    WideInteger from, to, step;
    loadElements(start, 0, {&from, 1});
    loadElements(limit, 0, {&to, 1});
    loadElements(delta, 0, {&step, 1});
    if (step == 0)
      return tooMany();
    WideInteger distance = step > 0 ? to - from : from - to;
    WideInteger stride = step > 0 ? step : -step;
    WideInteger count = distance > 0 ? (distance - 1) / stride + 1 : 0;
    if (count > static_cast<WideInteger>(kMostNumbers))
      return tooMany();
    return static_cast<int64_t>(count);
  }
  double from, to, step;
  loadElements(start, 0, {&from, 1});
  loadElements(limit, 0, {&to, 1});
  loadElements(delta, 0, {&step, 1});
  double count = std::ceil((to - from) / step);
  if (step == 0 || std::isnan(count) || count > kMostNumbers)
    return tooMany();
  return static_cast<int64_t>(std::max(count, 0.0));
}

void kernels::range(const Tensor &start, const Tensor &delta, Tensor &output) {
  int64_t count = output.numElements();
  Tensor numbers(isFloat(output.type()) ? DataType::F64 : DataType::I64, output.shape());
  if (isFloat(output.type())) {
    double from, step;
    loadElements(start, 0, {&from, 1});
    loadElements(delta, 0, {&step, 1});
    auto values = numbers.mutableData<double>();
    for (int64_t i = 0; i < count; ++i)
      values[static_cast<size_t>(i)] = from + static_cast<double>(i) * step;
  } else {
    WideInteger from, step;
    loadElements(start, 0, {&from, 1});
    loadElements(delta, 0, {&step, 1});
    auto values = numbers.mutableData<int64_t>();
    for (int64_t i = 0; i < count; ++i)
      values[static_cast<size_t>(i)] = static_cast<int64_t>(from + i * step);
  }
  ConvertOptions wrap;
  wrap.integerOverflow = IntegerOverflow::Wrap;
  Tensor result = convert(numbers, output.type(), wrap);
  auto bytes = result.rawBytes();
  std::copy(bytes.begin(), bytes.end(), output.mutableBytes().begin());
}

void kernels::eye(int64_t k, Tensor &output, ThreadPool &threads) {
  fill(Tensor(output.type(), {}), output, threads);
  int64_t rows = output.shape()[0];
  int64_t columns = output.shape()[1];
  Tensor one = convert(Tensor::of<float>({}, {1.0F}), output.type());
  withWholeBytes(one, output, [&](const Tensor &from, Tensor &to) {
    int64_t size = elementBytes(from.type());
    std::byte *out = to.mutableBytes().data();
    for (int64_t i = std::max<int64_t>(0, k < -rows ? rows : -k); i < rows; ++i) {
      if (k >= columns - i)
        break;
      std::memcpy(out + (i * columns + i + k) * size, from.rawBytes().data(),
                  static_cast<size_t>(size));
    }
  });
}

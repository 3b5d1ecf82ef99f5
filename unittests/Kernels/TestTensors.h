//===- TestTensors.h - Tensors that tests make and read ---------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef UNITTESTS_KERNELS_TESTTENSORS_H
#define UNITTESTS_KERNELS_TESTTENSORS_H

#include "tpuc/Support/Convert.h"

#include <random>
#include <vector>

namespace tpuc::kernels {

/// Numbers in [-1, 1), as F32.
inline Tensor randomTensor(const Shape &shape, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> values(-1, 1);
  Tensor tensor(DataType::F32, shape);
  for (float &value : tensor.mutableData<float>())
    value = values(generator);
  return tensor;
}

/// Quarters in [-2, 2]: sums of their products are exact.
inline Tensor randomQuarters(const Shape &shape, unsigned seed, DataType type = DataType::F32) {
  std::mt19937 generator(seed);
  std::uniform_int_distribution<int> values(-8, 8);
  Tensor tensor(DataType::F32, shape);
  for (float &value : tensor.mutableData<float>())
    value = static_cast<float>(values(generator)) / 4;
  return convert(tensor, type);
}

inline std::vector<double> doubles(const Tensor &tensor) {
  Tensor wide = convert(tensor, DataType::F64);
  auto values = wide.data<double>();
  return {values.begin(), values.end()};
}

inline std::vector<float> floats(const Tensor &tensor) {
  Tensor wide = convert(tensor, DataType::F32);
  auto values = wide.data<float>();
  return {values.begin(), values.end()};
}

} // namespace tpuc::kernels

#endif // UNITTESTS_KERNELS_TESTTENSORS_H

//===- TestTensors.h - Tensors that tests make and read ---------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef UNITTESTS_INTERPRETER_TESTTENSORS_H
#define UNITTESTS_INTERPRETER_TESTTENSORS_H

#include "tpuc/Support/Tensor.h"

#include <vector>

namespace tpuc {

/// Different numbers in [low, low + 1), as F32; others for another `start`.
inline Tensor filled(const Shape &shape, double start, double low) {
  Tensor tensor(DataType::F32, shape);
  double value = start;
  for (float &element : tensor.mutableData<float>()) {
    value = value * 1.37 + 0.11;
    value -= static_cast<int>(value);
    element = static_cast<float>(value + low);
  }
  return tensor;
}

/// The elements of an F32 tensor.
inline std::vector<float> floats(const Tensor &tensor) {
  auto data = tensor.data<float>();
  return {data.begin(), data.end()};
}

} // namespace tpuc

#endif // UNITTESTS_INTERPRETER_TESTTENSORS_H

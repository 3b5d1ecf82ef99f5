//===- ComputeType.cpp - The types in which kernels compute ---------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Interpreter/Kernels/ComputeType.h"
#include "tpuc/Support/Convert.h"

#include <cstring>

using namespace tpuc;

static constexpr ConvertOptions kWrapping{.integerOverflow = IntegerOverflow::Wrap};

DataType kernels::computeType(DataType type) {
  if (type == DataType::F64)
    return DataType::F64;
  return isFloat(type) ? DataType::F32 : DataType::I64;
}

Tensor kernels::toCompute(const Tensor &tensor, DataType result) {
  return convert(tensor, computeType(result), kWrapping);
}

void kernels::store(const Tensor &from, Tensor &to) {
  assert(from.numElements() == to.numElements());
  if (to.numElements() == 0)
    return;
  Tensor converted = convert(from, to.type(), kWrapping);
  std::memcpy(to.mutableBytes().data(), converted.rawBytes().data(), to.mutableBytes().size());
}

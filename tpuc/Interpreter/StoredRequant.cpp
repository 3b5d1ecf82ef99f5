//===- StoredRequant.cpp - How tpu ops say that sums become stored integers ---===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Interpreter/StoredRequant.h"
#include "tpuc/Dialect/Top/TypeUtils.h"

#include <algorithm>

using namespace tpuc;

std::vector<MultiplierShift> tpuc::factorsOf(mlir::ArrayAttr multipliers, mlir::ArrayAttr shifts) {
  std::vector<MultiplierShift> factors;
  for (auto [multiplier, shift] : llvm::zip_equal(top::toInts(multipliers), top::toInts(shifts)))
    factors.push_back({static_cast<int32_t>(multiplier), static_cast<int32_t>(shift)});
  return factors;
}

tpuc::IntegerRange tpuc::kernelRange(const tpu::StoredRange &range) {
  return {range.low, static_cast<uint64_t>(std::max<int64_t>(range.high, 0))};
}

void tpuc::limitBelowZero(const tpu::StoredRange &range, Tensor &output) {
  if (range.high >= 0)
    return;
  for (int8_t &stored : output.mutableData<int8_t>())
    stored = std::min(stored, static_cast<int8_t>(range.high));
}

DataType tpuc::resultType(mlir::Operation *op) {
  return *storageDataType(op->getResult(0).getType());
}

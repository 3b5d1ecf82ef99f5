//===- ProductFilters.cpp - Products of matrices as convolutions ----------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM168x/Codegen/ProductFilters.h"
#include "tpuc/Codegen/Decompose/OpMaker.h"
#include "tpuc/Dialect/Tpu/MatrixOps.h"
#include "tpuc/Support/MappedFile.h"

#include <cstring>

using namespace mlir;
using namespace tpuc::codegen;

namespace tpuc::bm168x::backend {

Value picturesOf(Value value, int64_t rows) {
  const auto isPicture = [&](Value candidate) {
    const ArrayRef<int64_t> dims = OpMaker::dimsOf(candidate);
    return dims.size() == 4 && dims[0] == rows && dims[1] > 1;
  };
  while (!isPicture(value)) {
    Operation *op = value.getDefiningOp();
    if (!op || !op->hasTrait<traits::ViewLike>())
      return {};
    value = op->getOperand(0);
  }
  return value;
}

void eraseFlattening(Operation *op) {
  while (op && op->use_empty() && (isa<tpu::MatMulOp>(op) || op->hasTrait<traits::ViewLike>())) {
    Operation *before = op->getOperand(0).getDefiningOp();
    op->erase();
    op = before;
  }
}

Tensor filterOf(const Tensor &matrix, bool isTurned, ArrayRef<int64_t> dims) {
  const Shape shape(std::span(dims.data(), dims.size()));
  if (isTurned)
    return matrix.reshaped(shape);
  Tensor filter(matrix.type(), shape);
  const std::span<const std::byte> from = matrix.rawBytes();
  const std::span<std::byte> to = filter.mutableBytes();
  const auto bytes = static_cast<size_t>(byteSize(matrix.type(), 1));
  const auto columns = static_cast<size_t>(dims[0]);
  const size_t inner = from.size() / bytes / columns;
  for (size_t row = 0; row < inner; ++row)
    for (size_t column = 0; column < columns; ++column)
      std::memcpy(to.data() + (column * inner + row) * bytes,
                  from.data() + (row * columns + column) * bytes, bytes);
  releaseMapped(from);
  return filter;
}

} // namespace tpuc::bm168x::backend

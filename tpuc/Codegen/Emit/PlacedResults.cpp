//===- PlacedResults.cpp - Results of a layer in global memory ------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Emit/PlacedResults.h"
#include "tpuc/Codegen/Layers.h"
#include "tpuc/Dialect/Top/Names.h"
#include "tpuc/Dialect/Top/TypeUtils.h"

using namespace mlir;
using namespace tpuc;

std::vector<model::TensorInfo> codegen::placedResults(Operation *op) {
  std::vector<model::TensorInfo> made;
  const auto names = tensorNames(op);
  for (auto [name, result] : llvm::zip_equal(names, op->getResults())) {
    const std::optional<int64_t> address = addressOf(result.getType());
    const std::optional<DataType> type = storageDataType(result.getType());
    if (!address || !type)
      continue;
    model::TensorInfo &tensor = made.emplace_back();
    tensor.name = name;
    tensor.setType(*type);
    const auto dims = cast<RankedTensorType>(result.getType()).getShape();
    tensor.shape.assign(dims.begin(), dims.end());
    tensor.address = static_cast<uint64_t>(*address);
  }
  return made;
}

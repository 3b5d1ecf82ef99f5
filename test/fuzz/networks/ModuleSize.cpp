//===- ModuleSize.cpp - What all tensors of a module take -----------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/fuzz/networks/ModuleSize.h"

#include "tpuc/Dialect/Quant/QuantTypes.h"
#include "tpuc/Driver/ModuleFile.h"
#include "tpuc/Support/Sizes.h"

namespace tpuc::fuzz {

namespace {

/// 0 unless it is a tensor of known extents.
Count bytesOf(mlir::Type type) {
  auto tensor = mlir::dyn_cast<mlir::RankedTensorType>(type);
  if (!tensor || !tensor.hasStaticShape())
    return 0;
  const mlir::Type stored = quant::stripUniformTypes(tensor.getElementType());
  if (!stored.isIntOrFloat())
    return 0;
  Count bytes = (stored.getIntOrFloatBitWidth() + 7) / 8;
  for (int64_t extent : tensor.getShape())
    bytes *= extent;
  return bytes;
}

} // namespace

int64_t bytesOfTensors(const std::string &path, int64_t copies) {
  std::unique_ptr<mlir::MLIRContext> context = makeContext();
  auto read = readModule(*context, path);
  if (!read)
    return 0;
  Count bytes = 0;
  (*read)->walk([&](mlir::Operation *op) {
    for (mlir::Value result : op->getResults())
      bytes += bytesOf(result.getType());
    if (op->hasTrait<mlir::OpTrait::IsTerminator>())
      for (mlir::Value output : op->getOperands())
        bytes += bytesOf(output.getType()) * copies;
  });
  return int64_t(bytes);
}

} // namespace tpuc::fuzz

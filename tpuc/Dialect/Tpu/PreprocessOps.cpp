//===- PreprocessOps.cpp - Pictures as inputs ----------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Tpu/PreprocessOps.h"
#include "tpuc/Dialect/Tpu/StoredType.h"
#include "tpuc/Dialect/Tpu/TpuTraits.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace tpuc;

LogicalResult tpu::ScaleLutOp::verify() {
  quant::UniformQuantizedType input = quantizedType(getInput());
  auto type = dyn_cast<RankedTensorType>(getInput().getType());
  if (!input || input.getStorage().width != 8 || !type || type.getRank() < 2)
    return emitOpError("input type is ")
           << getInput().getType() << "; expected quantized values of 8 bits with channels";
  auto table = cast<RankedTensorType>(getTable().getType());
  if (table.getRank() != 2 || table.getDimSize(0) != type.getDimSize(1) ||
      table.getDimSize(1) != 256 || !table.getElementType().isInteger(8))
    return emitOpError("table type is ")
           << table << "; expected 256 integers of 8 bits for each channel";
  if (!isQuantized(getOutput()) ||
      failed(verifyCompatibleShape(getOutput().getType(), getInput().getType())))
    return emitOpError("result type is ")
           << getOutput().getType() << "; expected quantized values in the shape of the input";
  return verifyStoredTypes(*this);
}

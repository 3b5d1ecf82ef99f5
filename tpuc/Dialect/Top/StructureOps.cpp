//===- StructureOps.cpp - What a network is made of besides its layers ---------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Top/StructureOps.h"

#include "mlir/IR/Location.h"

using namespace mlir;
using namespace tpuc::top;

LogicalResult WeightOp::verify() {
  if (!cast<RankedTensorType>(getOutput().getType()).hasStaticShape())
    return emitOpError("result type ") << getOutput().getType()
                                       << " is dynamic; expected the "
                                          "static shape of the tensor in the weight file";
  return success();
}

//===- ControlOps.cpp ----------------------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Top/ControlOps.h"
#include "tpuc/Dialect/Top/ShapeInference.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::top;

LogicalResult IfOp::inferShape() { return emitOpError("PLACEHOLDER"); }
LogicalResult LoopOp::inferShape() { return emitOpError("PLACEHOLDER"); }
LogicalResult ScanOp::inferShape() { return emitOpError("PLACEHOLDER"); }

//===- ConvolutionOps.cpp ----------------------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Top/ConvolutionOps.h"
#include "tpuc/Dialect/Top/ShapeInference.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::top;

LogicalResult ConvOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t ConvOp::flops() { return 0; }
LogicalResult DeconvOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t DeconvOp::flops() { return 0; }
LogicalResult DeformConv2DOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t DeformConv2DOp::flops() { return 0; }
LogicalResult Col2ImOp::inferShape() { return emitOpError("PLACEHOLDER"); }
int64_t Col2ImOp::flops() { return 0; }

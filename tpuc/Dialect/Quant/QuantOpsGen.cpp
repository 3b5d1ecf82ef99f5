//===- QuantOpsGen.cpp - What TableGen wrote for QuantOps.td ---------------------- -===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Quant/QuantOps.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"

#define GET_OP_CLASSES
#include "tpuc/Dialect/Quant/QuantOps.cpp.inc"

void tpuc::quant::addQuantOps(QuantDialect &dialect) {
  dialect.addFamily<
#define GET_OP_LIST
#include "tpuc/Dialect/Quant/QuantOps.cpp.inc"
      >();
}

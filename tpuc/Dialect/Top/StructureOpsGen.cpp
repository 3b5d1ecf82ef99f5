//===- StructureOpsGen.cpp - What TableGen wrote for StructureOps.td -----------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Top/StructureOps.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"

#define GET_OP_CLASSES
#include "tpuc/Dialect/Top/StructureOps.cpp.inc"

void tpuc::top::addStructureOps(TopDialect &dialect) {
  dialect.addFamily<
#define GET_OP_LIST
#include "tpuc/Dialect/Top/StructureOps.cpp.inc"
      >();
}

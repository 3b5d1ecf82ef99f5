//===- QuantTypesGen.cpp - What TableGen wrote for the types of QuantBase.td --===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Quant/QuantTypes.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

#define GET_TYPEDEF_CLASSES
#include "tpuc/Dialect/Quant/QuantTypes.cpp.inc"

void tpuc::quant::QuantDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "tpuc/Dialect/Quant/QuantTypes.cpp.inc"
      >();
}

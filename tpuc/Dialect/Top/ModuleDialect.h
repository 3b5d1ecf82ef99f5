//===- ModuleDialect.h - What a module says about its network -----*- C++ -*- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For each attribute there is a class that reads and sets it:
//
//   top::ModuleDialect::PoolAddrAttrHelper(context).getAttr(module)
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DIALECT_TOP_MODULEDIALECT_H
#define TPUC_DIALECT_TOP_MODULEDIALECT_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/Operation.h"

#include "tpuc/Dialect/Top/ModuleDialect.h.inc"

#endif // TPUC_DIALECT_TOP_MODULEDIALECT_H

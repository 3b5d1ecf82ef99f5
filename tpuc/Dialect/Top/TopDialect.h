//===- TopDialect.h - The top dialect ------------------------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DIALECT_TOP_TOPDIALECT_H
#define TPUC_DIALECT_TOP_TOPDIALECT_H

#include "tpuc/Dialect/Top/ElementwiseShape.h"
#include "tpuc/Dialect/Top/IntegerRanges.h"
#include "tpuc/Dialect/Top/ModuleDialect.h"
#include "tpuc/Dialect/Top/OpTraits.h"
#include "tpuc/Dialect/Top/TopInterfaces.h"
#include "tpuc/Dialect/Top/WeightStore.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Dialect.h"
#include "llvm/ADT/StringMap.h"
#include <mutex>

#include "tpuc/Dialect/Top/TopDialect.h.inc"

#endif // TPUC_DIALECT_TOP_TOPDIALECT_H

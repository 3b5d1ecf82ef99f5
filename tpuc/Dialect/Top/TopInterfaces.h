//===- TopInterfaces.h - What every op of the top dialect can say --*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DIALECT_TOP_TOPINTERFACES_H
#define TPUC_DIALECT_TOP_TOPINTERFACES_H

#include "tpuc/Dialect/Top/IntegerForm.h"

#include "mlir/IR/OpDefinition.h"

#include "tpuc/Dialect/Top/TopInterfaces.h.inc"

#endif // TPUC_DIALECT_TOP_TOPINTERFACES_H

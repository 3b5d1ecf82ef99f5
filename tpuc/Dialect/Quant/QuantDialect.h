//===- QuantDialect.h - The quant dialect ------------------------------*- C++ -* -===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DIALECT_QUANT_QUANTDIALECT_H
#define TPUC_DIALECT_QUANT_QUANTDIALECT_H

#include "mlir/IR/Dialect.h"

#include "tpuc/Dialect/Quant/QuantDialect.h.inc"

#endif // TPUC_DIALECT_QUANT_QUANTDIALECT_H

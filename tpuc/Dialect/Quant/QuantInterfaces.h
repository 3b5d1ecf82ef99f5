//===- QuantInterfaces.h - What an op says about its quantized forms ---*- C++ -* -===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DIALECT_QUANT_QUANTINTERFACES_H
#define TPUC_DIALECT_QUANT_QUANTINTERFACES_H

#include "mlir/IR/OpDefinition.h"

#include "tpuc/Dialect/Quant/QuantInterfaces.h.inc"

#endif // TPUC_DIALECT_QUANT_QUANTINTERFACES_H

//===- TpuDialect.h - The tpu dialect ------------------------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DIALECT_TPU_TPUDIALECT_H
#define TPUC_DIALECT_TPU_TPUDIALECT_H

#include "tpuc/Dialect/Top/TopDialect.h"
#include "tpuc/Dialect/Tpu/LayerFacts.h"
#include "tpuc/Dialect/Tpu/TpuTraits.h"

#include "mlir/IR/Dialect.h"

#include "tpuc/Dialect/Tpu/TpuDialect.h.inc"

#endif // TPUC_DIALECT_TPU_TPUDIALECT_H

//===- Constants.h - Operands that are the same in every run ----*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM1684X_CODEGEN_CONSTANTS_H
#define TPUC_TARGET_BM1684X_CODEGEN_CONSTANTS_H

#include "tpuc/Target/BM168x/Codegen/Constants.h"

namespace tpuc::bm1684x::backend {

using bm168x::backend::constantOf;
using bm168x::backend::isConstantOperand;
using bm168x::backend::readConstant;
using bm168x::backend::scalarOperand;

} // namespace tpuc::bm1684x::backend

#endif // TPUC_TARGET_BM1684X_CODEGEN_CONSTANTS_H

//===- PackedConstants.h - Constants as kernels read them -------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM1684X_CODEGEN_PACKEDCONSTANTS_H
#define TPUC_TARGET_BM1684X_CODEGEN_PACKEDCONSTANTS_H

#include "tpuc/Codegen/Backend.h"

namespace tpuc::bm1684x::backend {

/// How a constant operand is kept; none: as it is. Errors: constants that cannot be read.
Expected<std::optional<codegen::PackedLayout>> packedLayout(mlir::OpOperand &operand);

} // namespace tpuc::bm1684x::backend

#endif // TPUC_TARGET_BM1684X_CODEGEN_PACKEDCONSTANTS_H

//===- Transfers.h - Tiles between global and local memory ---------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM1684X_CODEGEN_TRANSFERS_H
#define TPUC_TARGET_BM1684X_CODEGEN_TRANSFERS_H

#include "tpuc/Target/BM1684X/Kernels/Builder.h"
#include "tpuc/Target/BM1684X/Kernels/GlobalTensor.h"
#include "tpuc/Target/BM1684X/Kernels/LocalTensor.h"

namespace tpuc::bm1684x::backend {

// As emitLoad and emitStore. A tensor whose channels follow each other in global memory goes as a
// matrix whose columns are shared out to the lanes. That is 58 bytes per cycle for 54, and a tensor
// that lies in one page of global memory takes four times as long as others.

Expected<void> loadTensor(Builder &builder, const GlobalTensor &from, const LocalTensor &to);
Expected<void> storeTensor(Builder &builder, const LocalTensor &from, const GlobalTensor &to);

} // namespace tpuc::bm1684x::backend

#endif // TPUC_TARGET_BM1684X_CODEGEN_TRANSFERS_H

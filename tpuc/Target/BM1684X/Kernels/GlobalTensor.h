//===- GlobalTensor.h - Tensors in global memory ----------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM1684X_KERNELS_GLOBALTENSOR_H
#define TPUC_TARGET_BM1684X_KERNELS_GLOBALTENSOR_H

#include "tpuc/Target/BM168x/GlobalTensor.h"

namespace tpuc::bm1684x {

using bm168x::GlobalTensor;
using bm168x::globalTensor;

} // namespace tpuc::bm1684x

#endif // TPUC_TARGET_BM1684X_KERNELS_GLOBALTENSOR_H

//===- WeightRest.h - Integers of constants beyond what f32 holds -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DIALECT_TOP_WEIGHTREST_H
#define TPUC_DIALECT_TOP_WEIGHTREST_H

#include "tpuc/Dialect/Top/StructureOps.h"

namespace tpuc::top {

/// What the attribute `weight_rest` of a constant with `weight_scale` adds to its integers, which
/// are its elements over their scale, rounded; empty: nothing.
llvm::ArrayRef<int64_t> weightRest(WeightOp weight);
/// Sets it: one number for each element.
void setWeightRest(WeightOp weight, llvm::ArrayRef<int64_t> rest);
/// The elements as f64, with the rest times its scale. Errors: as WeightOp::read.
Expected<Tensor> readExact(WeightOp weight);

} // namespace tpuc::top

#endif // TPUC_DIALECT_TOP_WEIGHTREST_H

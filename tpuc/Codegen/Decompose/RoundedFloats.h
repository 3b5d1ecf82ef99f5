//===- RoundedFloats.h - Integers in floats that are off ---------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_CODEGEN_DECOMPOSE_ROUNDEDFLOATS_H
#define TPUC_CODEGEN_DECOMPOSE_ROUNDEDFLOATS_H

#include "tpuc/Codegen/Decompose/OpMaker.h"

namespace tpuc::codegen {

/// Integers in F32: how large they can be, and how far off where they are larger than 2^30.
struct RoundedFloats {
  mlir::Value number;
  double most = 0, error = 0;
};

/// Numbers of 32 bits, rounded.
RoundedFloats roundedWords(mlir::Value number);

/// What `op`, a sum, difference, product or running sum, gives of such numbers, without `number`.
/// None where the floats would be off by so much that they do not tell which integers 32 bits hold.
std::optional<RoundedFloats> roundedResult(mlir::Operation *op,
                                           llvm::ArrayRef<RoundedFloats> operands);

/// `word`, integers modulo 2^32, as F32 where `rough` is below 2^30; else `rough`.
mlir::Value exactWhereSmall(OpMaker &maker, mlir::Value rough, mlir::Value word);

} // namespace tpuc::codegen

#endif // TPUC_CODEGEN_DECOMPOSE_ROUNDEDFLOATS_H

//===- IntegerCommands.h - What operations on integers of the BM1684 share ---===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM1684_KERNELS_INTEGERCOMMANDS_H
#define TPUC_TARGET_BM1684_KERNELS_INTEGERCOMMANDS_H

#include "tpuc/Target/BM1684/Kernels/Integers.h"

namespace tpuc::bm1684 {

/// Operand types, shift and cut-off of a command over windows with I8 weights at `filter`, for
/// results of type `output`.
void setIntegers(Builder &builder, Command &command, DataType output, uint64_t filter,
                 int64_t shift);
/// Cuts off in place what the tensor's type would hold beyond the bounds.
void addBounds(Builder &builder, const LocalTensor &tensor, const IntegerBounds &bounds);

/// Errors unless the tensor is I8 or U8; of the second one also unless it is regular.
Expected<void> checkBytes(const std::string &where, std::string_view name,
                          const LocalTensor &tensor);
Expected<void> checkRegularBytes(const std::string &where, std::string_view name,
                                 const LocalTensor &tensor);
/// Errors unless a command can shift by this.
Expected<void> checkShift(const std::string &where, int64_t shift);
Expected<void> checkFactor(const std::string &where, const IntegerFactor &factor);

} // namespace tpuc::bm1684

#endif // TPUC_TARGET_BM1684_KERNELS_INTEGERCOMMANDS_H

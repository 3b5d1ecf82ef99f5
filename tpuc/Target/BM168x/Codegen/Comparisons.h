//===- Comparisons.h - What comparing ops ask for ---------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM168X_CODEGEN_COMPARISONS_H
#define TPUC_TARGET_BM168X_CODEGEN_COMPARISONS_H

#include "tpuc/Dialect/Tpu/BinaryOps.h"
#include "tpuc/Support/DataType.h"
#include "tpuc/Support/Error.h"
#include "tpuc/Target/BM168x/CompareKind.h"

namespace tpuc::bm168x::backend {

/// The kind that a mode of `tpu.Compare` names.
CompareKind compareKind(llvm::StringRef mode);

/// A comparison with a number that the compared type has, or what it always gives.
struct NumberComparison {
  CompareKind kind = CompareKind::Equal;
  double number = 0;
  std::optional<bool> always = std::nullopt;
};
/// What `op` asks of elements of `type`: a number between two of the type is compared as one of the
/// two, and none is equal to it. Errors: a number that commands for bytes do not take.
Expected<NumberComparison> numberComparison(tpu::CompareConstOp op, DataType type);

/// Whether every integer of type `from` is one of `to`.
bool holdsAll(DataType to, DataType from);

} // namespace tpuc::bm168x::backend

#endif // TPUC_TARGET_BM168X_CODEGEN_COMPARISONS_H

//===- AttentionFacts.h - What is known of an attention's result -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DIALECT_TPU_ATTENTIONFACTS_H
#define TPUC_DIALECT_TPU_ATTENTIONFACTS_H

#include "llvm/ADT/StringRef.h"

namespace tpuc::tpu {

/// A unit attribute of attention in F16 whose result nothing reads but a cast to bytes. Beside that
/// rounding, the one of its weights to F16 does not count.
inline constexpr llvm::StringLiteral kShortWeights = "short_weights";

} // namespace tpuc::tpu

#endif // TPUC_DIALECT_TPU_ATTENTIONFACTS_H

//===- CompareKind.h - How two numbers are compared -------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM168X_COMPAREKIND_H
#define TPUC_TARGET_BM168X_COMPAREKIND_H

#include <cstdint>

namespace tpuc::bm168x {

enum class CompareKind : uint8_t { Equal, NotEqual, Greater, GreaterOrEqual, Less, LessOrEqual };

inline bool isEquality(CompareKind kind) {
  return kind == CompareKind::Equal || kind == CompareKind::NotEqual;
}
/// Whether it holds where its opposite of Equal and Greater does not (`isSwapped` aside).
inline bool isNegated(CompareKind kind) {
  return kind == CompareKind::NotEqual || kind == CompareKind::GreaterOrEqual ||
         kind == CompareKind::LessOrEqual;
}
/// Whether it is Greater, or its opposite, with the operands exchanged.
inline bool isSwapped(CompareKind kind) {
  return kind == CompareKind::Less || kind == CompareKind::GreaterOrEqual;
}

} // namespace tpuc::bm168x

#endif // TPUC_TARGET_BM168X_COMPAREKIND_H

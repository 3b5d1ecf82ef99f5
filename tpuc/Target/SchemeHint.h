//===- SchemeHint.h - The number format that was meant ----------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_SCHEMEHINT_H
#define TPUC_TARGET_SCHEMEHINT_H

#include <string>
#include <string_view>

namespace tpuc {

/// For a name that `parseScheme` does not know: `; did you mean 'F16'?`, or nothing. Only schemes
/// of the same digits are meant: FP16 is F16, but INT4 is not INT8.
std::string schemeHint(std::string_view name);

} // namespace tpuc

#endif // TPUC_TARGET_SCHEMEHINT_H

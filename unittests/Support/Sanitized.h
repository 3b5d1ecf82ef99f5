//===- Sanitized.h - Whether a sanitizer watches ----------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef UNITTESTS_SUPPORT_SANITIZED_H
#define UNITTESTS_SUPPORT_SANITIZED_H

namespace tpuc {

/// Whether the address sanitizer watches, which makes programs several times slower: a test that
/// tries thousands of cases of one kind, all of them in the plain build, tries a part of them.
#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool kIsSanitized = true;
#elif defined(__has_feature)
inline constexpr bool kIsSanitized = __has_feature(address_sanitizer);
#else
inline constexpr bool kIsSanitized = false;
#endif

} // namespace tpuc

#endif // UNITTESTS_SUPPORT_SANITIZED_H

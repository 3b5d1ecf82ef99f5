//===- Error.h - What a user is told when something is wrong ----*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Whatever a user can cause is an Error: one line that says where (file, layer, option), what was
// found and what was expected. Functions that can meet one return Expected<T>; programs print it
// with `reportError` (Diagnostics.h) and exit with status 1. Assertions are for what no input can
// cause.
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_SUPPORT_ERROR_H
#define TPUC_SUPPORT_ERROR_H

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace tpuc {

struct Error {
  /// The file, layer, tensor or option that the error is about: `in.npz`, `in.npz: conv1`,
  /// `--tolerance`. May be empty.
  std::string where;
  /// What was found there.
  std::string found;
  /// What would have been right; may be empty where `found` says it all.
  std::string expected;

  /// `where: found; expected expected`, without line breaks or control characters: bytes below
  /// 0x20 that came from a file are shown as \xNN.
  std::string message() const;
};

/// A value, or the Error that kept us from it.
template <typename T> using Expected = tl::expected<T, Error>;

/// Usage: `return makeError(path, "holds no tensor", "at least one .npy entry");`
inline tl::unexpected<Error> makeError(std::string where, std::string found,
                                       std::string expected = "") {
  return tl::unexpected<Error>(Error{std::move(where), std::move(found), std::move(expected)});
}

/// Hands the error of a failed Expected to the caller of the current function.
/// Usage: `if (!result) return propagate(result);`
template <typename T> tl::unexpected<Error> propagate(tl::expected<T, Error> &result) {
  return tl::unexpected<Error>(std::move(result.error()));
}

/// The same for a temporary result.
template <typename T> tl::unexpected<Error> propagate(tl::expected<T, Error> &&result) {
  return tl::unexpected<Error>(std::move(result.error()));
}

} // namespace tpuc

#endif // TPUC_SUPPORT_ERROR_H

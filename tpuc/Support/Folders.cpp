//===- Folders.cpp - Where a file lies ------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Support/Folders.h"

#include <algorithm>
#include <system_error>

using namespace tpuc;

bool tpuc::isBelow(const std::filesystem::path &file, const std::filesystem::path &folder) {
  if (file.is_absolute() || std::ranges::count(file, std::filesystem::path("..")) != 0)
    return false;
  std::error_code error;
  const std::filesystem::path root =
      std::filesystem::weakly_canonical(folder.empty() ? "." : folder, error);
  if (error)
    return false;
  const std::filesystem::path target = std::filesystem::weakly_canonical(root / file, error);
  const auto [end, rest] = std::ranges::mismatch(root, target);
  return !error && end == root.end() && rest != target.end();
}

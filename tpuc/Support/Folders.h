//===- Folders.h - Where a file lies ----------------------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_SUPPORT_FOLDERS_H
#define TPUC_SUPPORT_FOLDERS_H

#include <filesystem>

namespace tpuc {

/// Whether `file`, a name relative to `folder`, lies in it or below, links followed. An absolute
/// name does not, neither does one with `..`, nor the folder itself, nor one that the system cannot
/// look up. An empty `folder` is the working folder. The file need not exist.
bool isBelow(const std::filesystem::path &file, const std::filesystem::path &folder);

} // namespace tpuc

#endif // TPUC_SUPPORT_FOLDERS_H

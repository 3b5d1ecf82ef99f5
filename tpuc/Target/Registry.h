//===- Registry.h - The chips that this build knows -------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// Each folder tpuc/Target/<Chip>/ with a CMakeLists.txt is found by CMake. Its TargetInfo.cpp
// defines `std::span<const TargetInfo> tpuc::<Chip>::describeTargets()`, whose tables live as long
// as the program. CMake writes the list of these functions, which keeps them linked and makes the
// registry a constant: nothing registers itself at start-up, and any thread may ask.
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_REGISTRY_H
#define TPUC_TARGET_REGISTRY_H

#include "tpuc/Target/Target.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tpuc {

/// Gives the targets that one folder describes.
using DescribeTargets = std::span<const TargetInfo> (*)();

/// One function for each chip folder, in the order of the folders' names. Written by CMake.
std::span<const DescribeTargets> chipFolders();

/// Every target that this build knows, in the order of `chipFolders` and of their tables.
std::vector<const TargetInfo *> knownTargets();

/// The target with that name or alias, whatever the case of its letters. The error names the known
/// ones and, if one is near, which was probably meant.
Expected<const TargetInfo *> lookupTarget(std::string_view name);

/// What `--list-targets` prints: one line per target, with its main figures, for a terminal.
std::string formatTargetTable();

/// docs/targets.md: every fact about every target. Ends in a newline; the same build gives the same
/// bytes.
std::string formatTargetMarkdown();

} // namespace tpuc

#endif // TPUC_TARGET_REGISTRY_H

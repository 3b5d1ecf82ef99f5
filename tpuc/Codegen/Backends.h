//===- Backends.h - The chips that have a code generator -----------*- C++ -*- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_CODEGEN_BACKENDS_H
#define TPUC_CODEGEN_BACKENDS_H

#include <memory>
#include <span>

namespace tpuc {
struct TargetInfo;
}

namespace tpuc::codegen {

class Backend;

/// Gives the backend of a chip; null for chips of other folders.
using CreateBackend = std::unique_ptr<Backend> (*)(const TargetInfo &target);

/// One function for each chip folder with a backend. Written by CMake.
std::span<const CreateBackend> backends();

} // namespace tpuc::codegen

#endif // TPUC_CODEGEN_BACKENDS_H

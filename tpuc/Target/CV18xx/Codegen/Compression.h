//===- Compression.h - Constants that are unpacked while they are loaded  -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_CV18XX_CODEGEN_COMPRESSION_H
#define TPUC_TARGET_CV18XX_CODEGEN_COMPRESSION_H

#include "tpuc/Codegen/ConstantStorage.h"
#include "tpuc/Model/CompiledModel.h"
#include "tpuc/Target/CV18xx/Kernels/Builder.h"

namespace tpuc::cv18xx::backend {

/// The constants of `stage` anew, which has one area of them: what nothing reads is left out, and
/// compressed streams stand for what `storage` says. Commands, host programs and locations say the
/// new places. A constant stays as it is where commands see parts of it in several ways, or the
/// host reads it. The constants of `storage.before` stand in front, and what is equal to a part of
/// them at a multiple of 64 bytes is not stored again.
std::vector<uint8_t> repackConstants(const Chip &chip, std::span<CommandStream> streams,
                                     model::Stage &stage, const codegen::ConstantStorage &storage);

} // namespace tpuc::cv18xx::backend

#endif // TPUC_TARGET_CV18XX_CODEGEN_COMPRESSION_H

//===- Compression.h - Constants that are unpacked while they are loaded  -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_CV18XX_CODEGEN_COMPRESSION_H
#define TPUC_TARGET_CV18XX_CODEGEN_COMPRESSION_H

#include "tpuc/Model/CompiledModel.h"
#include "tpuc/Target/CV18xx/Kernels/Builder.h"

namespace tpuc::cv18xx::backend {

/// Puts compressed streams in the place of constants of `stage` where that makes their transfers
/// shorter, and marks the commands that load them. A constant is left as it is where commands see
/// parts of it in several ways, or the host reads it. Bytes behind a stream are 0. `bytes` are
/// those of the stage's only area of constants, in region `base`.
void compressConstants(const Chip &chip, std::span<CommandStream> streams,
                       const model::Stage &stage, unsigned base, std::span<uint8_t> bytes);

} // namespace tpuc::cv18xx::backend

#endif // TPUC_TARGET_CV18XX_CODEGEN_COMPRESSION_H

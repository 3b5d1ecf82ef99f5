//===- ModelFile.h - Commands in a compiled network ----------- -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM168X_CODEGEN_MODELFILE_H
#define TPUC_TARGET_BM168X_CODEGEN_MODELFILE_H

#include "tpuc/Model/CompiledModel.h"
#include "tpuc/Target/BM168x/CommandBuilder.h"

namespace tpuc::bm168x::backend {

/// Puts the groups of commands of a chip with this table, some for each sub-network of the TPU,
/// into `model`, and `tensors` for those who look into memory. The table's streams are those of the
/// TIU and of the DMA. The same input gives the same bytes.
void addCommands(const mc::CommandTable &table,
                 const std::vector<std::vector<CommandStreams>> &subNets,
                 std::vector<model::InnerTensor> tensors, model::CompiledModel &model);

} // namespace tpuc::bm168x::backend

#endif // TPUC_TARGET_BM168X_CODEGEN_MODELFILE_H

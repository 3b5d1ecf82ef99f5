//===- Compiled.h - Model files and compiled networks -----------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_MODEL_BMODEL_COMPILED_H
#define TPUC_MODEL_BMODEL_COMPILED_H

#include "tpuc/Model/Bmodel/Bmodel.h"

namespace tpuc::bmodel {

/// The engines of a command group, as `Stream::engine` names them. A group read from a file has
/// both streams, in this order.
inline constexpr std::string_view kTiu = "TIU", kDma = "DMA";

/// What the runtime needs of a model that `checkModel` accepts. Stages that it cannot run say why
/// (`Stage::refusal`, which names `where`): dynamic nets, layers of the vendor's on the CPU,
/// branches, several cores, encryption.
model::CompiledModel toCompiled(const Model &model, const std::string &where);

/// The model that a file holds for a compiled network. Errors name `where`: other engines, several
/// sections of constants, types without a code, runs that do not begin with the first sub-network.
Expected<Model> fromCompiled(const model::CompiledModel &compiled, const std::string &where);

} // namespace tpuc::bmodel

#endif // TPUC_MODEL_BMODEL_COMPILED_H

//===- Combine.h - Models taken apart and put together ----------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_MODEL_BMODEL_COMBINE_H
#define TPUC_MODEL_BMODEL_COMBINE_H

#include "tpuc/Model/Bmodel/Bmodel.h"
#include "tpuc/Support/Error.h"

namespace tpuc::bmodel {

/// One model with the nets of all, in their order. Nets of one name become the stages of one net,
/// which the runtime chooses by the shapes of the inputs: they must have inputs and outputs of the
/// same names and types, and no two stages the same input shapes. Firmware comes from the first
/// model that has some. `names` are those of the models, for errors: different chips, different
/// address modes, nets that do not go together. `models` must not be empty.
Expected<Model> combine(std::span<const Model> models, std::span<const std::string> names);

/// The model that holds nothing but that stage of that net. The indices must exist.
Model extract(const Model &model, size_t net, size_t stage);

} // namespace tpuc::bmodel

#endif // TPUC_MODEL_BMODEL_COMBINE_H

//===- Check.h - What must hold in every .bmodel file -----------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_MODEL_BMODEL_CHECK_H
#define TPUC_MODEL_BMODEL_CHECK_H

#include "tpuc/Model/Bmodel/Bmodel.h"
#include "tpuc/Support/Error.h"

namespace tpuc::bmodel {

/// What the format demands beyond the places of its parts, for files that are read as well as for
/// models that are written:
/// - a chip; nets with a name each, all different, and a stage at least;
/// - tensors with a name and shapes of up to 8 dimensions; where the element type is known, the
///   size is that of the shape, or more (vendor files pad; dynamic nets have several shapes);
/// - inputs and outputs of a static TPU stage lie within its context, or the place for inputs and
///   outputs that other address modes have; no range of addresses wraps around;
/// - static TPU sub-nets have commands; sub-net ids differ, and `next` names existing ones;
/// - the weight locations lie within the coefficients;
/// - layer runs rise and name existing layers, groups and commands, and the same for tensors.
/// Errors name `where`, the net, the stage and the tensor.
Expected<void> checkModel(const Model &model, const std::string &where);

} // namespace tpuc::bmodel

#endif // TPUC_MODEL_BMODEL_CHECK_H

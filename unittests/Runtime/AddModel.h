//===- AddModel.h - A net that a BM1684X runs -------------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef UNITTESTS_RUNTIME_ADDMODEL_H
#define UNITTESTS_RUNTIME_ADDMODEL_H

#include "tpuc/Model/Bmodel/Bmodel.h"

namespace tpuc::runtime {

/// Net `add` for BM1684X: output y = input x + 1.5, f32 [1, 3, 4, 5]; its commands are assembled
/// from text. Its debug information names the layer `sum` and the tensor `y`.
bmodel::Model addModel();

/// Writes it to a file for the C test; false when that fails.
bool writeAddModel(const char *path);

} // namespace tpuc::runtime

#endif // UNITTESTS_RUNTIME_ADDMODEL_H

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

/// A net for BM1684X: output y = input x + 1.5, f32 [batch, 3, 4, 5]; the addend is a weight, the
/// commands are assembled from text. `batch` is 1 to 128. Its debug information names the layer
/// `sum` and the tensor `inner`, which is y.
bmodel::Model addModel(const std::string &name = "add", uint64_t batch = 1);

/// Writes it to a file; false when that fails.
bool writeAddModel(const char *path, const std::string &name, uint64_t batch,
                   bool takesPictures = false);

} // namespace tpuc::runtime

#endif // UNITTESTS_RUNTIME_ADDMODEL_H

//===- ExampleModel.h - A model with a bit of everything --------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef UNITTESTS_BMODEL_EXAMPLEMODEL_H
#define UNITTESTS_BMODEL_EXAMPLEMODEL_H

#include "tpuc/Model/Bmodel/Bmodel.h"

namespace tpuc::bmodel {

/// Two nets: `main` has stages for batch 1 and 4 that share their coefficients, with an int8 input
/// that has a scale and a zero point, and debug information; `tail` has a dynamic TPU sub-net and
/// one of each other kind. The commands are bytes that no chip knows.
Model exampleModel();

} // namespace tpuc::bmodel

#endif // UNITTESTS_BMODEL_EXAMPLEMODEL_H

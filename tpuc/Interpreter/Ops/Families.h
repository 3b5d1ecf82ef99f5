//===- Families.h - The ops of this room, family by family ------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_INTERPRETER_OPS_FAMILIES_H
#define TPUC_INTERPRETER_OPS_FAMILIES_H

#include "tpuc/Interpreter/Ops/Meaning.h"

namespace tpuc::ops {

// Each gives the ops of the file of that name.
std::span<const Meaning> attentionOps();
std::span<const Meaning> binaryOps();
std::span<const Meaning> convolutionOps();
std::span<const Meaning> indexOps();
std::span<const Meaning> matrixOps();
std::span<const Meaning> movementOps();
std::span<const Meaning> normOps();
std::span<const Meaning> poolOps();
std::span<const Meaning> quantizeOps();
std::span<const Meaning> recurrentOps();
std::span<const Meaning> reduceOps();
std::span<const Meaning> resizeOps();
std::span<const Meaning> shapeOps();
std::span<const Meaning> signalOps();
std::span<const Meaning> unaryOps();

} // namespace tpuc::ops

#endif // TPUC_INTERPRETER_OPS_FAMILIES_H

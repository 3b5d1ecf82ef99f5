//===- TopWindow.h - What the adapters of window ops share ------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_INTERPRETER_TOPWINDOW_H
#define TPUC_INTERPRETER_TOPWINDOW_H

#include "tpuc/Dialect/Top/WindowShapes.h"
#include "tpuc/Interpreter/Evaluate.h"
#include "tpuc/Interpreter/Ops/OpShapes.h"
#include "tpuc/Interpreter/Ops/Windows.h"

namespace tpuc {

inline llvm::ArrayRef<int64_t> extents(const Tensor &tensor) {
  return {tensor.shape().begin(), tensor.shape().end()};
}

using ops::located;
using ops::windowParams;

} // namespace tpuc

#endif // TPUC_INTERPRETER_TOPWINDOW_H

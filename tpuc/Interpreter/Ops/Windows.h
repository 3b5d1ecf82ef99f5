//===- Windows.h - What the ops with windows share --------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_INTERPRETER_OPS_WINDOWS_H
#define TPUC_INTERPRETER_OPS_WINDOWS_H

#include "tpuc/Interpreter/Kernels/Convolution.h"
#include "tpuc/Interpreter/Ops/OpContext.h"
#include "tpuc/Support/OpShapes/Window.h"

namespace tpuc::ops {

using shapes::Window;

/// What the attributes of an op with a window say, which has `spatial` dimensions, or as many as
/// its `kernel_shape`. Throws AttributeError: lists of other lengths.
shapes::WindowSpec windowSpec(const OpContext &context,
                              std::optional<size_t> spatial = std::nullopt);

inline kernels::WindowParams windowParams(const Window &window) {
  return {window.kernel, window.strides, window.dilations, window.padsBegin, window.padsEnd};
}

} // namespace tpuc::ops

#endif // TPUC_INTERPRETER_OPS_WINDOWS_H

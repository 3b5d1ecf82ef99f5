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
#include "tpuc/Interpreter/Kernels/Convolution.h"

namespace tpuc {

inline llvm::ArrayRef<int64_t> extents(const Tensor &tensor) {
  return {tensor.shape().begin(), tensor.shape().end()};
}

inline std::vector<int64_t> toVector(llvm::ArrayRef<int64_t> values) { return values.vec(); }

inline kernels::WindowParams windowParams(const top::Window &window) {
  return {toVector(window.kernel), toVector(window.strides), toVector(window.dilations),
          toVector(window.padsBegin), toVector(window.padsEnd)};
}

/// Room for result 0 of the shape `dims`, in the type of operand 0.
inline Expected<Tensor *> allocateLike(EvalContext &context, llvm::ArrayRef<int64_t> dims) {
  if (dims.size() > Shape::kMaxRank)
    return context.error("result has " + std::to_string(dims.size()) + " dimensions",
                         "at most " + std::to_string(Shape::kMaxRank));
  return context.allocate(0, context.operand(0).type(), Shape(std::span(dims.data(), dims.size())));
}

/// `error`, which has no place yet, as one about the op.
inline tl::unexpected<Error> located(EvalContext &context, const Error &error) {
  return context.error(error.found, error.expected);
}

} // namespace tpuc

#endif // TPUC_INTERPRETER_TOPWINDOW_H

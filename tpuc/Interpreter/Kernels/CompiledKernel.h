//===- CompiledKernel.h - A kernel made for fixed shapes --------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_INTERPRETER_KERNELS_COMPILEDKERNEL_H
#define TPUC_INTERPRETER_KERNELS_COMPILEDKERNEL_H

#include "tpuc/Interpreter/Kernels/PostOps.h"
#include "tpuc/Support/ThreadPool.h"

#include <span>

namespace tpuc::kernels {

/// A kernel on f32 for operands and a result of fixed shapes, with its constants packed. May run in
/// several threads at once; the bits of the result do not depend on the number of threads.
class CompiledKernel {
public:
  virtual ~CompiledKernel() = default;

  /// `operands`: the elements of each operand, in the layout that the kernel was made for; those of
  /// the post-ops come behind the kernel's own. `result` has room for all elements.
  virtual void run(std::span<const float *const> operands, float *result,
                   ThreadPool &threads) const = 0;

  /// Done to each element of the result, in this order.
  std::vector<PostOp> postOps;
};

} // namespace tpuc::kernels

#endif // TPUC_INTERPRETER_KERNELS_COMPILEDKERNEL_H

//===- Dnnl.h - How kernels use oneDNN --------------------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_INTERPRETER_KERNELS_DNNL_H
#define TPUC_INTERPRETER_KERNELS_DNNL_H

#include "tpuc/Support/Error.h"
#include "tpuc/Support/Tensor.h"

#include <oneapi/dnnl/dnnl.hpp>

namespace tpuc::kernels {

/// While it lives, oneDNN runs in the calling thread alone: how it cuts its work, and so the bits
/// of its results, then do not depend on the machine's number of threads. The thread pool shares
/// work outside of it. Both making and running a primitive need one.
class SingleDnnlThread {
public:
  SingleDnnlThread();
  ~SingleDnnlThread();
  SingleDnnlThread(const SingleDnnlThread &) = delete;
  SingleDnnlThread &operator=(const SingleDnnlThread &) = delete;

private:
  int before;
};

/// Attributes of a primitive that several threads may run at once, with an optional fused ReLU
/// (`reluLimit` negative: without upper limit).
dnnl::primitive_attr dnnlAttributes(bool doRelu, double reluLimit);

/// Row-major f32.
dnnl::memory::desc plainDesc(const dnnl::memory::dims &dims);

/// oneDNN's memory over `data`, which it does not change unless it is an output.
dnnl::memory wrap(const dnnl::memory::desc &desc, const dnnl::engine &engine, const float *data);

/// Runs `primitive` with `arguments` and a scratchpad of its own.
void runDnnl(const dnnl::primitive &primitive, const dnnl::memory::desc &scratchpad,
             const dnnl::engine &engine, std::unordered_map<int, dnnl::memory> arguments);

/// C[m,n] = op(A) * op(B) + beta * C, row-major, with op a transposition where asked.
void sgemm(bool transposeA, bool transposeB, int64_t m, int64_t n, int64_t k, const float *a,
           int64_t lda, const float *b, int64_t ldb, float beta, float *c, int64_t ldc);

} // namespace tpuc::kernels

#endif // TPUC_INTERPRETER_KERNELS_DNNL_H

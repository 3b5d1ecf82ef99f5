//===- Dnnl.cpp - How kernels use oneDNN ----------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Interpreter/Kernels/Dnnl.h"

#include <oneapi/dnnl/dnnl.h>

// Debian builds oneDNN on GNU's OpenMP, whose header clang does not find.
extern "C" {
int omp_get_max_threads(void);
void omp_set_num_threads(int);
}

using namespace tpuc;
using namespace tpuc::kernels;

SingleDnnlThread::SingleDnnlThread() : before(omp_get_max_threads()) { omp_set_num_threads(1); }

SingleDnnlThread::~SingleDnnlThread() { omp_set_num_threads(before); }

dnnl::primitive_attr kernels::dnnlAttributes(bool doRelu, double reluLimit) {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  if (!doRelu)
    return attributes;
  dnnl::post_ops after;
  if (reluLimit >= 0)
    after.append_eltwise(1.0F, dnnl::algorithm::eltwise_clip, 0.0F, static_cast<float>(reluLimit));
  else
    after.append_eltwise(1.0F, dnnl::algorithm::eltwise_relu, 0.0F, 0.0F);
  attributes.set_post_ops(after);
  return attributes;
}

dnnl::memory::desc kernels::plainDesc(const dnnl::memory::dims &dims) {
  dnnl::memory::dims strides(dims.size(), 1);
  for (size_t axis = dims.size() - 1; axis > 0; --axis)
    strides[axis - 1] = strides[axis] * dims[axis];
  return {dims, dnnl::memory::data_type::f32, strides};
}

dnnl::memory kernels::wrap(const dnnl::memory::desc &desc, const dnnl::engine &engine,
                           const float *data) {
  return {desc, engine, const_cast<float *>(data)};
}

void kernels::runDnnl(const dnnl::primitive &primitive, const dnnl::memory::desc &scratchpad,
                      const dnnl::engine &engine, std::unordered_map<int, dnnl::memory> arguments) {
  dnnl::stream stream(engine);
  if (scratchpad.get_size() > 0)
    arguments.emplace(DNNL_ARG_SCRATCHPAD, dnnl::memory(scratchpad, engine));
  primitive.execute(stream, arguments);
  stream.wait();
}

void kernels::sgemm(bool transposeA, bool transposeB, int64_t m, int64_t n, int64_t k,
                    const float *a, int64_t lda, const float *b, int64_t ldb, float beta, float *c,
                    int64_t ldc) {
  SingleDnnlThread single;
  dnnl::sgemm(transposeA ? 'T' : 'N', transposeB ? 'T' : 'N', m, n, k, 1.0F, a, lda, b, ldb, beta,
              c, ldc);
}

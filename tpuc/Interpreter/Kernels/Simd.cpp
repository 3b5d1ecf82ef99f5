//===- Simd.cpp - Inner loops, per instruction set ------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Interpreter/Kernels/Simd.h"

namespace tpuc::kernels {

namespace generic {
extern const SimdKernels kKernels;
} // namespace generic
namespace avx2 {
extern const SimdKernels kKernels;
} // namespace avx2
namespace avx512 {
extern const SimdKernels kKernels;
} // namespace avx512

const SimdKernels &simdKernels(SimdLevel level) {
#ifdef __x86_64__
  if (level >= SimdLevel::Avx512)
    return avx512::kKernels;
  if (level >= SimdLevel::Avx2)
    return avx2::kKernels;
#endif
  return generic::kKernels;
}

bool hasUnaryRow(UnaryOp op) {
  switch (op) {
  case UnaryOp::Abs:
  case UnaryOp::Neg:
  case UnaryOp::Erf:
  case UnaryOp::Exp:
  case UnaryOp::HardSwish:
  case UnaryOp::Mish:
  case UnaryOp::Reciprocal:
  case UnaryOp::Rsqrt:
  case UnaryOp::Sqrt:
  case UnaryOp::Tanh:
  case UnaryOp::LeakyRelu:
  case UnaryOp::HardSigmoid:
  case UnaryOp::Sigmoid:
  case UnaryOp::Swish:
  case UnaryOp::GeluErf:
  case UnaryOp::GeluTanh:
  case UnaryOp::RoundF16:
  case UnaryOp::RoundBF16:
    return true;
  default:
    return false;
  }
}

bool hasBinaryRow(BinaryOp op) {
  switch (op) {
  case BinaryOp::Add:
  case BinaryOp::Sub:
  case BinaryOp::Mul:
  case BinaryOp::Div:
  case BinaryOp::Min:
  case BinaryOp::Max:
  case BinaryOp::PRelu:
    return true;
  default:
    return false;
  }
}

} // namespace tpuc::kernels

//===- PostOps.cpp - What is done to results while they are in the cache -===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Interpreter/Kernels/PostOps.h"

#include <algorithm>

using namespace tpuc;
using namespace tpuc::kernels;

void kernels::applyPostOps(const std::vector<PostOp> &ops, std::span<const float *const> operands,
                           const RowPlace &place, const float *in, float *out, int64_t count) {
  const SimdKernels &simd = simdKernels();
  for (const PostOp &op : ops) {
    switch (op.kind) {
    case PostOp::Kind::Unary: {
      [[maybe_unused]] const bool isKnown = simd.unaryRow(op.unary, op.a, op.b, in, out, count);
      assert(isKnown && "only such ops are fused");
      break;
    }
    case PostOp::Kind::Clip:
      simd.clipRow(op.a, op.b, in, out, count);
      break;
    case PostOp::Kind::Binary: {
      const float *other =
          op.operand < 0 ? op.constant.data() : operands[static_cast<size_t>(op.operand)];
      if (op.operandKind == RowOperand::Same)
        other += place.first;
      else if (op.operandKind == RowOperand::Channel)
        other += place.sample * op.samplePitch + place.block * kBlock;
      simd.binaryRow(op.binary, op.isReversed, in, other, op.operandKind, out, count);
      break;
    }
    }
    in = out;
  }
  if (in != out)
    std::copy_n(in, count, out);
}

void kernels::applyPostOps(const std::vector<PostOp> &ops, std::span<const float *const> operands,
                           const RowPlace &place, float *row, int64_t count) {
  applyPostOps(ops, operands, place, row, row, count);
}

//===- PostOps.h - What is done to results while they are in the cache -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_INTERPRETER_KERNELS_POSTOPS_H
#define TPUC_INTERPRETER_KERNELS_POSTOPS_H

#include "tpuc/Interpreter/Kernels/Simd.h"

#include <vector>

namespace tpuc::kernels {

/// One element-wise operation on the result of a kernel.
struct PostOp {
  enum class Kind : uint8_t { Unary, Clip, Binary };
  Kind kind = Kind::Unary;
  UnaryOp unary = UnaryOp::Abs;
  BinaryOp binary = BinaryOp::Add;
  float a = 0; ///< Unary: the parameters. Clip: the bounds.
  float b = 0;
  /// Binary: how the other operand is read, and whether it is the first one.
  RowOperand operandKind = RowOperand::Same;
  bool isReversed = false;
  /// The number of the other operand among those of the kernel; -1: `constant`.
  int operand = -1;
  /// One element, or one for each channel, padded to whole blocks.
  std::vector<float> constant;
  /// Channel: elements of the other operand for each sample, 0 if one serves all.
  int64_t samplePitch = 0;
};

/// The part of a result that a row is.
struct RowPlace {
  int64_t first;      ///< Of the row among all elements of the result.
  int64_t sample = 0; ///< For operands per channel.
  int64_t block = 0;  ///< Of channels.
};

/// Applies `ops` in their order to `count` elements; rows of the blocked layout lie in one block.
/// `operands`: the elements of the kernel's operands.
void applyPostOps(const std::vector<PostOp> &ops, std::span<const float *const> operands,
                  const RowPlace &place, float *row, int64_t count);
/// The same from `in` to `out`; copies if there are none.
void applyPostOps(const std::vector<PostOp> &ops, std::span<const float *const> operands,
                  const RowPlace &place, const float *in, float *out, int64_t count);

} // namespace tpuc::kernels

#endif // TPUC_INTERPRETER_KERNELS_POSTOPS_H

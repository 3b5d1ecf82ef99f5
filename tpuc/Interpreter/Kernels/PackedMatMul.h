//===- PackedMatMul.h - Products with packed matrices -----------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_INTERPRETER_KERNELS_PACKEDMATMUL_H
#define TPUC_INTERPRETER_KERNELS_PACKEDMATMUL_H

#include "tpuc/Interpreter/Kernels/CompiledKernel.h"
#include "tpuc/Interpreter/Kernels/PackedWeights.h"

#include <functional>
#include <memory>

namespace tpuc::kernels {

/// [rows, terms] times a constant `right`, [terms, columns] ([columns, terms] if transposed), plus
/// `bias` (null: none; one element or one per column). All row-major.
std::unique_ptr<CompiledKernel> makeMatMul(int64_t rows, int64_t terms, int64_t columns,
                                           const Tensor &right, bool transposeRight,
                                           const Tensor *bias);

/// A right matrix of f32, packed. All runs in the calling thread.
class PackedMatrix {
public:
  /// `elements`: [terms, columns] or, transposed, [columns, terms], with rows `step` floats apart.
  /// At least one term and one column.
  PackedMatrix(const float *elements, int64_t step, int64_t terms, int64_t columns,
               bool isTransposed);

  /// result [rows, columns] = left [rows, terms] times the matrix, with rows so many floats apart.
  void multiply(const float *left, int64_t leftStep, int64_t rows, float *result,
                int64_t resultStep) const;

private:
  int64_t terms, columns;
  std::vector<ColumnGroup> groups;
  AlignedFloats packed;
  std::vector<float> zeros;
};

/// `count` products of row-major f32 matrices: result[i] = left[i] [rows, terms] times right[i]
/// [terms, columns], or [columns, terms] if transposed.
struct BatchedProduct {
  int64_t count, rows, terms, columns;
  bool transposeRight;
  /// Where the matrices of product i begin.
  std::function<const float *(int64_t)> left, right;
};
void multiplyBatch(const BatchedProduct &product, float *result, ThreadPool &threads);

} // namespace tpuc::kernels

#endif // TPUC_INTERPRETER_KERNELS_PACKEDMATMUL_H

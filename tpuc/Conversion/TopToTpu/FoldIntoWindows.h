//===- FoldIntoWindows.h - Numbers that convolutions take over --*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_CONVERSION_TOPTOTPU_FOLDINTOWINDOWS_H
#define TPUC_CONVERSION_TOPTOTPU_FOLDINTOWINDOWS_H

#include "tpuc/Support/Tensor.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <optional>

namespace tpuc {

/// The elements of a constant in f32; none of other values, or where they cannot be read.
std::optional<Tensor> floatConstant(mlir::Value value);

/// Takes away sums and products with a number that only convolutions read: filters and biases take
/// the number over, and where windows reach beyond the input, `pad_value` does. In 16 bits each
/// such op would round, and so would its number. For example,
///   Conv(2 * x + 3), padded with 0   becomes   Conv'(x), padded with -1.5
/// with filters twice as large, and 3 times their sum in the bias. Tensors in between disappear.
void foldIntoWindows(mlir::func::FuncOp main);

} // namespace tpuc

#endif // TPUC_CONVERSION_TOPTOTPU_FOLDINTOWINDOWS_H

//===- OpRunner.h - Infers and evaluates a single op ---*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef UNITTESTS_ELEMENTWISE_OPRUNNER_H
#define UNITTESTS_ELEMENTWISE_OPRUNNER_H

#include "tpuc/Support/Tensor.h"

#include "mlir/IR/MLIRContext.h"
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace tpuc {

inline constexpr double kInf = std::numeric_limits<double>::infinity();
inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// The elements of `values`, converted to `type`.
Tensor tensor(DataType type, const Shape &shape, const std::vector<double> &values);
inline Tensor f32(const Shape &shape, const std::vector<double> &values) {
  return tensor(DataType::F32, shape, values);
}

/// "2x3xf32: 1 2 3 4 5 6".
std::string text(const Tensor &tensor);

/// Runs ops of the families Unary, Binary, Reduce, Quantize.
class OpRunner {
public:
  OpRunner();

  /// The results of op `top.name` with `attributes`, or what is wrong: inference is run first, and
  /// its types must be those of the results. An operand without a tensor is a `top.None`.
  /// `wanted`: for each result whether it is asked for.
  std::vector<Tensor> run(const std::string &name, const std::string &attributes,
                          const std::vector<std::optional<Tensor>> &operands,
                          const std::vector<bool> &wanted, std::string &error);

  /// The text of the results, separated by " | ", or the error.
  std::string operator()(const std::string &name, const std::string &attributes,
                         const std::vector<std::optional<Tensor>> &operands,
                         const std::vector<bool> &wanted = {true});

  /// The types that inference gives for operands of the given types, or the error.
  std::string infer(const std::string &name, const std::string &attributes,
                    const std::vector<std::string> &types, size_t numResults = 1);

private:
  mlir::MLIRContext context;
};

} // namespace tpuc

#endif // UNITTESTS_ELEMENTWISE_OPRUNNER_H

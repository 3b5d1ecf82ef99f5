//===- SignTest.cpp - What is said of the signs of results -----------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The traits NonNegative and KeepsSign of functions of one number, against what these compute.
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Top/TopDialect.h"
#include "unittests/Elementwise/OpRunner.h"

#include "llvm/ADT/StringSet.h"

#include <algorithm>
#include <gtest/gtest.h>

using namespace tpuc;

namespace {

/// Functions with the property that have not the trait, some for their default attributes only.
/// With it their results would be stored in another type.
const llvm::StringSet<> kUnsaidNonNegative = {"Arccos", "Arccosh", "Cosh",
                                              "Rsqrt",  "Sigmoid", "ThresholdedRelu"};
const llvm::StringSet<> kUnsaidKeepsSign = {
    "Arccos",    "Arccosh",    "Arcsin", "Arcsinh",  "Arctan", "Arctanh", "Ceil",
    "Celu",      "Cosh",       "Elu",    "Erf",      "Floor",  "GELU",    "Mish",
    "HardSwish", "Reciprocal", "Round",  "Rsqrt",    "Selu",   "Shrink",  "SiLU",
    "Sigmoid",   "Sign",       "Sinh",   "Softsign", "Swish",  "Tanh",    "ThresholdedRelu"};

/// Whether a function gives nothing below 0 for numbers from `low` on. NaN is no number.
bool isNonNegativeFrom(OpRunner &runner, const std::string &name, double low) {
  std::vector<double> values;
  for (int step = -4000; step <= 4000; ++step)
    if (step / 100.0 >= low)
      values.push_back(step / 100.0);
  std::string error;
  const auto count = static_cast<int64_t>(values.size());
  const std::vector<Tensor> results =
      runner.run(name, "", {f32(Shape({count}), values)}, {true}, error);
  EXPECT_EQ(error, "") << name;
  return error.empty() &&
         std::ranges::none_of(results[0].data<float>(), [](float x) { return x < 0; });
}

TEST(Signs, AreAsSaid) {
  mlir::MLIRContext context;
  context.loadDialect<top::TopDialect>();
  OpRunner runner;
  size_t met = 0;
  for (mlir::RegisteredOperationName op : context.getRegisteredOperations()) {
    const std::string name = op.stripDialect().str();
    // Functions of one number without attributes that have to be there; those of booleans or bits
    // have no sign.
    if (!op.hasTrait<traits::Pointwise>() || !op.hasTrait<mlir::OpTrait::OneOperand>() ||
        name.ends_with("Const") || name.ends_with("Not") || name.starts_with("Is") ||
        name.ends_with("Cast") || name == "LeakyRelu" || name == "Clip" || name == "Pow2")
      continue;
    ++met;
    const bool isNonNegative = isNonNegativeFrom(runner, name, -40);
    const bool keepsSign = isNonNegativeFrom(runner, name, 0);
    EXPECT_EQ(op.hasTrait<traits::NonNegative>() || kUnsaidNonNegative.contains(name),
              isNonNegative)
        << name;
    // What is never below 0 needs no other trait.
    EXPECT_EQ(op.hasTrait<traits::KeepsSign>() || op.hasTrait<traits::NonNegative>() ||
                  kUnsaidKeepsSign.contains(name),
              keepsSign)
        << name;
  }
  EXPECT_GT(met, 30U);
}

} // namespace

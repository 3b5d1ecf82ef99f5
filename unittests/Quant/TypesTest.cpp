//===- TypesTest.cpp - The types of the quant dialect in C++, and its identity - -===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Quant/QuantOps.h"
#include "tpuc/Dialect/Quant/Transforms/Passes.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"
#include "gtest/gtest.h"

#include <cmath>

using namespace mlir;

namespace tpuc::quant {
namespace {

class QuantTypes : public testing::Test {
protected:
  QuantTypes() { context.loadDialect<QuantDialect>(); }

  std::string print(Type type) {
    std::string text;
    llvm::raw_string_ostream(text) << type;
    return text;
  }

  MLIRContext context;
};

// MLIR has a dialect of the same name in its library. Whatever the passes load, `quant` is ours.
TEST_F(QuantTypes, TheLoadedDialectIsOurs) {
  DialectRegistry registry;
  PassManager manager(&context);
  buildQuantWorkflow(manager, QuantWorkflowOptions());
  manager.getDependentDialects(registry);
  context.appendDialectRegistry(registry);
  context.loadAllAvailableDialects();
  Dialect *loaded = context.getLoadedDialect("quant");
  ASSERT_TRUE(loaded);
  EXPECT_EQ(loaded->getTypeID(), TypeID::get<QuantDialect>());
  EXPECT_FALSE(context.getLoadedDialect("tosa"));
  const auto names = context.getAvailableDialects();
  EXPECT_TRUE(llvm::is_contained(names, "linalg"));
  EXPECT_FALSE(llvm::is_contained(names, "tosa"));
}

TEST_F(QuantTypes, EqualParametersAreOneType) {
  const FloatType f32 = Float32Type::get(&context);
  const auto storage = StorageSpec::full(true, 8);
  const auto type = UniformQuantizedType::get(storage, f32, {0.1, -3});
  EXPECT_EQ(type, UniformQuantizedType::get(storage, f32, {0.1, -3}));
  EXPECT_NE(type, UniformQuantizedType::get(storage, f32, {std::nextafter(0.1, 1.0), -3}));
  EXPECT_NE(type, UniformQuantizedType::get({true, 8, -127, 127}, f32, {0.1, -3}));
  EXPECT_EQ(type, parseType(print(type), &context));
  EXPECT_EQ(type.getScale(), 0.1);
  EXPECT_EQ(type.getZeroPoint(), -3);
  EXPECT_TRUE(isa<UniformType>(type));

  const auto perAxis = UniformQuantizedPerAxisType::get(storage, f32, 2, {{0.1, 0}, {0.3, 7}});
  EXPECT_EQ(perAxis, UniformQuantizedPerAxisType::get(storage, f32, 2, {{0.1, 0}, {0.3, 7}}));
  EXPECT_NE(perAxis, UniformQuantizedPerAxisType::get(storage, f32, 1, {{0.1, 0}, {0.3, 7}}));
  EXPECT_EQ(perAxis, parseType(print(perAxis), &context));

  const auto range = CalibratedQuantizedType::get(f32, {-0.0, 1.0 / 3.0});
  EXPECT_NE(range, CalibratedQuantizedType::get(f32, {0.0, 1.0 / 3.0}));
  EXPECT_EQ(range, parseType(print(range), &context));
}

// A double that needs all its digits survives printing and parsing.
TEST_F(QuantTypes, ScalesKeepTheirBits) {
  uint64_t state = 88172645463325252U;
  for (int i = 0; i < 2000; ++i) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    const double scale = llvm::bit_cast<double>((state >> 1) & ~(uint64_t(1) << 62));
    if (scale == 0.0)
      continue;
    const auto type = UniformQuantizedType::get(StorageSpec::full(true, 8),
                                                Float64Type::get(&context), {scale, 0});
    ASSERT_EQ(type, parseType(print(type), &context)) << print(type);
  }
}

TEST_F(QuantTypes, CheckedConstructionDiagnoses) {
  const FloatType f32 = Float32Type::get(&context);
  std::string message;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    message = diagnostic.str();
    return success();
  });
  auto emitError = [&] { return mlir::emitError(UnknownLoc::get(&context)); };
  EXPECT_FALSE(UniformQuantizedType::getChecked(emitError, &context, StorageSpec{true, 40, 0, 1},
                                                f32, AffineParams{1.0, 0}));
  EXPECT_EQ(message, "storage type i40 has 40 bits; expected 1 to 32");
  EXPECT_FALSE(
      UniformQuantizedType::getChecked(emitError, &context, StorageSpec::full(true, 8), f32,
                                       AffineParams{std::numeric_limits<double>::quiet_NaN(), 0}));
  EXPECT_NE(message.find("expected a positive, finite number"), std::string::npos);
}

TEST_F(QuantTypes, StrippingReachesEveryDepth) {
  auto strip = [&](llvm::StringRef text) {
    return print(stripUniformTypes(parseType(text, &context)));
  };
  EXPECT_EQ(strip("!quant.uniform<u4:f32, 1.0>"), "i4");
  EXPECT_EQ(strip("tensor<*x!quant.uniform<i8:f32:0, {1.0}>>"), "tensor<*xi8>");
  EXPECT_EQ(
      strip("tuple<f32, (tensor<2x!quant.uniform<i8:f32, 1.0>>) -> !quant.uniform<i16:f32, 1.0>>"),
      "tuple<f32, (tensor<2xi8>) -> i16>");
  EXPECT_EQ(strip("tensor<2x!quant.any<i8>>"), "tensor<2x!quant.any<i8>>");
}

} // namespace
} // namespace tpuc::quant

//===- ModelInputsTest.cpp - Shapes and types that options give to inputs -===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Frontend/Common/ModelInputs.h"

#include "mlir/IR/BuiltinTypes.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace tpuc;
using namespace tpuc::frontend;

namespace {

constexpr int64_t kOpen = mlir::ShapedType::kDynamic;
const std::string kModel = "m.toy";

DeclaredInput pictureInput() { return {"x", DataType::F32, Ints{kOpen, 3, 8}, {"n", "", ""}}; }
DeclaredInput maskInput() { return {"m", DataType::I64, Ints{kOpen}, {"n"}}; }

/// The message of the error that binding gives, or an empty text.
std::string bindingError(const ImportOptions &options, const std::vector<DeclaredInput> &inputs) {
  InputBinder binder(kModel, options);
  for (size_t index = 0; index < inputs.size(); ++index)
    if (Expected<ModelInput> bound = binder.bind(inputs[index], index); !bound)
      return bound.error().message();
  return "";
}

TEST(ModelInputs, KeepWhatTheModelSays) {
  ImportOptions options;
  InputBinder binder(kModel, options);
  Expected<ModelInput> bound = binder.bind(maskInput(), 0);
  ASSERT_TRUE(bound);
  EXPECT_EQ(bound->name, "m");
  EXPECT_EQ(bound->given, DataType::I64);
  EXPECT_EQ(bound->declared, DataType::I64);
  EXPECT_EQ(bound->dims, Ints{kOpen});
}

TEST(ModelInputs, TakeShapesAndTypesOfTheOptions) {
  ImportOptions options;
  options.inputShapes = {{2, 3, 8}};
  options.inputTypes = {"float16"};
  InputBinder binder(kModel, options);
  Expected<ModelInput> bound = binder.bind(pictureInput(), 0);
  ASSERT_TRUE(bound);
  EXPECT_EQ(bound->given, DataType::F16);
  EXPECT_EQ(bound->declared, DataType::F32);
  EXPECT_EQ(bound->dims, (Ints{2, 3, 8}));
}

TEST(ModelInputs, AreCounted) {
  ImportOptions options;
  options.inputTypes = {"f32"};
  EXPECT_EQ(InputBinder(kModel, options).checkCounts({"x", "m"}).error().message(),
            "--input_types: has 1 entries; expected one for each of the 2 inputs 'x', 'm'");
  EXPECT_TRUE(InputBinder(kModel, options).checkCounts({"x"}));
}

TEST(ModelInputs, RefuseWhatDoesNotFit) {
  ImportOptions options;
  options.inputShapes = {{2, 3}};
  EXPECT_EQ(bindingError(options, {pictureInput()}),
            "--input_shapes: gives input 'x' 2 dimensions; expected 3 as in m.toy");
  options.inputShapes = {{2, 3, -8}};
  EXPECT_EQ(bindingError(options, {pictureInput()}),
            "--input_shapes: gives input 'x' dimension -8; expected 0 or more");
  options.inputShapes = {};
  options.inputTypes = {"blue"};
  EXPECT_THAT(bindingError(options, {pictureInput()}),
              ::testing::HasSubstr("--input_types: 'blue' is no element type"));
}

TEST(ModelInputs, OfOneSymbolHaveOneExtent) {
  ImportOptions options;
  options.inputShapes = {{2, 3, 8}, {2}};
  EXPECT_EQ(bindingError(options, {pictureInput(), maskInput()}), "");
  options.inputShapes = {{2, 3, 8}, {4}};
  EXPECT_EQ(bindingError(options, {pictureInput(), maskInput()}),
            "--input_shapes: makes dimension 'n' 2 in input 'x' and 4 in input 'm'; "
            "expected one number");
}

TEST(ModelInputs, MustBeAddressable) {
  ImportOptions options;
  options.inputShapes = {{int64_t(1) << 40, 3, int64_t(1) << 40}};
  EXPECT_THAT(bindingError(options, {pictureInput()}), ::testing::HasSubstr("m.toy: input 'x'"));
}

} // namespace

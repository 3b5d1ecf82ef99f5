//===- NetworkInputsTest.cpp ----------------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Driver/NetworkInputs.h"

#include <gtest/gtest.h>

using namespace tpuc;

namespace {

InputSpec input(std::string name, std::vector<int64_t> dims) {
  return {std::move(name), DataType::F32, std::move(dims), std::nullopt};
}

TEST(NetworkInputs, MayHoldNothingAmongOthers) {
  const InputSpec inputs[] = {input("axes", {0}), input("data", {2, 3})};
  EXPECT_TRUE(checkExtents(inputs, "net.onnx"));
  EXPECT_TRUE(checkExtents({}, "net.onnx"));
}

TEST(NetworkInputs, DoNotAllHoldNothing) {
  const InputSpec inputs[] = {input("x", {4, 0}), input("y", {0})};
  Expected<void> checked = checkExtents(inputs, "net.onnx");
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().where, "net.onnx: input 'x'");
  EXPECT_EQ(checked.error().found, "shape [4, 0] holds no element");
}

} // namespace

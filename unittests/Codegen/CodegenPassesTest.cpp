//===- CodegenPassesTest.cpp ----------------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Backend.h"
#include "tpuc/Codegen/Passes.h"
#include "tpuc/Target/Registry.h"

#include "mlir/Pass/PassManager.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace mlir;
using namespace tpuc;
using namespace tpuc::codegen;
using testing::HasSubstr;
using testing::Not;

namespace {

std::string pipeline(const GenerationOptions &options) {
  std::unique_ptr<Backend> backend = backendOf(**lookupTarget("bm1684x"));
  OpPassManager manager(ModuleOp::getOperationName());
  addCodegen(manager, *backend, options);
  std::string text;
  llvm::raw_string_ostream stream(text);
  manager.printAsTextualPipeline(stream);
  return text;
}

TEST(CodegenPasses, PlacesOfMeasuredModulesMayTakeMoreMemory) {
  EXPECT_THAT(pipeline({}), Not(HasSubstr("quick=true")));
  EXPECT_THAT(pipeline({.isMeasured = true}), HasSubstr("address-assign{quick=true}"));
}

} // namespace

//===- TransferCostTest.cpp -------------------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Group/GroupPlan.h"
#include "tpuc/Target/Registry.h"
#include "unittests/Codegen/Network.h"

using namespace tpuc;
using namespace tpuc::codegen;

namespace {

constexpr const char *kNumbers = R"(
  func.func @main(%0: tensor<1x1280x1x1xf16>) -> tensor<1x1280x1x1xf16> {
    %1 = "tpu.Relu"(%0) : (tensor<1x1280x1x1xf16>) -> tensor<1x1280x1x1xf16> loc("numbers")
    return %1 : tensor<1x1280x1x1xf16>
  })";

/// As a tensor they would take more than 30000 cycles.
TEST(TransferCost, NumbersOfChannelsGoAsOneRow) {
  Network network(kNumbers);
  std::unique_ptr<Backend> backend = backendOf(**lookupTarget("bm1684x"));
  GroupPlanner planner(*backend, 256 * 1024, {});
  mlir::Operation *layers[] = {network.layer("numbers")};
  Expected<GroupPlan> group = planner.together(layers, {1, 1, 1, 1, 1});
  ASSERT_TRUE(group) << group.error().message();
  for (const GroupTensor &tensor : group->tensors)
    EXPECT_LT(tensor.cycles, 8000);
}

} // namespace

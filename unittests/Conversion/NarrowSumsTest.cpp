//===- NarrowSumsTest.cpp ---------------------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Conversion/TopToTpu/NarrowSums.h"
#include "tpuc/Dialect/Quant/QuantDialect.h"
#include "tpuc/Dialect/Top/Names.h"
#include "tpuc/Dialect/Top/TopDialect.h"
#include "tpuc/Dialect/Tpu/ConvolutionOps.h"
#include "tpuc/Dialect/Tpu/TpuDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"

#include <gmock/gmock.h>

using namespace tpuc;

namespace {

// Of "stored" and "scaled" all become integers; "given" is read as it is, too; "dense" adds up
// channels; "wide" is F32.
constexpr const char *kConvolutions = R"(
  !h = tensor<1x4x8x8xf16>
  !f = tensor<1x4x8x8xf32>
  !q = tensor<1x4x8x8x!quant.uniform<i8:f32, 0.1>>
  !d = tensor<4x1x3x3xf16>
  func.func @main(%x: !h, %y: !f) -> (!q, !q, !q, !h, !q, !q) {
    %n = "top.None"() : () -> none
    %d = "top.Weight"() : () -> !d loc("d")
    %e = "top.Weight"() : () -> tensor<4x4x3x3xf16> loc("e")
    %g = "top.Weight"() : () -> tensor<4x1x3x3xf32> loc("g")
    %c = "top.Weight"() : () -> tensor<1x4x1x1xf32> loc("c")
    %0 = "tpu.Conv"(%x, %d, %n) {group = 4 : i64, kernel_shape = [3, 3], pads = [1, 1, 1, 1]} : (!h, !d, none) -> !h loc("stored")
    %1 = "tpu.Cast"(%0) : (!h) -> !q loc("a")
    %2 = "tpu.Conv"(%x, %d, %n) {group = 4 : i64, kernel_shape = [3, 3], pads = [1, 1, 1, 1]} : (!h, !d, none) -> !h loc("scaled")
    %3 = "tpu.Mul"(%2, %c) : (!h, tensor<1x4x1x1xf32>) -> !h loc("b")
    %4 = "tpu.Cast"(%3) : (!h) -> !q loc("c0")
    %5 = "tpu.Conv"(%x, %d, %n) {group = 4 : i64, kernel_shape = [3, 3], pads = [1, 1, 1, 1]} : (!h, !d, none) -> !h loc("given")
    %6 = "tpu.Cast"(%5) : (!h) -> !q loc("d0")
    %7 = "tpu.Conv"(%x, %e, %n) {kernel_shape = [3, 3], pads = [1, 1, 1, 1]} : (!h, tensor<4x4x3x3xf16>, none) -> !h loc("dense")
    %8 = "tpu.Cast"(%7) : (!h) -> !q loc("e0")
    %9 = "tpu.Conv"(%y, %g, %n) {group = 4 : i64, kernel_shape = [3, 3], pads = [1, 1, 1, 1]} : (!f, tensor<4x1x3x3xf32>, none) -> !f loc("wide")
    %10 = "tpu.Cast"(%9) : (!f) -> !q loc("f0")
    return %1, %4, %6, %5, %8, %10 : !q, !q, !q, !h, !q, !q
  })";

TEST(NarrowSums, AreThoseOfDepthwiseLayersThatBecomeIntegers) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<mlir::func::FuncDialect, top::TopDialect, tpu::TpuDialect,
                      quant::QuantDialect>();
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::parseSourceString<mlir::ModuleOp>(kConvolutions, &context);
  ASSERT_TRUE(module);
  markNarrowSums(*module);
  std::vector<std::string> narrow;
  module->walk([&](tpu::ConvOp conv) {
    if (conv.getNarrowSums())
      narrow.push_back(layerName(conv));
  });
  EXPECT_THAT(narrow, testing::ElementsAre("stored", "scaled"));
}

} // namespace

//===- NetworkShapesTest.cpp - Shapes and operations of the heavy ops -----===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Top/TopDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include <gtest/gtest.h>

using namespace tpuc;

namespace {

class NetworkShapesTest : public testing::Test {
protected:
  mlir::MLIRContext context;

  NetworkShapesTest() { context.loadDialect<mlir::func::FuncDialect, top::TopDialect>(); }

  /// What inference makes of the one op in `body`, a function with `arguments`: the types of its
  /// results, then its operations and attributes that tell something; or the error.
  std::string infer(const std::string &arguments, const std::string &body) {
    std::string source = "func.func @f(" + arguments +
                         ") {\n%none = \"top.None\"() : () -> none\n" + body + "\nreturn\n}";
    std::string error;
    mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &diagnostic) {
      error = diagnostic.str();
      return mlir::success();
    });
    auto module = mlir::parseSourceString<mlir::ModuleOp>(source, &context);
    if (!module)
      return error;
    mlir::Operation *op = nullptr;
    module->walk([&](top::InferShapeInterface each) { op = each; });
    if (mlir::failed(mlir::cast<top::InferShapeInterface>(op).inferShape()))
      return error;
    std::string text;
    llvm::raw_string_ostream out(text);
    for (mlir::Type type : op->getResultTypes())
      out << type << ' ';
    out << mlir::cast<top::FlopsInterface>(op).flops();
    if (mlir::Attribute pads = op->getAttr("pads"))
      out << ' ' << pads;
    return text;
  }

  std::string conv(const std::string &input, const std::string &filter,
                   const std::string &attributes, const std::string &name = "Conv") {
    return infer("%x: " + input + ", %w: " + filter, "%0 = \"top." + name + "\"(%x, %w, %none) {" +
                                                         attributes + "} : (" + input + ", " +
                                                         filter + ", none) -> tensor<*xf32>");
  }
};

TEST_F(NetworkShapesTest, Convolution) {
  EXPECT_EQ(conv("tensor<2x3x8x9xf32>", "tensor<4x3x3x3xf32>",
                 "kernel_shape = [3, 3], strides = [2, 1], pads = [1, 0, 1, 0]"),
            "tensor<2x4x4x7xf32> 12096 [1, 0, 1, 0]");
  EXPECT_EQ(conv("tensor<?x3x?x9xf16>", "tensor<4x3x3x3xf16>",
                 "kernel_shape = [3, 3], auto_pad = \"SAME_UPPER\""),
            "tensor<?x4x?x9xf16> 0");
  EXPECT_EQ(conv("tensor<*xf32>", "tensor<4x3x3x3xf32>", "kernel_shape = [3, 3]"),
            "tensor<*xf32> 0");
  EXPECT_EQ(conv("tensor<2x4x8xf32>", "tensor<4x3x3xf32>", "kernel_shape = [3]"),
            "'top.Conv' op input has 4 channels, the filter [4, 3, 3]; expected 3 channels in 1 "
            "groups");
  EXPECT_EQ(conv("tensor<2x3x2xf32>", "tensor<4x3x3xf32>", "kernel_shape = [3]"),
            "'top.Conv' op spatial dimension 0 has extent 2, with padding 2; expected at least the "
            "kernel's 3");
}

TEST_F(NetworkShapesTest, AutoPadBecomesPads) {
  EXPECT_EQ(conv("tensor<1x1x5xf32>", "tensor<1x1x4xf32>",
                 "kernel_shape = [4], strides = [2], auto_pad = \"SAME_UPPER\""),
            "tensor<1x1x3xf32> 24 [1, 2]");
  EXPECT_EQ(conv("tensor<1x1x5xf32>", "tensor<1x1x4xf32>",
                 "kernel_shape = [4], strides = [2], auto_pad = \"SAME_LOWER\""),
            "tensor<1x1x3xf32> 24 [2, 1]");
}

TEST_F(NetworkShapesTest, TransposedConvolution) {
  EXPECT_EQ(conv("tensor<1x2x3xf32>", "tensor<2x3x3xf32>",
                 "kernel_shape = [3], strides = [3], output_padding = [1], group = 2 : i64",
                 "Deconv"),
            "tensor<1x6x10xf32> 108");
  EXPECT_EQ(conv("tensor<1x2x3xf32>", "tensor<2x3x4xf32>",
                 "kernel_shape = [4], strides = [2], output_shape = [7]", "Deconv"),
            "tensor<1x3x7xf32> 144 [1, 0]");
  EXPECT_EQ(conv("tensor<1x2x3xf32>", "tensor<2x3x1xf32>",
                 "kernel_shape = [1], strides = [2], auto_pad = \"SAME_UPPER\"", "Deconv"),
            "tensor<1x3x5xf32> 36 [0, 0]");
}

TEST_F(NetworkShapesTest, PoolsRoundUpButNotIntoThePadding) {
  auto pool = [&](const std::string &attributes) {
    return infer("%x: tensor<1x1x5xf32>", "%0 = \"top.MaxPool\"(%x) {" + attributes +
                                              "} : (tensor<1x1x5xf32>) -> tensor<*xf32>");
  };
  EXPECT_EQ(pool("kernel_shape = [2], strides = [2]"), "tensor<1x1x2xf32> 4");
  EXPECT_EQ(pool("kernel_shape = [2], strides = [2], ceil_mode = true"), "tensor<1x1x3xf32> 6");
  EXPECT_EQ(pool("kernel_shape = [1], strides = [3], pads = [0, 2], ceil_mode = true"),
            "tensor<1x1x2xf32> 2 [0, 2]");
}

TEST_F(NetworkShapesTest, MatrixProduct) {
  auto product = [&](const std::string &left, const std::string &right,
                     const std::string &attributes = "") {
    return infer("%a: " + left + ", %b: " + right, "%0 = \"top.MatMul\"(%a, %b, %none) {" +
                                                       attributes + "} : (" + left + ", " + right +
                                                       ", none) -> tensor<*xf32>");
  };
  EXPECT_EQ(product("tensor<5x1x2x3xf32>", "tensor<4x3x6xf32>"), "tensor<5x4x2x6xf32> 1440");
  EXPECT_EQ(product("tensor<3x2xf32>", "tensor<6x3xf32>",
                    "left_transpose = true, right_transpose = true"),
            "tensor<2x6xf32> 72");
  EXPECT_EQ(product("tensor<3xf32>", "tensor<4x3x6xf32>"), "tensor<4x6xf32> 144");
  EXPECT_EQ(product("tensor<3xf32>", "tensor<3xf32>"), "tensor<f32> 6");
  EXPECT_EQ(product("tensor<2x3xf32>", "tensor<4x6xf32>"),
            "'top.MatMul' op operands have shapes [2, 3] and [4, 6]; expected 3 of the right "
            "operand's rows");
}

TEST_F(NetworkShapesTest, Einsum) {
  auto einsum = [&](const std::string &mode) {
    return infer("%a: tensor<2x3x4xf32>, %b: tensor<?x4x5xf32>",
                 "%0 = \"top.Einsum\"(%a, %b) {mode = \"" + mode +
                     "\"} : (tensor<2x3x4xf32>, tensor<?x4x5xf32>) -> tensor<*xf32>");
  };
  EXPECT_EQ(einsum("bij, bjk -> bik"), "tensor<2x3x5xf32> 0");
  EXPECT_EQ(einsum("...ij,...jk"), "tensor<2x3x5xf32> 0");
  EXPECT_EQ(einsum("bij,cjk->kcb"), "tensor<5x?x2xf32> 0");
  EXPECT_EQ(einsum("bij,bik->b"), "'top.Einsum' op operands of 'bij,bik->b' have extents 3 and 4 "
                                  "for one index; expected equal ones");
  EXPECT_EQ(einsum("bij,bjk->bx"), "'top.Einsum' op equation 'bij,bjk->bx' has 'x' in its result; "
                                   "expected letters of the operands, each once");
}

TEST_F(NetworkShapesTest, RecurrentCells) {
  auto lstm = [&](const std::string &recurrence) {
    return infer("%x: tensor<5x?x3xf32>, %w: tensor<2x16x3xf32>, %r: " + recurrence +
                     ", %h: tensor<2x7x4xf32>",
                 "%0, %1, %2 = \"top.LSTM\"(%x, %w, %r, %none, %none, %h, %none, %none) "
                 "{hidden_size = 4 : i64, direction = \"bidirectional\"} : (tensor<5x?x3xf32>, "
                 "tensor<2x16x3xf32>, " +
                     recurrence +
                     ", none, none, tensor<2x7x4xf32>, none, "
                     "none) -> (tensor<*xf32>, none, tensor<*xf32>)");
  };
  EXPECT_EQ(lstm("tensor<2x16x4xf32>"), "tensor<5x2x7x4xf32> none tensor<2x7x4xf32> 15680");
  EXPECT_EQ(lstm("tensor<2x12x4xf32>"),
            "'top.LSTM' op recurrence has shape [2, 12, 4]; expected [2, 16, 4]");
}

TEST_F(NetworkShapesTest, Resampling) {
  auto interp = [&](const std::string &attributes) {
    return infer("%x: tensor<1x3x4x6xf32>", "%0 = \"top.Interp\"(%x, %none, %none, %none) {mode = "
                                            "\"nearest\", " +
                                                attributes +
                                                "} : (tensor<1x3x4x6xf32>, none, none, none) -> "
                                                "tensor<*xf32>");
  };
  EXPECT_EQ(interp("scales = [1.0, 1.0, 0.6, 2.0]"), "tensor<1x3x2x12xf32> 0");
  EXPECT_EQ(interp("axes = [3, 2], sizes = [9, 8], keep_aspect_ratio_policy = \"not_larger\""),
            "tensor<1x3x6x9xf32> 0");
  EXPECT_EQ(interp("axes = [2, 3], sizes = [8, 9], keep_aspect_ratio_policy = \"not_smaller\""),
            "tensor<1x3x8x12xf32> 0");
  EXPECT_EQ(interp("axes = [2, -2], sizes = [8, 9]"),
            "'top.Interp' op axes name -2; expected each of the input's 4 axes at most once");
  EXPECT_EQ(interp("sizes = [8, 9]"),
            "'top.Interp' op 0 scales and 2 sizes; expected either of them for 4 axes");
}

TEST_F(NetworkShapesTest, StatisticsOfLayers) {
  EXPECT_EQ(infer("%x: tensor<2x?x4xbf16>",
                  "%0, %1, %2 = \"top.LayerNorm\"(%x, %none, %none) {axis = 2 : i64} : "
                  "(tensor<2x?x4xbf16>, none, none) -> (tensor<*xf32>, tensor<*xf32>, none)"),
            "tensor<2x?x4xbf16> tensor<2x?x1xf32> none 0");
  EXPECT_EQ(infer("%x: tensor<2x6x4xf32>, %w: tensor<5xf32>",
                  "%0 = \"top.InstanceNorm\"(%x, %w, %none) : (tensor<2x6x4xf32>, tensor<5xf32>, "
                  "none) -> tensor<*xf32>"),
            "'top.InstanceNorm' op second operand has 5 elements; expected 6, one per channel");
}

TEST_F(NetworkShapesTest, Attention) {
  auto attention = [&](const std::string &query, const std::string &key,
                       const std::string &attributes, const std::string &mask = "none") {
    return infer("%q: " + query + ", %k: " + key + ", %m: " + mask,
                 "%0:4 = \"top.ScaleDotProductAttention\"(%q, %k, %k, %m, %none, %none, %none) {" +
                     attributes + "} : (" + query + ", " + key + ", " + key + ", " + mask +
                     ", none, none, none) -> (tensor<*xf32>, tensor<*xf32>, none, tensor<*xf32>)");
  };
  // Two products of 512 scores with 16 elements each, 5 operations for the softmax.
  EXPECT_EQ(attention("tensor<2x4x8x16xf32>", "tensor<2x2x8x16xf32>", ""),
            "tensor<2x4x8x16xf32> tensor<2x2x8x16xf32> none tensor<2x4x8x8xf32> 35328");
  EXPECT_EQ(attention("tensor<2x?x64xf32>", "tensor<?x8x32xf32>",
                      "q_num_heads = 4 : i64, kv_num_heads = 2 : i64"),
            "tensor<2x?x64xf32> tensor<2x2x8x16xf32> none tensor<2x4x?x8xf32> 0");
  EXPECT_EQ(
      attention("tensor<2x4x8x16xf32>", "tensor<2x3x8x16xf32>", ""),
      "'top.ScaleDotProductAttention' op has 4 heads of queries; expected a multiple of the 3 "
      "heads of keys");
  EXPECT_EQ(
      attention("tensor<2x4x8x16xf32>", "tensor<2x4x8x15xf32>", ""),
      "'top.ScaleDotProductAttention' op key has shape [2, 4, 8, 15]; expected [2, 4, 8, 16]");
  EXPECT_EQ(attention("tensor<2x4x8x16xf32>", "tensor<2x4x9x16xf32>", "", "tensor<4x8x10xi1>"),
            "'top.ScaleDotProductAttention' op mask has shape [4, 8, 10]; expected one that "
            "broadcasts to [2, 4, 8, 9]");
}

TEST_F(NetworkShapesTest, Rope) {
  auto rope = [&](const std::string &cos, const std::string &attributes) {
    return infer("%x: tensor<2x3x24xf32>, %c: " + cos,
                 "%0 = \"top.Rope\"(%x, %c, %c, %none) {" + attributes +
                     "} : (tensor<2x3x24xf32>, " + cos + ", " + cos + ", none) -> tensor<*xf32>");
  };
  EXPECT_EQ(rope("tensor<2x3x4xf32>", "num_heads = 3 : i64"), "tensor<2x3x24xf32> 432");
  EXPECT_EQ(rope("tensor<1x3x4xf32>", "num_heads = 3 : i64"), "tensor<2x3x24xf32> 432");
  EXPECT_EQ(rope("tensor<4x3x4xf32>", "num_heads = 3 : i64"),
            "'top.Rope' op cos has shape [4, 3, 4]; expected [2, 3, 4]");
  EXPECT_EQ(rope("tensor<2x3x4xf32>", ""),
            "'top.Rope' op input has rank 3 and num_heads is 0; expected at least 1");
  EXPECT_EQ(rope("tensor<2x3x4xf32>", "num_heads = 3 : i64, rotary_dim = 6 : i64"),
            "'top.Rope' op cos has shape [2, 3, 4]; expected [2, 3, 3]");
  EXPECT_EQ(rope("tensor<2x3x4xf32>", "num_heads = 3 : i64, rotary_dim = 10 : i64"),
            "'top.Rope' op turns 10 of 8 elements; expected an even number, at most all of them");
}

TEST_F(NetworkShapesTest, Recurrences) {
  EXPECT_EQ(infer("%q: tensor<1x?x8xf16>, %k: tensor<1x3x4xf16>, %b: tensor<1x3x1xf16>",
                  "%0:2 = \"top.LinearAttention\"(%q, %k, %k, %none, %none, %b) {q_num_heads = 2 : "
                  "i64, kv_num_heads = 1 : i64, update_rule = \"delta\"} : (tensor<1x?x8xf16>, "
                  "tensor<1x3x4xf16>, tensor<1x3x4xf16>, none, none, tensor<1x3x1xf16>) -> "
                  "(tensor<*xf32>, tensor<*xf32>)"),
            "tensor<1x3x8xf16> tensor<1x1x4x4xf16> 480");
  EXPECT_EQ(infer("%x: tensor<2x3x8xf32>, %w: tensor<3x1x4xf32>, %s: tensor<2x3x4xf32>",
                  "%0:2 = \"top.CausalConv\"(%x, %w, %none, %s) : (tensor<2x3x8xf32>, "
                  "tensor<3x1x4xf32>, none, tensor<2x3x4xf32>) -> (tensor<*xf32>, tensor<*xf32>)"),
            "'top.CausalConv' op past_state has shape [2, 3, 4]; expected [2, 3, 3]");
}

TEST_F(NetworkShapesTest, Spectra) {
  auto dft = [&](const std::string &input, const std::string &attributes) {
    return infer("%x: " + input, "%0 = \"top.DFT\"(%x, %none, %none) {" + attributes + "} : (" +
                                     input + ", none, none) -> tensor<*xf32>");
  };
  // 5 * log2(10), rounded up, for each complex number.
  EXPECT_EQ(dft("tensor<2x10x1xf32>", ""), "tensor<2x10x2xf32> 340");
  EXPECT_EQ(dft("tensor<2x?x1xf32>", "onesided = true, axis = 0 : i64"), "tensor<2x?x2xf32> 0");
  EXPECT_EQ(dft("tensor<2x6x2xf32>", "onesided = true, inverse = true"), "tensor<2x10x1xf32> 170");
  EXPECT_EQ(
      dft("tensor<2x6x3xf32>", ""),
      "'top.DFT' op input has shape [2, 6, 3]; expected rank 2 at least and a last extent of 1 "
      "or 2");
  EXPECT_EQ(dft("tensor<2x6x2xf32>", "axis = 2 : i64"),
            "'top.DFT' op axis 2; expected one of the 2 before the last");
  EXPECT_EQ(infer("%x: tensor<1x128x1xf32>, %n: tensor<i64>, %w: tensor<16xf32>",
                  "%0 = \"top.STFT\"(%x, %n, %w, %none) : (tensor<1x128x1xf32>, tensor<i64>, "
                  "tensor<16xf32>, none) -> tensor<*xf32>"),
            "tensor<1x?x9x2xf32> 0");
  EXPECT_EQ(infer("%x: tensor<1x8x1xf32>, %n: tensor<i64>, %w: tensor<16xf32>",
                  "%0 = \"top.STFT\"(%x, %n, %w, %none) : (tensor<1x8x1xf32>, tensor<i64>, "
                  "tensor<16xf32>, none) -> tensor<*xf32>"),
            "'top.STFT' op frames have 16 elements; expected 1 to 8, those of the signal");
}

} // namespace

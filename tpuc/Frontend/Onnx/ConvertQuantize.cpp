//===- ConvertQuantize.cpp - Quantization and ops of quantized tensors ----===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Frontend/Onnx/ConvertShared.h"

#include "tpuc/Dialect/Top/QuantizeOps.h"
#include "tpuc/Dialect/Top/UnaryOps.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::onnx;

namespace {

/// The axis is that of scales that are a vector, or of blocks.
Attrs quantizeAttrs(NodeBuilder &node) {
  Attrs attributes = node.attrs();
  if (node.opset() >= 13)
    attributes.setInt("axis", node.getInt("axis", 1));
  if (node.opset() >= 21)
    attributes.setInt("block_size", node.getInt("block_size", 0));
  return attributes;
}

void quantizeLinear(NodeBuilder &node) {
  Attrs attributes = quantizeAttrs(node);
  if (node.opset() >= 19)
    attributes.setBool("saturate", node.getInt("saturate", 1) != 0);
  // 0 is ONNX's "undefined": the type of the zero point, or u8.
  if (node.opset() >= 21 && node.getInt("output_dtype", 0) != 0)
    attributes.setType("to", node.getType("output_dtype", {}));
  if (node.opset() >= 23)
    if (int64_t precision = node.getInt("precision", 0); precision > 1)
      return node.fail("divides in " + onnxTypeName(precision), "FLOAT");
  node.emit<top::QuantizeLinearOp>({node.in(0), node.in(1), node.in(2)}, attributes);
}

void dequantizeLinear(NodeBuilder &node) {
  Attrs attributes = quantizeAttrs(node);
  SmallVector<Value> operands = {node.in(0), node.in(1), node.in(2)};
  Type own = NodeBuilder::elementType(node.in(1));
  Type wanted = own;
  if (node.opset() >= 23 && node.getInt("output_dtype", 0) != 0)
    wanted = node.getType("output_dtype", own);
  if (wanted == own) {
    node.emit<top::DequantizeLinearOp>(operands, attributes);
    return;
  }
  Value real = node.temp<top::DequantizeLinearOp>("real", operands, attributes);
  node.emit<top::CastOp>(real, node.attrs().setType("to", wanted));
}

void dynamicQuantizeLinear(NodeBuilder &node) {
  node.emitAll<top::DynamicQuantizeLinearOp>(3, 3, node.in(0), node.attrs());
}

void qLinearConv(NodeBuilder &node) {
  // ONNX: x, x_scale, x_zero_point, w, w_scale, w_zero_point, y_scale, y_zero_point, B.
  SmallVector<Value> operands;
  for (unsigned index = 0; index < 9; ++index)
    operands.push_back(node.in(index));
  node.emit<top::QLinearConvOp>(operands, convAttrs(node, 3));
}

void qLinearMatMul(NodeBuilder &node) { node.emit<top::QLinearMatMulOp>(node.inputsFrom(0)); }

void convInteger(NodeBuilder &node) {
  node.emit<top::ConvIntegerOp>({node.in(0), node.in(1), node.in(2), node.in(3)},
                                convAttrs(node, 1));
}

void matMulInteger(NodeBuilder &node) {
  node.emit<top::MatMulIntegerOp>({node.in(0), node.in(1), node.in(2), node.in(3)});
}

constexpr OpRow kQuantizeRows[] = {
    {"ConvInteger", 10, 2, 4, convInteger, "ConvInteger"},
    {"DequantizeLinear", 10, 2, 3, dequantizeLinear, "DequantizeLinear, Cast"},
    {"DynamicQuantizeLinear", 11, 1, 1, dynamicQuantizeLinear, "DynamicQuantizeLinear"},
    {"MatMulInteger", 10, 2, 4, matMulInteger, "MatMulInteger"},
    {"QLinearConv", 10, 8, 9, qLinearConv, "QLinearConv"},
    {"QLinearMatMul", 10, 8, 8, qLinearMatMul, "QLinearMatMul"},
    {"QuantizeLinear", 10, 2, 3, quantizeLinear, "QuantizeLinear"},
    // With integers of 16 bits before the standard had them.
    {"DequantizeLinear", 1, 2, 3, dequantizeLinear, "DequantizeLinear, Cast", kMicrosoft},
    {"QuantizeLinear", 1, 2, 3, quantizeLinear, "QuantizeLinear", kMicrosoft},
};

} // namespace

ArrayRef<OpRow> tpuc::onnx::quantizeRows() { return kQuantizeRows; }

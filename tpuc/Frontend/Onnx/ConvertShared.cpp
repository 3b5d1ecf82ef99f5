//===- ConvertShared.cpp - What the converters of all families share ------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Frontend/Onnx/ConvertShared.h"
#include "tpuc/Dialect/Top/BinaryOps.h"
#include "tpuc/Dialect/Top/MatrixOps.h"
#include "tpuc/Dialect/Top/MovementOps.h"
#include "tpuc/Frontend/Onnx/Onnx.pb.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::onnx;

StringRef tpuc::onnx::opName(const NodeBuilder &node) { return node.node().op_type(); }

std::string tpuc::onnx::autoPad(NodeBuilder &node) {
  return node.getChoice("auto_pad", "NOTSET", {"NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"});
}

std::optional<Ints> tpuc::onnx::kernelShape(NodeBuilder &node, unsigned filter) {
  if (std::optional<Ints> given = node.getInts("kernel_shape"))
    return given;
  std::optional<Ints> dims = NodeBuilder::dims(node.in(filter));
  if (!dims || dims->size() < 2 || !NodeBuilder::isStatic(Ints(dims->begin() + 2, dims->end()))) {
    node.fail("neither attribute 'kernel_shape' nor the filter says the size of the kernel");
    return Ints();
  }
  return Ints(dims->begin() + 2, dims->end());
}

Attrs tpuc::onnx::convAttrs(NodeBuilder &node, unsigned filter) {
  return node.attrs()
      .setInts("kernel_shape", kernelShape(node, filter))
      .setInts("strides", node.getInts("strides"))
      .setInts("pads", node.getInts("pads"))
      .setInts("dilations", node.getInts("dilations"))
      .setInt("group", node.getInt("group", 1))
      .setString("auto_pad", autoPad(node));
}

Value tpuc::onnx::makeGemm(NodeBuilder &node, bool last) {
  if (node.opset() < 7)
    node.ignore({"broadcast"});
  double alpha = node.getFloat("alpha", 1.0);
  double beta = node.getFloat("beta", 1.0);
  Attrs attributes = node.attrs()
                         .setBool("left_transpose", node.getInt("transA", 0) != 0)
                         .setBool("right_transpose", node.getInt("transB", 0) != 0);
  std::optional<int64_t> biasRank = NodeBuilder::rank(node.in(2));
  bool isBias = node.has(2) && biasRank == 1 && beta == 1.0;
  if (alpha == 1.0 && (isBias || !node.has(2)))
    return make<top::MatMulOp>(node, last, "gemm", {node.in(0), node.in(1), node.in(2)},
                               attributes);
  Value product =
      node.temp<top::MatMulOp>("product", {node.in(0), node.in(1), node.none()}, attributes);
  if (!node.has(2))
    return make<top::MulConstOp>(node, last, "gemm", product,
                                 node.attrs().setFloat("const_val", alpha));
  return make<top::AddOp>(node, last, "gemm", {product, node.in(2)},
                          node.attrs().setFloats("coeff", std::vector<double>{alpha, beta}));
}

Value tpuc::onnx::moveChannels(NodeBuilder &node, Value input, bool toEnd, bool last,
                               StringRef suffix) {
  std::optional<int64_t> rank = NodeBuilder::rank(input);
  if (!rank || *rank < 2) {
    node.fail("the rank of the input is not known, or below 2");
    return node.none();
  }
  Ints order = {0};
  if (!toEnd)
    order.push_back(*rank - 1);
  for (int64_t axis = toEnd ? 2 : 1; axis < (toEnd ? *rank : *rank - 1); ++axis)
    order.push_back(axis);
  if (toEnd)
    order.push_back(1);
  return make<top::PermuteOp>(node, last, suffix, input, node.attrs().setInts("order", order));
}

void tpuc::onnx::needInputs(NodeBuilder &node, ArrayRef<unsigned> indices) {
  for (unsigned index : indices)
    if (!node.has(index))
      return node.fail(fmt::format("input {} is left out", index), "a tensor");
}

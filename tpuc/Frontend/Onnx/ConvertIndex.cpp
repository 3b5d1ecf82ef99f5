//===- ConvertIndex.cpp - Gathering and scattering ------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Frontend/Onnx/ConvertShared.h"

#include "tpuc/Dialect/Top/IndexOps.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::onnx;

namespace {

template <typename Op> void gather(NodeBuilder &node) {
  node.emit<Op>({node.in(0), node.in(1)}, node.attrs().setInt("axis", node.getInt("axis", 0)));
}

void gatherND(NodeBuilder &node) {
  node.emit<top::GatherNDOp>({node.in(0), node.in(1)},
                             node.attrs().setInt("batch_dims", node.getInt("batch_dims", 0)));
}

std::string reduction(NodeBuilder &node) {
  if (node.opset() < 16)
    return "none";
  return node.getChoice("reduction", "none", {"none", "add", "mul", "min", "max"});
}

void scatterElements(NodeBuilder &node) {
  node.emit<top::ScatterElementsOp>(
      {node.in(0), node.in(1), node.in(2)},
      node.attrs().setInt("axis", node.getInt("axis", 0)).setString("reduction", reduction(node)));
}

void scatterND(NodeBuilder &node) {
  node.emit<top::ScatterNDOp>({node.in(0), node.in(1), node.in(2)},
                              node.attrs().setString("reduction", reduction(node)));
}

void oneHot(NodeBuilder &node) {
  node.emit<top::OneHotOp>({node.in(0), node.in(1), node.in(2)},
                           node.attrs().setInt("axis", node.getInt("axis", -1)));
}

void compress(NodeBuilder &node) {
  Attrs attributes = node.attrs();
  if (node.hasAttribute("axis"))
    attributes.setInt("axis", node.getInt("axis", 0));
  node.emit<top::CompressOp>({node.in(0), node.in(1)}, attributes);
}

void tensorScatter(NodeBuilder &node) {
  node.emit<top::TensorScatterOp>(
      {node.in(0), node.in(1), node.in(2)},
      node.attrs()
          .setInt("axis", node.getInt("axis", -2))
          .setString("mode", node.getChoice("mode", "linear", {"linear", "circular"})));
}

constexpr OpRow kIndexRows[] = {
    {"Compress", 9, 2, 2, compress, "Compress"},
    {"Gather", 1, 2, 2, gather<top::GatherOp>, "Gather"},
    {"GatherElements", 11, 2, 2, gather<top::GatherElementsOp>, "GatherElements"},
    {"GatherND", 11, 2, 2, gatherND, "GatherND"},
    {"GatherND", 1, 2, 2, gatherND, "GatherND", kMicrosoft},
    {"OneHot", 9, 3, 3, oneHot, "OneHot"},
    {"Scatter", 9, 3, 3, scatterElements, "ScatterElements"},
    {"ScatterElements", 11, 3, 3, scatterElements, "ScatterElements"},
    {"ScatterND", 11, 3, 3, scatterND, "ScatterND"},
    {"TensorScatter", 24, 2, 3, tensorScatter, "TensorScatter"},
};

} // namespace

ArrayRef<OpRow> tpuc::onnx::indexRows() { return kIndexRows; }

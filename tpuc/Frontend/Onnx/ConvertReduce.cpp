//===- ConvertReduce.cpp - Reductions, searches and sums along axes -------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Frontend/Onnx/ConvertShared.h"

#include "tpuc/Dialect/Top/ReduceOps.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::onnx;

namespace {

/// The dialect's mode is the name of the ONNX op.
Attrs reduceAttrs(NodeBuilder &node) {
  return node.attrs()
      .setBool("keepdims", node.getInt("keepdims", 1) != 0)
      .setString("mode", opName(node));
}

void reduceAttributes(NodeBuilder &node) {
  std::optional<Ints> axes = node.getInts("axes");
  if (axes && axes->empty())
    axes.reset();
  node.emit<top::ReduceOp>({node.in(0), node.none()}, reduceAttrs(node).setInts("axes", axes));
}

void reduce(NodeBuilder &node) {
  IntsOrTensor axes = node.intsOrTensor(1);
  if (axes.ints && axes.ints->empty())
    axes.ints.reset();
  Attrs attributes = reduceAttrs(node).setInts("axes", axes.ints);
  if (node.getInt("noop_with_empty_axes", 0) != 0)
    attributes.setBool("noop_with_empty_axes", true);
  node.emit<top::ReduceOp>({node.in(0), axes.tensor}, attributes);
}

void arg(NodeBuilder &node) {
  Attrs attributes = node.attrs()
                         .setInt("axis", node.getInt("axis", 0))
                         .setBool("keepdims", node.getInt("keepdims", 1) != 0)
                         .setString("mode", opName(node));
  if (node.opset() >= 12)
    attributes.setBool("select_last_index", node.getInt("select_last_index", 0) != 0);
  node.emitAll<top::ArgOp>(2, 1, node.in(0), attributes);
}

void topKAttribute(NodeBuilder &node) {
  node.emitAll<top::TopKOp>(
      2, 2, {node.in(0), node.none()},
      node.attrs().setInt("axis", node.getInt("axis", -1)).setInt("k", node.needInt("k")));
}

void topK(NodeBuilder &node) {
  IntsOrTensor k = node.intsOrTensor(1);
  if (k.ints && k.ints->size() != 1)
    return node.fail(fmt::format("K has {} elements", k.ints->size()), "one");
  Attrs attributes = node.attrs().setInt("axis", node.getInt("axis", -1));
  if (k.ints)
    attributes.setInt("k", (*k.ints)[0]);
  if (node.opset() >= 11)
    attributes.setBool("largest", node.getInt("largest", 1) != 0)
        .setBool("sorted", node.getInt("sorted", 1) != 0);
  node.emitAll<top::TopKOp>(2, 2, {node.in(0), k.tensor}, attributes);
}

template <typename Op> void cumulative(NodeBuilder &node) {
  IntsOrTensor axis = node.intsOrTensor(1);
  if (axis.ints && axis.ints->size() != 1)
    return node.fail(fmt::format("axis has {} elements", axis.ints->size()), "one");
  Attrs attributes = node.attrs()
                         .setBool("exclusive", node.getInt("exclusive", 0) != 0)
                         .setBool("reverse", node.getInt("reverse", 0) != 0);
  if (axis.ints)
    attributes.setInt("axis", (*axis.ints)[0]);
  node.emit<Op>({node.in(0), axis.tensor}, attributes);
}

void nonZero(NodeBuilder &node) { node.emit<top::NonZeroOp>(node.in(0)); }

void unique(NodeBuilder &node) {
  Attrs attributes = node.attrs().setBool("sorted", node.getInt("sorted", 1) != 0);
  if (node.hasAttribute("axis"))
    attributes.setInt("axis", node.getInt("axis", 0));
  node.emitAll<top::UniqueOp>(4, 1, node.in(0), attributes);
}

void nonMaxSuppression(NodeBuilder &node) {
  SmallVector<Value> operands;
  for (unsigned index = 0; index < 5; ++index)
    operands.push_back(node.in(index));
  node.emit<top::NmsOp>(
      operands, node.attrs().setInt("center_point_box", node.getInt("center_point_box", 0)));
}

constexpr OpRow kReduceRows[] = {
    {"ArgMax", 1, 1, 1, arg, "Arg"},
    {"ArgMin", 1, 1, 1, arg, "Arg"},
    {"CumProd", 26, 2, 2, cumulative<top::CumProdOp>, "CumProd"},
    {"CumSum", 11, 2, 2, cumulative<top::CumSumOp>, "CumSum"},
    {"NonMaxSuppression", 10, 2, 5, nonMaxSuppression, "Nms"},
    {"NonZero", 9, 1, 1, nonZero, "NonZero"},
    {"ReduceL1", 1, 1, 1, reduceAttributes, "Reduce"},
    {"ReduceL1", 18, 1, 2, reduce, "Reduce"},
    {"ReduceL2", 1, 1, 1, reduceAttributes, "Reduce"},
    {"ReduceL2", 18, 1, 2, reduce, "Reduce"},
    {"ReduceLogSum", 1, 1, 1, reduceAttributes, "Reduce"},
    {"ReduceLogSum", 18, 1, 2, reduce, "Reduce"},
    {"ReduceLogSumExp", 1, 1, 1, reduceAttributes, "Reduce"},
    {"ReduceLogSumExp", 18, 1, 2, reduce, "Reduce"},
    {"ReduceMax", 1, 1, 1, reduceAttributes, "Reduce"},
    {"ReduceMax", 18, 1, 2, reduce, "Reduce"},
    {"ReduceMean", 1, 1, 1, reduceAttributes, "Reduce"},
    {"ReduceMean", 18, 1, 2, reduce, "Reduce"},
    {"ReduceMin", 1, 1, 1, reduceAttributes, "Reduce"},
    {"ReduceMin", 18, 1, 2, reduce, "Reduce"},
    {"ReduceProd", 1, 1, 1, reduceAttributes, "Reduce"},
    {"ReduceProd", 18, 1, 2, reduce, "Reduce"},
    {"ReduceSum", 1, 1, 1, reduceAttributes, "Reduce"},
    {"ReduceSum", 13, 1, 2, reduce, "Reduce"},
    {"ReduceSumSquare", 1, 1, 1, reduceAttributes, "Reduce"},
    {"ReduceSumSquare", 18, 1, 2, reduce, "Reduce"},
    {"TopK", 1, 1, 1, topKAttribute, "TopK"},
    {"TopK", 10, 2, 2, topK, "TopK"},
    {"Unique", 11, 1, 1, unique, "Unique"},
};

} // namespace

ArrayRef<OpRow> tpuc::onnx::reduceRows() { return kReduceRows; }

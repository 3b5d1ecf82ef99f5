//===- ConvertControl.cpp - Branches and loops ----------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Frontend/Onnx/ConvertShared.h"
#include "tpuc/Frontend/Onnx/Onnx.pb.h"

#include "tpuc/Dialect/Top/ControlOps.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::onnx;

namespace {

/// Branches without a choice leave no op.
void ifNode(NodeBuilder &node) {
  const proto::Graph *thenGraph = node.needGraph("then_branch");
  const proto::Graph *elseGraph = node.needGraph("else_branch");
  if (node.failed())
    return;
  for (const proto::Graph *graph : {thenGraph, elseGraph})
    if (graph->input_size() != 0 || graph->output_size() != static_cast<int>(node.numOutputs()))
      return node.fail(fmt::format("a branch has {} inputs and {} outputs", graph->input_size(),
                                   graph->output_size()),
                       fmt::format("none and {}", node.numOutputs()));
  if (std::optional<double> condition = node.constantFloat(0))
    return node.inlineGraph(*condition != 0 ? *thenGraph : *elseGraph);
  SmallVector<Type> yielded;
  std::unique_ptr<Region> regions[] = {node.region(*thenGraph, {}, yielded),
                                       node.region(*elseGraph, {}, yielded)};
  node.emitRegions<top::IfOp>(node.in(0), node.attrs(), regions);
}

void loop(NodeBuilder &node) {
  const proto::Graph *body = node.needGraph("body");
  if (node.failed())
    return;
  SmallVector<Value> initial = node.inputsFrom(2);
  auto carried = static_cast<int>(initial.size());
  if (body->input_size() != carried + 2 || body->output_size() < carried + 1 ||
      body->output_size() - 1 != static_cast<int>(node.numOutputs()))
    return node.fail(fmt::format("the body has {} inputs and {} outputs", body->input_size(),
                                 body->output_size()),
                     fmt::format("{} and {}", carried + 2, node.numOutputs() + 1));
  Builder builder(node.context());
  SmallVector<Type> arguments = {RankedTensorType::get({}, builder.getI64Type()),
                                 RankedTensorType::get({}, builder.getI1Type())};
  for (Value value : initial)
    arguments.push_back(value.getType());
  std::unique_ptr<Region> region;
  SmallVector<Type> yielded;
  // Each round makes a type less exact, which happens twice at most for each.
  do {
    region = node.region(*body, arguments, yielded);
    if (node.failed())
      return;
  } while (widenCarried(node, MutableArrayRef(arguments).drop_front(2),
                        ArrayRef(yielded).slice(1, static_cast<size_t>(carried))));
  SmallVector<Value> operands = {node.in(0), node.in(1)};
  llvm::append_range(operands, initial);
  node.emitRegions<top::LoopOp>(operands, node.attrs(), region);
}

/// The type of a slice of `type` along `axis`.
Type sliceType(NodeBuilder &node, Type type, int64_t axis) {
  auto ranked = dyn_cast<RankedTensorType>(type);
  if (!ranked)
    return type;
  Ints dims(ranked.getShape());
  axis = frontAxis(node, axis, ranked.getRank());
  if (node.failed() || dims.empty())
    return type;
  dims.erase(dims.begin() + axis);
  return RankedTensorType::get(dims, ranked.getElementType());
}

void scan(NodeBuilder &node) {
  const proto::Graph *body = node.needGraph("body");
  int64_t scanned = node.needInt("num_scan_inputs");
  auto count = static_cast<int64_t>(node.numInputs());
  if (node.failed())
    return;
  if (scanned < 1 || scanned > count || body->input_size() != count ||
      body->output_size() != static_cast<int>(node.numOutputs()) ||
      count - scanned > body->output_size())
    return node.fail(fmt::format("num_scan_inputs is {}, and the body has {} inputs and {} outputs",
                                 scanned, body->input_size(), body->output_size()),
                     fmt::format("1 to {}, {} and {}", count, count, node.numOutputs()));
  auto states = static_cast<size_t>(count - scanned);
  std::optional<Ints> axes = node.getInts("scan_input_axes");
  SmallVector<Value> operands = node.inputsFrom(0);
  SmallVector<Type> arguments;
  for (auto [index, value] : llvm::enumerate(operands)) {
    int64_t axis =
        axes && index >= states && index - states < axes->size() ? (*axes)[index - states] : 0;
    arguments.push_back(index < states ? value.getType() : sliceType(node, value.getType(), axis));
  }
  std::unique_ptr<Region> region;
  SmallVector<Type> yielded;
  do {
    region = node.region(*body, arguments, yielded);
    if (node.failed())
      return;
  } while (widenCarried(node, MutableArrayRef(arguments).take_front(states),
                        ArrayRef(yielded).take_front(states)));
  node.emitRegions<top::ScanOp>(
      operands,
      node.attrs()
          .setInt("num_scan_inputs", scanned)
          .setInts("input_axes", axes)
          .setInts("input_directions", node.getInts("scan_input_directions"))
          .setInts("output_axes", node.getInts("scan_output_axes"))
          .setInts("output_directions", node.getInts("scan_output_directions")),
      region);
}

constexpr OpRow kControlRows[] = {
    {"If", 1, 1, 1, ifNode, "If"},
    {"Loop", 1, 2, -1, loop, "Loop"},
    {"Scan", 9, 1, -1, scan, "Scan"},
};

} // namespace

ArrayRef<OpRow> tpuc::onnx::controlRows() { return kControlRows; }

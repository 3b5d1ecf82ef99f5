//===- ConvertLoss.cpp - Losses, as compositions of other ops -------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Frontend/Onnx/ConvertShared.h"

#include "tpuc/Dialect/Top/BinaryOps.h"
#include "tpuc/Dialect/Top/IndexOps.h"
#include "tpuc/Dialect/Top/MovementOps.h"
#include "tpuc/Dialect/Top/NormOps.h"
#include "tpuc/Dialect/Top/ReduceOps.h"
#include "tpuc/Dialect/Top/UnaryOps.h"
#include "tpuc/Support/Convert.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::onnx;

namespace {

/// A scalar constant of the element type of `like`.
Value scalarLike(NodeBuilder &node, StringRef suffix, Value like, int64_t value) {
  // Types that tensors cannot hold were refused where the value was made.
  DataType type = storageDataType(like.getType()).value_or(DataType::F32);
  return node.weight(suffix, convert(Tensor::of<int64_t>({}, {value}), type));
}

Value reduceAll(NodeBuilder &node, StringRef suffix, StringRef mode, Value input) {
  return node.temp<top::ReduceOp>(suffix, {input, node.none()},
                                  node.attrs().setString("mode", mode).setBool("keepdims", false));
}

/// The classes that count and how much: none for 1.
struct Targets {
  Value classes;
  Value weights;
};

/// A target that is to be ignored stands for class 0 with weight 0.
Targets targetsOf(NodeBuilder &node, Value logs) {
  Targets targets{node.in(1), {}};
  Value isIgnored;
  if (node.hasAttribute("ignore_index")) {
    Value ignored = scalarLike(node, "ignored", targets.classes, node.getInt("ignore_index", 0));
    isIgnored = node.temp<top::CompareOp>("is_ignored", {targets.classes, ignored},
                                          node.attrs().setString("mode", "Equal"));
    Value first = scalarLike(node, "first_class", targets.classes, 0);
    targets.classes = node.temp<top::WhereOp>("classes", {isIgnored, first, targets.classes});
  }
  if (node.has(2))
    targets.weights = node.temp<top::GatherOp>("class_weights", {node.in(2), targets.classes},
                                               node.attrs().setInt("axis", 0));
  if (isIgnored) {
    Value others = targets.weights ? targets.weights : scalarLike(node, "one", logs, 1);
    targets.weights =
        node.temp<top::WhereOp>("weights", {isIgnored, scalarLike(node, "zero", logs, 0), others});
  }
  return targets;
}

/// The loss, output 0, of the logarithms of probabilities [N, C, ...] and the classes [N, ...].
void emitLoss(NodeBuilder &node, Value logs) {
  std::string reduction = node.getChoice("reduction", "mean", {"none", "sum", "mean"});
  Targets targets = targetsOf(node, logs);
  Attrs axis = node.attrs().setInts("axes", Ints{1});
  Value rows = node.temp<top::UnsqueezeOp>("rows", {targets.classes, node.none()}, axis);
  Value picked =
      node.temp<top::GatherElementsOp>("picked", {logs, rows}, node.attrs().setInt("axis", 1));
  Value flat = node.temp<top::SqueezeOp>("flat", {picked, node.none()}, axis);
  if (reduction == "none" && !targets.weights) {
    node.emit<top::NegOp>(flat);
    return;
  }
  Value loss = node.temp<top::NegOp>("unweighted", flat);
  if (reduction == "none") {
    node.emit<top::MulOp>({loss, targets.weights});
    return;
  }
  if (targets.weights)
    loss = node.temp<top::MulOp>("weighted", {loss, targets.weights});
  if (reduction == "mean" && targets.weights) {
    Value sum = reduceAll(node, "sum", "ReduceSum", loss);
    Value total = reduceAll(node, "total", "ReduceSum", targets.weights);
    node.emit<top::DivOp>({sum, total});
    return;
  }
  node.emit<top::ReduceOp>({loss, node.none()},
                           node.attrs()
                               .setString("mode", reduction == "sum" ? "ReduceSum" : "ReduceMean")
                               .setBool("keepdims", false));
}

void negativeLogLikelihood(NodeBuilder &node) { emitLoss(node, node.in(0)); }

void softmaxCrossEntropy(NodeBuilder &node) {
  Attrs attributes = node.attrs().setInt("axis", 1).setBool("log", true);
  emitLoss(node, node.wants(1) ? node.emitAs<top::SoftmaxOp>(1, node.in(0), attributes)
                               : node.temp<top::SoftmaxOp>("log_prob", node.in(0), attributes));
}

constexpr OpRow kLossRows[] = {
    {"NegativeLogLikelihoodLoss", 12, 2, 3, negativeLogLikelihood,
     "GatherElements, Neg, Mul, Reduce, Div"},
    {"SoftmaxCrossEntropyLoss", 12, 2, 3, softmaxCrossEntropy,
     "Softmax, GatherElements, Neg, Mul, Reduce, Div"},
};

} // namespace

ArrayRef<OpRow> tpuc::onnx::lossRows() { return kLossRows; }

//===- ConvertNorm.cpp - Normalizations and softmax -----------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Frontend/Onnx/ConvertShared.h"

#include "tpuc/Dialect/Top/MovementOps.h"
#include "tpuc/Dialect/Top/NormOps.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::onnx;

namespace {

void batchNorm(NodeBuilder &node) {
  // `momentum` moves the statistics in training only.
  node.ignore({"consumed_inputs", "is_test", "momentum"});
  if (node.opset() < 9 && node.getInt("spatial", 1) != 1)
    return node.fail("attribute 'spatial' is 0", "1: one mean and variance per channel");
  double epsilon = node.getFloat("epsilon", 1e-5);
  // ONNX: X, scale, B, mean, var.
  SmallVector<Value> operands = {node.in(0), node.in(3), node.in(4), node.in(1), node.in(2)};
  Attrs attributes = node.attrs().setFloat("epsilon", epsilon);
  bool trains = node.opset() >= 14 && node.getInt("training_mode", 0) != 0;
  if (trains) {
    node.emitAll<top::BatchNormTrainOp>(
        3, 3, operands, attributes.setFloat("momentum", node.getFloat("momentum", 0.9)));
    return;
  }
  for (unsigned index = 1; index < node.numOutputs(); ++index)
    if (node.wants(index))
      return node.fail("makes the statistics of training", "inference");
  node.emit<top::BatchNormOp>(operands, attributes);
}

void layerNorm(NodeBuilder &node) {
  // Statistics are in f32 at least, which the default asks for.
  node.ignore({"stash_type"});
  node.emitAll<top::LayerNormOp>(3, 1, {node.in(0), node.in(1), node.in(2)},
                                 node.attrs()
                                     .setInt("axis", node.getInt("axis", -1))
                                     .setFloat("eps", node.getFloat("epsilon", 1e-5)));
}

void rmsNorm(NodeBuilder &node) {
  node.ignore({"stash_type"});
  node.emit<top::RMSNormOp>({node.in(0), node.in(1)},
                            node.attrs()
                                .setInt("axis", node.getInt("axis", -1))
                                .setFloat("eps", node.getFloat("epsilon", 1e-5)));
}

void instanceNorm(NodeBuilder &node) {
  node.ignore({"consumed_inputs"});
  node.emit<top::InstanceNormOp>({node.in(0), node.in(1), node.in(2)},
                                 node.attrs().setFloat("eps", node.getFloat("epsilon", 1e-5)));
}

/// One number per group as one per channel: before opset 21.
Value perChannel(NodeBuilder &node, unsigned index, StringRef suffix, int64_t groups) {
  std::optional<Ints> dims = NodeBuilder::dims(node.in(0));
  if (!dims || dims->size() < 2 || ShapedType::isDynamic((*dims)[1])) {
    node.fail("the number of channels is not known");
    return node.none();
  }
  int64_t channels = (*dims)[1];
  if (groups < 1 || channels % groups != 0) {
    node.fail(fmt::format("{} channels do not make {} groups", channels, groups));
    return node.none();
  }
  std::string name = suffix.str();
  Value column = node.temp<top::UnsqueezeOp>(name + "_column", {node.in(index), node.none()},
                                             node.attrs().setInts("axes", Ints{1}));
  Value wide =
      node.temp<top::ExpandOp>(name + "_wide", {column, node.none()},
                               node.attrs().setInts("shape", Ints{groups, channels / groups}));
  return node.temp<top::ReshapeOp>(name, {wide, node.none()},
                                   node.attrs().setInts("shape", Ints{channels}));
}

void groupNorm(NodeBuilder &node) {
  node.ignore({"stash_type"});
  int64_t groups = node.needInt("num_groups");
  bool grouped = node.opset() < 21;
  Value weight = grouped ? perChannel(node, 1, "scale", groups) : node.in(1);
  Value bias = grouped ? perChannel(node, 2, "bias", groups) : node.in(2);
  node.emit<top::GroupNormOp>(
      {node.in(0), weight, bias},
      node.attrs().setInt("num_groups", groups).setFloat("eps", node.getFloat("epsilon", 1e-5)));
}

void lpNormalization(NodeBuilder &node) {
  node.emit<top::NormalizeOp>(
      node.in(0),
      node.attrs().setInt("axis", node.getInt("axis", -1)).setInt("p", node.getInt("p", 2)));
}

void meanVarianceFirst(NodeBuilder &node) {
  if (node.getInt("normalize_variance", 1) == 0)
    return node.fail("attribute 'normalize_variance' is 0", "1");
  Ints axes = node.getInt("across_channels", 0) != 0 ? Ints{0, 1, 2, 3} : Ints{0, 2, 3};
  node.emit<top::MeanVarianceNormOp>(node.in(0), node.attrs().setInts("axes", axes));
}

void meanVariance(NodeBuilder &node) {
  Ints axes = node.getInts("axes").value_or(Ints{0, 2, 3});
  node.emit<top::MeanVarianceNormOp>(node.in(0), node.attrs().setInts("axes", axes));
}

void lrn(NodeBuilder &node) {
  node.emit<top::LRNOp>(node.in(0), node.attrs()
                                        .setInt("size", node.needInt("size"))
                                        .setFloat("alpha", node.getFloat("alpha", 1e-4))
                                        .setFloat("beta", node.getFloat("beta", 0.75))
                                        .setFloat("bias", node.getFloat("bias", 1.0)));
}

template <typename Op> void emitSoftmax(NodeBuilder &node, int64_t axis, const Attrs &extra) {
  Attrs attributes = extra;
  node.emit<Op>(node.in(0), attributes.setInt("axis", axis));
}

/// Before opset 13 all dimensions from `axis` on were one.
template <typename Op> void flatSoftmax(NodeBuilder &node, const Attrs &extra) {
  int64_t rank = node.needRank(0, "Softmax of this opset");
  int64_t axis = frontAxis(node, node.getInt("axis", 1), rank, /*endAllowed=*/rank < 2);
  if (node.failed())
    return;
  if (axis == rank - 1)
    return emitSoftmax<Op>(node, axis, extra);
  Attrs attributes = extra;
  Value flat = node.temp<top::FlattenTo2DOp>("flat", node.in(0), node.attrs().setInt("axis", axis));
  Value made = node.temp<Op>("made", flat, attributes.setInt("axis", 1));
  reshapeLike(node, made, node.in(0));
}

void softmaxFlat(NodeBuilder &node) { flatSoftmax<top::SoftmaxOp>(node, node.attrs()); }
void logSoftmaxFlat(NodeBuilder &node) {
  flatSoftmax<top::SoftmaxOp>(node, node.attrs().setBool("log", true));
}
void hardmaxFlat(NodeBuilder &node) { flatSoftmax<top::HardmaxOp>(node, node.attrs()); }
void softmax(NodeBuilder &node) {
  emitSoftmax<top::SoftmaxOp>(node, node.getInt("axis", -1), node.attrs());
}
void logSoftmax(NodeBuilder &node) {
  emitSoftmax<top::SoftmaxOp>(node, node.getInt("axis", -1), node.attrs().setBool("log", true));
}
void hardmax(NodeBuilder &node) {
  emitSoftmax<top::HardmaxOp>(node, node.getInt("axis", -1), node.attrs());
}

constexpr OpRow kNormRows[] = {
    {"BatchNormalization", 1, 5, 5, batchNorm, "BatchNorm, BatchNormTrain"},
    {"GroupNormalization", 18, 3, 3, groupNorm, "GroupNorm"},
    {"Hardmax", 1, 1, 1, hardmaxFlat, "Hardmax"},
    {"Hardmax", 13, 1, 1, hardmax, "Hardmax"},
    {"InstanceNormalization", 1, 3, 3, instanceNorm, "InstanceNorm"},
    {"LRN", 1, 1, 1, lrn, "LRN"},
    // ONNX Runtime writes it for every version.
    {"LayerNormalization", 1, 2, 3, layerNorm, "LayerNorm"},
    {"LogSoftmax", 1, 1, 1, logSoftmaxFlat, "Softmax"},
    {"LogSoftmax", 13, 1, 1, logSoftmax, "Softmax"},
    {"LpNormalization", 1, 1, 1, lpNormalization, "Normalize"},
    {"MeanVarianceNormalization", 1, 1, 1, meanVarianceFirst, "MeanVarianceNorm"},
    {"MeanVarianceNormalization", 9, 1, 1, meanVariance, "MeanVarianceNorm"},
    {"RMSNormalization", 23, 2, 2, rmsNorm, "RMSNorm"},
    {"Softmax", 1, 1, 1, softmaxFlat, "Softmax"},
    {"Softmax", 13, 1, 1, softmax, "Softmax"},
};

} // namespace

ArrayRef<OpRow> tpuc::onnx::normRows() { return kNormRows; }

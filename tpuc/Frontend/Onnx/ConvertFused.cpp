//===- ConvertFused.cpp - What ONNX Runtime joins to one node -------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Operators of com.microsoft that stand for several of the standard: a convolution or product with
// the function behind it, products with transposed operands, the functions of transformers'
// feed-forward parts, and layers whose channels come last.
//
//===----------------------------------------------------------------------===//

#include "tpuc/Frontend/Onnx/ConvertShared.h"

#include "tpuc/Dialect/Top/BinaryOps.h"
#include "tpuc/Dialect/Top/ConvolutionOps.h"
#include "tpuc/Dialect/Top/MatrixOps.h"
#include "tpuc/Dialect/Top/MovementOps.h"
#include "tpuc/Dialect/Top/NormOps.h"
#include "tpuc/Dialect/Top/PoolOps.h"
#include "tpuc/Dialect/Top/QuantizeOps.h"
#include "tpuc/Dialect/Top/UnaryOps.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::onnx;

namespace {

//===----------------------------------------------------------------------===//
// Functions behind a layer
//===----------------------------------------------------------------------===//

/// A function that a node applies to what its layer computes.
struct Activation {
  /// Empty: none.
  std::string name;
  std::vector<double> parameters;
};

/// The attributes `activation` and `activation_params`.
Activation convActivation(NodeBuilder &node) {
  return {node.getString("activation", ""),
          node.getFloats("activation_params").value_or(std::vector<double>())};
}

/// The attributes `activation`, `activation_alpha` and `activation_beta`.
Activation gemmActivation(NodeBuilder &node) {
  Activation activation{node.getString("activation", ""), {}};
  node.ignore({"activation_gamma", "activation_axis"});
  for (StringRef name : {"activation_alpha", "activation_beta"})
    if (node.hasAttribute(name))
      activation.parameters.push_back(node.getFloat(name, 0));
    else
      break;
  return activation;
}

/// Output 0 (`last`), or a tensor on the way: the function of `input`.
void activate(NodeBuilder &node, Value input, const Activation &activation, bool last = true,
              Value *made = nullptr) {
  auto parameter = [&](size_t index, double otherwise) {
    return index < activation.parameters.size() ? activation.parameters[index] : otherwise;
  };
  const StringRef name = activation.name;
  Value value;
  if (name == "Relu")
    value = make<top::ReluOp>(node, last, "activated", input, node.attrs());
  else if (name == "Tanh")
    value = make<top::TanhOp>(node, last, "activated", input, node.attrs());
  else if (name == "Sigmoid")
    value = make<top::SigmoidOp>(node, last, "activated", input, node.attrs());
  else if (name == "Softplus")
    value = make<top::SoftplusOp>(node, last, "activated", input, node.attrs());
  else if (name == "Softsign")
    value = make<top::SoftsignOp>(node, last, "activated", input, node.attrs());
  else if (name == "HardSwish")
    value = make<top::HardSwishOp>(node, last, "activated", input, node.attrs());
  else if (name == "Elu")
    value = make<top::EluOp>(node, last, "activated", input,
                             node.attrs().setFloat("alpha", parameter(0, 1.0)));
  else if (name == "LeakyRelu")
    value = make<top::LeakyReluOp>(node, last, "activated", input,
                                   node.attrs().setFloat("alpha", parameter(0, 0.01)));
  else if (name == "Clip")
    value =
        make<top::ClipOp>(node, last, "activated", input,
                          node.attrs()
                              .setFloat("min", parameter(0, std::numeric_limits<float>::lowest()))
                              .setFloat("max", parameter(1, std::numeric_limits<float>::max())));
  else if (name == "HardSigmoid")
    value = make<top::HardSigmoidOp>(
        node, last, "activated", input,
        node.attrs().setFloat("alpha", parameter(0, 0.2)).setFloat("beta", parameter(1, 0.5)));
  else
    return node.fail("attribute 'activation' is '" + activation.name + "'",
                     "Relu, Tanh, Sigmoid, Softplus, Softsign, HardSwish, Elu, LeakyRelu, Clip or "
                     "HardSigmoid");
  if (made)
    *made = value;
}

//===----------------------------------------------------------------------===//
// Channels last
//===----------------------------------------------------------------------===//

/// Convolution, sum and function of FusedConv and its kin.
void convolve(NodeBuilder &node, bool channelsLast, bool fused) {
  Value input = node.in(0);
  if (channelsLast)
    input = moveChannels(node, input, /*toEnd=*/false, /*last=*/false, "channels_first");
  Activation activation = fused ? convActivation(node) : Activation();
  bool adds = fused && node.has(3);
  bool activates = !activation.name.empty();
  Attrs attributes = convAttrs(node, 1);
  if (node.failed())
    return;
  Value value = make<top::ConvOp>(node, !adds && !activates && !channelsLast, "conv",
                                  {input, node.in(1), node.in(2)}, attributes);
  if (adds) {
    Value other = node.in(3);
    if (channelsLast)
      other = moveChannels(node, other, /*toEnd=*/false, /*last=*/false, "sum_first");
    value =
        make<top::AddOp>(node, !activates && !channelsLast, "sum", {value, other}, node.attrs());
  }
  if (activates)
    activate(node, value, activation, !channelsLast, &value);
  if (channelsLast && !node.failed())
    moveChannels(node, value, /*toEnd=*/true, /*last=*/true, "");
}

void fusedConv(NodeBuilder &node) { convolve(node, false, true); }
void nhwcConv(NodeBuilder &node) { convolve(node, true, false); }
void nhwcFusedConv(NodeBuilder &node) { convolve(node, true, true); }

void nhwcMaxPool(NodeBuilder &node) {
  std::optional<Ints> kernel = node.getInts("kernel_shape");
  if (!kernel)
    return node.fail("attribute 'kernel_shape' is missing");
  Value input = moveChannels(node, node.in(0), /*toEnd=*/false, /*last=*/false, "channels_first");
  Value pooled = node.temp<top::MaxPoolOp>("pooled", input,
                                           node.attrs()
                                               .setInts("kernel_shape", kernel)
                                               .setInts("strides", node.getInts("strides"))
                                               .setInts("pads", node.getInts("pads"))
                                               .setInts("dilations", node.getInts("dilations"))
                                               .setString("auto_pad", autoPad(node))
                                               .setBool("ceil_mode", node.getInt("ceil_mode", 0)));
  if (!node.failed())
    moveChannels(node, pooled, /*toEnd=*/true, /*last=*/true, "");
}

/// The convolution of integers of the standard, or with `channels_last` the same of [N, ..., C].
void movedQLinearConv(NodeBuilder &node) {
  const bool channelsLast = node.getInt("channels_last", 0) != 0;
  SmallVector<Value> operands = node.firstInputs(9);
  if (channelsLast)
    operands[0] =
        moveChannels(node, operands[0], /*toEnd=*/false, /*last=*/false, "channels_first");
  Attrs attributes = convAttrs(node, 3);
  if (node.failed())
    return;
  Value made = make<top::QLinearConvOp>(node, !channelsLast, "conv", operands, attributes);
  if (channelsLast && !node.failed())
    moveChannels(node, made, /*toEnd=*/true, /*last=*/true, "");
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

void fusedGemm(NodeBuilder &node) {
  Activation activation = gemmActivation(node);
  Value product = makeGemm(node, activation.name.empty());
  if (!activation.name.empty())
    activate(node, product, activation);
}

/// Operand `index` of FusedMatMul. With transBatch the first dimension stands behind the others but
/// the last.
Value matrixOperand(NodeBuilder &node, unsigned index, StringRef attribute) {
  Value operand = node.in(index);
  if (node.getInt(attribute, 0) == 0)
    return operand;
  int64_t rank = node.needRank(index, attribute);
  if (rank < 3)
    return operand;
  Ints order;
  for (int64_t axis = 1; axis < rank - 1; ++axis)
    order.push_back(axis);
  order.push_back(0);
  order.push_back(rank - 1);
  return node.temp<top::PermuteOp>(index == 0 ? "batches_a" : "batches_b", operand,
                                   node.attrs().setInts("order", order));
}

/// alpha * A' * B'.
Value scaledProduct(NodeBuilder &node, bool last, bool batches) {
  Value left = batches ? matrixOperand(node, 0, "transBatchA") : node.in(0);
  Value right = batches ? matrixOperand(node, 1, "transBatchB") : node.in(1);
  // A vector has nothing to transpose.
  auto transposes = [&](StringRef name, Value operand) {
    return node.getInt(name, 0) != 0 && NodeBuilder::rank(operand) != 1;
  };
  Attrs attributes = node.attrs()
                         .setBool("left_transpose", transposes("transA", left))
                         .setBool("right_transpose", transposes("transB", right));
  double alpha = node.getFloat("alpha", 1.0);
  Value product = make<top::MatMulOp>(node, last && alpha == 1.0, "product",
                                      {left, right, node.none()}, attributes);
  if (alpha == 1.0)
    return product;
  return make<top::MulConstOp>(node, last, "scaled", product,
                               node.attrs().setFloat("const_val", alpha));
}

void fusedMatMul(NodeBuilder &node) { scaledProduct(node, /*last=*/true, /*batches=*/true); }
void transposeMatMul(NodeBuilder &node) { scaledProduct(node, /*last=*/true, /*batches=*/false); }

void fusedMatMulActivation(NodeBuilder &node) {
  Activation activation = gemmActivation(node);
  activate(node, scaledProduct(node, /*last=*/false, /*batches=*/true), activation);
}

//===----------------------------------------------------------------------===//
// Functions of feed-forward parts
//===----------------------------------------------------------------------===//

Attrs geluAttrs(NodeBuilder &node, bool tanh) {
  return node.attrs().setString("approx_mode", tanh ? "tanh" : "none");
}

void erfGelu(NodeBuilder &node) { node.emit<top::GELUOp>(node.in(0), geluAttrs(node, false)); }

void biasGelu(NodeBuilder &node) {
  Value sum = node.temp<top::AddOp>("sum", {node.in(0), node.in(1)});
  node.emit<top::GELUOp>(sum, geluAttrs(node, false));
}

void fastGelu(NodeBuilder &node) {
  Value input = node.in(0);
  if (node.has(1))
    input = node.temp<top::AddOp>("sum", {input, node.in(1)});
  node.emit<top::GELUOp>(input, geluAttrs(node, true));
}

void gemmFastGelu(NodeBuilder &node) {
  Value product = node.temp<top::MatMulOp>("product", {node.in(0), node.in(1), node.in(2)});
  node.emit<top::GELUOp>(product, geluAttrs(node, true));
}

void quickGelu(NodeBuilder &node) {
  node.emit<top::SwishOp>(node.in(0), node.attrs().setFloat("beta", node.getFloat("alpha", 1.702)));
}

void biasAdd(NodeBuilder &node) {
  Value sum = node.temp<top::AddOp>("sum", {node.in(0), node.in(1)});
  node.emit<top::AddOp>({sum, node.in(2)});
}

//===----------------------------------------------------------------------===//
// Normalization of groups
//===----------------------------------------------------------------------===//

void normGroups(NodeBuilder &node, Value input) {
  const bool channelsLast = node.getInt("channels_last", 1) != 0;
  const int64_t activation = node.needInt("activation");
  if (activation != 0 && activation != 1)
    return node.fail(fmt::format("attribute 'activation' is {}", activation),
                     "0 for none or 1 for SiLU");
  if (channelsLast)
    input = moveChannels(node, input, /*toEnd=*/false, /*last=*/false, "channels_first");
  Value made = make<top::GroupNormOp>(node, !channelsLast && activation == 0, "normed",
                                      {input, node.in(1), node.in(2)},
                                      node.attrs()
                                          .setInt("num_groups", node.needInt("groups"))
                                          .setFloat("eps", node.getFloat("epsilon", 1e-5)));
  if (activation == 1)
    made = make<top::SiLUOp>(node, !channelsLast, "activated", made, node.attrs());
  if (channelsLast && !node.failed())
    moveChannels(node, made, /*toEnd=*/true, /*last=*/true, "");
}

void fusedGroupNorm(NodeBuilder &node) { normGroups(node, node.in(0)); }

/// Inputs X, gamma, beta, skip and bias; output 1 is the sum that is normalized.
void skipGroupNorm(NodeBuilder &node) {
  Value skip = node.in(3);
  std::optional<int64_t> rank = NodeBuilder::rank(skip);
  // One number for each sample and channel.
  if (rank == 2) {
    const bool channelsLast = node.getInt("channels_last", 1) != 0;
    skip = node.temp<top::UnsqueezeOp>(
        "skip", {skip, node.none()},
        node.attrs().setInts("axes", channelsLast ? Ints{1, 2} : Ints{2, 3}));
  }
  Value sum = node.in(0);
  if (node.has(4)) {
    if (node.getInt("channels_last", 1) == 0)
      return node.fail("has a bias and channels that do not come last", "channels_last of 1");
    sum = node.temp<top::AddOp>("biased", {sum, node.in(4)});
  }
  sum = node.wants(1) ? node.emitAs<top::AddOp>(1, {sum, skip}, node.attrs())
                      : node.temp<top::AddOp>("sum", {sum, skip});
  normGroups(node, sum);
}

constexpr OpRow kFusedRows[] = {
    {"BiasAdd", 1, 3, 3, biasAdd, "Add", kMicrosoft},
    {"BiasGelu", 1, 2, 2, biasGelu, "Add, GELU", kMicrosoft},
    {"FastGelu", 1, 1, 2, fastGelu, "Add, GELU", kMicrosoft},
    {"FusedConv", 1, 2, 4, fusedConv, "Conv, Add, Relu ...", kMicrosoft},
    {"FusedGemm", 1, 2, 3, fusedGemm, "MatMul, Add, MulConst, Relu ...", kMicrosoft},
    {"FusedMatMul", 1, 2, 2, fusedMatMul, "Permute, MatMul, MulConst", kMicrosoft},
    {"FusedMatMulActivation", 1, 2, 2, fusedMatMulActivation, "Permute, MatMul, MulConst, Relu ...",
     kMicrosoft},
    {"Gelu", 1, 1, 1, erfGelu, "GELU", kMicrosoft},
    {"GemmFastGelu", 1, 2, 3, gemmFastGelu, "MatMul, GELU", kMicrosoft},
    {"GroupNorm", 1, 3, 3, fusedGroupNorm, "Permute, GroupNorm, SiLU", kMicrosoft},
    {"NhwcConv", 1, 2, 3, nhwcConv, "Permute, Conv", kMicrosoft},
    {"NhwcFusedConv", 1, 2, 4, nhwcFusedConv, "Permute, Conv, Add, Relu ...", kMicrosoft},
    {"NhwcMaxPool", 1, 1, 1, nhwcMaxPool, "Permute, MaxPool", kMicrosoft},
    {"QLinearConv", 1, 8, 9, movedQLinearConv, "Permute, QLinearConv", kMicrosoft},
    {"QuickGelu", 1, 1, 1, quickGelu, "Swish", kMicrosoft},
    {"SkipGroupNorm", 1, 4, 5, skipGroupNorm, "Add, Permute, GroupNorm, SiLU", kMicrosoft},
    {"TransposeMatMul", 1, 2, 2, transposeMatMul, "MatMul, MulConst", kMicrosoft},
};

} // namespace

ArrayRef<OpRow> tpuc::onnx::fusedRows() { return kFusedRows; }

//===- ConvertAttention.cpp - Attention and what goes with it -------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Frontend/Onnx/ConvertShared.h"

#include "tpuc/Dialect/Top/AttentionOps.h"
#include "tpuc/Dialect/Top/BinaryOps.h"
#include "tpuc/Dialect/Top/UnaryOps.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::onnx;

namespace {

void attention(NodeBuilder &node) {
  Attrs attributes = node.attrs()
                         .setBool("is_causal", node.getInt("is_causal", 0) != 0)
                         .setFloat("softcap", node.getFloat("softcap", 0.0))
                         .setInt("scores_mode", node.getInt("qk_matmul_output_mode", 0));
  // Heads are counted where they are not a dimension.
  if (node.needRank(0, "Attention") == 3)
    attributes.setInt("q_num_heads", node.needInt("q_num_heads"))
        .setInt("kv_num_heads", node.needInt("kv_num_heads"));
  else
    node.ignore({"q_num_heads", "kv_num_heads"});
  if (node.hasAttribute("scale"))
    attributes.setFloat("scale", node.getFloat("scale", 1.0));
  if (node.getInt("softmax_precision", 0) != 0)
    attributes.setType("softmax_type", node.getType("softmax_precision", {}));
  if (node.opset() >= 25)
    attributes.setInt("left_window", node.getInt("left_window_size", -1))
        .setInt("right_window", node.getInt("right_window_size", -1));
  node.emitAll<top::ScaleDotProductAttentionOp>(4, 1, node.firstInputs(7), attributes);
}

void rotaryEmbedding(NodeBuilder &node) {
  node.emit<top::RopeOp>(node.firstInputs(4),
                         node.attrs()
                             .setBool("interleaved", node.getInt("interleaved", 0) != 0)
                             .setInt("num_heads", node.getInt("num_heads", 0))
                             .setInt("rotary_dim", node.getInt("rotary_embedding_dim", 0)));
}

void linearAttention(NodeBuilder &node) {
  // How many steps are taken at once changes nothing.
  node.ignore({"chunk_size"});
  node.emitAll<top::LinearAttentionOp>(
      2, 1, node.firstInputs(6),
      node.attrs()
          .setInt("q_num_heads", node.needInt("q_num_heads"))
          .setInt("kv_num_heads", node.needInt("kv_num_heads"))
          .setFloat("scale", node.getFloat("scale", 0.0))
          .setString("update_rule", node.getChoice("update_rule", "gated_delta",
                                                   {"linear", "gated", "delta", "gated_delta"})));
}

void causalConv(NodeBuilder &node) {
  std::string activation = node.getChoice("activation", "none", {"none", "silu", "swish"});
  node.emitAll<top::CausalConvOp>(
      2, 1, node.firstInputs(4),
      node.attrs().setString("activation", activation == "none" ? "none" : "silu"));
}

/// Swish(A) * B, without broadcasting.
void swiGlu(NodeBuilder &node) {
  std::optional<Ints> gate = NodeBuilder::dims(node.in(0));
  std::optional<Ints> linear = NodeBuilder::dims(node.in(1));
  if (gate && linear && NodeBuilder::isStatic(*gate) && NodeBuilder::isStatic(*linear) &&
      *gate != *linear)
    return node.fail("A and B have different shapes", "one shape");
  Value swish = node.temp<top::SwishOp>("swish", node.in(0),
                                        node.attrs().setFloat("beta", node.getFloat("alpha", 1.0)));
  node.emit<top::MulOp>({swish, node.in(1)});
}

constexpr OpRow kFoldHeadReshapes[] = {
    {"Attention", 23, 3, 7, attention, "ScaleDotProductAttention"},
    {"CausalConvWithState", 27, 2, 4, causalConv, "CausalConv"},
    {"LinearAttention", 27, 3, 6, linearAttention, "LinearAttention"},
    {"RotaryEmbedding", 23, 3, 4, rotaryEmbedding, "Rope"},
    {"SwiGLU", 28, 2, 2, swiGlu, "Swish, Mul"},
};

} // namespace

ArrayRef<OpRow> tpuc::onnx::foldHeadReshapes() { return kFoldHeadReshapes; }

//===- ConvertTransformer.cpp - Operators of ONNX Runtime's transformers ---===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Norms with the sum before them, embeddings, and attention with its projections, masks and caches.
// B: samples, S: queries, L: new keys, P: keys of the past, T = P + L: keys, N: heads, D: size of
// a head.
//
//===----------------------------------------------------------------------===//

#include "tpuc/Frontend/Onnx/ConvertShared.h"

#include "tpuc/Dialect/Top/AttentionOps.h"
#include "tpuc/Dialect/Top/BinaryOps.h"
#include "tpuc/Dialect/Top/IndexOps.h"
#include "tpuc/Dialect/Top/MatrixOps.h"
#include "tpuc/Dialect/Top/MovementOps.h"
#include "tpuc/Dialect/Top/NormOps.h"
#include "tpuc/Dialect/Top/QuantizeOps.h"
#include "tpuc/Dialect/Top/ReduceOps.h"
#include "tpuc/Dialect/Top/ShapeOps.h"
#include "tpuc/Dialect/Top/UnaryOps.h"

#include <numeric>

using namespace mlir;
using namespace tpuc;
using namespace tpuc::onnx;

namespace {

//===----------------------------------------------------------------------===//
// Norms
//===----------------------------------------------------------------------===//

void simplifiedLayerNorm(NodeBuilder &node) {
  node.ignore({"stash_type"});
  if (node.wants(1))
    return node.fail("makes the statistics of training", "inference");
  node.emit<top::RMSNormOp>({node.in(0), node.in(1)},
                            node.attrs()
                                .setInt("axis", node.getInt("axis", -1))
                                .setFloat("eps", node.getFloat("epsilon", 1e-5)));
}

/// The sum of input, skip and, in input `bias`, a bias: output 3 where that is wanted.
Value skipSum(NodeBuilder &node, unsigned bias) {
  if (node.wants(1) || node.wants(2))
    node.fail("makes the statistics of training", "inference");
  Value first = node.in(0);
  if (node.has(bias))
    first = node.temp<top::AddOp>("biased", {first, node.in(bias)});
  return node.wants(3) ? node.emitAs<top::AddOp>(3, {first, node.in(1)}, node.attrs())
                       : node.temp<top::AddOp>("sum", {first, node.in(1)});
}

/// Output 0, of an op that could make mean and deviation, too.
void emitLayerNorm(NodeBuilder &node, Value input, Value weight, Value bias, double epsilon) {
  node.emitFirst<top::LayerNormOp>(3, {input, weight, bias},
                                   node.attrs().setInt("axis", -1).setFloat("eps", epsilon));
}

void skipLayerNorm(NodeBuilder &node) {
  Value sum = skipSum(node, 4);
  emitLayerNorm(node, sum, node.in(2), node.in(3), node.getFloat("epsilon", 1e-12f));
}

void skipSimplifiedLayerNorm(NodeBuilder &node) {
  Value sum = skipSum(node, 3);
  node.emit<top::RMSNormOp>(
      {sum, node.in(2)},
      node.attrs().setInt("axis", -1).setFloat("eps", node.getFloat("epsilon", 1e-12f)));
}

/// Rows of embeddings that ids name, added and normalized.
void embedLayerNorm(NodeBuilder &node) {
  needInputs(node, {2, 3, 5, 6});
  const bool hasSegments = node.has(1);
  if (hasSegments != node.has(4))
    return node.fail("has segment ids or an embedding of segments, but not both");
  const Attrs rows = node.attrs().setInt("axis", 0);
  Value sum = node.temp<top::GatherOp>("words", {node.in(2), node.in(0)}, rows);
  Value places;
  if (node.has(8)) {
    places = node.temp<top::GatherOp>("positions", {node.in(3), node.in(8)}, rows);
  } else {
    std::optional<Ints> dims = NodeBuilder::dims(node.in(0));
    if (!dims || dims->size() != 2 || ShapedType::isDynamic((*dims)[1]))
      return node.fail("the length of the sequence is not known", "ids of shape [B, S]");
    places = node.temp<top::SliceOp>(
        "positions", {node.in(3), node.none(), node.none(), node.none(), node.none()},
        node.attrs()
            .setInts("offset", Ints{0})
            .setInts("ends", Ints{(*dims)[1]})
            .setInts("axes", Ints{0}));
  }
  const bool wantsSum = node.wants(2);
  auto add = [&](Value left, Value right, bool isLast, StringRef suffix) {
    return isLast && wantsSum ? node.emitAs<top::AddOp>(2, {left, right}, node.attrs())
                              : node.temp<top::AddOp>(suffix, {left, right});
  };
  sum = add(sum, places, !hasSegments, "placed");
  if (hasSegments)
    sum =
        add(sum, node.temp<top::GatherOp>("segments", {node.in(4), node.in(1)}, rows), true, "sum");
  emitLayerNorm(node, sum, node.in(5), node.in(6), node.getFloat("epsilon", 1e-12f));
  const int64_t maskKind = node.getInt("mask_index_type", node.has(7) ? 1 : 0);
  if (!node.wants(1))
    return;
  // How many ones the mask of each sample has.
  Type counts = IntegerType::get(node.context(), 32, IntegerType::Signed);
  if (maskKind == 0 || !node.has(7)) {
    std::optional<Ints> dims = NodeBuilder::dims(node.in(0));
    if (!dims || dims->empty() || ShapedType::isDynamic((*dims)[0]))
      return node.fail("the number of samples is not known");
    node.emitAs<top::ConstantFillOp>(
        1, node.none(),
        node.attrs()
            .setInts("shape", Ints{(*dims)[0]})
            .set("value", elementAttr(node.context(), Tensor::of<int32_t>({}, {0}))));
    return;
  }
  Value ones = node.temp<top::CompareOp>(
      "ones", {node.in(7), node.weight("one", Tensor::of<int32_t>({}, {1}))},
      node.attrs().setString("mode", "Equal"));
  Value numbers = node.temp<top::CastOp>("counted", ones, node.attrs().setType("to", counts));
  node.emitAs<top::ReduceOp>(1, {numbers, node.none()},
                             node.attrs()
                                 .setInts("axes", Ints{1})
                                 .setString("mode", "ReduceSum")
                                 .setBool("keepdims", false));
}

//===----------------------------------------------------------------------===//
// Parts of attention
//===----------------------------------------------------------------------===//

/// Elements `from` to before `to` along `axis`.
Value slice(NodeBuilder &node, Value input, int64_t axis, int64_t from, int64_t to,
            StringRef suffix) {
  return node.temp<top::SliceOp>(suffix,
                                 {input, node.none(), node.none(), node.none(), node.none()},
                                 node.attrs()
                                     .setInts("offset", Ints{from})
                                     .setInts("ends", Ints{to})
                                     .setInts("axes", Ints{axis}));
}

Value reshaped(NodeBuilder &node, Value input, const Ints &shape, StringRef suffix) {
  return node.temp<top::ReshapeOp>(suffix, {input, node.none()},
                                   node.attrs().setInts("shape", shape));
}

/// [B, S, N * D] as [B, N, S, D].
Value splitHeads(NodeBuilder &node, Value input, int64_t heads, const std::string &suffix) {
  Value split = reshaped(node, input, Ints{0, 0, heads, -1}, suffix + "_split");
  return node.temp<top::PermuteOp>(suffix + "_heads", split,
                                   node.attrs().setInts("order", Ints{0, 2, 1, 3}));
}

/// Output 0: [B, N, S, D] as [B, S, N * D].
void emitJoined(NodeBuilder &node, Value heads) {
  Value rows =
      node.temp<top::PermuteOp>("rows", heads, node.attrs().setInts("order", Ints{0, 2, 1, 3}));
  node.emit<top::ReshapeOp>({rows, node.none()}, node.attrs().setInts("shape", Ints{0, 0, -1}));
}

/// What attention is computed from, [B, N, ., D] each; what is left out is of type none.
struct AttentionParts {
  Value query, key, value;
  Value pastKey, pastValue;
  Value mask;
};

/// `left + right`, or the one of them that there is.
Value sumOfMasks(NodeBuilder &node, Value left, Value right) {
  if (left == node.none())
    return right;
  if (right == node.none())
    return left;
  return node.temp<top::AddOp>("mask_sum", {left, right});
}

/// 0 where `keep` is not 0, `filter` elsewhere.
Value maskOf(NodeBuilder &node, Value keep, double filter) {
  Value number = node.temp<top::CastOp>(
      "mask_number", keep, node.attrs().setType("to", Float32Type::get(node.context())));
  Value hidden =
      node.temp<top::AddConstOp>("mask_hidden", number, node.attrs().setFloat("const_val", -1.0));
  return node.temp<top::MulConstOp>("mask", hidden, node.attrs().setFloat("const_val", -filter));
}

/// Whether key j of `keys` comes before the end in `ends`, [B], as [B, 1, 1, T].
Value beforeEnds(NodeBuilder &node, Value ends, int64_t keys, StringRef mode, StringRef suffix) {
  Tensor places(DataType::I32, Shape{keys});
  std::iota(places.mutableData<int32_t>().begin(), places.mutableData<int32_t>().end(), 0);
  Value column = node.temp<top::UnsqueezeOp>(suffix.str() + "_column", {ends, node.none()},
                                             node.attrs().setInts("axes", Ints{1, 2, 3}));
  return node.temp<top::CompareOp>(
      suffix, {node.weight(suffix.str() + "_places", std::move(places)), column},
      node.attrs().setString("mode", mode));
}

/// The mask in input `index` as what is added to the scores: of 0 and 1 for keys, [B, T] or
/// [B, S, T]; the ends of the samples, [B]; their ends, then their beginnings, [2 * B].
Value keyMask(NodeBuilder &node, unsigned index, Value query, Value keys, int64_t past,
              double filter) {
  if (!node.has(index))
    return node.none();
  std::optional<Ints> dims = NodeBuilder::dims(node.in(index));
  std::optional<Ints> queryDims = NodeBuilder::dims(query);
  std::optional<Ints> keyDims = NodeBuilder::dims(keys);
  if (!dims || !queryDims || !keyDims || keyDims->size() != 4 || queryDims->size() != 4) {
    node.fail(fmt::format("the shape of the mask, input {}, is not known", index));
    return node.none();
  }
  const Value mask = node.in(index);
  if (dims->size() == 2)
    return maskOf(node,
                  node.temp<top::UnsqueezeOp>("mask_keys", {mask, node.none()},
                                              node.attrs().setInts("axes", Ints{1, 2})),
                  filter);
  if (dims->size() == 3)
    return maskOf(node,
                  node.temp<top::UnsqueezeOp>("mask_pairs", {mask, node.none()},
                                              node.attrs().setInts("axes", Ints{1})),
                  filter);
  const int64_t samples = (*queryDims)[0];
  const int64_t total = ShapedType::isDynamic((*keyDims)[2]) ? -1 : (*keyDims)[2] + past;
  if (dims->size() == 1 && total >= 0 && past >= 0 && !ShapedType::isDynamic(samples) &&
      ((*dims)[0] == samples || (*dims)[0] == 2 * samples)) {
    if ((*dims)[0] == samples)
      return maskOf(node, beforeEnds(node, mask, total, "Less", "mask_ends"), filter);
    Value ends = slice(node, mask, 0, 0, samples, "mask_end");
    Value starts = slice(node, mask, 0, samples, 2 * samples, "mask_start");
    Value inside = node.temp<top::LogicalBinaryOp>(
        "mask_inside",
        {beforeEnds(node, ends, total, "Less", "mask_ends"),
         beforeEnds(node, starts, total, "GreaterOrEqual", "mask_starts")},
        node.attrs().setString("mode", "And"));
    return maskOf(node, inside, filter);
  }
  node.fail(fmt::format("the mask, input {}, has rank {}", index, dims->size()),
            "[B, T], [B, S, T], [B] or [2 * B] of known extents");
  return node.none();
}

/// The number of keys of the past; 0 without one, -1 where it is not known.
int64_t pastLength(NodeBuilder &node, Value pastKey) {
  if (pastKey == node.none())
    return 0;
  std::optional<Ints> dims = NodeBuilder::dims(pastKey);
  return dims && dims->size() == 4 && !ShapedType::isDynamic((*dims)[2]) ? (*dims)[2] : -1;
}

/// The attention over `parts`, [B, N, S, D].
Value attend(NodeBuilder &node, const AttentionParts &parts, Attrs attributes) {
  return node.temps<top::ScaleDotProductAttentionOp>("attention", 4, 1,
                                                     {parts.query, parts.key, parts.value,
                                                      parts.mask, parts.pastKey, parts.pastValue,
                                                      node.none()},
                                                     attributes)[0];
}

Attrs attendAttrs(NodeBuilder &node, bool causal) {
  Attrs attributes = node.attrs().setBool("is_causal", causal);
  // 0 stands for the default, too.
  if (double scale = node.getFloat("scale", 0.0); scale != 0.0)
    attributes.setFloat("scale", scale);
  return attributes;
}

/// Past and new rows as output `index`; only the new ones where there is no past.
void emitPresent(NodeBuilder &node, unsigned index, Value past, Value present) {
  if (!node.wants(index))
    return;
  if (past == node.none())
    node.emitAs<top::CopyOp>(index, present, node.attrs());
  else
    node.emitAs<top::ConcatOp>(index, {past, present}, node.attrs().setInt("axis", 2));
}

//===----------------------------------------------------------------------===//
// Attention with its projections
//===----------------------------------------------------------------------===//

/// The rest of Attention and QAttention: heads of `projected`, [B, S, 3 * N * D], and the joint
/// past in input `past`; `columns` are the extents of query, key and value.
void attendProjected(NodeBuilder &node, Value projected, ArrayRef<int64_t> columns, unsigned mask,
                     unsigned past, unsigned bias) {
  const int64_t heads = node.needInt("num_heads");
  const bool causal = node.getInt("unidirectional", 0) != 0;
  const double filter = node.getFloat("mask_filter_value", -10000.0);
  for (StringRef name : {"do_rotary", "past_present_share_buffer"})
    if (node.getInt(name, 0) != 0)
      return node.fail(fmt::format("attribute '{}' is not 0", name.str()), "0");
  node.ignore({"rotary_embedding_dim"});
  for (int64_t extent : columns)
    if (heads < 1 || extent % heads != 0)
      return node.fail(fmt::format("{} columns do not make {} heads", extent, heads));
  AttentionParts parts;
  int64_t at = 0;
  Value *const targets[] = {&parts.query, &parts.key, &parts.value};
  constexpr StringRef kNames[] = {"query", "key", "value"};
  for (auto [target, name, extent] : llvm::zip_equal(targets, kNames, columns)) {
    *target = splitHeads(node, slice(node, projected, 2, at, at + extent, name), heads, name.str());
    at += extent;
  }
  parts.pastKey = parts.pastValue = node.none();
  if (node.has(past)) {
    auto half = [&](int64_t index, const std::string &suffix) {
      return node.temp<top::SqueezeOp>(
          suffix, {slice(node, node.in(past), 0, index, index + 1, suffix + "_half"), node.none()},
          node.attrs().setInts("axes", Ints{0}));
    };
    parts.pastKey = half(0, "past_key");
    parts.pastValue = half(1, "past_value");
  }
  parts.mask = sumOfMasks(
      node, keyMask(node, mask, parts.query, parts.key, pastLength(node, parts.pastKey), filter),
      bias == 0 ? node.none() : node.in(bias));
  if (node.wants(1)) {
    SmallVector<Value> halves;
    for (auto [own, before, suffix] :
         {std::tuple(parts.key, parts.pastKey, std::string("present_key")),
          std::tuple(parts.value, parts.pastValue, std::string("present_value"))}) {
      Value all = before == node.none() ? own
                                        : node.temp<top::ConcatOp>(suffix, {before, own},
                                                                   node.attrs().setInt("axis", 2));
      halves.push_back(node.temp<top::UnsqueezeOp>(suffix + "_half", {all, node.none()},
                                                   node.attrs().setInts("axes", Ints{0})));
    }
    node.emitAs<top::ConcatOp>(1, halves, node.attrs().setInt("axis", 0));
  }
  emitJoined(node, attend(node, parts, attendAttrs(node, causal)));
}

/// The extents of query, key and value: the attribute, or three of the same.
std::optional<Ints> projectedColumns(NodeBuilder &node, unsigned weights) {
  std::optional<Ints> given = node.getInts("qkv_hidden_sizes");
  std::optional<Ints> dims = NodeBuilder::dims(node.in(weights));
  if (!dims || dims->size() != 2 || ShapedType::isDynamic((*dims)[1])) {
    node.fail("the shape of the weights is not known", "[I, columns of query, key and value]");
    return std::nullopt;
  }
  const int64_t columns = (*dims)[1];
  if (!given)
    given = Ints{columns / 3, columns / 3, columns / 3};
  if (given->size() != 3 ||
      llvm::any_of(*given, [&](int64_t extent) { return extent < 1 || extent > columns; }) ||
      (*given)[0] + (*given)[1] + (*given)[2] != columns) {
    node.fail(fmt::format("{} columns of weights are not those of query, key and value", columns));
    return std::nullopt;
  }
  return given;
}

void fusedAttention(NodeBuilder &node) {
  std::optional<Ints> columns = projectedColumns(node, 1);
  if (!columns)
    return;
  // The length of the past in a buffer that past and present share, which is refused.
  Value projected = node.temp<top::MatMulOp>("projected", {node.in(0), node.in(1), node.in(2)});
  attendProjected(node, projected, *columns, 3, 4, 5);
}

/// Input, weights, bias, their scales, mask, their zero points, past.
void qAttention(NodeBuilder &node) {
  std::optional<Ints> columns = projectedColumns(node, 1);
  if (!columns)
    return;
  Value input = node.temp<top::DequantizeLinearOp>("input", {node.in(0), node.in(3), node.in(6)},
                                                   node.attrs().setInt("axis", 0));
  Value weights = node.temp<top::DequantizeLinearOp>(
      "weights", {node.in(1), node.in(4), node.in(7)}, node.attrs().setInt("axis", 1));
  Value projected = node.temp<top::MatMulOp>("projected", {input, weights, node.in(2)});
  attendProjected(node, projected, *columns, 5, 8, 0);
}

//===----------------------------------------------------------------------===//
// Attention of queries, keys and values
//===----------------------------------------------------------------------===//

/// Input `index`, [B, S, N * D] or [B, N, S, D], with `bias` added, as [B, N, S, D].
Value headsOf(NodeBuilder &node, unsigned index, int64_t heads, Value bias, StringRef suffix) {
  Value rows = node.in(index);
  std::optional<int64_t> rank = NodeBuilder::rank(rows);
  if (rank == 4)
    return rows;
  if (rank != 3) {
    node.fail(fmt::format("input {} has a rank that is not 3 or 4, or not known", index));
    return node.none();
  }
  if (bias != node.none())
    rows = node.temp<top::AddOp>(suffix.str() + "_biased", {rows, bias});
  return splitHeads(node, rows, heads, suffix.str());
}

/// Part `part` of packed rows [B, S, N, parts, D] as [B, N, S, D].
Value packedHeads(NodeBuilder &node, Value packed, int64_t part, StringRef suffix) {
  Value one = slice(node, packed, 3, part, part + 1, suffix.str() + "_part");
  Value rows = node.temp<top::SqueezeOp>(suffix.str() + "_rows", {one, node.none()},
                                         node.attrs().setInts("axes", Ints{3}));
  return node.temp<top::PermuteOp>(suffix.str() + "_heads", rows,
                                   node.attrs().setInts("order", Ints{0, 2, 1, 3}));
}

void multiHeadAttention(NodeBuilder &node) {
  const int64_t heads = node.needInt("num_heads");
  const double filter = node.getFloat("mask_filter_value", -10000.0);
  const bool causal = node.getInt("unidirectional", 0) != 0;
  if (heads < 1)
    return node.fail(fmt::format("attribute 'num_heads' is {}", heads), "1 or more");
  for (unsigned index : {8U, 9U})
    if (node.has(index))
      return node.fail(fmt::format("has input {}, of a buffer for past and present", index),
                       "past and present of their own");
  if (node.wants(3))
    return node.fail("makes the product of queries and keys", "at most 3 outputs");
  AttentionParts parts;
  int64_t queryRank = node.needRank(0, "the query");
  if (node.failed())
    return;
  SmallVector<Value> biases(3, node.none());
  if (node.has(3)) {
    std::optional<Ints> all = NodeBuilder::dims(node.in(3));
    std::optional<Ints> query = NodeBuilder::dims(node.in(0));
    if (!all || all->size() != 1 || queryRank != 3 || ShapedType::isDynamic(query->back()) ||
        (*all)[0] <= 2 * query->back())
      return node.fail("the bias is not one vector for query, key and value of known extents");
    const int64_t own = query->back();
    biases = {slice(node, node.in(3), 0, 0, own, "query_bias"),
              slice(node, node.in(3), 0, own, 2 * own, "key_bias"),
              slice(node, node.in(3), 0, 2 * own, (*all)[0], "value_bias")};
  }
  if (queryRank == 5) {
    parts.query = packedHeads(node, node.in(0), 0, "query");
    parts.key = packedHeads(node, node.in(0), 1, "key");
    parts.value = packedHeads(node, node.in(0), 2, "value");
  } else {
    needInputs(node, {1});
    if (node.failed())
      return;
    parts.query = headsOf(node, 0, heads, biases[0], "query");
    if (NodeBuilder::rank(node.in(1)) == 5) {
      parts.key = packedHeads(node, node.in(1), 0, "key");
      parts.value = packedHeads(node, node.in(1), 1, "value");
    } else {
      needInputs(node, {2});
      if (node.failed())
        return;
      parts.key = headsOf(node, 1, heads, biases[1], "key");
      parts.value = headsOf(node, 2, heads, biases[2], "value");
    }
  }
  parts.pastKey = node.in(6);
  parts.pastValue = node.in(7);
  if (node.failed())
    return;
  parts.mask = sumOfMasks(
      node, keyMask(node, 4, parts.query, parts.key, pastLength(node, parts.pastKey), filter),
      node.in(5));
  emitPresent(node, 1, parts.pastKey, parts.key);
  emitPresent(node, 2, parts.pastValue, parts.value);
  emitJoined(node, attend(node, parts, attendAttrs(node, causal)));
}

/// `input`, [B, N, S, D], turned by the rows `first` to `first + count` of the caches.
Value turned(NodeBuilder &node, Value input, unsigned cos, int64_t first, int64_t count,
             bool interleaved, const std::string &suffix) {
  auto rows = [&](unsigned index, const std::string &name) {
    Value part = slice(node, node.in(index), 0, first, first + count, name + "_rows");
    return node.temp<top::UnsqueezeOp>(name, {part, node.none()},
                                       node.attrs().setInts("axes", Ints{0}));
  };
  std::optional<Ints> dims = NodeBuilder::dims(node.in(cos));
  if (!dims || dims->size() != 2 || ShapedType::isDynamic((*dims)[1])) {
    node.fail(fmt::format("the shape of input {} is not known", cos), "[M, D / 2]");
    return node.none();
  }
  if (first + count > (*dims)[0]) {
    node.fail(fmt::format("has {} rows of angles", (*dims)[0]),
              fmt::format("{} at least", first + count));
    return node.none();
  }
  return node.temp<top::RopeOp>(
      suffix + "_turned",
      {input, rows(cos, suffix + "_cos"), rows(cos + 1, suffix + "_sin"), node.none()},
      node.attrs().setBool("interleaved", interleaved).setInt("rotary_dim", 2 * (*dims)[1]));
}

/// Several heads of queries share one of keys. Past and new keys count whole: sequences of one
/// length, and a past that is no longer than what it holds.
void groupQueryAttention(NodeBuilder &node) {
  const int64_t heads = node.needInt("num_heads");
  const int64_t keyHeads = node.needInt("kv_num_heads");
  const int64_t window = node.getInt("local_window_size", -1);
  const bool interleaved = node.getInt("rotary_interleaved", 0) != 0;
  const bool causal = node.getInt("causal", 1) != 0;
  if (heads < 1 || keyHeads < 1 || heads > (1 << 24) || heads % keyHeads != 0)
    return node.fail(fmt::format("has {} heads of queries and {} of keys", heads, keyHeads),
                     "a multiple of the latter");
  for (StringRef name : {"smooth_softmax", "qk_output", "kv_cache_bit_width"})
    if (int64_t value = node.getInt(name, 0); value > 0)
      return node.fail(fmt::format("attribute '{}' is {}", name.str(), value), "0");
  for (StringRef name : {"k_quant_type", "v_quant_type"})
    node.getChoice(name, "NONE", {"NONE"});
  node.ignore({"qk_norm_epsilon", "q_norm_epsilon", "k_norm_epsilon", "sliding_window_cache"});
  for (unsigned index = 11; index < node.numInputs(); ++index)
    if (node.has(index))
      return node.fail(fmt::format("has input {}", index), "inputs 0 to 10");
  if (node.wants(3))
    return node.fail("makes the product of queries and keys", "at most 3 outputs");
  AttentionParts parts;
  const int64_t rank = node.needRank(0, "the query");
  if (node.failed())
    return;
  if (!node.has(1)) {
    // Query, key and value in one.
    std::optional<Ints> dims = NodeBuilder::dims(node.in(0));
    if (rank != 3 || ShapedType::isDynamic(dims->back()) ||
        dims->back() % (heads + 2 * keyHeads) != 0)
      return node.fail("the packed query, key and value are not columns of all heads");
    const int64_t size = dims->back() / (heads + 2 * keyHeads);
    const int64_t ends[] = {heads * size, (heads + keyHeads) * size, dims->back()};
    parts.query = splitHeads(node, slice(node, node.in(0), 2, 0, ends[0], "query"), heads, "query");
    parts.key =
        splitHeads(node, slice(node, node.in(0), 2, ends[0], ends[1], "key"), keyHeads, "key");
    parts.value =
        splitHeads(node, slice(node, node.in(0), 2, ends[1], ends[2], "value"), keyHeads, "value");
  } else {
    needInputs(node, {2});
    if (node.failed())
      return;
    parts.query = headsOf(node, 0, heads, node.none(), "query");
    parts.key = headsOf(node, 1, keyHeads, node.none(), "key");
    parts.value = headsOf(node, 2, keyHeads, node.none(), "value");
  }
  if (node.failed())
    return;
  parts.pastKey = node.in(3);
  parts.pastValue = node.in(4);
  parts.mask = node.in(10);
  const int64_t past = pastLength(node, parts.pastKey);
  std::optional<Ints> queryDims = NodeBuilder::dims(parts.query);
  const bool known = past >= 0 && queryDims && !ShapedType::isDynamic((*queryDims)[2]);
  // The lengths that the network gives, where they are constant, are those of the tensors.
  if (std::optional<Ints> lengths = node.has(5) ? node.constantInts(5) : std::nullopt;
      lengths && known)
    for (int64_t length : *lengths)
      if (length + 1 != past + (*queryDims)[2])
        return node.fail(
            fmt::format("seqlens_k holds {}", length),
            fmt::format("{}: past and new keys, less one", past + (*queryDims)[2] - 1));
  if (node.getInt("do_rotary", 0) != 0) {
    needInputs(node, {7, 8});
    if (node.has(9))
      return node.fail("has input 9, positions", "positions that follow each other");
    if (!known)
      return node.fail("the extents of query and past are not known");
    const int64_t count = (*queryDims)[2];
    parts.query = turned(node, parts.query, 7, past, count, interleaved, "query");
    parts.key = turned(node, parts.key, 7, past, count, interleaved, "key");
  }
  if (node.failed())
    return;
  emitPresent(node, 1, parts.pastKey, parts.key);
  emitPresent(node, 2, parts.pastValue, parts.value);
  Attrs attributes = attendAttrs(node, causal).setFloat("softcap", node.getFloat("softcap", 0.0));
  if (window > 0)
    attributes.setInt("left_window", window - 1);
  emitJoined(node, attend(node, parts, attributes));
}

/// Input, positions (the first, or one for each), cosines and sines.
void fusedRotaryEmbedding(NodeBuilder &node) {
  const bool interleaved = node.getInt("interleaved", 0) != 0;
  const int64_t rotary = node.getInt("rotary_embedding_dim", 0);
  if (node.getInt("is_packed_batching", 0) != 0 || node.getFloat("scale", 1.0) != 1.0)
    return node.fail("attribute 'is_packed_batching' or 'scale' is given", "0 and 1");
  std::optional<Ints> dims = NodeBuilder::dims(node.in(0));
  std::optional<Ints> angles = NodeBuilder::dims(node.in(2));
  const int64_t rank = node.needRank(0, "the rotation");
  if (node.failed())
    return;
  if ((rank != 3 && rank != 4) || !angles || angles->size() != 2 ||
      ShapedType::isDynamic((*angles)[1]))
    return node.fail("the input has not rank 3 or 4, or the shape of the cosines is not known");
  int64_t heads = node.getInt("num_heads", 0);
  if (rank == 3 && heads == 0) {
    if (rotary != 0 || ShapedType::isDynamic((*dims)[2]) || (*angles)[1] < 1 ||
        (*dims)[2] % (2 * (*angles)[1]) != 0)
      return node.fail("attribute 'num_heads' is missing");
    heads = (*dims)[2] / (2 * (*angles)[1]);
  }
  Value positions = node.in(1);
  const int64_t steps = (*dims)[rank == 3 ? 1 : 2];
  if (std::optional<Ints> shape = NodeBuilder::dims(positions);
      shape && (shape->empty() || *shape == Ints{1})) {
    // Where the first element stands; the others follow.
    if (ShapedType::isDynamic(steps) || ShapedType::isDynamic((*dims)[0]))
      return node.fail("the extents of the input are not known");
    Tensor places(DataType::I64, Shape{(*dims)[0], steps});
    auto all = places.mutableData<int64_t>();
    for (size_t index = 0; index < all.size(); ++index)
      all[index] = static_cast<int64_t>(index) % steps;
    positions =
        node.temp<top::AddOp>("positions", {node.weight("steps", std::move(places)), positions});
  }
  node.emit<top::RopeOp>({node.in(0), node.in(2), node.in(3), positions},
                         node.attrs()
                             .setBool("interleaved", interleaved)
                             .setInt("num_heads", rank == 3 ? heads : 0)
                             .setInt("rotary_dim", rotary));
}

constexpr OpRow kTransformerRows[] = {
    // ONNX Runtime writes it in the standard domain, for every version.
    {"SimplifiedLayerNormalization", 1, 2, 2, simplifiedLayerNorm, "RMSNorm"},
    {"Attention", 1, 2, 6, fusedAttention,
     "MatMul, Slice, Reshape, Permute, ScaleDotProductAttention", kMicrosoft},
    {"EmbedLayerNormalization", 1, 1, 9, embedLayerNorm, "Gather, Add, LayerNorm", kMicrosoft},
    {"GroupQueryAttention", 1, 1, 17, groupQueryAttention,
     "Reshape, Permute, Rope, ScaleDotProductAttention", kMicrosoft},
    {"MultiHeadAttention", 1, 1, 10, multiHeadAttention,
     "Add, Reshape, Permute, ScaleDotProductAttention", kMicrosoft},
    {"QAttention", 1, 5, 9, qAttention,
     "DequantizeLinear, MatMul, Slice, Reshape, Permute, ScaleDotProductAttention", kMicrosoft},
    {"RotaryEmbedding", 1, 4, 4, fusedRotaryEmbedding, "Add, Rope", kMicrosoft},
    {"SkipLayerNormalization", 1, 3, 5, skipLayerNorm, "Add, LayerNorm", kMicrosoft},
    {"SkipSimplifiedLayerNormalization", 1, 3, 4, skipSimplifiedLayerNorm, "Add, RMSNorm",
     kMicrosoft},
};

} // namespace

ArrayRef<OpRow> tpuc::onnx::transformerRows() { return kTransformerRows; }

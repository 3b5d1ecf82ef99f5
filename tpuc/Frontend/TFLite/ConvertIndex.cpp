//===- ConvertIndex.cpp - Ops that read and write where indices say -----===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Top/IndexOps.h"
#include "tpuc/Dialect/Top/MovementOps.h"
#include "tpuc/Dialect/Top/ReduceOps.h"
#include "tpuc/Dialect/Top/ShapeOps.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Dialect/Top/UnaryOps.h"
#include "tpuc/Frontend/TFLite/TFLiteLayer.h"
#include "tpuc/Support/Convert.h"

#include <fmt/format.h>

using namespace mlir;
using namespace tpuc;
using namespace tpuc::tflite;
using fb::BuiltinOperator;

namespace {

/// Slices of input 0 along an axis. Of batches: element b of the first dimensions has its own
/// indices.
void gather(TFLiteLayer &layer) {
  const auto &options = layer.options<fb::GatherOptions>();
  const int64_t rank = layer.inputRank(0);
  const int64_t axis = frontend::frontAxis(layer, options.axis(), rank);
  int64_t batch = options.batch_dims();
  if (batch < 0)
    batch += layer.inputRank(1);
  if (layer.failed())
    return;
  if (batch == 0) {
    layer.emit<top::GatherOp>({layer.in(0), layer.in(1)}, layer.attrs().setInt("axis", axis));
    return;
  }
  if (batch != axis || batch > layer.inputRank(1))
    return layer.fail(fmt::format("has {} dimensions of batches before axis {}", batch, axis),
                      "none, or as many as the axis");
  // Tuples of one index each.
  Ints indices = layer.shape(1);
  indices.push_back(1);
  layer.emit<top::GatherNDOp>({layer.in(0), layer.reshaped("tuples", layer.in(1), indices)},
                              layer.attrs().setInt("batch_dims", batch));
}

void gatherNd(TFLiteLayer &layer) { layer.emit<top::GatherNDOp>({layer.in(0), layer.in(1)}); }

/// Inputs: indices, updates, shape. Updates of one place are added.
void scatterNd(TFLiteLayer &layer) {
  Ints shape = layer.needInts(2, "shape");
  if (layer.failed())
    return;
  std::optional<DataType> type = dataTypeOf(layer.output(0).type);
  if (!type || llvm::any_of(shape, [](int64_t extent) { return extent < 0; }))
    return layer.fail("has a shape or type that cannot be", "numbers, and extents of 0 or more");
  Expected<Tensor> zeros =
      Tensor::create(*type, std::span<const int64_t>(shape.data(), shape.size()), layer.place());
  if (!zeros)
    return layer.fail(zeros.error().found, zeros.error().expected);
  layer.emit<top::ScatterNDOp>({layer.weight("zeros", *zeros), layer.in(0), layer.in(1)},
                               layer.attrs().setString("reduction", "add"));
}

/// Inputs: indices, depth, the value where the index says, the value elsewhere.
void oneHot(TFLiteLayer &layer) {
  Ints depth = layer.needInts(1, "depth");
  if (layer.failed())
    return;
  if (depth.size() != 1 || depth[0] < 0)
    return layer.fail("has a depth of other than one number", "0 or more");
  auto row = [&](unsigned index, StringRef suffix) {
    return layer.reshaped(suffix, layer.in(index), {1});
  };
  Value values = layer.temp<top::ConcatOp>("values", {row(3, "off"), row(2, "on")},
                                           layer.attrs().setInt("axis", 0));
  Value number = layer.weight("depth", Tensor::of<int64_t>({}, {depth[0]}));
  layer.emit<top::OneHotOp>(
      {layer.in(0), number, values},
      layer.attrs().setInt("axis", layer.options<fb::OneHotOptions>().axis()));
}

/// The coordinates of elements that are not 0, a row for each.
void where(TFLiteLayer &layer) {
  Value columns = layer.temp<top::NonZeroOp>("columns", layer.in(0));
  layer.emit<top::PermuteOp>(columns, layer.attrs().setInts("order", Ints{1, 0}));
}

/// Rows of the table, which is input 1.
void embeddingLookup(TFLiteLayer &layer) {
  layer.emit<top::GatherOp>({layer.in(1), layer.in(0)}, layer.attrs().setInt("axis", 0));
}

void reverseSequence(TFLiteLayer &layer) {
  const auto &options = layer.options<fb::ReverseSequenceOptions>();
  const int64_t rank = layer.inputRank(0);
  const int64_t time = frontend::frontAxis(layer, options.seq_dim(), rank);
  const int64_t batch = frontend::frontAxis(layer, options.batch_dim(), rank);
  layer.emit<top::ReverseSequenceOp>(
      {layer.in(0), layer.cast("lengths", layer.in(1), DataType::I64)},
      layer.attrs().setInt("time_axis", time).setInt("batch_axis", batch));
}

constexpr OpRow kIndexRows[] = {
    {BuiltinOperator::EMBEDDING_LOOKUP, 2, 2, embeddingLookup, "Gather"},
    {BuiltinOperator::GATHER, 2, 2, gather, "Gather; Reshape, GatherND"},
    {BuiltinOperator::GATHER_ND, 2, 2, gatherNd, "GatherND"},
    {BuiltinOperator::ONE_HOT, 4, 4, oneHot, "Concat, OneHot"},
    {BuiltinOperator::REVERSE_SEQUENCE, 2, 2, reverseSequence, "Cast, ReverseSequence"},
    {BuiltinOperator::SCATTER_ND, 3, 3, scatterNd, "ScatterND"},
    {BuiltinOperator::WHERE, 1, 1, where, "NonZero, Permute"},
};

} // namespace

ArrayRef<OpRow> tpuc::tflite::indexRows() { return kIndexRows; }

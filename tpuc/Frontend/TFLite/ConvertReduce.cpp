//===- ConvertReduce.cpp - Reductions, orders, sums along an axis -------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Top/IndexOps.h"
#include "tpuc/Dialect/Top/MovementOps.h"
#include "tpuc/Dialect/Top/ReduceOps.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Dialect/Top/UnaryOps.h"
#include "tpuc/Frontend/TFLite/TFLiteLayer.h"

#include <algorithm>
#include <fmt/format.h>

using namespace mlir;
using namespace tpuc;
using namespace tpuc::tflite;
using fb::BuiltinOperator;

namespace {

/// Which dimensions are reduced, and in which layout. The result has the channels in front only
/// where all dimensions stay.
struct Reduction {
  Layout from = Layout::Source;
  Layout to = Layout::Source;
  Ints axes;
  bool keepDims = false;
};

Reduction readReduction(TFLiteLayer &layer) {
  Reduction made;
  made.keepDims = layer.options<fb::ReducerOptions>().keep_dims();
  Ints axes = layer.needInts(1, "axes");
  const int64_t rank = layer.inputRank(0);
  for (int64_t &axis : axes)
    axis = frontend::frontAxis(layer, axis, rank);
  llvm::sort(axes);
  axes.erase(llvm::unique(axes), axes.end());
  if (layer.layoutOf({0}) == kFront) {
    // What stays, in the order of both layouts.
    Ints left;
    for (int64_t axis : frontOrder(rank))
      if (!llvm::is_contained(axes, axis))
        left.push_back(axis);
    if (made.keepDims || llvm::is_sorted(left)) {
      made.from = kFront;
      made.to = made.keepDims ? kFront : Layout::Source;
    }
  }
  for (int64_t axis : axes)
    made.axes.push_back(made.from == kFront ? frontAxis(axis, rank) : axis);
  llvm::sort(made.axes);
  return made;
}

void reduceAs(TFLiteLayer &layer, StringRef mode) {
  Reduction reduction = readReduction(layer);
  if (layer.failed())
    return;
  Value input = layer.in(0, reduction.from);
  // Without axes the tensor stays.
  if (reduction.axes.empty()) {
    layer.put<top::CopyOp>(reduction.from, input);
    return;
  }
  layer.put<top::ReduceOp>(reduction.to, {input, layer.none()},
                           layer.attrs()
                               .setInts("axes", reduction.axes)
                               .setBool("keepdims", reduction.keepDims)
                               .setString("mode", mode));
}

void mean(TFLiteLayer &layer) { reduceAs(layer, "ReduceMean"); }
void sum(TFLiteLayer &layer) { reduceAs(layer, "ReduceSum"); }
void reduceMax(TFLiteLayer &layer) { reduceAs(layer, "ReduceMax"); }
void reduceMin(TFLiteLayer &layer) { reduceAs(layer, "ReduceMin"); }
void reduceProd(TFLiteLayer &layer) { reduceAs(layer, "ReduceProd"); }

/// Of booleans: the largest or the smallest of them as bytes.
void reduceBool(TFLiteLayer &layer, StringRef mode) {
  Reduction reduction = readReduction(layer);
  Value bytes = layer.cast("bytes", layer.in(0, reduction.from), DataType::I32);
  if (!reduction.axes.empty())
    bytes = layer.temp<top::ReduceOp>("reduced", {bytes, layer.none()},
                                      layer.attrs()
                                          .setInts("axes", reduction.axes)
                                          .setBool("keepdims", reduction.keepDims)
                                          .setString("mode", mode));
  layer.put<top::CastOp>(reduction.axes.empty() ? reduction.from : reduction.to, bytes,
                         layer.attrs().setType("to", elementType(layer.context(), DataType::Bool)));
}

void reduceAny(TFLiteLayer &layer) { reduceBool(layer, "ReduceMax"); }
void reduceAll(TFLiteLayer &layer) { reduceBool(layer, "ReduceMin"); }

/// Output `index` as `value`, which counts in 64 bits, in the type that the source says.
void putIndices(TFLiteLayer &layer, unsigned index, Value value) {
  std::optional<DataType> type = dataTypeOf(layer.output(index).type);
  if (!type || (*type != DataType::I32 && *type != DataType::I64))
    return layer.fail(fmt::format("makes indices of {}", typeName(layer.output(index).type)),
                      "INT32 or INT64");
  layer.emitAs<top::CastOp>(index, value,
                            layer.attrs().setType("to", elementType(layer.context(), *type)));
}

/// The first of equal elements.
void arg(TFLiteLayer &layer, StringRef mode) {
  Ints axes = layer.needInts(1, "axis");
  const int64_t rank = layer.inputRank(0);
  if (layer.failed())
    return;
  int64_t axis = layer.frontAxisOf(axes, rank);
  // The order of what stays is the same in both layouts only where the channels go.
  const bool front = layer.layoutOf({0}) == kFront && axis == rank - 1;
  SmallVector<Value> made =
      layer.temps<top::ArgOp>("place", 2, 1, layer.in(0, front ? kFront : Layout::Source),
                              layer.attrs()
                                  .setInt("axis", front ? 1 : axis)
                                  .setBool("keepdims", false)
                                  .setString("mode", mode)
                                  .setBool("select_last_index", false));
  putIndices(layer, 0, made[0]);
}

void argMax(TFLiteLayer &layer) { arg(layer, "ArgMax"); }
void argMin(TFLiteLayer &layer) { arg(layer, "ArgMin"); }

/// The k largest of the last dimension, in descending order, and where they were.
void topK(TFLiteLayer &layer) {
  Ints count = layer.needInts(1, "k");
  if (layer.failed())
    return;
  if (count.size() != 1 || count[0] < 0)
    return layer.fail("has a k of other than one number", "0 or more");
  SmallVector<Value> made = layer.temps<top::TopKOp>("largest", 2, 2, {layer.in(0), layer.none()},
                                                     layer.attrs()
                                                         .setInt("axis", layer.inputRank(0) - 1)
                                                         .setInt("k", count[0])
                                                         .setBool("largest", true)
                                                         .setBool("sorted", true));
  if (layer.wants(0))
    layer.emitAs<top::CopyOp>(0, made[0], layer.attrs());
  if (layer.wants(1))
    putIndices(layer, 1, made[1]);
}

void cumsum(TFLiteLayer &layer) {
  const auto &options = layer.options<fb::CumsumOptions>();
  Ints axes = layer.needInts(1, "axis");
  if (layer.failed())
    return;
  layer.emit<top::CumSumOp>({layer.in(0), layer.none()},
                            layer.attrs()
                                .setInt("axis", layer.frontAxisOf(axes, layer.inputRank(0)))
                                .setBool("exclusive", options.exclusive())
                                .setBool("reverse", options.reverse()));
}

constexpr OpRow kReduceRows[] = {
    {BuiltinOperator::ARG_MAX, 2, 2, argMax, "Arg, Cast"},
    {BuiltinOperator::ARG_MIN, 2, 2, argMin, "Arg, Cast"},
    {BuiltinOperator::CUMSUM, 2, 2, cumsum, "CumSum"},
    {BuiltinOperator::MEAN, 2, 2, mean, "Reduce"},
    {BuiltinOperator::REDUCE_ALL, 2, 2, reduceAll, "Cast, Reduce"},
    {BuiltinOperator::REDUCE_ANY, 2, 2, reduceAny, "Cast, Reduce"},
    {BuiltinOperator::REDUCE_MAX, 2, 2, reduceMax, "Reduce"},
    {BuiltinOperator::REDUCE_MIN, 2, 2, reduceMin, "Reduce"},
    {BuiltinOperator::REDUCE_PROD, 2, 2, reduceProd, "Reduce"},
    {BuiltinOperator::SUM, 2, 2, sum, "Reduce"},
    {BuiltinOperator::TOPK_V2, 2, 2, topK, "TopK, Cast"},
};

} // namespace

ArrayRef<OpRow> tpuc::tflite::reduceRows() { return kReduceRows; }

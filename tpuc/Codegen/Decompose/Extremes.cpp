//===- Extremes.cpp - Extremes of rows and where they are ----------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Decompose/Extremes.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Dialect/Tpu/BinaryOps.h"
#include "tpuc/Dialect/Tpu/ReduceOps.h"
#include "tpuc/Support/Convert.h"

#include <limits>
#include <string>

using namespace mlir;
using namespace tpuc;
using namespace tpuc::codegen;

namespace {

/// Finds one extreme after the other.
class ExtremeFinder {
public:
  ExtremeFinder(OpMaker &maker, Value numbers, const ExtremeKind &kind)
      : maker(maker), kind(kind), left(numbers) {
    const size_t rank = OpMaker::dimsOf(numbers).size();
    const int64_t count = OpMaker::dimsOf(numbers)[kind.axis];
    SmallVector<int64_t> row(rank, 1);
    row[kind.axis] = count;
    Tensor all(DataType::F32, Shape(std::span(row.data(), row.size())));
    for (auto [place, number] : llvm::enumerate(all.mutableData<float>()))
      number = static_cast<float>(place);
    allPlaces = places = weight(all, "all_places", kind.placeType);
    noPlace =
        number("no_place", kind.isLast ? 0.0F : static_cast<float>(count - 1), kind.placeType);
  }

  /// The extreme of what is left. Its names end with `what`.
  Extremes find(const std::string &what) {
    const Value extreme =
        reduced(left, kind.isLargest ? "ReduceMax" : "ReduceMin", "extreme" + what);
    const Value isExtreme = equal(left, extreme, "is_extreme" + what);
    const Value chosen = choice(isExtreme, places, noPlace, kind.placeType, "places" + what);
    return {extreme, reduced(chosen, kind.isLast ? "ReduceMax" : "ReduceMin", "place" + what)};
  }

  /// What is at `place` is not found again, even where all that is left is infinite.
  void take(Value place, const std::string &what) {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    const Type element = OpMaker::typeOf(left).getElementType();
    const Value isTaken = equal(allPlaces, place, "is_taken" + what);
    const Value worst = number("worst" + what, kind.isLargest ? -kInfinity : kInfinity, element);
    left = choice(isTaken, worst, left, element, "left" + what);
    places = choice(isTaken, noPlace, places, kind.placeType, "places_left" + what);
  }

private:
  Value weight(const Tensor &tensor, StringRef what, Type element) {
    return maker.weight(tpuc::convert(tensor, *storageDataType(element)), what);
  }
  Value number(StringRef what, float value, Type element) {
    Tensor tensor(DataType::F32, Shape(SmallVector<int64_t>(OpMaker::dimsOf(left).size(), 1)));
    tensor.mutableData<float>()[0] = value;
    return weight(tensor, what, element);
  }
  Value reduced(Value value, StringRef mode, StringRef what) {
    OpBuilder &builder = maker.builder;
    SmallVector<int64_t> dims(OpMaker::dimsOf(left));
    dims[kind.axis] = 1;
    NamedAttrList attributes;
    attributes.set("mode", builder.getStringAttr(mode));
    attributes.set("axes", builder.getI64ArrayAttr(static_cast<int64_t>(kind.axis)));
    attributes.set("keepdims", builder.getBoolAttr(true));
    return maker.make<tpu::ReduceOp>(what, dims, {value, maker.none()}, attributes);
  }
  /// Of the dimensions of the numbers, whatever the operands repeat.
  Value equal(Value first, Value second, StringRef what) {
    NamedAttrList attributes;
    attributes.set("mode", maker.builder.getStringAttr("Equal"));
    return maker.make(tpu::CompareOp::getOperationName(), what,
                      Type(OpMaker::typeOf(left).clone(maker.builder.getI1Type())), {first, second},
                      attributes);
  }
  Value choice(Value condition, Value ifTrue, Value ifFalse, Type element, StringRef what) {
    return maker.make(tpu::WhereOp::getOperationName(), what,
                      Type(OpMaker::typeOf(left).clone(element)), {condition, ifTrue, ifFalse}, {});
  }

  OpMaker &maker;
  const ExtremeKind &kind;
  Value left, allPlaces, places, noPlace;
};

} // namespace

Extremes codegen::extremesOf(OpMaker &maker, Value numbers, const ExtremeKind &kind,
                             int64_t count) {
  ExtremeFinder finder(maker, numbers, kind);
  SmallVector<Value> found, places;
  for (int64_t round = 0; round < count; ++round) {
    const std::string what = round == 0 ? "" : "_" + std::to_string(round);
    const Extremes extreme = finder.find(what);
    found.push_back(extreme.numbers);
    places.push_back(extreme.places);
    if (round + 1 < count)
      finder.take(extreme.places, what);
  }
  const auto axis = static_cast<int64_t>(kind.axis);
  return {maker.joined(found, axis, "extremes"), maker.joined(places, axis, "all_found")};
}

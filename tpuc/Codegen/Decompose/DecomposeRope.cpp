//===- DecomposeRope.cpp - Rotary positions as products -----------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Decompose/Decompositions.h"
#include "tpuc/Dialect/Tpu/AttentionOps.h"
#include "tpuc/Dialect/Tpu/BinaryOps.h"
#include "tpuc/Dialect/Tpu/IndexOps.h"
#include "tpuc/Dialect/Tpu/MatrixOps.h"
#include "tpuc/Support/Convert.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::codegen;

namespace {

/// The elements of a head: pairs among the first `turned` of `width`.
struct Pairs {
  int64_t width, turned;
  bool isInterleaved;

  int64_t pairOf(int64_t element) const {
    return isInterleaved ? element / 2 : element % (turned / 2);
  }
  bool isFirst(int64_t element) const {
    return isInterleaved ? element % 2 == 0 : element < turned / 2;
  }
  int64_t partnerOf(int64_t element) const {
    const int64_t distance = isInterleaved ? 1 : turned / 2;
    return isFirst(element) ? element + distance : element - distance;
  }
};

/// [heads * width, heads * width]: each element's partner, negative for the first ones; 0 for those
/// that stay and between heads.
Tensor partners(const Pairs &pairs, int64_t heads) {
  const int64_t width = heads * pairs.width;
  const std::array<int64_t, 2> dims = {width, width};
  Tensor matrix(DataType::F32, Shape(std::span(dims)));
  const auto values = matrix.mutableData<float>();
  std::ranges::fill(values, 0.0F);
  for (int64_t first = 0; first < width; first += pairs.width)
    for (int64_t column = 0; column < pairs.turned; ++column)
      values[static_cast<size_t>((first + pairs.partnerOf(column)) * width + first + column)] =
          pairs.isFirst(column) ? -1.0F : 1.0F;
  return matrix;
}

/// Rows of angles of pairs as rows of elements, of `heads` heads; `rest` for the elements that
/// stay. `dims` are those of the result.
Tensor spread(const Tensor &angles, const Pairs &pairs, int64_t heads, float rest,
              ArrayRef<int64_t> dims) {
  Tensor made(DataType::F32, Shape(std::span(dims.data(), dims.size())));
  const Tensor numbers = convert(angles, DataType::F32);
  const auto from = numbers.data<float>();
  const auto to = made.mutableData<float>();
  const int64_t half = pairs.turned / 2;
  for (int64_t row = 0; row < std::ssize(from) / half; ++row)
    for (int64_t column = 0; column < heads * pairs.width; ++column) {
      const int64_t element = column % pairs.width;
      to[static_cast<size_t>(row * heads * pairs.width + column)] =
          element < pairs.turned ? from[static_cast<size_t>(row * half + pairs.pairOf(element))]
                                 : rest;
    }
  return made;
}

/// [turned / 2, heads * width]: the elements that each pair's angle belongs to.
Tensor elementsOf(const Pairs &pairs, int64_t heads) {
  const int64_t half = pairs.turned / 2;
  const std::array<int64_t, 2> dims = {half, heads * pairs.width};
  Tensor matrix(DataType::F32, Shape(std::span(dims)));
  const auto values = matrix.mutableData<float>();
  for (int64_t row = 0; row < half; ++row)
    for (int64_t column = 0; column < dims[1]; ++column) {
      const int64_t element = column % pairs.width;
      values[static_cast<size_t>(row * dims[1] + column)] =
          element < pairs.turned && pairs.pairOf(element) == row ? 1.0F : 0.0F;
    }
  return matrix;
}

/// `rest` for the elements that stay, 0 for the others.
Tensor restOf(const Pairs &pairs, int64_t heads, float rest) {
  const std::array<int64_t, 1> dims = {heads * pairs.width};
  Tensor row(DataType::F32, Shape(std::span(dims)));
  const auto values = row.mutableData<float>();
  for (int64_t column = 0; column < dims[0]; ++column)
    values[static_cast<size_t>(column)] = column % pairs.width < pairs.turned ? 0.0F : rest;
  return row;
}

/// The factors of one kind, cosines or sines, for the elements of `heads` heads.
class Factors {
public:
  Factors(OpMaker &maker, tpu::RopeOp op, const Pairs &pairs, int64_t heads)
      : maker(maker), op(op), pairs(pairs), heads(heads) {}

  /// `angles` of pairs as rows of elements; `rest` for the elements that stay. `dims` are those of
  /// the result.
  Value spread(Value angles, float rest, ArrayRef<int64_t> dims, const Twine &what);

private:
  bool hasPositions() { return !isa<NoneType>(op.getPositions().getType()); }
  /// The rows that the positions name.
  Value rowsAt(Value table, const Twine &what);

  OpMaker &maker;
  tpu::RopeOp op;
  const Pairs &pairs;
  int64_t heads;
};

Value Factors::rowsAt(Value table, const Twine &what) {
  SmallVector<int64_t> dims(OpMaker::dimsOf(op.getPositions()));
  dims.push_back(OpMaker::dimsOf(table).back());
  NamedAttrList attributes;
  attributes.set("axis", maker.builder.getI64IntegerAttr(0));
  return maker.make<tpu::GatherOp>((what + "_rows").str(), dims, {table, op.getPositions()},
                                   attributes);
}

Value Factors::spread(Value angles, float rest, ArrayRef<int64_t> dims, const Twine &what) {
  const int64_t width = heads * pairs.width;
  const std::string name = (what + "_spread").str();
  const Value like = op.getInput();
  if (const std::optional<Tensor> constant = OpMaker::constantOf(angles)) {
    if (!hasPositions())
      return maker.weight(::spread(*constant, pairs, heads, rest, dims), name, like);
    const std::array<int64_t, 2> table = {constant->shape()[0], width};
    const Value rows = maker.weight(::spread(*constant, pairs, heads, rest, table), name, like);
    return maker.reshaped(rowsAt(rows, what), dims, (what + "_factors").str());
  }
  // A product with a matrix of 0 and 1 repeats elements exactly.
  Value rows =
      maker.converted(angles, OpMaker::typeOf(like).getElementType(), (what + "_angles").str());
  if (hasPositions())
    rows = rowsAt(rows, what);
  const int64_t half = pairs.turned / 2;
  const int64_t count = OpMaker::typeOf(rows).getNumElements() / half;
  rows = maker.reshaped(rows, {count, half}, (what + "_pairs").str());
  const bool isMoved = rest != 0 && pairs.turned < pairs.width;
  const Value bias =
      isMoved ? maker.weight(restOf(pairs, heads, rest), (what + "_rest").str()) : maker.none();
  rows = maker.make<tpu::MatMulOp>(
      name, {count, width},
      {rows, maker.weight(elementsOf(pairs, heads), (what + "_elements").str(), like), bias});
  return maker.reshaped(rows, dims, (what + "_factors").str());
}

} // namespace

bool codegen::canTurnRows(int64_t rows, int64_t width) {
  constexpr int64_t kMostWidth = 1024, kMostWidths = 8;
  return width <= std::min(kMostWidth, kMostWidths * rows);
}

/// x * cos + partner(x) * sin, the partners by a product with a matrix of 0, 1 and -1: so all of it
/// is computed where the rows lie, and nothing is moved.
bool codegen::decomposeRope(OpMaker &maker) {
  auto op = dyn_cast<tpu::RopeOp>(maker.op);
  if (!op || !OpMaker::isFloat(op.getInput()) || !OpMaker::isFloat(op.getCos()) ||
      !OpMaker::isFloat(op.getSin()))
    return false;
  // [B, H, S, D] or [B, S, H, D].
  SmallVector<int64_t> dims(OpMaker::dimsOf(op.getInput()));
  const bool areStepsFirst = dims.size() == 3;
  const auto heads = static_cast<int64_t>(op.getNumHeads());
  if (areStepsFirst) {
    if (heads == 0 || dims[2] % heads != 0)
      return false;
    dims = {dims[0], dims[1], heads, dims[2] / heads};
  }
  const auto turned = static_cast<int64_t>(op.getRotaryDim());
  const Pairs pairs{dims[3], turned == 0 ? dims[3] : turned, op.getInterleaved()};
  const bool hasPositions = !isa<NoneType>(op.getPositions().getType());
  const ArrayRef<int64_t> angles = OpMaker::dimsOf(op.getCos());
  if (pairs.turned < 2 || pairs.turned % 2 != 0 || pairs.turned > pairs.width ||
      angles.size() != (hasPositions ? 2 : 3) || angles.back() != pairs.turned / 2 ||
      OpMaker::dimsOf(op.getSin()) != angles)
    return false;
  // Of positions, each sample has its own.
  const int64_t samples = hasPositions ? dims[0] : angles[0];
  const int64_t steps = dims[areStepsFirst ? 1 : 2];
  // Rows of all heads stay so where the product does not grow too much by the heads' number.
  const bool areRows = areStepsFirst && canTurnRows(dims[0] * dims[1], heads * dims[3]);
  const int64_t joined = areRows ? heads : 1;
  SmallVector<int64_t> factorDims = {samples, 1, steps, pairs.width};
  if (areRows)
    factorDims = {samples, steps, heads * pairs.width};
  else if (areStepsFirst)
    std::swap(factorDims[1], factorDims[2]);
  if (areRows)
    dims = {dims[0], dims[1], heads * pairs.width};
  const Value input = areRows ? op.getInput() : maker.reshaped(op.getInput(), dims, "heads");
  const int64_t width = dims.back();
  const Value rows =
      areRows
          ? input
          : maker.reshaped(input, {OpMaker::typeOf(input).getNumElements() / width, width}, "rows");
  const Value partner = maker.reshaped(
      maker.makeLike<tpu::MatMulOp>(
          "partner_rows",
          {rows, maker.weight(partners(pairs, joined), "partners", input), maker.none()}),
      dims, "partner");
  Factors factors(maker, op, pairs, joined);
  const Value kept = maker.makeLike<tpu::MulOp>(
      "kept", {input, factors.spread(op.getCos(), 1, factorDims, "cos")});
  const Value crossed = maker.makeLike<tpu::MulOp>(
      "crossed", {partner, factors.spread(op.getSin(), 0, factorDims, "sin")});
  maker.replace(0, maker.finished(maker.makeLike<tpu::AddOp>("turned", {kept, crossed}), 0));
  return true;
}

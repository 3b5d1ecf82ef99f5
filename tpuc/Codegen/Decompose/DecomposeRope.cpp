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

} // namespace

bool codegen::canTurnRows(int64_t rows, int64_t width) {
  constexpr int64_t kMostWidth = 1024, kMostWidths = 8;
  return width <= std::min(kMostWidth, kMostWidths * rows);
}

/// x * cos + partner(x) * sin, the partners by a product with a matrix of 0, 1 and -1: so all of it
/// is computed where the rows lie, and nothing is moved. Of constant angles without positions.
bool codegen::decomposeRope(OpMaker &maker) {
  auto op = dyn_cast<tpu::RopeOp>(maker.op);
  if (!op || !OpMaker::isFloat(op.getInput()) || !isa<NoneType>(op.getPositions().getType()))
    return false;
  const std::optional<Tensor> cos = OpMaker::constantOf(op.getCos());
  const std::optional<Tensor> sin = OpMaker::constantOf(op.getSin());
  if (!cos || !sin || cos->shape().rank() != 3 || sin->shape() != cos->shape())
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
  const auto angles = cos->shape().dims();
  if (pairs.turned % 2 != 0 || pairs.turned > pairs.width || angles[2] != pairs.turned / 2)
    return false;
  // Rows of all heads stay so where the product does not grow too much by the heads' number.
  const bool areRows = areStepsFirst && canTurnRows(dims[0] * dims[1], heads * dims[3]);
  const int64_t joined = areRows ? heads : 1;
  SmallVector<int64_t> factorDims = {angles[0], 1, angles[1], pairs.width};
  if (areRows)
    factorDims = {angles[0], angles[1], heads * pairs.width};
  else if (areStepsFirst)
    std::swap(factorDims[1], factorDims[2]);
  if (areRows)
    dims = {dims[0], dims[1], heads * pairs.width};
  const Value input = areRows ? op.getInput() : maker.reshaped(op.getInput(), dims, "heads");
  const auto factor = [&](const Tensor &tensor, float rest, StringRef what) {
    return maker.weight(spread(tensor, pairs, joined, rest, factorDims), what, input);
  };
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
  const Value kept = maker.makeLike<tpu::MulOp>("kept", {input, factor(*cos, 1, "cos_spread")});
  const Value crossed =
      maker.makeLike<tpu::MulOp>("crossed", {partner, factor(*sin, 0, "sin_spread")});
  maker.replace(0, maker.finished(maker.makeLike<tpu::AddOp>("turned", {kept, crossed}), 0));
  return true;
}

//===- FuseUnfold.cpp - Windows that each have weights of their own --------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Convolutions over sequences may have computed weights, others for each step and head. Networks
// unfold the steps under all taps to matrices, and multiply each with a column of weights:
//
//   y[t, h, d] = sum over j of x[t + j - p, h, d] w[t, h, j]
//
// A matrix for each step and head has short rows, which cost as much as long ones. The same is a
// sum of as many products as there are taps. Channels lie over lanes: a convolution with 1 at one
// tap shifts the steps, and one with 1 for the channels of each head repeats the weights. Both are
// exact.
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Top/BinaryOps.h"
#include "tpuc/Dialect/Top/ConvolutionOps.h"
#include "tpuc/Dialect/Top/IndexOps.h"
#include "tpuc/Dialect/Top/MatrixOps.h"
#include "tpuc/Dialect/Top/MovementOps.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Support/PermutedPlaces.h"
#include "tpuc/Transforms/Fusions.h"
#include "tpuc/Transforms/HeadViews.h"
#include "tpuc/Transforms/Matching.h"

#include <numeric>

using namespace mlir;
using namespace tpuc;
using namespace tpuc::top;

namespace {

/// More elements are not followed, and more taps are better products of matrices.
constexpr int64_t kMostUnfolded = int64_t(1) << 23, kMostTaps = 16;
/// In front of what a pad begins with.
constexpr int32_t kZero = -1;

/// Where each element of a tensor stands in another one, or kZero.
struct Places {
  Value source;
  std::vector<int32_t> of;
};

/// The elements of [outer, extent, inner] as [outer, indices, inner]; those of kZero are 0.
std::vector<int32_t> picked(const std::vector<int32_t> &places, size_t outer, size_t extent,
                            size_t inner, ArrayRef<int64_t> indices) {
  std::vector<int32_t> made;
  made.reserve(outer * indices.size() * inner);
  for (size_t block = 0; block < outer; ++block)
    for (const int64_t index : indices) {
      const auto from =
          places.begin() +
          static_cast<ptrdiff_t>(
              (block * extent + static_cast<size_t>(std::max<int64_t>(index, 0))) * inner);
      if (index < 0)
        made.insert(made.end(), inner, kZero);
      else
        made.insert(made.end(), from, from + static_cast<ptrdiff_t>(inner));
    }
  return made;
}

std::vector<int32_t> pickedAlong(const std::vector<int32_t> &places, ArrayRef<int64_t> dims,
                                 size_t axis, ArrayRef<int64_t> indices) {
  const auto count = [](ArrayRef<int64_t> extents) {
    return static_cast<size_t>(ShapedType::getNumElements(extents));
  };
  return picked(places, count(dims.take_front(axis)), static_cast<size_t>(dims[axis]),
                count(dims.drop_front(axis + 1)), indices);
}

/// Where the elements of `value` come from, behind moves; none where that is not constant.
std::optional<Places> placesOf(Value value, bool &isUnfolded) {
  const std::optional<Dims> dims = dimsOf(value);
  if (!dims || ShapedType::isDynamicShape(*dims) ||
      ShapedType::getNumElements(*dims) > kMostUnfolded || dims->empty())
    return std::nullopt;
  Operation *op = value.getDefiningOp();
  if (isReshape(op))
    return placesOf(op->getOperand(0), isUnfolded);
  if (!isa_and_nonnull<PermuteOp, GatherOp, PadOp>(op)) {
    Places own{value, std::vector<int32_t>(static_cast<size_t>(ShapedType::getNumElements(*dims)))};
    std::iota(own.of.begin(), own.of.end(), 0);
    return own;
  }
  std::optional<Places> places = placesOf(op->getOperand(0), isUnfolded);
  const std::optional<Dims> from = dimsOf(op->getOperand(0));
  if (!places || !from || from->empty())
    return std::nullopt;
  if (auto permute = dyn_cast<PermuteOp>(op)) {
    places->of = permutedPlaces(places->of, *from, toInts(permute.getOrder()));
    return places;
  }
  if (auto gather = dyn_cast<GatherOp>(op)) {
    std::optional<Dims> indices = constantInts(gather.getIndices());
    if (!indices)
      return std::nullopt;
    const auto axis = static_cast<size_t>(
        frontAxis(static_cast<int64_t>(gather.getAxis()), static_cast<int64_t>(from->size())));
    for (int64_t &index : *indices) {
      index = frontAxis(index, (*from)[axis]);
      if (index < 0 || index >= (*from)[axis])
        return std::nullopt;
    }
    isUnfolded |= static_cast<int64_t>(indices->size()) > (*from)[axis];
    places->of = pickedAlong(places->of, *from, axis, *indices);
    return places;
  }
  auto pad = cast<PadOp>(op);
  const std::optional<Dims> pads = intsOf(pad.getPaddings(), pad.getPaddingsTensor());
  if (!pads || pads->size() != 2 * from->size() || pad.getMode() != "constant" ||
      pad.getVal().convertToDouble() != 0 || isPresent(pad.getValTensor()) ||
      isPresent(pad.getAxesTensor()))
    return std::nullopt;
  Dims padded = *from;
  for (size_t axis = 0; axis < from->size(); ++axis) {
    Dims indices;
    for (int64_t index = -(*pads)[axis]; index < padded[axis] + (*pads)[from->size() + axis];
         ++index)
      indices.push_back(index < padded[axis] ? index : int64_t(kZero));
    places->of = pickedAlong(places->of, padded, axis, indices);
    padded[axis] = static_cast<int64_t>(indices.size());
  }
  return places;
}

/// Taps of sequences [samples, steps, channels], or with channels in front of the steps.
struct Taps {
  Value source;
  bool areRows;
  int64_t samples, steps, channels, heads;
  SmallVector<int64_t> offsets; ///< Of each tap, from the step that it is for.

  int64_t width() const { return channels / heads; }
  int64_t place(int64_t sample, int64_t step, int64_t channel) const {
    return areRows ? (sample * steps + step) * channels + channel
                   : (sample * channels + channel) * steps + step;
  }
};

/// The taps that matrices [samples * steps * heads, width, taps] are of a sequence; none where
/// they are something else.
std::optional<Taps> tapsOf(Value matrices) {
  const std::optional<Dims> dims = dimsOf(matrices);
  if (!dims || dims->size() != 3 || ShapedType::isDynamicShape(*dims) || (*dims)[2] < 2 ||
      (*dims)[2] > kMostTaps)
    return std::nullopt;
  bool isUnfolded = false;
  const std::optional<Places> places = placesOf(matrices, isUnfolded);
  const std::optional<Dims> source = places ? dimsOf(places->source) : std::nullopt;
  if (!source || !isUnfolded || source->size() != 3)
    return std::nullopt;
  for (const bool areRows : {true, false}) {
    Taps taps{places->source,
              areRows,
              source->front(),
              (*source)[areRows ? 1 : 2],
              (*source)[areRows ? 2 : 1],
              0,
              {}};
    if ((*dims)[0] % (taps.samples * taps.steps) != 0)
      continue;
    taps.heads = (*dims)[0] / (taps.samples * taps.steps);
    if (taps.heads * (*dims)[1] != taps.channels)
      continue;
    const auto at = [&](int64_t sample, int64_t step, int64_t channel, int64_t tap) {
      return places->of[static_cast<size_t>(
          ((sample * taps.steps + step) * taps.channels + channel) * (*dims)[2] + tap)];
    };
    bool isRight = true;
    for (int64_t tap = 0; tap < (*dims)[2] && isRight; ++tap) {
      // What the first step sees, or how many do not see the first one.
      int64_t offset = 0;
      while (offset < taps.steps && at(0, offset, 0, tap) == kZero)
        ++offset;
      offset = offset > 0 ? -offset : 0;
      if (offset == 0)
        while (offset < taps.steps && at(0, 0, 0, tap) != taps.place(0, offset, 0))
          ++offset;
      taps.offsets.push_back(offset);
      for (int64_t sample = 0; sample < taps.samples && isRight; ++sample)
        for (int64_t step = 0; step < taps.steps && isRight; ++step)
          for (int64_t channel = 0; channel < taps.channels && isRight; ++channel) {
            const int64_t seen = step + offset;
            isRight = at(sample, step, channel, tap) ==
                      (seen < 0 || seen >= taps.steps ? kZero : taps.place(sample, seen, channel));
          }
    }
    if (isRight)
      return taps;
  }
  return std::nullopt;
}

/// Makes the sum of products.
class TapMaker {
public:
  TapMaker(PatternRewriter &rewriter, MatMulOp root, const Taps &taps)
      : rewriter(rewriter), root(root), taps(taps) {}

  Value made();

private:
  Location named(const Twine &suffix) { return locWith(rewriter, root, suffix.str()); }
  Type typeOf(int64_t channels) {
    return RankedTensorType::get({taps.samples, channels, taps.steps}, rewriter.getF32Type());
  }
  Value convolved(const Twine &suffix, Value input, int64_t channels, const Dims &dims,
                  const Doubles &filter, int64_t group, std::array<int64_t, 2> pads);

  PatternRewriter &rewriter;
  MatMulOp root;
  const Taps &taps;
};

Value TapMaker::convolved(const Twine &suffix, Value input, int64_t channels, const Dims &dims,
                          const Doubles &filter, int64_t group, std::array<int64_t, 2> pads) {
  const Value weight = makeWeight(rewriter, root, (suffix + "_filter").str(), dims, filter);
  const auto attribute = [&](StringRef name, ArrayRef<int64_t> values) {
    return rewriter.getNamedAttr(name, rewriter.getI64ArrayAttr(values));
  };
  return rewriter
      .create<ConvOp>(named(suffix), TypeRange(typeOf(channels)),
                      ValueRange{input, weight, makeNone(rewriter, root.getLoc())},
                      ArrayRef{attribute("kernel_shape", dims.back()), attribute("pads", pads),
                               attribute("strides", 1), attribute("dilations", 1),
                               rewriter.getNamedAttr("group", rewriter.getI64IntegerAttr(group))})
      .getOutput();
}

Value TapMaker::made() {
  const auto count = static_cast<int64_t>(taps.offsets.size());
  const auto turned = [&](const Twine &suffix, Value rows) {
    return permuted(rewriter, named(suffix), rows, {0, 2, 1});
  };
  const Value sequence = taps.areRows ? turned("_channels", taps.source) : taps.source;
  const Value weights =
      turned("_weights", reshaped(rewriter, named("_weight_rows"), root.getRight(),
                                  {taps.samples, taps.steps, taps.heads * count}));
  SmallVector<Value> products;
  for (int64_t tap = 0; tap < count; ++tap) {
    const std::string suffix = "_tap" + std::to_string(tap);
    Value shifted = sequence;
    if (const int64_t offset = taps.offsets[static_cast<size_t>(tap)]; offset != 0) {
      const int64_t length = std::abs(offset) + 1;
      Doubles filter(static_cast<size_t>(taps.channels * length), 0);
      for (int64_t channel = 0; channel < taps.channels; ++channel)
        filter[static_cast<size_t>(channel * length + (offset < 0 ? 0 : offset))] = 1;
      shifted = convolved(suffix + "_shifted", sequence, taps.channels, {taps.channels, 1, length},
                          filter, taps.channels,
                          {std::max<int64_t>(-offset, 0), std::max<int64_t>(offset, 0)});
    }
    const int64_t inputs = taps.heads * count;
    Doubles ofHeads(static_cast<size_t>(taps.channels * inputs), 0);
    for (int64_t channel = 0; channel < taps.channels; ++channel)
      ofHeads[static_cast<size_t>(channel * inputs + channel / taps.width() * count + tap)] = 1;
    const Value repeated = convolved(suffix + "_weights", weights, taps.channels,
                                     {taps.channels, inputs, 1}, ofHeads, 1, {0, 0});
    products.push_back(rewriter.create<MulOp>(named(suffix), TypeRange(typeOf(taps.channels)),
                                              ValueRange{shifted, repeated}));
  }
  // Sums of two are added, and so on: integers round less often on the way.
  for (int64_t round = 0; products.size() > 1; ++round) {
    SmallVector<Value> sums;
    for (size_t index = 0; index < products.size(); index += 2)
      sums.push_back(
          index + 1 == products.size()
              ? products[index]
              : rewriter.create<AddOp>(named("_sum" + Twine(round) + "_" + Twine(index / 2)),
                                       TypeRange(typeOf(taps.channels)),
                                       ValueRange{products[index], products[index + 1]}));
    products = sums;
  }
  return permuted(rewriter, named("_rows"), products.front(), {0, 2, 1});
}

} // namespace

/// MatMul(x, w) of steps [S * T * H, D, K] under K taps, and a column of weights for each
/// -> sum of Mul(Conv(x), Conv(w))
static LogicalResult unfoldedTaps(MatMulOp op, PatternRewriter &rewriter) {
  const std::optional<Dims> columns = dimsOf(op.getRight());
  if (!isPlain(op) || op.getLeftTranspose() || op.getRightTranspose() || isPresent(op.getBias()) ||
      !isF32(op.getOutput()) || !columns || columns->size() != 3 || columns->back() != 1 ||
      !op.getInput().hasOneUse() || op.getRight().getDefiningOp<WeightOp>())
    return failure();
  const std::optional<Taps> taps = tapsOf(op.getInput());
  if (!taps || columns->front() != taps->samples * taps->steps * taps->heads)
    return failure();
  const Value rows = TapMaker(rewriter, op, *taps).made();
  rewriter.replaceOp(op, reshaped(rewriter, op.getLoc(), rows, *dimsOf(op.getOutput())));
  return success();
}

ArrayRef<Fusion> tpuc::unfoldFusions() {
  static constexpr Fusion kFusions[] = {
      fusion<unfoldedTaps>("unfolded-taps"),
  };
  return kFusions;
}

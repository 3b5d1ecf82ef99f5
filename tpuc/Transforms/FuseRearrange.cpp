//===- FuseRearrange.cpp - Blocks of pixels and groups of channels ------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Top/BinaryOps.h"
#include "tpuc/Dialect/Top/ConvolutionOps.h"
#include "tpuc/Dialect/Top/IndexOps.h"
#include "tpuc/Dialect/Top/MovementOps.h"
#include "tpuc/Dialect/Top/NormOps.h"
#include "tpuc/Dialect/Top/OpChecks.h"
#include "tpuc/Dialect/Top/ReduceOps.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Interpreter/Evaluate.h"
#include "tpuc/Transforms/Fusions.h"
#include "tpuc/Transforms/Matching.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::top;

//===----------------------------------------------------------------------===//
// Reshape, Permute, Reshape
//===----------------------------------------------------------------------===//

namespace {

/// Reshape(Permute(Reshape(x))), all of known shapes.
struct Rearrangement {
  Value input;
  Dims from;
  Dims middle;
  Dims order;
  Dims to;
};

struct Blocks {
  int64_t height;
  int64_t width;
  bool isCrd;
  bool isInversed;
};

} // namespace

/// The extents, all of which are known; none if one is not.
static std::optional<Dims> staticDimsOf(Value value) {
  std::optional<Dims> dims = dimsOf(value);
  return dims && !llvm::is_contained(*dims, kDynamic) ? dims : std::nullopt;
}

static std::optional<Rearrangement> rearrangementOf(ReshapeOp op) {
  auto permute = producerFor<PermuteOp>(op.getInput(), op);
  auto reshape = permute ? producerFor<ReshapeOp>(permute.getInput(), permute) : ReshapeOp();
  if (!reshape || staticElements(reshape.getInput()) == 0 ||
      staticElements(reshape.getOutput()) == 0 || staticElements(op.getOutput()) == 0)
    return std::nullopt;
  return Rearrangement{reshape.getInput(), *dimsOf(reshape.getInput()),
                       *dimsOf(reshape.getOutput()), toInts(permute.getOrder()),
                       *dimsOf(op.getOutput())};
}

/// Of [N, C, H, W] with channels that become blocks, or blocks that become channels.
static std::optional<Blocks> blocksOf(const Rearrangement &moves) {
  const Dims &d = moves.middle;
  if (moves.from.size() != 4 || d.size() != 6 || moves.to.size() != 4)
    return std::nullopt;
  for (bool isCrd : {false, true}) {
    // [N, c, bh, bw, H, W] or [N, bh, bw, c, H, W] to [N, c, H, bh, W, bw]
    Dims upwards = isCrd ? Dims{0, 1, 4, 2, 5, 3} : Dims{0, 3, 4, 1, 5, 2};
    if (moves.order == upwards) {
      int64_t c = isCrd ? d[1] : d[3];
      int64_t bh = isCrd ? d[2] : d[1];
      int64_t bw = isCrd ? d[3] : d[2];
      if (moves.from == Dims{d[0], c * bh * bw, d[4], d[5]} &&
          moves.to == Dims{d[0], c, d[4] * bh, d[5] * bw})
        return Blocks{bh, bw, isCrd, false};
    }
    // [N, c, H, bh, W, bw] to [N, c, bh, bw, H, W] or [N, bh, bw, c, H, W]
    Dims downwards = isCrd ? Dims{0, 1, 3, 5, 2, 4} : Dims{0, 3, 5, 1, 2, 4};
    if (moves.order == downwards && moves.from == Dims{d[0], d[1], d[2] * d[3], d[4] * d[5]} &&
        moves.to == Dims{d[0], d[1] * d[3] * d[5], d[2], d[4]})
      return Blocks{d[3], d[5], isCrd, true};
  }
  return std::nullopt;
}

static Depth2SpaceOp makeDepth2Space(PatternRewriter &rewriter, Location loc, Type type,
                                     Value input, const Blocks &blocks) {
  return rewriter.create<Depth2SpaceOp>(loc, type, input, rewriter.getI64IntegerAttr(blocks.height),
                                        rewriter.getI64IntegerAttr(blocks.width),
                                        rewriter.getBoolAttr(blocks.isCrd),
                                        rewriter.getBoolAttr(blocks.isInversed));
}

/// Reshape(Permute(Reshape(x))) -> Depth2Space(x), where blocks of channels become blocks of pixels
/// or the other way round
static LogicalResult toDepth2Space(ReshapeOp op, PatternRewriter &rewriter) {
  std::optional<Rearrangement> moves = rearrangementOf(op);
  std::optional<Blocks> blocks = moves ? blocksOf(*moves) : std::nullopt;
  if (!blocks)
    return failure();
  auto made = makeDepth2Space(rewriter, op.getLoc(), op.getType(), moves->input, *blocks);
  rewriter.replaceOp(op, made->getResults());
  return success();
}

/// Of a gather along `axis` by indices [n, extent / n] that take every n-th element, from each of
/// the first n on: n. None for others.
static std::optional<int64_t> phasesAlong(GatherOp gather, int64_t axis) {
  std::optional<Dims> indices = gather ? constantInts(gather.getIndices()) : std::nullopt;
  std::optional<Dims> dims = indices ? staticDimsOf(gather.getInput()) : std::nullopt;
  std::optional<Dims> shape = indices ? dimsOf(gather.getIndices()) : std::nullopt;
  if (!dims || !shape || shape->size() != 2)
    return std::nullopt;
  const auto rank = static_cast<int64_t>(dims->size());
  const auto along = static_cast<int64_t>(gather.getAxis());
  const int64_t phases = (*shape)[0], count = (*shape)[1];
  if ((along != axis && along != axis - rank) ||
      (*dims)[static_cast<size_t>(axis)] != phases * count)
    return std::nullopt;
  for (auto [position, index] : llvm::enumerate(*indices)) {
    const auto place = static_cast<int64_t>(position);
    if (index != place / count + place % count * phases)
      return std::nullopt;
  }
  return phases;
}

/// Permute(Gather(Gather(x))), which gives every n-th pixel of [N, C, H, W] as [N, C, n, n, h, w]
/// -> Reshape(Depth2Space(x))
static LogicalResult gathersToDepth(PermuteOp op, PatternRewriter &rewriter) {
  auto last = producerFor<GatherOp>(op.getInput(), op);
  auto first = last ? producerFor<GatherOp>(last.getInput(), last) : GatherOp();
  std::optional<Dims> dims = first ? staticDimsOf(first.getInput()) : std::nullopt;
  std::optional<Dims> result = staticDimsOf(op.getOutput());
  if (!dims || dims->size() != 4 || !result || toInts(op.getOrder()) != Dims{0, 1, 2, 4, 3, 5})
    return failure();
  std::optional<int64_t> height = phasesAlong(first, 2), width = phasesAlong(last, 4);
  if (!height || !width) {
    height = phasesAlong(last, 2);
    width = phasesAlong(first, 3);
  }
  if (!height || !width)
    return failure();
  const Dims deep = {(*dims)[0], (*dims)[1] * *height * *width, (*dims)[2] / *height,
                     (*dims)[3] / *width};
  auto blocks = makeDepth2Space(rewriter, locWith(rewriter, op, "_blocks"),
                                RankedTensorType::get(deep, elementTypeOf(op.getOutput())),
                                first.getInput(), {*height, *width, true, true});
  rewriter.replaceOp(op, reshaped(rewriter, op.getLoc(), blocks.getOutput(), *result));
  return success();
}

/// Reshape(Permute(Reshape(x))) -> ShuffleChannel(x): [N, C, ...] to [N, g, C/g, ...], the two
/// swapped, and back
static LogicalResult toShuffleChannel(ReshapeOp op, PatternRewriter &rewriter) {
  std::optional<Rearrangement> moves = rearrangementOf(op);
  if (!moves || moves->from.size() < 3 || moves->from != moves->to ||
      moves->middle.size() != moves->from.size() + 1 || moves->middle[0] != moves->from[0] ||
      moves->middle[1] * moves->middle[2] != moves->from[1] ||
      ArrayRef(moves->middle).drop_front(3) != ArrayRef(moves->from).drop_front(2))
    return failure();
  Dims order = llvm::to_vector(llvm::seq<int64_t>(0, static_cast<int64_t>(moves->middle.size())));
  std::swap(order[1], order[2]);
  if (moves->order != order)
    return failure();
  rewriter.replaceOpWithNewOp<ShuffleChannelOp>(op, op.getType(), moves->input,
                                                rewriter.getI64IntegerAttr(moves->middle[1]));
  return success();
}

//===----------------------------------------------------------------------===//
// Focus: every other pixel into channels
//===----------------------------------------------------------------------===//

namespace {

/// A concatenation of one picture per pixel of the blocks of `input`. Part `i` holds pixel
/// `order[i]`, counted row by row.
struct Focus {
  Value input;
  int64_t height;
  int64_t width;
  Dims order;
};

/// Every `step`-th pixel from `offset` on, in rows and columns.
struct Sampling {
  Value input;
  int64_t offset[2] = {0, 0};
  int64_t step[2] = {1, 1};
};

} // namespace

/// `value` as every n-th pixel of [N, C, H, W], taken by slices of which each reaches to the end.
static std::optional<Sampling> takeSampling(Interior &interior, Value value) {
  Sampling result{value};
  while (auto slice = result.input.getDefiningOp<SliceOp>()) {
    std::optional<Dims> dims = dimsOf(slice.getInput());
    std::optional<Dims> offset = intsOf(slice.getOffset(), slice.getOffsetTensor());
    std::optional<Dims> ends = intsOf(slice.getEnds(), slice.getEndsTensor());
    std::optional<Dims> axes = intsOf(slice.getAxes(), slice.getAxesTensor());
    std::optional<Dims> steps = intsOf(slice.getSteps(), slice.getStepsTensor());
    if (!dims || dims->size() != 4 || !offset || !ends || !interior.take<SliceOp>(result.input))
      return std::nullopt;
    for (size_t index = 0; index < offset->size(); ++index) {
      int64_t axis = axes ? (*axes)[index] : static_cast<int64_t>(index);
      axis += axis < 0 ? 4 : 0;
      int64_t step = steps ? (*steps)[index] : 1;
      int64_t begin = (*offset)[index];
      int64_t extent = (*dims)[static_cast<size_t>(axis)];
      if (step < 1 || begin < 0 || extent == kDynamic || (*ends)[index] < extent)
        return std::nullopt;
      if (axis < 2) {
        if (begin != 0 || step != 1)
          return std::nullopt;
        continue;
      }
      // The slices behind took theirs from what this one leaves.
      result.offset[axis - 2] = begin + step * result.offset[axis - 2];
      result.step[axis - 2] *= step;
    }
    result.input = slice.getInput();
  }
  return result;
}

static std::optional<Focus> takeFocus(Interior &interior, ConcatOp concat) {
  std::optional<Dims> output = dimsOf(concat.getOutput());
  if (!output || output->size() != 4 ||
      (static_cast<int64_t>(concat.getAxis()) != 1 && static_cast<int64_t>(concat.getAxis()) != -3))
    return std::nullopt;
  Focus focus{};
  for (Value part : concat.getInputs()) {
    std::optional<Sampling> sampling = takeSampling(interior, part);
    if (!sampling)
      return std::nullopt;
    auto [rowStep, columnStep] = sampling->step;
    if (!focus.input)
      focus = {sampling->input, rowStep, columnStep, {}};
    if (sampling->input != focus.input || rowStep != focus.height || columnStep != focus.width ||
        sampling->offset[0] >= rowStep || sampling->offset[1] >= columnStep)
      return std::nullopt;
    focus.order.push_back(sampling->offset[0] * columnStep + sampling->offset[1]);
  }
  std::optional<Dims> dims = focus.input ? dimsOf(focus.input) : std::nullopt;
  Dims sorted = focus.order;
  llvm::sort(sorted);
  Dims all = llvm::to_vector(llvm::seq<int64_t>(0, focus.height * focus.width));
  if (!dims || all.size() < 2 || sorted != all ||
      *output != Dims{(*dims)[0], (*dims)[1] * static_cast<int64_t>(all.size()),
                      (*dims)[2] / focus.height, (*dims)[3] / focus.width} ||
      (*dims)[2] % focus.height != 0 || (*dims)[3] % focus.width != 0)
    return std::nullopt;
  return focus;
}

static Blocks blocksOf(const Focus &focus) { return {focus.height, focus.width, false, true}; }

/// Concat(Slice(x)...) of every n-th pixel, row by row -> Depth2Space(x) {is_inversed}
static LogicalResult slicesToDepth(ConcatOp concat, PatternRewriter &rewriter) {
  Interior interior(concat);
  std::optional<Focus> focus = isPlain(concat) ? takeFocus(interior, concat) : std::nullopt;
  if (!focus || !llvm::is_sorted(focus->order) || !interior.isClosed())
    return failure();
  auto made =
      makeDepth2Space(rewriter, concat.getLoc(), concat.getType(), focus->input, blocksOf(*focus));
  rewriter.replaceOp(concat, made->getResults());
  return success();
}

/// The same in another order, for a convolution whose filter is put into the order of the rows
static LogicalResult slicesIntoConv(ConvOp conv, PatternRewriter &rewriter) {
  Interior interior(conv);
  auto concat = interior.take<ConcatOp>(conv.getInput());
  std::optional<Focus> focus = concat ? takeFocus(interior, concat) : std::nullopt;
  std::optional<Dims> dims = dimsOf(conv.getFilter());
  if (!focus || conv.getGroup() != 1 || !dims || dims->size() != 4 || !interior.isClosed())
    return failure();
  std::optional<Doubles> filter = constantFloats(conv.getFilter());
  auto parts = static_cast<int64_t>(focus->order.size());
  if (!filter || (*dims)[1] % parts != 0)
    return failure();
  int64_t channels = (*dims)[1] / parts;
  int64_t each = (*dims)[2] * (*dims)[3];
  Doubles ordered(filter->size());
  for (auto [index, element] : llvm::enumerate(*filter)) {
    auto position = static_cast<int64_t>(index);
    int64_t channel = position / each % (*dims)[1];
    int64_t block = focus->order[channel / channels];
    int64_t moved = (block * channels + channel % channels - channel) * each;
    ordered[position + moved] = element;
  }
  // Its channels are not those of the concatenation, so its name is another one.
  Location loc = locWith(rewriter, concat, "_blocks");
  rewriter.setInsertionPoint(conv);
  auto made = makeDepth2Space(rewriter, loc, concat.getType(), focus->input, blocksOf(*focus));
  Value weight = makeWeight(rewriter, conv, "_weight", *dims, ordered);
  rewriter.modifyOpInPlace(conv, [&] {
    conv.getInputMutable().assign(made.getOutput());
    conv.getFilterMutable().assign(weight);
  });
  return success();
}

//===----------------------------------------------------------------------===//
// Means of bins
//===----------------------------------------------------------------------===//

/// Fewer elements than these in a row would leave parts of wide units idle, once for each side.
static constexpr int64_t kLeastRow = 64;

/// Whether `conv` sums up channels only, into one.
static bool isSumOfChannels(ConvOp conv) {
  const auto areAll = [](std::optional<ArrayAttr> numbers, int64_t wanted) {
    return !numbers ||
           llvm::all_of(toInts(*numbers), [&](int64_t number) { return number == wanted; });
  };
  std::optional<Dims> filter = dimsOf(conv.getFilter());
  return conv.getFilter().getDefiningOp<WeightOp>() && filter && filter->size() == 4 &&
         (*filter)[0] == 1 && (*filter)[2] == 1 && (*filter)[3] == 1 && conv.getGroup() == 1 &&
         !conv.getInserts() && !conv.getPadValue() && areAll(conv.getStrides(), 1) &&
         areAll(conv.getPads(), 0);
}

/// Conv(Softmax(Permute(x))) to one channel, of x [1, sides, bins, n] with bins as channels ->
/// Reshape(Conv(Softmax(Reshape(x)))) with sides as the batch, so that nothing changes places;
/// where n is `kLeastRow` at least
static LogicalResult sidesIntoBatch(ConvOp conv, PatternRewriter &rewriter) {
  auto softmax = producerFor<SoftmaxOp>(conv.getInput(), conv);
  auto permute = softmax ? producerFor<PermuteOp>(softmax.getInput(), softmax) : PermuteOp();
  if (!permute || !isPlain(conv) || !isSumOfChannels(conv) || softmax.getLog() ||
      toInts(permute.getOrder()) != Dims{0, 2, 1, 3} || !isF32(permute.getInput()) ||
      !isF32(conv.getOutput()))
    return failure();
  std::optional<Dims> dims = staticDimsOf(permute.getInput());
  std::optional<Dims> result = staticDimsOf(conv.getOutput());
  const auto axis = static_cast<int64_t>(softmax.getAxis());
  if (!dims || !result || (*dims)[0] != 1 || (*dims)[3] < kLeastRow ||
      *result != Dims{1, 1, (*dims)[1], (*dims)[3]} || (axis != 1 && axis != -3))
    return failure();
  const int64_t sides = (*dims)[1], bins = (*dims)[2], count = (*dims)[3];
  const auto typeOf = [&](int64_t channels) {
    return RankedTensorType::get({sides, channels, 1, count}, elementTypeOf(conv.getOutput()));
  };
  Value rows = reshaped(rewriter, locWith(rewriter, permute, "_sides"), permute.getInput(),
                        {sides, bins, 1, count});
  auto weights = rewriter.create<SoftmaxOp>(locWith(rewriter, softmax, "_sides"), typeOf(bins),
                                            rows, softmax->getAttrs());
  IRMapping mapping;
  mapping.map(conv.getInput(), weights.getOutput());
  Operation *means = rewriter.clone(*conv, mapping);
  // Of one side the means have the places of the result, and its name.
  means->setLoc(sides == 1 ? conv.getLoc() : locWith(rewriter, conv, "_sides"));
  means->getResult(0).setType(typeOf(1));
  rewriter.replaceOp(conv, reshaped(rewriter, conv.getLoc(), means->getResult(0), *result));
  return success();
}

/// ReduceSum(Softmax(x) * c) over channels, of which c has one number each ->
/// Reshape(Conv(Softmax(x)))
static LogicalResult binsToConv(ReduceOp reduce, PatternRewriter &rewriter) {
  Interior inside(reduce);
  std::optional<Reduction> sum = inside.takeReduction(reduce.getOutput(), "ReduceSum");
  auto product = sum ? producerFor<MulOp>(sum->input, reduce) : MulOp();
  std::optional<Dims> dims = product ? staticDimsOf(product.getOutput()) : std::nullopt;
  std::optional<Dims> result = staticDimsOf(reduce.getOutput());
  if (!dims || dims->size() != 4 || !result || sum->axes != Dims{1} ||
      product.getInputs().size() != 2 || !isF32(product.getOutput()))
    return failure();
  for (auto [weights, numbers] : {std::pair(product.getInputs()[0], product.getInputs()[1]),
                                  std::pair(product.getInputs()[1], product.getInputs()[0])}) {
    auto softmax = producerFor<SoftmaxOp>(weights, product);
    const int64_t axis = softmax ? static_cast<int64_t>(softmax.getAxis()) : 0;
    if ((axis != 1 && axis != -3) || dimsOf(weights) != dims)
      continue;
    std::optional<Doubles> filter = constantAlong(numbers, 1, 4, (*dims)[1]);
    if (!filter)
      continue;
    const Dims sums = {(*dims)[0], 1, (*dims)[2], (*dims)[3]};
    Value means =
        rewriter
            .create<ConvOp>(
                *result == sums ? reduce.getLoc() : locWith(rewriter, reduce, "_means"),
                RankedTensorType::get(sums, elementTypeOf(weights)),
                ValueRange{weights,
                           makeWeight(rewriter, reduce, "_bins", {1, (*dims)[1], 1, 1}, *filter),
                           makeNone(rewriter, reduce.getLoc())},
                rewriter.getNamedAttr("kernel_shape", rewriter.getI64ArrayAttr({1, 1})))
            .getOutput();
    rewriter.replaceOp(reduce, reshaped(rewriter, reduce.getLoc(), means, *result));
    return success();
  }
  return failure();
}

ArrayRef<Fusion> tpuc::rearrangeFusions() {
  static constexpr Fusion kFusions[] = {
      fusion<toDepth2Space>("to-depth2space"),   fusion<toShuffleChannel>("to-shufflechannel"),
      fusion<gathersToDepth>("to-depth2space"),  fusion<slicesToDepth>("slices-to-depth"),
      fusion<slicesIntoConv>("slices-to-depth"), fusion<sidesIntoBatch>("sides-into-batch"),
      fusion<binsToConv>("bins-to-conv"),
  };
  return kFusions;
}

//===- FusePad.cpp - Padding into what slides a window over it ----------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Top/ConvolutionOps.h"
#include "tpuc/Dialect/Top/MovementOps.h"
#include "tpuc/Dialect/Top/PoolOps.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Dialect/Top/UnaryOps.h"
#include "tpuc/Dialect/Top/WindowShapes.h"
#include "tpuc/Transforms/Fusions.h"
#include "tpuc/Transforms/Matching.h"

#include "llvm/Support/MathExtras.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace tpuc;
using namespace tpuc::top;

namespace {

/// Constant elements around the spatial dimensions: pads as a window has them.
struct SpatialPad {
  Value input;
  Dims pads;
  double value;
};

} // namespace

/// The padding that makes `value` for `reader` alone, if it only adds elements to dimensions from 2
/// on, `spatial` of them.
static std::optional<SpatialPad> spatialPad(Value value, Operation *reader, size_t spatial) {
  auto pad = producerFor<PadOp>(value, reader);
  if (!pad || pad.getMode() != "constant" || isPresent(pad.getAxesTensor()))
    return std::nullopt;
  std::optional<Dims> paddings = intsOf(pad.getPaddings(), pad.getPaddingsTensor());
  size_t rank = spatial + 2;
  if (!paddings || paddings->size() != 2 * rank)
    return std::nullopt;
  SpatialPad result{pad.getInput(), {}, pad.getVal().convertToDouble()};
  for (size_t side : {size_t(0), rank}) {
    if ((*paddings)[side] != 0 || (*paddings)[side + 1] != 0)
      return std::nullopt;
    llvm::append_range(result.pads, ArrayRef(*paddings).slice(side + 2, spatial));
  }
  if (llvm::any_of(result.pads, [](int64_t each) { return each < 0; }))
    return std::nullopt;
  if (isPresent(pad.getValTensor())) {
    std::optional<double> given = constantScalar(pad.getValTensor());
    if (!given)
      return std::nullopt;
    result.value = *given;
  }
  return result;
}

/// The pads of a window, all 0 where it states none; none if they depend on the input.
template <typename Op> static std::optional<Dims> padsOf(Op op) {
  if (op.getAutoPad() != "NOTSET" && op.getAutoPad() != "VALID")
    return std::nullopt;
  if (op.getPads() && op.getAutoPad() == "NOTSET")
    return toInts(*op.getPads());
  return Dims(2 * op.getKernelShape().size(), 0);
}

template <typename Op>
static void setInputAndPads(Op op, const SpatialPad &pad, const Dims &own,
                            PatternRewriter &rewriter) {
  Dims pads = own;
  for (auto [index, each] : llvm::enumerate(pads))
    each += pad.pads[index];
  rewriter.modifyOpInPlace(op, [&] {
    op.getInputMutable().assign(pad.input);
    op.setPadsAttr(rewriter.getI64ArrayAttr(pads));
    op.setAutoPad("NOTSET");
  });
}

/// Conv(Pad(x) with 0) -> Conv(x) with larger pads
static LogicalResult padIntoConv(ConvOp conv, PatternRewriter &rewriter) {
  std::optional<SpatialPad> pad = spatialPad(conv.getInput(), conv, conv.getKernelShape().size());
  std::optional<Dims> own = padsOf(conv);
  if (!pad || pad->value != 0 || !own || conv.getInserts())
    return failure();
  setInputAndPads(conv, *pad, *own, rewriter);
  return success();
}

/// The first tap of a window along a dimension of `extent` elements that sees one of them, and the
/// number of taps from there to the last such one; 0: none sees any.
static std::pair<int64_t, int64_t> tapsOverInput(const Window &window, size_t axis,
                                                 int64_t extent) {
  const int64_t stride = window.strides[axis];
  std::pair<int64_t, int64_t> seen = {0, 0};
  for (int64_t tap = 0; tap < window.kernel[axis]; ++tap) {
    const int64_t begin = tap * window.dilations[axis] - window.padsBegin[axis];
    // Of the first result for which the tap does not stand in front of the input.
    const int64_t result = begin < 0 ? llvm::divideCeilSigned(-begin, stride) : 0;
    if (result >= window.output[axis + 2] || begin + result * stride >= extent)
      continue;
    if (seen.second == 0)
      seen.first = tap;
    seen.second = tap - seen.first + 1;
  }
  return seen;
}

/// Elements [first, first + count) of each dimension of the taps of a filter.
static Doubles someTaps(const Doubles &filter, ArrayRef<int64_t> dims, const Dims &first,
                        const Dims &count) {
  Doubles taken;
  const int64_t rows = dims[0] * dims[1];
  const int64_t taps = ShapedType::getNumElements(dims.drop_front(2));
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t tap = 0; tap < taps; ++tap) {
      bool isTaken = true;
      int64_t rest = tap;
      for (size_t axis = first.size(); axis-- > 0; rest /= dims[axis + 2]) {
        const int64_t place = rest % dims[axis + 2] - first[axis];
        isTaken = isTaken && place >= 0 && place < count[axis];
      }
      if (isTaken)
        taken.push_back(filter[static_cast<size_t>(row * taps + tap)]);
    }
  return taken;
}

/// Conv(x) whose first or last taps see nothing but padding -> Conv(x) without them, as those of a
/// dilation that is longer than a small picture
static LogicalResult dropPaddedTaps(ConvOp conv, PatternRewriter &rewriter) {
  auto input = dyn_cast<RankedTensorType>(conv.getInput().getType());
  auto weight = conv.getFilter().getDefiningOp<WeightOp>();
  const bool hasInserts = conv.getInserts() && llvm::any_of(toInts(*conv.getInserts()),
                                                            [](int64_t each) { return each != 0; });
  if (!input || !input.hasStaticShape() || !weight || !isF32(conv.getFilter()) || hasInserts ||
      conv.getPadValue() || conv.getPadValues())
    return failure();
  const ArrayRef<int64_t> dims = cast<RankedTensorType>(conv.getFilter().getType()).getShape();
  const Expected<Window> window = windowOf(conv, input.getShape(), dims);
  if (!window)
    return failure();
  Dims first, count, dilations, begin, end;
  SmallVector<int64_t> taps(dims.take_front(2));
  for (size_t axis = 0; axis < window->kernel.size(); ++axis) {
    const auto [from, size] = tapsOverInput(*window, axis, input.getDimSize(axis + 2));
    const int64_t last = window->kernel[axis] - from - size;
    first.push_back(from);
    count.push_back(size);
    taps.push_back(size);
    dilations.push_back(size == 1 ? 1 : window->dilations[axis]);
    begin.push_back(window->padsBegin[axis] - from * window->dilations[axis]);
    end.push_back(window->padsEnd[axis] - last * window->dilations[axis]);
    if (size == 0 || begin.back() < 0 || end.back() < 0)
      return failure();
  }
  if (ArrayRef(taps) == dims)
    return failure();
  const std::optional<Doubles> filter = constantFloats(conv.getFilter());
  if (!filter)
    return failure();
  Value fewer = makeWeight(rewriter, conv, "_taps", taps, someTaps(*filter, dims, first, count));
  llvm::append_range(begin, end);
  rewriter.modifyOpInPlace(conv, [&] {
    conv.getFilterMutable().assign(fewer);
    conv.setKernelShapeAttr(rewriter.getI64ArrayAttr(count));
    conv.setDilationsAttr(rewriter.getI64ArrayAttr(dilations));
    conv.setPadsAttr(rewriter.getI64ArrayAttr(begin));
    conv.setAutoPad("NOTSET");
  });
  return success();
}

/// AvgPool(Pad(x) with 0) -> AvgPool(x) with pads that count
static LogicalResult padIntoAvgPool(AvgPoolOp pool, PatternRewriter &rewriter) {
  std::optional<SpatialPad> pad = spatialPad(pool.getInput(), pool, pool.getKernelShape().size());
  std::optional<Dims> own = padsOf(pool);
  // With `ceil_mode` windows may reach behind the padding, which never counts.
  if (!pad || pad->value != 0 || !own || pool.getCeilMode() || pool.getPadValue() != 0)
    return failure();
  bool hasPads = llvm::any_of(*own, [](int64_t each) { return each != 0; });
  if (hasPads && !pool.getCountIncludePad())
    return failure();
  rewriter.modifyOpInPlace(pool, [&] { pool.setCountIncludePad(true); });
  setInputAndPads(pool, *pad, *own, rewriter);
  return success();
}

/// Whether no element of `value` is below 0, by the op that makes it.
static bool isNeverNegative(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return false;
  auto relu = op->getAttrOfType<BoolAttr>("do_relu");
  return isa<ReluOp>(op) || (relu && relu.getValue());
}

/// MaxPool(Pad(x)) -> MaxPool(x) with pads, where the padding cannot be larger than what is under
/// the same window
static LogicalResult padIntoMaxPool(MaxPoolOp pool, PatternRewriter &rewriter) {
  size_t spatial = pool.getKernelShape().size();
  std::optional<SpatialPad> pad = spatialPad(pool.getInput(), pool, spatial);
  std::optional<Dims> own = padsOf(pool);
  if (!pad || !own || pool.getCeilMode())
    return failure();
  bool isLowest = pad->value == -std::numeric_limits<double>::infinity();
  if (!isLowest && (pad->value != 0 || !isNeverNegative(pad->input)))
    return failure();
  // A window that lies in the padding as a whole would have no maximum.
  Dims kernel = toInts(pool.getKernelShape());
  bool isDilated = pool.getDilations() && llvm::any_of(toInts(*pool.getDilations()),
                                                       [](int64_t step) { return step != 1; });
  for (size_t index = 0; index < 2 * spatial; ++index)
    if (isDilated || pad->pads[index] + (*own)[index] >= kernel[index % spatial])
      return failure();
  setInputAndPads(pool, *pad, *own, rewriter);
  return success();
}

ArrayRef<Fusion> tpuc::padFusions() {
  static constexpr Fusion kFusions[] = {
      fusion<padIntoConv>("pad-into-conv"),
      fusion<dropPaddedTaps>("drop-padded-taps"),
      fusion<padIntoAvgPool>("pad-into-pool"),
      fusion<padIntoMaxPool>("pad-into-pool"),
  };
  return kFusions;
}

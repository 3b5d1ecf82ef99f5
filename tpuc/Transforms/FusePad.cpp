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
#include "tpuc/Dialect/Top/UnaryOps.h"
#include "tpuc/Transforms/Fusions.h"
#include "tpuc/Transforms/Matching.h"

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
      fusion<padIntoAvgPool>("pad-into-pool"),
      fusion<padIntoMaxPool>("pad-into-pool"),
  };
  return kFusions;
}

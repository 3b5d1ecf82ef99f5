//===- Decompose.cpp - Ops without a kernel as several that have one -----------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Decompose/Decompositions.h"
#include "tpuc/Codegen/Heuristics.h"
#include "tpuc/Codegen/Layers.h"
#include "tpuc/Codegen/Passes.h"
#include "tpuc/Dialect/Top/OpTraits.h"
#include "tpuc/Dialect/Tpu/CastOps.h"
#include "tpuc/Dialect/Tpu/ConvolutionOps.h"
#include "tpuc/Dialect/Tpu/IndexOps.h"
#include "tpuc/Dialect/Tpu/MovementOps.h"
#include "tpuc/Dialect/Tpu/NormOps.h"
#include "tpuc/Dialect/Tpu/ReduceOps.h"
#include "tpuc/Dialect/Tpu/StoredType.h"

namespace tpuc::codegen {
#define GEN_PASS_DEF_DECOMPOSE
#include "tpuc/Codegen/Passes.h.inc"
} // namespace tpuc::codegen

using namespace mlir;
using namespace tpuc;
using namespace tpuc::codegen;

namespace {

constexpr bool (*kDecompositions[])(OpMaker &) = {
    decomposeRope,         decomposeLongIntegers,  decomposeRecurrent,    decomposeReduce,
    decomposeNormalize,    decomposeCumSum,        decomposeLayerNorm,    decomposeGroupNorm,
    decomposeScale,        decomposeLRN,           decomposeManyOperands, decomposeClip,
    decomposePower,        decomposeTrilu,         decomposeGather,       decomposeGatherND,
    decomposeResize,       decomposeScatter,       decomposeMatMul,       decomposePool3d,
    decomposeInstanceNorm, decomposeComputedFilter};

/// Of ops whose elements may be quantized: they stay what they are.
constexpr bool (*kOfAnyType[])(OpMaker &) = {decomposeShuffledConv,    decomposeShuffleChannel,
                                             decomposeActivatedConcat, decomposeDeconv3d,
                                             decomposeWideConv,        decomposeScaleLut};

/// Of ops whose rows fit no tile; they come first, as others make several layers of long rows.
constexpr bool (*kRowDivisions[])(OpMaker &) = {
    decomposeSmallGroupNorm, decomposeChannelNorm, decomposeChannelMean, decomposeLongReduce,
    decomposeLongPool,       decomposeLargePool,   decomposeLongNorm,    decomposeLongSoftmax};

/// Of products and cells of which no tile fits.
constexpr bool (*kDivisions[])(OpMaker &) = {decomposeLongMatMul, decomposeLongConv,
                                             decomposeLongRecurrent};

/// Whether `is` holds for all tensors of an op.
template <typename Predicate> bool allTensors(Operation *op, Predicate is) {
  const auto isAny = [&](Value value) { return isa<NoneType>(value.getType()) || is(value); };
  return llvm::all_of(op->getOperands(), isAny) && llvm::all_of(op->getResults(), isAny);
}

bool isStatic(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.hasStaticShape() && type.getNumElements() > 0;
}

struct DecomposePass : codegen::impl::DecomposeBase<DecomposePass> {
  using Base::Base;

  void runOnOperation() override {
    std::unique_ptr<Backend> backend = backendOrEmit(getOperation());
    if (!backend)
      return signalPassFailure();
    Expected<Heuristics> heuristics = Heuristics::without(without, *backend);
    if (!heuristics) {
      getOperation().emitError() << "--" << getArgument() << ": " << heuristics.error().message();
      return signalPassFailure();
    }
    auto main = getOperation().lookupSymbol<func::FuncOp>("main");
    if (!main || main.isExternal())
      return;
    narrowInputs(main, *backend);
    useStatedTypes(main, *backend);
    computeBoundedIntegers(main, *backend);
    if (heuristics->latePermutes)
      permuteLate(main, *backend);
    nestConcats(main);
    // What is made stands in front of the op, and may be decomposed in turn.
    for (Operation *op = &main.front().front(); op;) {
      Operation *before = op->getPrevNode();
      if (!isLayer(op) || !allTensors(op, isStatic) || !decompose(op, *backend, *heuristics)) {
        op = op->getNextNode();
        continue;
      }
      op->erase();
      op = before ? before->getNextNode() : &main.front().front();
    }
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(main.front())))
      if (op.use_empty() && (isConstant(&op) ||
                             isa<tpu::CastOp, tpu::ConcatOp, tpu::ConvOp, tpu::GatherOp,
                                 tpu::LayerNormOp, tpu::PermuteOp, tpu::ReduceOp>(op) ||
                             op.hasTrait<traits::ViewLike>() || op.hasTrait<traits::Pointwise>()))
        op.erase();
  }

  static bool decompose(Operation *op, const Backend &backend, const Heuristics &heuristics) {
    if (isPartOfSum(op, backend))
      return false;
    const auto apply = [&](auto decomposition) {
      OpMaker maker(op, backend);
      return decomposition(maker);
    };
    const bool hasPlace = backend.placeOf(op).has_value();
    if (apply(decomposeReshapedElements) || apply(decomposeManyDimensions) ||
        (heuristics.columnGather && apply(decomposeColumnGather)) ||
        (heuristics.narrowConcat && apply(decomposeNarrowConcat)) || apply(decomposePoolApart) ||
        apply(decomposeSumOfFew) || apply(decomposeExpand) ||
        (!hasPlace && (llvm::any_of(kOfAnyType, apply) || apply([&](OpMaker &maker) {
                         return decomposeConv3d(maker, heuristics.foldDepths);
                       }))))
      return true;
    if (!allTensors(op, std::not_fn(tpu::isQuantized)))
      return (!hasPlace && apply(decomposeStoredPool3d)) || apply(decomposeStoredExtremum);
    return llvm::any_of(kRowDivisions, apply) ||
           (!hasPlace && llvm::any_of(kDecompositions, apply)) || llvm::any_of(kDivisions, apply);
  }
};

} // namespace

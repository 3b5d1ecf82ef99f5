//===- SplitConvolutions.cpp - Convolutions that are read in parts -------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Gates, for one, are halves of the channels of a convolution. In local memory the second half
// begins in the middle of the lanes, so the result is stored, and its halves are loaded. Two
// convolutions have half of the filter each, and may be in one group with what reads them.
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Decompose/OpMaker.h"
#include "tpuc/Codegen/Decompose/PickedParts.h"
#include "tpuc/Codegen/Decompose/RewriteOps.h"
#include "tpuc/Codegen/Group/WindowCost.h"
#include "tpuc/Codegen/Layers.h"
#include "tpuc/Codegen/Passes.h"
#include "tpuc/Dialect/Top/MainFunction.h"
#include "tpuc/Dialect/Top/Names.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Dialect/Tpu/ConvolutionOps.h"
#include "tpuc/Dialect/Tpu/MovementOps.h"

#include <map>

namespace tpuc::codegen {
#define GEN_PASS_DEF_SPLITCONVOLUTIONS
#include "tpuc/Codegen/Passes.h.inc"
} // namespace tpuc::codegen

using namespace mlir;
using namespace tpuc;
using namespace tpuc::codegen;

namespace {

/// Less than this is gained by chance.
constexpr double kWorthwhile = 0.995;
/// So many layers in front and behind are looked at with a convolution, and so many between its
/// parts at most.
constexpr int64_t kBefore = 4, kBehind = 10, kBetween = 16;

/// Channels of a convolution's result that are read together.
struct ChannelPart {
  Value value;
  int64_t begin = 0, size = 0;
};

constexpr int64_t kChannelAxis = 1;

/// The parts in their order, should nothing else read the result of a convolution with a constant
/// filter, and none of its channels be read twice; none for others.
SmallVector<ChannelPart> partsOf(tpu::ConvOp op) {
  const auto isConstantOrNone = [](Value value) {
    return isa<NoneType>(value.getType()) || value.getDefiningOp<top::WeightOp>();
  };
  const RankedTensorType type = staticType(op.getOutput());
  if (!type || op.getGroup() != 1 || !op.getFilter().getDefiningOp<top::WeightOp>() ||
      !isConstantOrNone(op.getBias()))
    return {};
  SmallVector<ChannelPart> parts;
  for (Operation *user : op.getOutput().getUsers()) {
    if (user->getBlock() != op->getBlock())
      return {};
    for (Value result : user->getResults()) {
      std::optional<Picked> picked = splitPart(result, kChannelAxis);
      if (!picked)
        picked = slicePart(result, kChannelAxis);
      const RankedTensorType own = staticType(result);
      if (!picked || !own || own.getElementType() != type.getElementType())
        return {};
      if (!result.use_empty())
        parts.push_back({result, picked->begin, own.getDimSize(kChannelAxis)});
    }
    if (user->getNumResults() == 0)
      return {};
  }
  llvm::sort(parts, [](const ChannelPart &a, const ChannelPart &b) { return a.begin < b.begin; });
  int64_t end = 0;
  for (const ChannelPart &part : parts) {
    if (part.begin < end)
      return {};
    end = part.begin + part.size;
  }
  return parts;
}

/// Puts a convolution in the place of each part, and erases what divided the whole. `partOf` gives
/// channels of the filter or the bias.
void split(tpu::ConvOp op, ArrayRef<ChannelPart> parts,
           llvm::function_ref<Value(Value constant, const ChannelPart &part)> partOf) {
  const int64_t channels = staticType(op.getOutput()).getDimSize(kChannelAxis);
  const SetVector<Operation *> readers(op->user_begin(), op->user_end());
  OpBuilder builder(op);
  for (ChannelPart part : parts) {
    const Value filter = partOf(op.getFilter(), part);
    const Value bias =
        isa<NoneType>(op.getBias().getType()) ? op.getBias() : partOf(op.getBias(), part);
    auto made = cast<tpu::ConvOp>(builder.clone(*op));
    made->setOperands(ValueRange{op.getInput(), filter, bias});
    made.getOutput().setType(cast<RankedTensorType>(part.value.getType()));
    // A split has a name for each of its results.
    made->setLoc(NameLoc::get(builder.getStringAttr(
        tensorNames(part.value.getDefiningOp())[cast<OpResult>(part.value).getResultNumber()])));
    for (StringRef name : {"multiplier", "rshift", "dequant_scale"})
      if (auto each = op->getAttrOfType<ArrayAttr>(name);
          each && static_cast<int64_t>(each.size()) == channels)
        made->setAttr(name, builder.getArrayAttr(each.getValue().slice(
                                static_cast<size_t>(part.begin), static_cast<size_t>(part.size))));
    part.value.replaceAllUsesWith(made.getOutput());
  }
  for (Operation *reader : readers)
    reader->erase();
  eraseUnused(op);
}

/// Splits convolutions where the layers around take fewer cycles by it.
class ConvolutionSplitter {
public:
  explicit ConvolutionSplitter(const Backend &backend) : backend(backend), costs(backend) {}

  void run(tpu::ConvOp op);

private:
  bool isWorthwhile(tpu::ConvOp op, const OpWindow &window);

  const Backend &backend;
  WindowCosts costs;
  OpKinds kinds;
  std::map<WindowKey, bool> known;
};

/// The channels of a part of a constant, whose elements are not there yet.
Value emptyPart(Value constant, const ChannelPart &part) {
  const auto type = cast<RankedTensorType>(constant.getType());
  SmallVector<int64_t> dims(type.getShape());
  dims[0] = part.size;
  OpBuilder builder(constant.getContext());
  builder.setInsertionPointAfterValue(constant);
  return builder.create<top::WeightOp>(constant.getLoc(), type.clone(dims), ArrayAttr())
      .getOutput();
}

bool ConvolutionSplitter::isWorthwhile(tpu::ConvOp op, const OpWindow &window) {
  const auto price = [](const GroupTable::Option &option, ArrayRef<Operation *>) {
    return static_cast<double>(option.estimate);
  };
  WindowClone unchanged(window.ops);
  const std::optional<double> whole = costs.of(window, unchanged, price);
  if (!whole)
    return false;
  WindowClone clone(window.ops);
  auto copy = cast<tpu::ConvOp>(clone.of(op));
  split(copy, partsOf(copy), emptyPart);
  const std::optional<double> apart = costs.of(window, clone, price);
  return apart && *apart < kWorthwhile * *whole;
}

void ConvolutionSplitter::run(tpu::ConvOp op) {
  const SmallVector<ChannelPart> parts = partsOf(op);
  if (parts.empty() || !backend.placeOf(op))
    return;
  Operation *last = op;
  for (const ChannelPart &part : parts)
    if (Operation *maker = part.value.getDefiningOp(); last->isBeforeInBlock(maker))
      last = maker;
  int64_t between = 0;
  for (Operation *each = op; each != last; each = each->getNextNode())
    between += isLayer(each) ? 1 : 0;
  if (between > kBetween)
    return;
  const OpWindow window = windowAround(op, last, kBefore, kBehind);
  const auto [entry, isNew] = known.try_emplace(windowKey(window, op, kinds));
  if (isNew)
    entry->second = isWorthwhile(op, window);
  if (!entry->second)
    return;
  OpMaker maker(op, backend);
  split(op, parts, [&](Value constant, const ChannelPart &part) {
    const StringRef what = constant == op.getFilter() ? "filter" : "bias";
    return maker.part(constant, 0, part.begin, part.size, (what + llvm::Twine(part.begin)).str());
  });
}

struct SplitConvolutionsPass : codegen::impl::SplitConvolutionsBase<SplitConvolutionsPass> {
  using Base::Base;

  void runOnOperation() override {
    const std::unique_ptr<Backend> backend = backendOrEmit(getOperation());
    if (!backend)
      return signalPassFailure();
    ConvolutionSplitter splitter(*backend);
    const auto isRead = [](tpu::ConvOp op, const Backend &) { return !partsOf(op).empty(); };
    const auto split = [&](tpu::ConvOp op, const Backend &) -> Expected<void> {
      splitter.run(op);
      return {};
    };
    if (Expected<void> done = rewriteOps<tpu::ConvOp>(getOperation(), *backend, isRead, split);
        !done) {
      getOperation().emitError(done.error().message());
      signalPassFailure();
    }
  }
};

} // namespace

//===- SortChannels.cpp - Channels in the order of their shifts -----------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Conversion/TopToTpu/SortChannels.h"
#include "tpuc/Calibration/ChannelStatistics.h"
#include "tpuc/Conversion/TopToTpu/LowerInteger.h"
#include "tpuc/Conversion/TopToTpu/QuantizedWeights.h"
#include "tpuc/Conversion/TopToTpu/ScaleChannels.h"
#include "tpuc/Dialect/Top/ConvolutionOps.h"
#include "tpuc/Dialect/Top/Names.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Support/Convert.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tpuc;

namespace {

using Order = SmallVector<size_t>;

class ChannelSorter {
public:
  ChannelSorter(const TargetInfo &target, const StoragePlan &plan, PlanOptions &options)
      : target(target), plan(plan), options(options) {}

  Expected<void> sort(top::ConvOp first);

private:
  bool mayMove(top::ConvOp op) const;
  SmallVector<top::ConvOp> chainFrom(top::ConvOp first) const;
  Expected<SmallVector<double>> needsOf(top::ConvOp op) const;
  double lossOf(ArrayRef<SmallVector<double>> needs, ArrayRef<size_t> order) const;
  Order bestOrder(ArrayRef<SmallVector<double>> needs) const;
  void rename(top::ConvOp op);

  const TargetInfo &target;
  const StoragePlan &plan;
  PlanOptions &options;
  /// Of each of the convolutions that are sorted and on integers.
  SmallVector<bool> mayShiftTwice;
};

ArrayRef<int64_t> filterDims(top::ConvOp op) {
  return cast<RankedTensorType>(op.getFilter().getType()).getShape();
}

Expected<Tensor> readConstant(Value value) {
  Expected<Tensor> tensor = value.getDefiningOp<top::WeightOp>().read();
  if (!tensor)
    return propagate(tensor);
  return convert(*tensor, DataType::F32);
}

bool isDepthwise(top::ConvOp op) {
  const auto dims = filterDims(op);
  return static_cast<int64_t>(op.getGroup()) == dims[0] && dims[0] > 1 && dims[1] == 1;
}

/// Constants without scales of their own, a bias for each channel.
bool ChannelSorter::mayMove(top::ConvOp op) const {
  auto type = dyn_cast<RankedTensorType>(op.getFilter().getType());
  auto filter = op.getFilter().getDefiningOp<top::WeightOp>();
  if (!type || !type.hasStaticShape() || !filter || filter.getWeightScaleAttr() ||
      options.exceptions.contains(layerName(op)))
    return false;
  auto bias = dyn_cast<RankedTensorType>(op.getBias().getType());
  return !bias || (op.getBias().getDefiningOp<top::WeightOp>() &&
                   bias.getNumElements() == type.getShape()[0]);
}

/// A convolution without groups and the depthwise ones behind it, where only convolutions without
/// groups read the last; empty for others.
SmallVector<top::ConvOp> ChannelSorter::chainFrom(top::ConvOp first) const {
  if (!mayMove(first) || first.getGroup() != 1)
    return {};
  SmallVector<top::ConvOp> chain = {first};
  for (;;) {
    Value result = chain.back().getOutput();
    auto next = result.hasOneUse() ? dyn_cast<top::ConvOp>(*result.user_begin()) : top::ConvOp();
    if (!next || next.getInput() != result || !mayMove(next) || !isDepthwise(next))
      break;
    chain.push_back(next);
  }
  Value last = chain.back().getOutput();
  const bool isRead = !last.use_empty() && llvm::all_of(last.getUses(), [&](OpOperand &use) {
    auto reader = dyn_cast<top::ConvOp>(use.getOwner());
    auto filter = reader ? reader.getFilter().getDefiningOp<top::WeightOp>() : top::WeightOp();
    return filter && use.getOperandNumber() == 0 && reader.getGroup() == 1 &&
           !filter.getWeightScaleAttr();
  });
  return isRead ? chain : SmallVector<top::ConvOp>();
}

/// For each channel the filter step, but for a factor, that it needs on integers; none of floats.
Expected<SmallVector<double>> ChannelSorter::needsOf(top::ConvOp op) const {
  SmallVector<double> needs;
  if (!plan.isInteger(op) || plan.givesFloats(op) || !plan.quantized(op.getInput()))
    return needs;
  Expected<Tensor> filter = readConstant(op.getFilter());
  if (!filter)
    return propagate(filter);
  const auto mostFilter = double(integerRange(plan.integers().weight).highest);
  const ChannelOrder order = *filterOrder(op);
  needs.assign(static_cast<size_t>(order.numChannels()), 0);
  int64_t element = 0;
  const double step = plan.quantized(op.getInput()).getScale();
  for (const float number : filter->data<float>()) {
    double &need = needs[static_cast<size_t>(order.channelOf(element++))];
    need = std::max(need, step * std::abs(double(number)) / mostFilter);
  }
  if (isa<NoneType>(op.getBias().getType()))
    return needs;
  Expected<Tensor> bias = readConstant(op.getBias());
  if (!bias)
    return propagate(bias);
  const auto mostBias =
      double(integerRange(target.requant.biasType.value_or(plan.integers().accumulator)).highest);
  for (auto [need, number] : llvm::zip_equal(needs, bias->data<float>()))
    need = std::max(need, std::abs(double(number)) / mostBias);
  return needs;
}

/// The mean squares of the steps that channels get in this order, over those that they need, of all
/// convolutions.
double ChannelSorter::lossOf(ArrayRef<SmallVector<double>> needs, ArrayRef<size_t> order) const {
  double loss = 0;
  for (auto [own, isSplit] : llvm::zip_equal(needs, mayShiftTwice)) {
    SmallVector<double> sorted;
    for (const size_t channel : order)
      sorted.push_back(own[channel]);
    double given = 0, needed = 0;
    for (const double step : sorted)
      needed += step * step;
    size_t first = 0;
    for (const size_t end : shiftEnds(sorted, target.tiles().lanes, isSplit)) {
      const double largest = *llvm::max_element(ArrayRef(sorted).slice(first, end - first));
      given += double(end - first) * largest * largest;
      first = end;
    }
    loss += needed > 0 ? given / needed : 1;
  }
  return loss;
}

/// Empty where channels are best as they are.
Order ChannelSorter::bestOrder(ArrayRef<SmallVector<double>> needs) const {
  if (needs.empty())
    return {};
  const size_t channels = needs[0].size();
  SmallVector<SmallVector<double>> keys(needs);
  SmallVector<double> &all = keys.emplace_back(channels, 0.0);
  for (const SmallVector<double> &own : needs)
    for (size_t c = 0; c < channels; ++c)
      all[c] += std::log2(std::max(own[c], std::numeric_limits<double>::min()));
  Order best;
  double least = lossOf(needs, llvm::to_vector(llvm::seq(channels))) / kLeastGain;
  for (const SmallVector<double> &key : keys) {
    Order order = llvm::to_vector(llvm::seq(channels));
    llvm::stable_sort(order, [&](size_t a, size_t b) { return key[a] < key[b]; });
    if (const double loss = lossOf(needs, order); loss < least) {
      least = loss;
      best = std::move(order);
    }
  }
  return best;
}

void ChannelSorter::rename(top::ConvOp op) {
  const std::string old = layerName(op), made = old + "_sorted";
  if (options.onIntegers.contains(old))
    options.onIntegers.insert(made);
  if (const auto faster = options.faster.find(old); faster != options.faster.end())
    options.faster.insert({made, faster->second});
  renameTensor(cast<OpResult>(op.getOutput()), made);
}

/// Replaces a constant by its rows (or the parts of each row) in another order; `inner` elements
/// belong to a channel.
Expected<void> moveConstant(Operation *op, unsigned index, ArrayRef<size_t> order, size_t inner) {
  Expected<Tensor> from = readConstant(op->getOperand(index));
  if (!from)
    return propagate(from);
  Tensor made(DataType::F32, from->shape());
  const auto source = from->data<float>();
  const auto sink = made.mutableData<float>();
  const size_t row = order.size() * inner;
  for (size_t base = 0; base < sink.size(); base += row)
    for (size_t place = 0; place < order.size(); ++place)
      std::ranges::copy(source.subspan(base + order[place] * inner, inner),
                        sink.subspan(base + place * inner, inner).begin());
  OpBuilder builder(op);
  op->setOperand(
      index, top::WeightOp::create(builder, op->getParentOfType<ModuleOp>(),
                                   layerName(op) + (index == 1 ? "_filter" : "_bias") + "_moved",
                                   std::move(made)));
  return {};
}

/// What calibration found of the channels that `op` reads.
void moveFigures(Operation *op, ArrayRef<size_t> order) {
  OpBuilder builder(op);
  for (const char *name : kChannelFigures)
    if (auto figures = op->getAttrOfType<DenseF32ArrayAttr>(name)) {
      SmallVector<float> moved;
      for (const size_t channel : order)
        moved.push_back(figures[static_cast<int64_t>(channel)]);
      op->setAttr(name, builder.getDenseF32ArrayAttr(moved));
    }
  auto pairs = op->getAttrOfType<DenseF32ArrayAttr>(kInputCovariances);
  if (!pairs)
    return;
  SmallVector<float> moved(pairs.asArrayRef());
  for (size_t c = 0; c < order.size(); ++c)
    for (size_t d = 0; d <= c; ++d) {
      const auto [low, high] = std::minmax(order[c], order[d]);
      moved[pairIndex(c, d)] = pairs[static_cast<int64_t>(pairIndex(high, low))];
    }
  op->setAttr(kInputCovariances, builder.getDenseF32ArrayAttr(moved));
}

size_t elementsOf(ArrayRef<int64_t> dims) {
  return static_cast<size_t>(ShapedType::getNumElements(dims));
}

Expected<void> ChannelSorter::sort(top::ConvOp first) {
  const SmallVector<top::ConvOp> chain = chainFrom(first);
  SmallVector<SmallVector<double>> needs;
  mayShiftTwice.clear();
  for (top::ConvOp op : chain) {
    Expected<SmallVector<double>> own = needsOf(op);
    if (!own)
      return propagate(own);
    if (own->empty())
      continue;
    needs.push_back(std::move(*own));
    mayShiftTwice.push_back(tpuc::mayShiftTwice(op, target));
  }
  const Order order = bestOrder(needs);
  if (order.empty())
    return {};
  Value last = first.getOutput();
  for (top::ConvOp op : chain) {
    if (op != first)
      moveFigures(op, order);
    if (Expected<void> moved = moveConstant(op, 1, order, elementsOf(filterDims(op).drop_front()));
        !moved)
      return moved;
    if (!isa<NoneType>(op.getBias().getType()))
      if (Expected<void> moved = moveConstant(op, 2, order, 1); !moved)
        return moved;
    last = op.getOutput();
  }
  llvm::SmallSetVector<Operation *, 4> readers(last.user_begin(), last.user_end());
  for (Operation *reader : readers) {
    moveFigures(reader, order);
    const size_t taps = elementsOf(filterDims(cast<top::ConvOp>(reader)).drop_front(2));
    if (Expected<void> moved = moveConstant(reader, 1, order, taps); !moved)
      return moved;
  }
  for (top::ConvOp op : chain)
    rename(op);
  return {};
}

} // namespace

Expected<void> tpuc::sortChannels(func::FuncOp main, const TargetInfo &target,
                                  const StoragePlan &plan, PlanOptions &options) {
  ChannelSorter sorter(target, plan, options);
  for (top::ConvOp op : llvm::to_vector(main.front().getOps<top::ConvOp>()))
    if (Expected<void> done = sorter.sort(op); !done)
      return done;
  return {};
}

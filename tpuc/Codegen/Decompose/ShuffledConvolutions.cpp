//===- ShuffledConvolutions.cpp - Convolutions whose channels are shuffled -----===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Decompose/Decompositions.h"
#include "tpuc/Codegen/Decompose/RewriteOps.h"
#include "tpuc/Codegen/Group/WindowCost.h"
#include "tpuc/Codegen/Layers.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Dialect/Tpu/ConvolutionOps.h"
#include "tpuc/Dialect/Tpu/MovementOps.h"
#include "tpuc/Dialect/Tpu/StoredType.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::codegen;

namespace {

/// Filters of more elements than this are not looked at.
constexpr int64_t kMostWeights = int64_t{1} << 22;

/// Which channel each of `channels` shuffled ones was.
SmallVector<int64_t> unshuffled(int64_t channels, int64_t groups) {
  SmallVector<int64_t> before;
  for (int64_t channel = 0; channel < channels; ++channel)
    before.push_back(channel % groups * (channels / groups) + channel / groups);
  return before;
}

/// A filter [O, C / groups, ...] as [O, C, ...], which has zeros where channels do not meet; its
/// outputs are those of `before`. Also a bias [O], of one group.
Tensor shuffledRows(const Tensor &rows, int64_t groups, ArrayRef<int64_t> before) {
  SmallVector<int64_t> dims(rows.shape().begin(), rows.shape().end());
  const auto outputs = static_cast<int64_t>(before.size());
  if (dims.size() > 1)
    dims[1] *= groups;
  Tensor made(rows.type(), Shape(std::span(dims.data(), dims.size())));
  std::ranges::fill(made.mutableBytes(), std::byte{0});
  const auto own = static_cast<size_t>(rows.byteSize() / outputs);
  for (int64_t output = 0; output < outputs; ++output) {
    const int64_t source = before[static_cast<size_t>(output)];
    const int64_t group = source / (outputs / groups);
    std::ranges::copy(rows.rawBytes().subspan(static_cast<size_t>(source) * own, own),
                      made.mutableBytes()
                          .subspan(static_cast<size_t>(output * groups + group) * own, own)
                          .begin());
  }
  return made;
}

void shuffleEach(OpMaker &maker, NamedAttrList &attributes, ArrayRef<int64_t> before) {
  for (StringRef name : {"multiplier", "rshift", "dequant_scale"})
    if (auto each = dyn_cast_or_null<ArrayAttr>(attributes.get(name));
        each && each.size() == before.size() && each.size() > 1)
      attributes.set(name, maker.builder.getArrayAttr(
                               llvm::map_to_vector(before, [&](int64_t channel) -> Attribute {
                                 return each[static_cast<unsigned>(channel)];
                               })));
}

} // namespace

bool codegen::decomposeShuffledConv(OpMaker &maker) {
  auto op = dyn_cast<tpu::ShuffleChannelOp>(maker.op);
  auto conv = op ? op.getInput().getDefiningOp<tpu::ConvOp>() : tpu::ConvOp();
  if (!conv || !conv->hasOneUse() || conv.getInserts() || tpu::zeroPointOf(conv.getFilter()) != 0 ||
      !conv.getFilter().getDefiningOp<top::WeightOp>())
    return false;
  const ArrayRef<int64_t> dims = OpMaker::dimsOf(op.getOutput());
  const auto shuffled = static_cast<int64_t>(op.getGroup());
  const auto groups = static_cast<int64_t>(conv.getGroup());
  const bool hasBias = !isa<NoneType>(conv.getBias().getType());
  if (dims.size() < 2 || dims[1] % shuffled != 0 ||
      (hasBias && !OpMaker::constantOf(conv.getBias())) ||
      (groups > 1 && (conv.getPadValue() || conv.getPadValues())) ||
      OpMaker::typeOf(conv.getFilter()).getNumElements() * groups > kMostWeights)
    return false;
  const SmallVector<int64_t> before = unshuffled(dims[1], shuffled);
  NamedAttrList attributes(conv->getAttrDictionary());
  attributes.set("group", maker.builder.getI64IntegerAttr(1));
  shuffleEach(maker, attributes, before);
  const auto made = [&](Value filter, Value bias) {
    return maker.make(tpu::ConvOp::getOperationName(), "in_order", op.getOutput().getType(),
                      {conv.getInput(), filter, bias}, attributes);
  };
  if (groups > 1) {
    SmallVector<int64_t> filterDims(OpMaker::dimsOf(conv.getFilter()));
    filterDims[1] *= groups;
    const RankedTensorType type = OpMaker::typeOf(conv.getFilter());
    const Value tried = made(maker.builder.create<top::WeightOp>(
                                 conv.getFilter().getLoc(), type.clone(filterDims), ArrayAttr()),
                             conv.getBias());
    const std::optional<int64_t> apart = layerCost(conv, maker.backend);
    const std::optional<int64_t> whole = layerCost(tried.getDefiningOp(), maker.backend);
    eraseUnused(tried.getDefiningOp());
    const int64_t moved =
        maker.backend.transferCycles(globalBytes(op.getOutput().getType()), dims[0] * dims[1]);
    if (!whole || (apart && *whole > *apart + 2 * moved))
      return false;
  }
  const std::optional<Tensor> filter = OpMaker::constantOf(conv.getFilter());
  if (!filter)
    return false;
  const Value value =
      made(maker.weight(shuffledRows(*filter, groups, before), "filter_in_order"),
           hasBias ? maker.weight(shuffledRows(*OpMaker::constantOf(conv.getBias()), 1, before),
                                  "bias_in_order")
                   : conv.getBias());
  maker.replace(0, value);
  return true;
}

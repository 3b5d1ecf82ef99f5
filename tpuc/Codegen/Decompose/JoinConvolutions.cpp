//===- JoinConvolutions.cpp - Convolutions of parts that are joined again ------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Depthwise convolutions with windows of several extents, for one, have a part of the channels
// each. In local memory most parts begin in the middle of the lanes, so that transfers bring them
// there and join what is made of them. One convolution with the largest window does neither: its
// filter has zeros where a part's own window is smaller. For windows of 1 and of 3 it is
//
//   channels of the first part     0 a 0
//   channels of the second part    b c d
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Decompose/OpMaker.h"
#include "tpuc/Codegen/Decompose/PickedParts.h"
#include "tpuc/Codegen/Decompose/RewriteOps.h"
#include "tpuc/Codegen/Group/WindowCost.h"
#include "tpuc/Codegen/Layers.h"
#include "tpuc/Codegen/Passes.h"
#include "tpuc/Dialect/Top/MainFunction.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Dialect/Top/WindowShapes.h"
#include "tpuc/Dialect/Tpu/ConvolutionOps.h"
#include "tpuc/Dialect/Tpu/MovementOps.h"
#include "tpuc/Dialect/Tpu/StoredType.h"

#include <map>

namespace tpuc::codegen {
#define GEN_PASS_DEF_JOINCONVOLUTIONS
#include "tpuc/Codegen/Passes.h.inc"
} // namespace tpuc::codegen

using namespace mlir;
using namespace tpuc;
using namespace tpuc::codegen;

namespace {

/// Less than this is gained by chance.
constexpr double kWorthJoining = 0.995;
/// So many layers in front and behind are looked at with the convolutions, and so many between them
/// at most.
constexpr int64_t kLayersBefore = 4, kLayersBehind = 10, kMostBetween = 16;
/// Filters of more elements than this are not made.
constexpr int64_t kMostFilterElements = int64_t{1} << 22;

constexpr int64_t kChannels = 1;

/// What may be stated for each channel of a result.
constexpr StringLiteral kOfChannels[] = {"multiplier", "rshift", "dequant_scale"};
/// What else the convolutions of parts may differ in.
constexpr StringLiteral kOfWindows[] = {"group", "kernel_shape", "pads", "auto_pad", "dilations"};

/// A convolution of some of the channels of `JoinedParts::input`.
struct ConvolvedPart {
  Operation *op = nullptr;
  top::Window window;
  /// Its first channel of the input; channels of the input and of the result in each group.
  int64_t begin = 0, inputs = 0, outputs = 0;

  tpu::ConvOp conv() const { return cast<tpu::ConvOp>(op); }
  int64_t groups() const { return static_cast<int64_t>(conv().getGroup()); }
};

/// Convolutions of all channels of `input`, each of some, whose results a concatenation joins.
struct JoinedParts {
  Value input;
  SmallVector<ConvolvedPart> parts;
  SmallVector<int64_t> kernel, padsBegin, padsEnd;

  /// Whether the parts are groups of one convolution.
  bool haveEqualGroups() const {
    return llvm::all_of(parts, [&](const ConvolvedPart &part) {
      return part.inputs == parts.front().inputs && part.outputs == parts.front().outputs;
    });
  }
};

int64_t channelsOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getDimSize(kChannels);
}

bool isConstantOrNone(Value value) {
  return isa<NoneType>(value.getType()) || value.getDefiningOp<top::WeightOp>();
}

/// What has to be the same in all parts, and which numbers are stated for channels.
NamedAttrList sharedAttributes(tpu::ConvOp op) {
  NamedAttrList shared(op->getAttrDictionary());
  for (StringRef name : kOfWindows)
    shared.erase(name);
  for (StringRef name : kOfChannels)
    if (isa_and_nonnull<ArrayAttr>(shared.get(name)))
      shared.set(name, UnitAttr::get(op.getContext()));
  return shared;
}

/// The convolution that makes an operand of a concatenation of elements of type `element`, for that
/// alone, of a part of some value; none for others.
std::optional<std::pair<Value, ConvolvedPart>> partOf(Value joined, Type element) {
  auto op = joined.getDefiningOp<tpu::ConvOp>();
  const RankedTensorType input = op ? staticType(op.getInput()) : RankedTensorType();
  const RankedTensorType filter = op ? staticType(op.getFilter()) : RankedTensorType();
  if (!input || !filter || !staticType(joined) || !joined.hasOneUse() || op.getInserts() ||
      op.getPadValue() || op.getPadValues() || staticType(joined).getElementType() != element ||
      !op.getFilter().getDefiningOp<top::WeightOp>() || !isConstantOrNone(op.getBias()) ||
      tpu::zeroPointOf(op.getFilter()) != 0)
    return std::nullopt;
  std::optional<Picked> picked = splitPart(op.getInput(), kChannels);
  if (!picked)
    picked = slicePart(op.getInput(), kChannels);
  Expected<top::Window> window =
      top::convolutionWindow(top::windowSpec(op), input.getShape(), filter.getShape());
  const RankedTensorType whole = picked ? staticType(picked->from) : RankedTensorType();
  if (!whole || !window || whole.getElementType() != input.getElementType() ||
      !llvm::all_of(window->dilations, [](int64_t dilation) { return dilation == 1; }))
    return std::nullopt;
  const auto groups = static_cast<int64_t>(op.getGroup());
  return std::pair(picked->from, ConvolvedPart{.op = op,
                                               .window = *window,
                                               .begin = picked->begin,
                                               .inputs = channelsOf(op.getInput()) / groups,
                                               .outputs = channelsOf(joined) / groups});
}

/// Whether two parts may be channels of one convolution.
bool fitTogether(const ConvolvedPart &a, const ConvolvedPart &b) {
  const auto elementOf = [](Value value) {
    return isa<NoneType>(value.getType()) ? Type() : OpMaker::typeOf(value).getElementType();
  };
  return a.window.strides == b.window.strides &&
         elementOf(a.conv().getFilter()) == elementOf(b.conv().getFilter()) &&
         elementOf(a.conv().getBias()) == elementOf(b.conv().getBias()) &&
         sharedAttributes(a.conv()) == sharedAttributes(b.conv());
}

/// None for concatenations of anything else.
std::optional<JoinedParts> joinedParts(tpu::ConcatOp concat) {
  const RankedTensorType type = staticType(concat.getOutput());
  const int64_t axis = concat.getAxis();
  if (!type || type.getRank() < 3 || concat.getDoRelu() || concat.getInputs().size() < 2 ||
      (axis != kChannels && axis != kChannels - type.getRank()))
    return std::nullopt;
  JoinedParts joined;
  int64_t end = 0;
  for (Value operand : concat.getInputs()) {
    const auto found = partOf(operand, type.getElementType());
    if (!found || found->second.begin != end || (joined.input && found->first != joined.input) ||
        found->second.op->getBlock() != concat->getBlock())
      return std::nullopt;
    joined.input = found->first;
    joined.parts.push_back(found->second);
    if (!fitTogether(joined.parts.front(), joined.parts.back()))
      return std::nullopt;
    end += channelsOf(found->second.conv().getInput());
  }
  if (end != channelsOf(joined.input))
    return std::nullopt;
  const ArrayRef<int64_t> input = OpMaker::dimsOf(joined.input).drop_front(2);
  for (auto [dim, extent] : llvm::enumerate(input)) {
    int64_t before = 0, reach = 0;
    for (const ConvolvedPart &part : joined.parts) {
      before = std::max(before, part.window.padsBegin[dim]);
      reach = std::max(reach, part.window.kernel[dim] - part.window.padsBegin[dim]);
    }
    const int64_t last = (type.getDimSize(static_cast<unsigned>(dim) + 2) - 1) *
                         joined.parts.front().window.strides[dim];
    joined.kernel.push_back(before + reach);
    joined.padsBegin.push_back(before);
    joined.padsEnd.push_back(std::max<int64_t>(0, last + reach - extent));
  }
  return joined;
}

/// The dimensions of the filter of all parts. `isDense`: in one group.
SmallVector<int64_t> filterDims(const JoinedParts &joined, bool isDense) {
  SmallVector<int64_t> dims = {0, isDense ? channelsOf(joined.input) : joined.parts.front().inputs};
  for (const ConvolvedPart &part : joined.parts)
    dims[0] += part.groups() * part.outputs;
  dims.append(joined.kernel.begin(), joined.kernel.end());
  return dims;
}

/// Puts the elements of a part's filter into that of all, whose outputs begin at `output`.
void putFilter(Tensor &all, const Tensor &own, const JoinedParts &joined, const ConvolvedPart &part,
               int64_t output, bool isDense) {
  const auto bytes = static_cast<size_t>(own.byteSize() / own.numElements());
  const SmallVector<int64_t> dims(own.shape().begin(), own.shape().end());
  SmallVector<int64_t> index(dims.size(), 0);
  for (int64_t element = 0; element < own.numElements(); ++element) {
    const int64_t group = index[0] / part.outputs;
    int64_t place = output + index[0];
    place = place * all.shape()[1] + index[1] + (isDense ? part.begin + group * part.inputs : 0);
    for (size_t dim = 2; dim < dims.size(); ++dim)
      place = place * all.shape()[dim] + index[dim] + joined.padsBegin[dim - 2] -
              part.window.padsBegin[dim - 2];
    std::ranges::copy(own.rawBytes().subspan(static_cast<size_t>(element) * bytes, bytes),
                      all.mutableBytes().subspan(static_cast<size_t>(place) * bytes).begin());
    for (size_t dim = dims.size(); dim-- > 0 && ++index[dim] == dims[dim];)
      index[dim] = 0;
  }
}

/// The filter of all parts; none where one cannot be read.
std::optional<Tensor> joinedFilter(const JoinedParts &joined, bool isDense) {
  std::optional<Tensor> all;
  int64_t output = 0;
  for (const ConvolvedPart &part : joined.parts) {
    const std::optional<Tensor> own = OpMaker::constantOf(part.conv().getFilter());
    if (!own)
      return std::nullopt;
    if (!all) {
      const SmallVector<int64_t> dims = filterDims(joined, isDense);
      all.emplace(own->type(), Shape(std::span(dims.data(), dims.size())));
      std::ranges::fill(all->mutableBytes(), std::byte{0});
    }
    putFilter(*all, *own, joined, part, output, isDense);
    output += own->shape()[0];
  }
  return all;
}

/// The same of biases.
std::optional<Tensor> joinedBias(const JoinedParts &joined) {
  std::optional<Tensor> all;
  size_t end = 0;
  for (const ConvolvedPart &part : joined.parts) {
    const std::optional<Tensor> own = OpMaker::constantOf(part.conv().getBias());
    if (!own)
      return std::nullopt;
    if (!all)
      all.emplace(own->type(), Shape{filterDims(joined, false)[0]});
    std::ranges::copy(own->rawBytes(), all->mutableBytes().subspan(end).begin());
    end += own->rawBytes().size();
  }
  return all;
}

/// Numbers that each part states for all of its channels, or one for all of them.
ArrayAttr joinedNumbers(const JoinedParts &joined, StringRef name) {
  SmallVector<Attribute> all;
  for (const ConvolvedPart &part : joined.parts) {
    const auto own = part.op->getAttrOfType<ArrayAttr>(name);
    const auto channels = static_cast<size_t>(part.groups() * part.outputs);
    if (own.size() == channels)
      llvm::append_range(all, own);
    else
      all.append(channels, own[0]);
  }
  return ArrayAttr::get(joined.parts.front().conv().getContext(), all);
}

/// Puts one convolution into the place of a concatenation and of the parts.
tpu::ConvOp join(tpu::ConcatOp concat, const JoinedParts &joined, bool isDense, Value filter,
                 Value bias) {
  OpBuilder builder(concat);
  Operation *first = joined.parts.front().op;
  auto made = cast<tpu::ConvOp>(builder.clone(*first));
  made->setLoc(concat.getLoc());
  made->setOperands(ValueRange{joined.input, filter, bias});
  made.getOutput().setType(cast<RankedTensorType>(concat.getOutput().getType()));
  SmallVector<int64_t> pads(joined.padsBegin);
  llvm::append_range(pads, joined.padsEnd);
  int64_t groups = 0;
  for (const ConvolvedPart &part : joined.parts)
    groups += part.groups();
  made.setGroup(static_cast<uint64_t>(isDense ? 1 : groups));
  made.setAutoPad("NOTSET");
  made->setAttr("kernel_shape", builder.getI64ArrayAttr(joined.kernel));
  made->setAttr("pads", builder.getI64ArrayAttr(pads));
  for (StringRef name : kOfChannels)
    if (made->getAttrOfType<ArrayAttr>(name))
      made->setAttr(name, joinedNumbers(joined, name));
  concat.getOutput().replaceAllUsesWith(made.getOutput());
  eraseUnused(concat);
  return made;
}

/// A constant like `like` whose elements are not there yet.
Value emptyWeight(Value like, ArrayRef<int64_t> dims) {
  OpBuilder builder(like.getContext());
  builder.setInsertionPointAfterValue(like);
  return builder
      .create<top::WeightOp>(like.getLoc(), OpMaker::typeOf(like).clone(dims), ArrayAttr())
      .getOutput();
}

enum class Choice { Apart, Grouped, Dense };

/// Joins convolutions where the layers around take fewer cycles by it.
class ConvolutionJoiner {
public:
  explicit ConvolutionJoiner(const Backend &backend) : backend(backend), costs(backend) {}

  void run(tpu::ConcatOp concat);

private:
  Choice best(tpu::ConcatOp concat, const JoinedParts &joined, const OpWindow &window);
  std::optional<double> costOf(tpu::ConcatOp concat, const OpWindow &window, Choice choice);

  const Backend &backend;
  WindowCosts costs;
  OpKinds kinds;
  std::map<WindowKey, Choice> known;
};

/// None: the chip does not compute it so.
std::optional<double> ConvolutionJoiner::costOf(tpu::ConcatOp concat, const OpWindow &window,
                                                Choice choice) {
  WindowClone clone(window.ops);
  if (choice != Choice::Apart) {
    auto copy = cast<tpu::ConcatOp>(clone.of(concat));
    const JoinedParts joined = *joinedParts(copy);
    tpu::ConvOp first = joined.parts.front().conv();
    const bool isDense = choice == Choice::Dense;
    const SmallVector<int64_t> dims = filterDims(joined, isDense);
    const bool hasBias = !isa<NoneType>(first.getBias().getType());
    auto made = join(copy, joined, isDense, emptyWeight(first.getFilter(), dims),
                     hasBias ? emptyWeight(first.getBias(), dims[0]) : first.getBias());
    if (!backend.placeOf(made))
      return std::nullopt;
  }
  return costs.of(window, clone, [](const GroupTable::Option &option, ArrayRef<Operation *>) {
    return static_cast<double>(option.estimate);
  });
}

Choice ConvolutionJoiner::best(tpu::ConcatOp concat, const JoinedParts &joined,
                               const OpWindow &window) {
  const std::optional<double> apart = costOf(concat, window, Choice::Apart);
  if (!apart)
    return Choice::Apart;
  Choice best = Choice::Apart;
  double least = kWorthJoining * *apart;
  const bool isOfChannels =
      llvm::all_of(joined.parts, [](const ConvolvedPart &part) { return part.inputs == 1; });
  for (const Choice choice : {Choice::Grouped, Choice::Dense}) {
    const bool isDense = choice == Choice::Dense;
    if ((isDense ? isOfChannels : !joined.haveEqualGroups()) ||
        ShapedType::getNumElements(filterDims(joined, isDense)) > kMostFilterElements)
      continue;
    if (const std::optional<double> cost = costOf(concat, window, choice); cost && *cost < least) {
      best = choice;
      least = *cost;
    }
  }
  return best;
}

void ConvolutionJoiner::run(tpu::ConcatOp concat) {
  const std::optional<JoinedParts> joined = joinedParts(concat);
  if (!joined)
    return;
  Operation *first = joined->parts.front().op;
  for (const ConvolvedPart &part : joined->parts)
    if (!backend.placeOf(part.op))
      return;
    else if (part.op->isBeforeInBlock(first))
      first = part.op;
  int64_t between = 0;
  for (Operation *each = first; each != concat; each = each->getNextNode())
    between += isLayer(each) ? 1 : 0;
  if (between > kMostBetween)
    return;
  const OpWindow window = windowAround(first, concat, kLayersBefore, kLayersBehind);
  const auto [entry, isNew] = known.try_emplace(windowKey(window, concat, kinds), Choice::Apart);
  if (isNew)
    entry->second = best(concat, *joined, window);
  if (entry->second == Choice::Apart)
    return;
  const bool isDense = entry->second == Choice::Dense;
  const std::optional<Tensor> filter = joinedFilter(*joined, isDense);
  Value bias = joined->parts.front().conv().getBias();
  const bool hasBias = !isa<NoneType>(bias.getType());
  const std::optional<Tensor> addends = hasBias ? joinedBias(*joined) : std::nullopt;
  if (!filter || (hasBias && !addends))
    return;
  OpMaker maker(concat, backend);
  const auto typed = [&](const Tensor &tensor, StringRef what, Value like) {
    Value made = maker.weight(tensor, what);
    made.setType(OpMaker::typeOf(like).clone(OpMaker::dimsOf(made)));
    return made;
  };
  const Value weights = typed(*filter, "filter", joined->parts.front().conv().getFilter());
  if (hasBias)
    bias = typed(*addends, "bias", bias);
  join(concat, *joined, isDense, weights, bias);
}

struct JoinConvolutionsPass : codegen::impl::JoinConvolutionsBase<JoinConvolutionsPass> {
  using Base::Base;

  void runOnOperation() override {
    const std::unique_ptr<Backend> backend = backendOrEmit(getOperation());
    if (!backend)
      return signalPassFailure();
    ConvolutionJoiner joiner(*backend);
    const auto isOfParts = [](tpu::ConcatOp op, const Backend &) {
      return joinedParts(op).has_value();
    };
    const auto join = [&](tpu::ConcatOp op, const Backend &) -> Expected<void> {
      joiner.run(op);
      return {};
    };
    if (Expected<void> done = rewriteOps<tpu::ConcatOp>(getOperation(), *backend, isOfParts, join);
        !done) {
      getOperation().emitError(done.error().message());
      signalPassFailure();
    }
  }
};

} // namespace

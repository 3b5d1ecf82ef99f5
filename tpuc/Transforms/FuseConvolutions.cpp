//===- FuseConvolutions.cpp - Convolutions that read the same tensor ----------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Heads of detectors are convolutions of few channels beside each other. As one convolution they
// read their input once, and fill the channels that are computed together; then their results have
// to be cut out, unless they are concatenated anyway.
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Top/BinaryOps.h"
#include "tpuc/Dialect/Top/ConvolutionOps.h"
#include "tpuc/Dialect/Top/IndexOps.h"
#include "tpuc/Dialect/Top/MovementOps.h"
#include "tpuc/Dialect/Top/NormOps.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Transforms/Fusions.h"
#include "tpuc/Transforms/Matching.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace tpuc;
using namespace tpuc::top;

namespace {

/// A convolution, and the activation function behind it if it is the only reader.
struct Branch {
  Operation *conv;
  Operation *activation;
  int64_t channels;

  Value input() const { return conv->getOperand(0); }
  Value filter() const { return conv->getOperand(1); }
  Value bias() const { return conv->getOperand(2); }
  /// The op that makes the result.
  Operation *last() const { return activation ? activation : conv; }
  Value result() const { return last()->getResult(0); }
};

} // namespace

/// Whether `value` is a constant of f32; reading it is left for later.
static bool isWeight(Value value) { return value.getDefiningOp<WeightOp>() && isF32(value); }

static std::optional<Branch> branchOf(ConvOp conv) {
  std::optional<Dims> dims = dimsOf(conv.getFilter());
  if (conv.getGroup() != 1 || conv.getInserts() || !dims || !isWeight(conv.getFilter()) ||
      (isPresent(conv.getBias()) &&
       (!isWeight(conv.getBias()) || staticElements(conv.getBias()) != (*dims)[0])) ||
      staticElements(conv.getOutput()) <= 0)
    return std::nullopt;
  Branch branch{conv, nullptr, (*dims)[0]};
  if (conv.getOutput().hasOneUse())
    if (Operation *user = *conv.getOutput().user_begin();
        user->getBlock() == conv->getBlock() && user->hasTrait<traits::FusibleActivation>())
      branch.activation = user;
  return branch;
}

/// Whether the two differ in their filters, biases and names only.
static bool areAlike(const Branch &a, const Branch &b) {
  if (a.conv->getAttrDictionary() != b.conv->getAttrDictionary() ||
      (a.activation == nullptr) != (b.activation == nullptr))
    return false;
  return !a.activation || (a.activation->getName() == b.activation->getName() &&
                           a.activation->getAttrDictionary() == b.activation->getAttrDictionary());
}

/// The branches like that of `first`, which is the first of them.
static SmallVector<Branch> branchesFrom(ConvOp first) {
  std::optional<Branch> own = branchOf(first);
  if (!own)
    return {};
  SmallVector<Branch> branches;
  for (Operation *user : first.getInput().getUsers()) {
    auto conv = dyn_cast<ConvOp>(user);
    if (!conv || conv->getBlock() != first->getBlock() || conv.getInput() != first.getInput())
      continue;
    std::optional<Branch> branch = branchOf(conv);
    if (!branch || !areAlike(*own, *branch))
      continue;
    if (conv->isBeforeInBlock(first))
      return {};
    branches.push_back(*branch);
  }
  llvm::sort(branches,
             [](const Branch &a, const Branch &b) { return a.conv->isBeforeInBlock(b.conv); });
  return branches;
}

/// The concatenation of channels that reads all branches, once each, beside each other; then they
/// are put into its order. Null if there is none.
static ConcatOp sortForConcat(SmallVector<Branch> &branches) {
  ConcatOp concat;
  for (const Branch &branch : branches) {
    if (!branch.result().hasOneUse())
      return {};
    auto user = dyn_cast<ConcatOp>(*branch.result().user_begin());
    if (!user || (concat && user != concat))
      return {};
    concat = user;
  }
  auto axis = static_cast<int64_t>(concat.getAxis());
  if (axis != 1 && axis + static_cast<int64_t>(dimsOf(branches.front().result())->size()) != 1)
    return {};
  auto place = [](const Branch &branch) { return branch.result().use_begin()->getOperandNumber(); };
  llvm::sort(branches, [&](const Branch &a, const Branch &b) { return place(a) < place(b); });
  bool areNeighbours = place(branches.back()) - place(branches.front()) + 1 == branches.size();
  return areNeighbours ? concat : ConcatOp();
}

/// Counted in elements that are read or written. Weights and results are the same either way;
/// merged, the input is read once, and each result is copied out of the whole. That channels which
/// are computed together are better filled comes on top: it depends on the machine.
static bool doesPay(ArrayRef<Branch> branches, bool isConcatenated) {
  int64_t saved =
      static_cast<int64_t>(branches.size() - 1) * staticElements(branches.front().input());
  Count copied = 0;
  for (const Branch &branch : branches)
    copied += isConcatenated ? Count(0) : 2 * staticElements(branch.result());
  return saved > copied;
}

/// How large results get for inputs of about 1: of the channels' norms and biases, the largest.
static double rangeOf(const Branch &branch) {
  Doubles filter = *constantFloats(branch.filter());
  Doubles bias = *constantFloats(branch.bias(), branch.channels, 0);
  size_t terms = filter.size() / bias.size();
  double range = 0;
  for (size_t channel = 0; channel < bias.size(); ++channel) {
    double squares = 0;
    for (double factor : ArrayRef(filter).slice(channel * terms, terms))
      squares += factor * factor;
    range = std::max(range, std::sqrt(squares) + std::abs(bias[channel]));
  }
  return range;
}

/// Whether one quantization for all costs none of them more than about a bit.
static bool haveSimilarRanges(ArrayRef<Branch> branches) {
  double least = std::numeric_limits<double>::infinity();
  double most = 0;
  for (const Branch &branch : branches) {
    double range = rangeOf(branch);
    least = std::min(least, range);
    most = std::max(most, range);
  }
  return most <= 2 * least;
}

/// `branches` as one convolution of all their channels, and its activation.
static Value merge(PatternRewriter &rewriter, ArrayRef<Branch> branches) {
  auto first = cast<ConvOp>(branches.front().conv);
  Doubles filter;
  Doubles bias;
  bool hasBias = false;
  for (const Branch &branch : branches) {
    llvm::append_range(filter, *constantFloats(branch.filter()));
    llvm::append_range(bias, *constantFloats(branch.bias(), branch.channels, 0));
    hasBias |= isPresent(branch.bias());
  }
  auto channels = static_cast<int64_t>(bias.size());
  Dims filterDims = *dimsOf(first.getFilter());
  filterDims[0] = channels;
  auto wide = [&](Value value) {
    Dims dims = *dimsOf(value);
    dims[1] = channels;
    return RankedTensorType::get(dims, elementTypeOf(value));
  };
  Value weight = makeWeight(rewriter, first, "_merged_weight", filterDims, filter);
  Value added = hasBias ? makeWeight(rewriter, first, "_merged_bias", bias)
                        : makeNone(rewriter, first.getLoc());
  auto conv = rewriter.create<ConvOp>(
      locWith(rewriter, first, "_merged"), TypeRange{wide(first.getOutput())},
      ValueRange{first.getInput(), weight, added}, first->getAttrDictionary().getValue());
  Operation *activation = branches.front().activation;
  if (!activation)
    return conv.getOutput();
  OperationState state(locWith(rewriter, activation, "_merged"), activation->getName());
  state.addOperands(conv.getOutput());
  state.addTypes(wide(activation->getResult(0)));
  state.addAttributes(activation->getAttrDictionary().getValue());
  return rewriter.create(state)->getResult(0);
}

/// Lets `concat` read `merged` instead of the branches, which are neighbours in their order.
static void readMerged(PatternRewriter &rewriter, ConcatOp concat, ArrayRef<Branch> branches,
                       Value merged) {
  SmallVector<Value> operands;
  for (Value operand : concat.getInputs()) {
    auto isIt = [&](const Branch &branch) { return branch.result() == operand; };
    if (isIt(branches.front()))
      operands.push_back(merged);
    else if (llvm::none_of(branches, isIt))
      operands.push_back(operand);
  }
  if (operands.size() > 1 || !isPlain(concat))
    return rewriter.modifyOpInPlace(concat, [&] { concat->setOperands(operands); });
  Operation *last = merged.getDefiningOp();
  rewriter.modifyOpInPlace(last, [&] { last->setLoc(concat.getLoc()); });
  rewriter.replaceOp(concat, merged);
}

/// Channels [first, first + branch.channels) of `merged`, under the branch's name.
static void cutOut(PatternRewriter &rewriter, const Branch &branch, Value merged, int64_t first) {
  Location loc = branch.last()->getLoc();
  Value none = makeNone(rewriter, loc);
  auto ints = [&](int64_t value) { return rewriter.getI64ArrayAttr({value}); };
  auto slice =
      rewriter.create<SliceOp>(loc, branch.result().getType(), merged, none, none, none, none,
                               ints(first), ints(1), ints(first + branch.channels), ints(1));
  rewriter.replaceAllUsesWith(branch.result(), slice.getOutput());
}

/// Conv(x), Conv(x) -> Slice(Conv(x)), Slice(...), or without slices where they are concatenated
static LogicalResult mergeConvs(ConvOp op, PatternRewriter &rewriter) {
  SmallVector<Branch> branches = branchesFrom(op);
  if (branches.size() < 2)
    return failure();
  ConcatOp concat = sortForConcat(branches);
  // What is concatenated shares a quantization anyway.
  if (!doesPay(branches, concat != nullptr) || (!concat && !haveSimilarRanges(branches)))
    return failure();
  rewriter.setInsertionPoint(op);
  Value merged = merge(rewriter, branches);
  int64_t first = 0;
  if (concat)
    readMerged(rewriter, concat, branches, merged);
  for (const Branch &branch : branches) {
    if (!concat)
      cutOut(rewriter, branch, merged, first);
    first += branch.channels;
  }
  for (const Branch &branch : branches) {
    if (branch.activation)
      rewriter.eraseOp(branch.activation);
    rewriter.eraseOp(branch.conv);
  }
  return success();
}

namespace {

/// A filter [O, I, H, W] that is a constant times numbers for input and for output channels.
struct ModulatedFilter {
  Value constant;
  SmallVector<Value> ofInputs, ofOutputs;
};

} // namespace

/// Whether `dims` are those of a filter behind dimensions of one element.
static bool endsLike(ArrayRef<int64_t> dims, ArrayRef<int64_t> filter) {
  return dims.size() >= filter.size() && dims.take_back(filter.size()) == filter &&
         llvm::all_of(dims.drop_back(filter.size()), [](int64_t extent) { return extent == 1; });
}

/// Whether `value` broadcasts along one dimension, the `fromEnd`-th one from the end.
static bool isAlong(Value value, size_t fromEnd) {
  const std::optional<Dims> dims = dimsOf(value);
  if (!dims || dims->size() < fromEnd)
    return false;
  const int64_t extent = (*dims)[dims->size() - fromEnd];
  return extent > 1 && staticElements(value) == extent;
}

/// What gives the same elements as `value` in other dimensions; null for others.
static Value sameElements(Value value) {
  Operation *op = value.getDefiningOp();
  const bool isEntry = isa_and_nonnull<GatherOp>(op) &&
                       staticElements(op->getOperand(0)) == staticElements(value) &&
                       op->getOperand(1).getDefiningOp<WeightOp>();
  return isReshape(op) || (isEntry && staticElements(value) > 0) ? op->getOperand(0) : Value();
}

static std::optional<ModulatedFilter> modulatedFilter(Value value, ArrayRef<int64_t> filter) {
  ModulatedFilter found;
  while (!value.getDefiningOp<WeightOp>()) {
    if (const Value same = sameElements(value)) {
      value = same;
      continue;
    }
    auto product = value.getDefiningOp<MulOp>();
    const std::optional<Dims> dims = product ? dimsOf(product.getOutput()) : std::nullopt;
    if (!dims || !isPlain(product) || product.getInputs().size() != 2 || !endsLike(*dims, filter))
      return std::nullopt;
    const bool isFirst = haveSameType(product.getInputs()[0], product.getOutput());
    const Value factor = product.getInputs()[isFirst ? 1 : 0];
    value = product.getInputs()[isFirst ? 0 : 1];
    if (!haveSameType(value, product.getOutput()))
      return std::nullopt;
    if (isAlong(factor, 3))
      found.ofInputs.push_back(factor);
    else if (isAlong(factor, 4))
      found.ofOutputs.push_back(factor);
    else
      return std::nullopt;
  }
  found.constant = value;
  if (!isWeight(value) || found.ofInputs.size() + found.ofOutputs.size() == 0)
    return std::nullopt;
  return found;
}

/// The channels of a picture times numbers. Each tensor has a name of its own, by which calibration
/// knows its range.
static Value scaledChannels(PatternRewriter &rewriter, ConvOp op, const std::string &suffix,
                            Value picture, Value factor) {
  const Value factors = reshaped(rewriter, locWith(rewriter, op, suffix + "_numbers"), factor,
                                 {1, staticElements(factor), 1, 1});
  return rewriter
      .create<MulOp>(locWith(rewriter, op, suffix), TypeRange{picture.getType()},
                     ValueRange{picture, factors})
      .getOutput();
}

/// Conv(x, w * s * d) -> d * Conv(s * x, w), numbers s for input and d for output channels
static LogicalResult takeModulationOut(ConvOp op, PatternRewriter &rewriter) {
  const std::optional<Dims> filter = dimsOf(op.getFilter());
  if (!filter || filter->size() != 4 || op.getGroup() != 1 || isPresent(op.getBias()) ||
      !isPlain(op) || staticElements(op.getInput()) <= 0 || staticElements(op.getOutput()) <= 0)
    return failure();
  const std::optional<ModulatedFilter> parts = modulatedFilter(op.getFilter(), *filter);
  if (!parts)
    return failure();
  Value value = op.getInput();
  for (auto [index, factor] : llvm::enumerate(parts->ofInputs))
    value = scaledChannels(rewriter, op, "_scaled" + std::to_string(index), value, factor);
  const Location loc = locWith(rewriter, op, "_convolved");
  const Value constant =
      reshaped(rewriter, locWith(rewriter, op, "_filter"), parts->constant, *filter);
  Operation *conv = rewriter.clone(*op);
  conv->setLoc(loc);
  conv->setOperand(0, value);
  conv->setOperand(1, constant);
  value = conv->getResult(0);
  for (auto [index, factor] : llvm::enumerate(parts->ofOutputs))
    value = scaledChannels(rewriter, op, "_factor" + std::to_string(index), value, factor);
  value.getDefiningOp()->setLoc(op.getLoc());
  rewriter.replaceOp(op, value);
  return success();
}

//===----------------------------------------------------------------------===//
// In front of a concatenation
//===----------------------------------------------------------------------===//

/// The convolutions with constant filters that make all operands of a concatenation, for that alone
/// and without an activation; none if something else makes one.
static std::optional<SmallVector<ConvOp>> joinedConvolutions(ConcatOp concat) {
  SmallVector<ConvOp> convolutions;
  for (Value part : concat.getInputs()) {
    auto conv = producerFor<ConvOp>(part, concat);
    std::optional<Dims> dims = dimsOf(part);
    if (!conv || !conv.getFilter().getDefiningOp<WeightOp>() || !isF32(part) || !dims ||
        dims->size() < 3 || (*dims)[1] == kDynamic)
      return std::nullopt;
    convolutions.push_back(conv);
  }
  return convolutions;
}

/// Scale(Concat(Conv(x)...)) of channels -> Concat(Scale(Conv(x))...), where each convolution takes
/// its part of the numbers
static LogicalResult scaleBeforeConcat(ScaleOp scale, PatternRewriter &rewriter) {
  auto concat = producerFor<ConcatOp>(scale.getInput(), scale);
  std::optional<Dims> dims = concat ? dimsOf(concat.getOutput()) : std::nullopt;
  const auto axis = concat ? static_cast<int64_t>(concat.getAxis()) : 0;
  if (!dims || dims->size() < 3 || (*dims)[1] == kDynamic || !isF32(scale.getOutput()) ||
      (axis != 1 && axis != 1 - rankOf(concat.getOutput())) || !joinedConvolutions(concat))
    return failure();
  std::optional<Doubles> factors = constantFloats(scale.getScale(), (*dims)[1]);
  std::optional<Doubles> shifts = constantFloats(scale.getBias(), (*dims)[1], 0);
  if (!factors || !shifts)
    return failure();
  rewriter.setInsertionPoint(scale);
  SmallVector<Value> parts;
  int64_t begin = 0;
  for (Value part : concat.getInputs()) {
    const int64_t end = begin + (*dimsOf(part))[1];
    const std::string number = std::to_string(parts.size());
    const auto own = [&](StringRef what, const Doubles &all) {
      return makeWeight(rewriter, scale, (what + number).str(),
                        Doubles(all.begin() + begin, all.begin() + end));
    };
    OperationState state(locWith(rewriter, scale, "_part" + number), ScaleOp::getOperationName());
    state.addOperands({part, own("_factors", *factors), own("_shifts", *shifts)});
    state.addAttributes(scale->getAttrs());
    state.addTypes(part.getType());
    parts.push_back(rewriter.create(state)->getResult(0));
    begin = end;
  }
  rewriter.modifyOpInPlace(concat, [&] {
    concat->setOperands(parts);
    concat->setLoc(scale.getLoc());
    concat->moveBefore(scale);
  });
  rewriter.replaceOp(scale, concat->getResults());
  return success();
}

/// Relu(Concat(Conv(x)...)), as a concatenation with an activation -> Concat(Relu(Conv(x))...), of
/// convolutions with one
static LogicalResult reluBeforeConcat(ConcatOp concat, PatternRewriter &rewriter) {
  std::optional<SmallVector<ConvOp>> convolutions =
      concat.getDoRelu() ? joinedConvolutions(concat) : std::nullopt;
  if (!convolutions)
    return failure();
  for (auto [index, conv] : llvm::enumerate(*convolutions))
    rewriter.modifyOpInPlace(conv, [&, number = index, op = conv]() mutable {
      op->setLoc(locWith(rewriter, concat, "_part" + std::to_string(number)));
      op.setDoRelu(true);
      op.setReluLimitAttr(concat.getReluLimitAttr());
    });
  rewriter.modifyOpInPlace(concat, [&] {
    concat.setDoRelu(false);
    concat.setReluLimit(APFloat(-1.0));
  });
  return success();
}

ArrayRef<Fusion> tpuc::convolutionFusions() {
  // The last ones come at the end: before, each may take in what is around it.
  static constexpr Fusion kFusions[] = {
      fusion<takeModulationOut>("modulation-out-of-filter"),
      fusion<scaleBeforeConcat>("scale-before-concat"),
      fusion<reluBeforeConcat>("relu-into-producer", FusionStage::Finish),
      fusion<mergeConvs>("merge-convs", FusionStage::Finish),
  };
  return kFusions;
}

//===- DecomposeNorms.cpp - Norms of groups, and what they are made of ----------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Decompose/Decompositions.h"
#include "tpuc/Codegen/Decompose/RewriteOps.h"
#include "tpuc/Dialect/Top/ShapeInference.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Dialect/Tpu/BinaryOps.h"
#include "tpuc/Dialect/Tpu/CastOps.h"
#include "tpuc/Dialect/Tpu/ConvolutionOps.h"
#include "tpuc/Dialect/Tpu/MovementOps.h"
#include "tpuc/Dialect/Tpu/NormOps.h"
#include "tpuc/Dialect/Tpu/PoolOps.h"
#include "tpuc/Dialect/Tpu/ReduceOps.h"
#include "tpuc/Dialect/Tpu/UnaryOps.h"
#include "tpuc/Support/Convert.h"

#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace tpuc;
using namespace tpuc::codegen;

static Value normOf(OpMaker &maker, StringRef what, ValueRange operands, int64_t axis,
                    const APFloat &epsilon) {
  NamedAttrList attributes;
  attributes.set("axis", maker.builder.getI64IntegerAttr(axis));
  attributes.set("eps", maker.builder.getF64FloatAttr(epsilon.convertToDouble()));
  const Type none = maker.builder.getNoneType();
  return maker.make(tpu::LayerNormOp::getOperationName(), what,
                    {Type(OpMaker::typeOf(operands.front())), none, none}, operands, attributes);
}

static NamedAttrList pointwise(OpMaker &maker) {
  NamedAttrList attributes;
  attributes.set("kernel_shape", maker.builder.getI64ArrayAttr({1, 1}));
  return attributes;
}

/// The mean of all dimensions from `axis` on, which stay with an extent of 1.
static Value meanFrom(OpMaker &maker, Value value, int64_t axis, StringRef what) {
  SmallVector<int64_t> dims(OpMaker::dimsOf(value));
  SmallVector<int64_t> axes;
  for (auto dim = static_cast<size_t>(axis); dim < dims.size(); ++dim) {
    axes.push_back(static_cast<int64_t>(dim));
    dims[dim] = 1;
  }
  NamedAttrList attributes;
  attributes.set("axes", maker.builder.getI64ArrayAttr(axes));
  attributes.set("mode", maker.builder.getStringAttr("ReduceMean"));
  return maker.make<tpu::ReduceOp>(what, dims, {value, maker.none()}, attributes);
}

static Value cast(OpMaker &maker, Value value, Type element, const std::string &what) {
  if (OpMaker::typeOf(value).getElementType() == element)
    return value;
  return maker.make(tpu::CastOp::getOperationName(), what,
                    Type(OpMaker::typeOf(value).clone(element)), value, {});
}

/// Sums of channels with the weights `matrix` [to, from, 1, 1], and `bias` (or none): products with
/// each of `count` parts of the numbers, which have the type of the matrix and add up to them.
static Value sumsOfParts(OpMaker &maker, Value numbers, Value matrix, unsigned count, Value bias) {
  const Type narrow = OpMaker::typeOf(matrix).getElementType();
  const Type wide = OpMaker::typeOf(numbers).getElementType();
  SmallVector<int64_t> dims(OpMaker::dimsOf(numbers));
  dims[1] = OpMaker::dimsOf(matrix)[0];
  Value total;
  Value rest = numbers;
  for (unsigned index = 0; index < count; ++index) {
    const std::string number = std::to_string(index);
    const Value part = cast(maker, rest, narrow, "part" + number);
    const Value sums =
        maker.make(tpu::ConvOp::getOperationName(), "sums" + number,
                   Type(OpMaker::typeOf(numbers).clone(dims)),
                   {part, matrix, total || !bias ? maker.none() : bias}, pointwise(maker));
    total = total ? maker.makeLike<tpu::AddOp>("total" + number, {total, sums}) : sums;
    if (index + 1 < count)
      rest = maker.makeLike<tpu::SubOp>("rest" + number,
                                        {rest, cast(maker, part, wide, "number" + number)});
  }
  return total;
}

/// A row of ones for the sums of all channels.
static Tensor onesOf(int64_t channels) {
  const std::array<int64_t, 4> extents = {1, channels, 1, 1};
  Tensor ones(DataType::F32, Shape(std::span(extents)));
  std::ranges::fill(ones.mutableData<float>(), 1.0F);
  return ones;
}

/// Numbers of channels for pictures, in F32.
static Value ofChannels(OpMaker &maker, Value operand, int64_t channels, StringRef what) {
  const std::array<int64_t, 4> each = {1, channels, 1, 1};
  const std::optional<Tensor> constant = OpMaker::constantOf(operand);
  if (!constant)
    return maker.reshaped(maker.widened(operand), each, what);
  return maker.weight(tpuc::convert(constant->reshaped(Shape(std::span(each))), DataType::F32),
                      what);
}

bool codegen::decomposeChannelNorm(OpMaker &maker) {
  const auto turns = [](tpu::PermuteOp op, ArrayRef<int64_t> order) {
    return op && ArrayRef(top::toInts(op.getOrder())) == order;
  };
  auto last = dyn_cast<tpu::PermuteOp>(maker.op);
  auto norm = last ? last.getInput().getDefiningOp<tpu::LayerNormOp>() : tpu::LayerNormOp();
  auto first = norm ? norm.getInput().getDefiningOp<tpu::PermuteOp>() : tpu::PermuteOp();
  const TargetInfo &target = maker.backend.info();
  if (!turns(first, {0, 2, 3, 1}) || !turns(last, {0, 3, 1, 2}) || !norm.getOutput().hasOneUse() ||
      OpMaker::frontAxis(norm.getAxis(), norm.getInput()) != 3 ||
      !isa<NoneType>(norm->getResult(1).getType()) ||
      !isa<NoneType>(norm->getResult(2).getType()) || !OpMaker::isFloat(first.getInput()) ||
      !hasScheme(target, schemes::kF32) || !hasScheme(target, schemes::kBF16))
    return false;
  const Value input = first.getInput();
  const int64_t channels = OpMaker::dimsOf(input)[1];
  const double share = 1.0 / static_cast<double>(channels);
  const Value wide = maker.widened(input);
  const Tensor ones = onesOf(channels);
  // Numbers of 16 bits are summed up as they are, their squares as two of bf16, which hold as many.
  const bool isShort = wide != input;
  SmallVector<int64_t> dims(OpMaker::dimsOf(input));
  dims[1] = 1;
  const Value sums =
      maker.make(tpu::ConvOp::getOperationName(), "sums", Type(OpMaker::typeOf(wide).clone(dims)),
                 {input, maker.weight(ones, "ones", input), maker.none()}, pointwise(maker));
  const Value mean = maker.withConst<tpu::MulConstOp>("mean", sums, share);
  const Value centred = maker.makeLike<tpu::SubOp>("centred", {wide, mean});
  const Value squares = maker.makeLike<tpu::MulOp>("squares", {centred, centred});
  const Value row = maker.weight(isShort ? tpuc::convert(ones, DataType::BF16) : ones, "row");
  const Value total = sumsOfParts(maker, squares, row, isShort ? 2 : 1, {});
  const Value factor = maker.makeLike<tpu::RsqrtOp>(
      "factor", maker.withConst<tpu::AddConstOp>(
                    "positive", maker.withConst<tpu::MulConstOp>("variance", total, share),
                    norm.getEps().convertToDouble()));
  Value value = maker.makeLike<tpu::MulOp>("normalized", {centred, factor});
  if (!isa<NoneType>(norm.getWeight().getType()))
    value = maker.makeLike<tpu::MulOp>(
        "scaled", {value, ofChannels(maker, norm.getWeight(), channels, "factors")});
  if (!isa<NoneType>(norm.getBias().getType()))
    value = maker.makeLike<tpu::AddOp>(
        "shifted", {value, ofChannels(maker, norm.getBias(), channels, "addends")});
  if (!llvm::all_of(std::array{sums, total, factor, value},
                    [&](Value made) { return maker.isLocal(made); })) {
    eraseUnused(value.getDefiningOp());
    return false;
  }
  maker.replace(0, maker.finished(value, 0));
  return true;
}

bool codegen::decomposeLayerNorm(OpMaker &maker) {
  auto op = dyn_cast<tpu::LayerNormOp>(maker.op);
  if (!op)
    return false;
  const auto isWanted = [&](unsigned index) {
    return !isa<NoneType>(op->getResult(index).getType());
  };
  if (!isWanted(1) && !isWanted(2))
    return false;
  const auto axis = static_cast<int64_t>(OpMaker::frontAxis(op.getAxis(), op.getInput()));
  Value input = maker.widened(op.getInput());
  Value mean = meanFrom(maker, input, axis, "mean");
  if (isWanted(2)) {
    Value centred = maker.makeLike<tpu::SubOp>("centred", {input, mean});
    Value variance = meanFrom(maker, maker.makeLike<tpu::MulOp>("squares", {centred, centred}),
                              axis, "variance");
    NamedAttrList epsilon;
    epsilon.set("const_val", maker.builder.getF64FloatAttr(op.getEps().convertToDouble()));
    Value sum = maker.makeLike<tpu::AddConstOp>("positive", variance, epsilon);
    maker.replace(2, maker.finished(maker.makeLike<tpu::RsqrtOp>("factor", sum), 2));
  }
  if (isWanted(1))
    maker.replace(1, maker.finished(mean, 1));
  if (isWanted(0))
    maker.replace(0, normOf(maker, "norm", op->getOperands(), axis, op.getEps()));
  return true;
}

namespace {

/// A norm of groups of channels. All values are F32.
class GroupsOfChannels {
public:
  GroupsOfChannels(OpMaker &maker, tpu::GroupNormOp op)
      : maker(maker), op(op), dims(OpMaker::dimsOf(op.getInput())),
        groups(static_cast<int64_t>(op.getNumGroups())),
        count(OpMaker::typeOf(op.getInput()).getNumElements()) {}

  /// Groups are rows; factors of channels are applied afterwards.
  Value byRows() {
    Value rows = maker.reshaped(maker.widened(op.getInput()),
                                {dims[0] * groups, count / dims[0] / groups}, "rows");
    const Value no = maker.none();
    Value value =
        maker.reshaped(normOf(maker, "norms", {rows, no, no}, 1, op.getEps()), dims, "normalized");
    SmallVector<int64_t> each(dims.size(), 1);
    each[1] = dims[1];
    if (!isa<NoneType>(op.getWeight().getType()))
      value = maker.makeLike<tpu::MulOp>("scaled",
                                         {value, perChannel(op.getWeight(), each, "factors")});
    if (!isa<NoneType>(op.getBias().getType()))
      value =
          maker.makeLike<tpu::AddOp>("shifted", {value, perChannel(op.getBias(), each, "addends")});
    return value;
  }

  /// Elements stay where channels are. With the mean m and the variance v of each channel, that of
  /// its group has the mean M = mean(m) and the variance mean(v + (m - M)^2) (Chan, Golub, LeVeque:
  /// Updating formulae and a pairwise algorithm for computing sample variances, 1979). Means over
  /// channels are products with a matrix, or a row of one group. Null where the chip has no local
  /// memory for that, or the matrix would cost more than the elements.
  Value byChannels() {
    if (dims.size() < 3 || !isWorthMeans())
      return {};
    Value input = maker.widened(op.getInput());
    const SmallVector<int64_t> each = {1, dims[1], 1, 1};
    if (dims.size() != 4)
      input = maker.reshaped(input, {dims[0], dims[1], 1, count / dims[0] / dims[1]}, "picture");
    const Value mean = meanFrom(maker, input, 2, "mean");
    const Value centred = maker.makeLike<tpu::SubOp>("centred", {input, mean});
    const Value squares = maker.makeLike<tpu::MulOp>("squares", {centred, centred});
    const Value variance = meanFrom(maker, squares, 2, "variance");
    const Value matrix = meansOfGroups();
    const Value groupMean = product(mean, matrix, "group_mean");
    const Value apart = maker.makeLike<tpu::SubOp>("apart", {mean, groupMean});
    const Value spread = maker.makeLike<tpu::MulOp>("spread", {apart, apart});
    const Value both = maker.makeLike<tpu::AddOp>("both", {variance, spread});
    const Value groupVariance = product(both, matrix, "group_variance");
    Value factor = maker.makeLike<tpu::RsqrtOp>(
        "root",
        maker.withConst<tpu::AddConstOp>("positive", groupVariance, op.getEps().convertToDouble()));
    if (!isa<NoneType>(op.getWeight().getType()))
      factor = factorOf(factor, OpMaker::dimsOf(mean));
    Value value = maker.makeLike<tpu::MulOp>(
        "scaled", {maker.makeLike<tpu::SubOp>("moved", {input, groupMean}), factor});
    if (!isa<NoneType>(op.getBias().getType()))
      value =
          maker.makeLike<tpu::AddOp>("shifted", {value, perChannel(op.getBias(), each, "addends")});
    const bool isPossible =
        llvm::all_of(std::array{mean, variance, groupMean, groupVariance, factor, value},
                     [&](Value made) { return maker.isLocal(made); });
    if (!isPossible) {
      eraseUnused(value.getDefiningOp());
      return {};
    }
    return dims.size() == 4 ? value : maker.reshaped(value, dims, "shaped");
  }

private:
  Value perChannel(Value operand, ArrayRef<int64_t> each, StringRef what) {
    const std::optional<Tensor> constant = OpMaker::constantOf(operand);
    const Shape shape(std::span(each.data(), each.size()));
    if (!constant)
      return maker.reshaped(maker.widened(operand), each, what);
    // Without F32 all has the type of the input.
    return weight(tpuc::convert(constant->reshaped(shape), DataType::F32), what);
  }

  Value weight(const Tensor &numbers, StringRef what) {
    return hasScheme(maker.backend.info(), schemes::kF32)
               ? maker.weight(numbers, what)
               : maker.weight(numbers, what, op.getInput());
  }

  /// Whether elements take longer than what is computed of channels. A row of one group is in one
  /// lane, and its means take a command each.
  bool isWorthMeans() const {
    constexpr int64_t kLeastRow = 4096, kLeastChannels = 16;
    return groups == 1 ? count / dims[0] >= kLeastRow && dims[1] >= kLeastChannels
                       : 4 * dims[1] * dims[1] <= count;
  }

  /// [to, from]: what each channel's group takes of each channel, 1 / channels of a group. Of one
  /// group it is one row, whose sums serve all channels.
  Value meansOfGroups() {
    const int64_t channels = dims[1], rows = groups == 1 ? 1 : channels;
    const std::array<int64_t, 4> extents = {rows, channels, 1, 1};
    Tensor matrix(DataType::F32, Shape(std::span(extents)));
    auto data = matrix.mutableData<float>();
    const int64_t length = channels / groups;
    for (int64_t to = 0; to < rows; ++to)
      for (int64_t from = 0; from < channels; ++from)
        data[static_cast<size_t>(to * channels + from)] =
            to / length == from / length ? 1.0F / static_cast<float>(length) : 0.0F;
    return weight(matrix, "means");
  }

  Value product(Value values, Value matrix, StringRef what, int64_t group = 1) {
    SmallVector<int64_t> means(OpMaker::dimsOf(values));
    means[1] = OpMaker::dimsOf(matrix)[0];
    NamedAttrList attributes = pointwise(maker);
    attributes.set("group", maker.builder.getI64IntegerAttr(group));
    return maker.make(tpu::ConvOp::getOperationName(), what,
                      Type(OpMaker::typeOf(values).clone(means)), {values, matrix, maker.none()},
                      attributes);
  }

  /// The factors of channels, `dims`: the norm's own times those of groups. Constants are the
  /// filter of a convolution of one pixel, which is loaded with others.
  Value factorOf(Value roots, ArrayRef<int64_t> dims) {
    if (!OpMaker::constantOf(op.getWeight()))
      return maker.make<tpu::MulOp>(
          "factor", dims, {roots, perChannel(op.getWeight(), {1, dims[1], 1, 1}, "factors")});
    const Value filter = perChannel(op.getWeight(), {dims[1], 1, 1, 1}, "factors");
    return product(roots, filter, "factor", OpMaker::dimsOf(roots)[1]);
  }

  OpMaker &maker;
  tpu::GroupNormOp op;
  SmallVector<int64_t> dims;
  int64_t groups;
  int64_t count;
};

} // namespace

bool codegen::decomposeSmallGroupNorm(OpMaker &maker) {
  auto op = dyn_cast<tpu::GroupNormOp>(maker.op);
  if (!op || !OpMaker::isFloat(op.getInput()) || op.getNumGroups() != 1 ||
      maker.backend.placeOf(op))
    return false;
  // The elements in F32, what is centred of them, and its squares.
  constexpr int64_t kAtOnce = 3;
  const int64_t elements = OpMaker::typeOf(op.getInput()).getNumElements();
  const auto local = static_cast<int64_t>(maker.backend.info().localBytes());
  if (kAtOnce * byteSize(DataType::F32, elements) > local)
    return false;
  const Value value = GroupsOfChannels(maker, op).byChannels();
  if (!value)
    return false;
  maker.replace(0, maker.finished(value, 0));
  return true;
}

/// All is F32, and rounded once.
bool codegen::decomposeGroupNorm(OpMaker &maker) {
  auto op = dyn_cast<tpu::GroupNormOp>(maker.op);
  if (!op)
    return false;
  GroupsOfChannels norm(maker, op);
  Value value = norm.byChannels();
  if (!value)
    value = norm.byRows();
  maker.replace(0, maker.finished(value, 0));
  return true;
}

bool codegen::decomposeInstanceNorm(OpMaker &maker) {
  auto op = dyn_cast<tpu::InstanceNormOp>(maker.op);
  const SmallVector<int64_t> dims(op ? OpMaker::dimsOf(op.getInput()) : ArrayRef<int64_t>());
  if (dims.size() < 5)
    return false;
  const int64_t planes = dims[0] * dims[1] * dims[2];
  SmallVector<Value> operands(op->getOperands());
  operands[0] = maker.reshaped(
      op.getInput(),
      {dims[0], dims[1], dims[2], OpMaker::typeOf(op.getInput()).getNumElements() / planes},
      "rows");
  const Type type = OpMaker::typeOf(op.getOutput()).clone(OpMaker::dimsOf(operands[0]));
  const Value norm = maker.make(tpu::InstanceNormOp::getOperationName(), "norms", type, operands,
                                NamedAttrList(op->getAttrDictionary()));
  maker.replace(0, maker.reshaped(norm, dims, "shaped"));
  return true;
}

namespace {

/// The sums of neighbours that a local response norm divides by. All values are F32, or BF16 where
/// a chip has no F32.
class NeighbourSums {
public:
  NeighbourSums(OpMaker &maker, tpu::LRNOp op)
      : maker(maker), op(op), size(static_cast<int64_t>(op.getSize())), before((size - 1) / 2),
        behind(size / 2) {}

  /// The means of the squares around each position of a channel.
  Value within(Value squares) {
    NamedAttrList attributes;
    attributes.set("kernel_shape", maker.builder.getI64ArrayAttr({size, size}));
    attributes.set("pads", maker.builder.getI64ArrayAttr({before, before, behind, behind}));
    attributes.set("count_include_pad", maker.builder.getBoolAttr(true));
    return maker.makeLike<tpu::AvgPoolOp>("means", squares, attributes);
  }

  /// `bias` and the sums of the squares of neighbouring channels: a product with a band of ones,
  /// which bf16 holds. So it does the squares, in parts that add up to them. Chips with one type of
  /// floats take both in that.
  Value across(Value squares, double bias) {
    const int64_t channels = OpMaker::dimsOf(squares)[1];
    const std::array<int64_t, 1> one = {channels};
    Tensor addends(DataType::F32, Shape(std::span(one)));
    std::ranges::fill(addends.mutableData<float>(), static_cast<float>(bias));
    return sumsOfParts(maker, squares, bandOfOnes(channels), partsOfSquares(),
                       maker.weight(addends, "bias"));
  }

private:
  bool hasNarrow() const { return hasScheme(maker.backend.info(), schemes::kBF16); }

  Value bandOfOnes(int64_t channels) {
    const std::array<int64_t, 4> square = {channels, channels, 1, 1};
    Tensor ones(DataType::F32, Shape(std::span(square)));
    auto data = ones.mutableData<float>();
    std::ranges::fill(data, 0.0F);
    for (int64_t to = 0; to < channels; ++to)
      for (int64_t from = std::max<int64_t>(0, to - before);
           from <= std::min(channels - 1, to + behind); ++from)
        data[static_cast<size_t>(to * channels + from)] = 1;
    return maker.weight(hasNarrow() ? tpuc::convert(ones, DataType::BF16) : ones, "band");
  }

  /// Into how many bf16 the squares go: two hold 16 bits, three 24. One would be enough for the
  /// spread of bf16's own errors, but its mean reaches the result.
  unsigned partsOfSquares() {
    if (!hasNarrow() || !hasScheme(maker.backend.info(), schemes::kF32))
      return 1;
    return storageDataType(op.getOutput().getType()) == DataType::F32 ? 3 : 2;
  }

  OpMaker &maker;
  tpu::LRNOp op;
  int64_t size;
  int64_t before;
  int64_t behind;
};

} // namespace

/// value / base^beta for positive `base`, all F32. Where roots make the power, it is one of 1
/// divided by the root, which takes as long as the root: a quotient takes as long once more.
static Value dividedByPower(OpMaker &maker, Value value, Value base, double beta) {
  constexpr double kMost = 2;
  const bool isOfRoots = beta > 0 && beta <= kMost && beta * 4 == std::floor(beta * 4);
  if (isOfRoots && beta != 1) {
    Value factor = maker.makeLike<tpu::RsqrtOp>("root", base);
    if (beta != 0.5)
      factor = maker.withConst<tpu::PowConstOp>("power", factor, 2 * beta);
    return maker.makeLike<tpu::MulOp>("products", {value, factor});
  }
  const Value power = beta == 1 ? base : maker.withConst<tpu::PowConstOp>("power", base, beta);
  return maker.makeLike<tpu::DivOp>("quotients", {value, power});
}

/// All is F32, and rounded once. Powers of other than positive numbers are left to the host.
bool codegen::decomposeLRN(OpMaker &maker) {
  auto op = dyn_cast<tpu::LRNOp>(maker.op);
  // A longer band would be more multiplications than a chip should do.
  constexpr int64_t kMostChannels = 4096;
  if (!op || !OpMaker::isFloat(op.getInput()))
    return false;
  const ArrayRef<int64_t> dims = OpMaker::dimsOf(op.getInput());
  const double alpha = op.getAlpha().convertToDouble();
  const double beta = op.getBeta().convertToDouble();
  const double bias = op.getBias().convertToDouble();
  if (alpha < 0 || !(bias > 0) || dims[1] > kMostChannels)
    return false;
  Value input = maker.widened(op.getInput());
  if (dims.size() != 4)
    input = maker.reshaped(
        input, {dims[0], dims[1], OpMaker::typeOf(input).getNumElements() / dims[0] / dims[1], 1},
        "picture");
  const double share = op.getWithinChannel() ? alpha : alpha / static_cast<double>(op.getSize());
  const Value scaled = maker.withConst<tpu::MulConstOp>("scaled", input, std::sqrt(share));
  const Value squares = maker.makeLike<tpu::MulOp>("squares", {scaled, scaled});
  NeighbourSums sums(maker, op);
  const Value base = op.getWithinChannel()
                         ? maker.withConst<tpu::AddConstOp>("base", sums.within(squares), bias)
                         : sums.across(squares, bias);
  maker.replace(0, maker.finished(dividedByPower(maker, input, base, beta), 0));
  return true;
}

//===- DecomposeProducts.cpp - Products and windows of other ranks --------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Decompose/Decompositions.h"
#include "tpuc/Codegen/Decompose/FoldedDepths.h"
#include "tpuc/Codegen/Decompose/RewriteOps.h"
#include "tpuc/Codegen/Group/WindowCost.h"
#include "tpuc/Codegen/Layers.h"
#include "tpuc/Codegen/Tile/Tiling.h"
#include "tpuc/Dialect/Top/Names.h"
#include "tpuc/Dialect/Top/OpTraits.h"
#include "tpuc/Dialect/Top/ShapeInference.h"
#include "tpuc/Dialect/Top/WindowShapes.h"
#include "tpuc/Dialect/Tpu/BinaryOps.h"
#include "tpuc/Dialect/Tpu/ConvolutionOps.h"
#include "tpuc/Dialect/Tpu/GroupOps.h"
#include "tpuc/Dialect/Tpu/MatrixOps.h"
#include "tpuc/Dialect/Tpu/MovementOps.h"
#include "tpuc/Dialect/Tpu/PoolOps.h"
#include "tpuc/Dialect/Tpu/StoredType.h"
#include "tpuc/Support/Convert.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::codegen;

namespace {

/// The matrices of `value`, repeated for every batch of `batch`.
Value repeatedMatrices(OpMaker &maker, Value value, ArrayRef<int64_t> batch, StringRef what) {
  SmallVector<int64_t> dims(batch);
  llvm::append_range(dims, OpMaker::dimsOf(value).take_back(2));
  if (OpMaker::dimsOf(value) == ArrayRef(dims))
    return value;
  NamedAttrList attributes;
  attributes.set("shape", maker.builder.getI64ArrayAttr(dims));
  return maker.make<tpu::ExpandOp>(what, dims, {value, maker.none()}, attributes);
}

/// The attributes of `op` that have nothing to do with its window.
NamedAttrList withoutWindow(Operation *op) {
  NamedAttrList attributes(op->getAttrDictionary());
  for (StringRef name : {"kernel_shape", "strides", "pads", "dilations", "auto_pad", "ceil_mode"})
    attributes.erase(name);
  return attributes;
}

/// Sets the window of two of the three dimensions, or of one with nothing beside it.
void setWindow(OpMaker &maker, NamedAttrList &attributes, const top::Window &window,
               ArrayRef<size_t> dims) {
  SmallVector<int64_t> kernel;
  SmallVector<int64_t> strides;
  SmallVector<int64_t> dilations;
  SmallVector<int64_t> pads;
  for (size_t dim : dims) {
    kernel.push_back(window.kernel[dim]);
    strides.push_back(window.strides[dim]);
    dilations.push_back(window.dilations[dim]);
    pads.push_back(window.padsBegin[dim]);
  }
  for (size_t dim : dims)
    pads.push_back(window.padsEnd[dim]);
  if (dims.size() == 1) {
    for (auto *list : {&kernel, &strides, &dilations})
      list->push_back(1);
    pads = {pads[0], 0, pads[1], 0};
  }
  attributes.set("kernel_shape", maker.builder.getI64ArrayAttr(kernel));
  attributes.set("strides", maker.builder.getI64ArrayAttr(strides));
  attributes.set("dilations", maker.builder.getI64ArrayAttr(dilations));
  attributes.set("pads", maker.builder.getI64ArrayAttr(pads));
}

/// Whether windows end inside of the padding.
bool isInside(const top::Window &window, ArrayRef<int64_t> input) {
  for (size_t dim = 0; dim < window.kernel.size(); ++dim) {
    const int64_t covered = (window.output[dim + 2] - 1) * window.strides[dim] +
                            (window.kernel[dim] - 1) * window.dilations[dim] + 1;
    const int64_t padded = input[dim + 2] + window.padsBegin[dim] + window.padsEnd[dim];
    if (covered > padded || covered + window.strides[dim] <= padded)
      return false;
  }
  return true;
}

/// A pool of pictures [N, C, H, W] whose windows follow each other along the rows: these become
/// channels, [N, C * H', kernel, W]. `axis`: that of the window along the rows; `element`: the
/// result's type. Null for others.
template <typename Op>
Value pooledBlocks(OpMaker &maker, StringRef what, ArrayRef<int64_t> out, Type element,
                   Value pictures, NamedAttrList attributes, const top::Window &window,
                   size_t axis) {
  const int64_t kernel = window.kernel[axis];
  if (window.strides[axis] != kernel || window.padsBegin[axis] != 0 || window.padsEnd[axis] != 0 ||
      window.dilations[axis] != 1)
    return {};
  const SmallVector<int64_t> dims(OpMaker::dimsOf(pictures));
  const Value covered = maker.part(pictures, 2, 0, out[2] * kernel, (what + "_covered").str());
  const Value blocks = maker.reshaped(covered, {dims[0], dims[1] * out[2], kernel, dims[3]},
                                      (what + "_blocks").str());
  SmallVector<int64_t> strides = top::toInts(cast<ArrayAttr>(attributes.get("strides")));
  strides.front() = 1;
  attributes.set("strides", maker.builder.getI64ArrayAttr(strides));
  const SmallVector<int64_t> made = {dims[0], dims[1] * out[2], 1, out[3]};
  const Value pooled = maker.make(Op::getOperationName(), (what + "_apart").str(),
                                  Type(RankedTensorType::get(made, element)), blocks, attributes);
  return maker.reshaped(pooled, out, (what + "_joined").str());
}

/// A pool of pictures, by blocks where the chip refuses it otherwise.
template <typename Op>
Value pooledPictures(OpMaker &maker, StringRef what, ArrayRef<int64_t> out, Value pictures,
                     const NamedAttrList &attributes, const top::Window &window, size_t axis) {
  const Value plain = maker.make<Op>(what, out, pictures, attributes);
  if (fittingPlaceOf(plain.getDefiningOp(), maker.backend))
    return plain;
  const Value blocks =
      pooledBlocks<Op>(maker, what, out, OpMaker::typeOf(pictures).getElementType(), pictures,
                       attributes, window, axis);
  if (!blocks)
    return plain;
  plain.getDefiningOp()->erase();
  return blocks;
}

/// A pool of pictures whose strides the chip does not have, by divisors of them: of its windows
/// those remain that the strides reach. Null for others.
template <typename Op>
Value pooledOften(OpMaker &maker, Op op, NamedAttrList attributes, const top::Window &window) {
  const SmallVector<int64_t> dims(OpMaker::dimsOf(op.getInput()));
  const auto tried = [&](ArrayRef<int64_t> strides) -> Value {
    SmallVector<int64_t> out = {dims[0], dims[1]};
    for (size_t axis = 0; axis < 2; ++axis)
      out.push_back((dims[axis + 2] + window.padsBegin[axis] + window.padsEnd[axis] -
                     (window.kernel[axis] - 1) * window.dilations[axis] - 1) /
                        strides[axis] +
                    1);
    attributes.set("strides", maker.builder.getI64ArrayAttr(strides));
    const Type type = OpMaker::typeOf(op.getOutput()).clone(out);
    const Value made = maker.make(Op::getOperationName(), "often", type, op.getInput(), attributes);
    if (fittingPlaceOf(made.getDefiningOp(), maker.backend))
      return made;
    made.getDefiningOp()->erase();
    return {};
  };
  SmallVector<int64_t> own(window.strides.begin(), window.strides.end());
  for (size_t axis = 0; axis < 2; ++axis)
    for (int64_t divisor = own[axis] / 2; divisor > 0; --divisor) {
      if (own[axis] % divisor != 0)
        continue;
      SmallVector<int64_t> strides = own;
      strides[axis] = divisor;
      Value value = tried(strides);
      if (!value)
        continue;
      const int64_t step = own[axis] / divisor;
      return maker.sliced(value, static_cast<int64_t>(axis) + 2, 0,
                          (window.output[axis + 2] - 1) * step + 1, "windows", step);
    }
  return {};
}

/// What a pool of `pictures` takes with what moves elements in front of it and behind it. If the
/// chip computes `pictures` for the pool itself, they need not be stored and loaded. None where it
/// does not compute the pool.
std::optional<int64_t> poolCost(Value result, Value pictures, const Backend &backend) {
  const auto moved = [&](Value value) {
    const RankedTensorType type = OpMaker::typeOf(value);
    return 2 * backend.transferCycles(globalBytes(type),
                                      type.getNumElements() / type.getShape().back());
  };
  int64_t cycles = 0;
  for (Value value = result; value != pictures; value = value.getDefiningOp()->getOperand(0)) {
    Operation *op = value.getDefiningOp();
    if (!isa<tpu::MaxPoolOp, tpu::AvgPoolOp>(op)) {
      cycles += op->hasTrait<traits::ViewLike>() ? 0 : moved(value);
      continue;
    }
    const std::optional<int64_t> own = layerCost(op, backend);
    if (!own)
      return std::nullopt;
    cycles += *own;
    Operation *made = pictures.getDefiningOp();
    const Expected<Place> place = made ? backend.placeOf(made) : Place::Global;
    if (op->getOperand(0) == pictures && place && *place == Place::Local)
      cycles -= moved(pictures);
  }
  return cycles;
}

/// A pool over two dimensions by blocks, or with shorter strides; false where neither is possible.
template <typename Op> bool poolApart(OpMaker &maker, Op op) {
  const ArrayRef<int64_t> dims = OpMaker::dimsOf(op.getInput());
  const Expected<top::Window> window = top::poolWindow(top::windowSpec(op), dims);
  if (!window || dims.size() != 4 || !isInside(*window, dims))
    return false;
  NamedAttrList attributes = withoutWindow(op);
  setWindow(maker, attributes, *window, {0, 1});
  const SmallVector<int64_t> out(window->output.begin(), window->output.end());
  const Value blocks =
      pooledBlocks<Op>(maker, "rows", out, OpMaker::typeOf(op.getOutput()).getElementType(),
                       op.getInput(), attributes, *window, 0);
  const Value often = pooledOften(maker, op, attributes, *window);
  const auto costOf = [&](Value value) {
    return value ? poolCost(value, op.getInput(), maker.backend) : std::nullopt;
  };
  const std::optional<int64_t> ofBlocks = costOf(blocks), ofOften = costOf(often);
  const bool takesBlocks = ofBlocks && (!ofOften || *ofBlocks <= *ofOften);
  if (ofBlocks || ofOften)
    maker.replace(0, takesBlocks ? blocks : often);
  for (Value value : {blocks, often})
    if (value && value.use_empty())
      eraseUnused(value.getDefiningOp());
  return ofBlocks || ofOften;
}

/// Whether a window leaves what lies along an axis as it is.
bool keepsAxis(const top::Window &window, size_t axis) {
  return window.kernel[axis] == 1 && window.strides[axis] == 1 && window.padsBegin[axis] == 0 &&
         window.padsEnd[axis] == 0;
}

/// What holds the planes of `volumes` [N, C, D, H, W] as pictures [N * D, C, H, W], if nothing else
/// is made of it: a reshape and a permute put them behind the channels. Null for others.
Value picturesOf(Value volumes) {
  auto permute = volumes.getDefiningOp<tpu::PermuteOp>();
  if (!permute || !permute->hasOneUse() ||
      top::toInts(permute.getOrder()) != SmallVector<int64_t>{0, 2, 1, 3, 4})
    return {};
  auto reshape = permute.getInput().getDefiningOp<tpu::ReshapeOp>();
  if (!reshape || !reshape->hasOneUse())
    return {};
  const ArrayRef<int64_t> planes = OpMaker::dimsOf(permute.getInput());
  const SmallVector<int64_t> pictures = {planes[0] * planes[1], planes[2], planes[3], planes[4]};
  const Value source = reshape->getOperand(0);
  return OpMaker::dimsOf(source) == ArrayRef(pictures) ? source : Value();
}

/// A pool over planes of what a convolution over planes gives, in front of what makes volumes of
/// them: both can be in one group.
template <typename Op> bool poolPictures(OpMaker &maker, Op op, const top::Window &window) {
  const Value pictures = picturesOf(op.getInput());
  if (!pictures || !keepsAxis(window, 0))
    return false;
  const SmallVector<int64_t> volumes(OpMaker::dimsOf(op.getInput()));
  const auto &out = window.output;
  NamedAttrList attributes = withoutWindow(op);
  setWindow(maker, attributes, window, {1, 2});
  Value value = maker.make<Op>("of_planes", {volumes[0] * volumes[2], volumes[1], out[3], out[4]},
                               pictures, attributes);
  if (!fittingPlaceOf(value.getDefiningOp(), maker.backend)) {
    value.getDefiningOp()->erase();
    return false;
  }
  value = maker.reshaped(value, {volumes[0], volumes[2], volumes[1], out[3], out[4]}, "depths");
  maker.replace(0, maker.finished(maker.permuted(value, {0, 2, 1, 3, 4}, "turned"), 0));
  return true;
}

/// A pool of all that a volume holds: one of a picture whose rows are those of all planes.
template <typename Op> bool poolWhole(OpMaker &maker, Op op, const top::Window &window) {
  const SmallVector<int64_t> dims(OpMaker::dimsOf(op.getInput()));
  for (size_t axis = 0; axis < 3; ++axis)
    if (window.kernel[axis] != dims[axis + 2] || window.output[axis + 2] != 1 ||
        window.padsBegin[axis] != 0 || window.padsEnd[axis] != 0)
      return false;
  NamedAttrList attributes = withoutWindow(op);
  attributes.set("kernel_shape", maker.builder.getI64ArrayAttr({dims[2] * dims[3], dims[4]}));
  attributes.set("strides", maker.builder.getI64ArrayAttr({1, 1}));
  attributes.set("pads", maker.builder.getI64ArrayAttr({0, 0, 0, 0}));
  const Value picture =
      maker.reshaped(op.getInput(), {dims[0], dims[1], dims[2] * dims[3], dims[4]}, "picture");
  const Value made = maker.make(
      Op::getOperationName(), "of_picture",
      Type(OpMaker::typeOf(op.getOutput()).clone({dims[0], dims[1], 1, 1})), picture, attributes);
  if (!fittingPlaceOf(made.getDefiningOp(), maker.backend)) {
    eraseUnused(made.getDefiningOp());
    return false;
  }
  maker.replace(0, maker.finished(made, 0));
  return true;
}

/// The window over all dimensions but the first one, and then over that. Averages are F32 in
/// between.
template <typename Op> bool decomposePool(OpMaker &maker, Op op) {
  const SmallVector<int64_t> dims(OpMaker::dimsOf(op.getInput()));
  const Expected<top::Window> window = top::poolWindow(top::windowSpec(op), dims);
  if (!window || !isInside(*window, dims))
    return false;
  const auto &out = window->output;
  const bool hasPlanes = dims.size() == 5;
  if (hasPlanes && (poolPictures(maker, op, *window) || poolWhole(maker, op, *window)))
    return true;
  const SmallVector<int64_t> inner = {out[3], hasPlanes ? out[4] : 1};
  const bool isOfPlanes = hasPlanes && keepsAxis(*window, 0);
  NamedAttrList attributes = withoutWindow(op);
  if (!isOfPlanes)
    attributes = OpMaker::withoutActivation(attributes);
  setWindow(maker, attributes, *window, hasPlanes ? ArrayRef<size_t>{1, 2} : ArrayRef<size_t>{1});
  Value value = maker.viewed(
      op.getInput(), {dims[0], dims[1] * dims[2], dims[3], hasPlanes ? dims[4] : 1}, "planes");
  if (isa<tpu::AvgPoolOp>(op) && !isOfPlanes)
    value = maker.widened(value);
  value = pooledPictures<Op>(maker, "of_planes", {dims[0], dims[1] * dims[2], inner[0], inner[1]},
                             value, attributes, *window, 1);
  if (!isOfPlanes) {
    value = maker.reshaped(value, {dims[0], dims[1], dims[2], inner[0] * inner[1]}, "depths");
    attributes = withoutWindow(op);
    setWindow(maker, attributes, *window, {0});
    value = pooledPictures<Op>(maker, "of_depths", {dims[0], dims[1], out[2], inner[0] * inner[1]},
                               value, attributes, *window, 0);
  }
  maker.replace(0, maker.finished(value, 0));
  return true;
}

/// The same of a pool for whose dimensions and kernel `holds` says yes.
template <typename Predicate> bool decomposePoolIf(OpMaker &maker, Predicate holds) {
  return llvm::TypeSwitch<Operation *, bool>(maker.op)
      .Case<tpu::MaxPoolOp, tpu::AvgPoolOp>([&](auto pool) {
        return holds(OpMaker::dimsOf(pool.getInput()), pool.getKernelShape()) &&
               decomposePool(maker, pool);
      })
      .Default([](Operation *) { return false; });
}

/// A filter [O, C, D, H, W] as [O, D * C, H, W]; a transposed one's are [C, O, ...].
Tensor flatFilter(const Tensor &filter) {
  const auto dims = filter.shape().dims();
  const std::array<int64_t, 4> flatDims = {dims[0], dims[2] * dims[1], dims[3], dims[4]};
  Tensor flat(filter.type(), Shape(std::span(flatDims)));
  const auto plane = static_cast<size_t>(byteSize(filter.type(), dims[3] * dims[4]));
  const auto from = filter.rawBytes();
  const auto to = flat.mutableBytes();
  for (int64_t output = 0; output < dims[0]; ++output)
    for (int64_t input = 0; input < dims[1]; ++input)
      for (int64_t tap = 0; tap < dims[2]; ++tap) {
        const auto source = static_cast<size_t>((output * dims[1] + input) * dims[2] + tap);
        const auto target = static_cast<size_t>((output * dims[2] + tap) * dims[1] + input);
        std::ranges::copy(from.subspan(source * plane, plane),
                          to.subspan(target * plane, plane).begin());
      }
  return flat;
}

/// The result's type of a part of a convolution: of integers what the whole gives, of floats what
/// it reads.
Type partType(OpMaker &maker, ArrayRef<int64_t> dims, Value input) {
  const Value like = tpu::isQuantized(input) ? maker.op->getResult(0) : input;
  return OpMaker::typeOf(like).clone(dims);
}

/// The planes [N, D, C, H, W] with those of zeros around them, of integers what stands for 0.
Value paddedPlanes(OpMaker &maker, Value planes, const top::Window &window) {
  if (tpu::isQuantized(planes)) {
    SmallVector<int64_t> dims(OpMaker::dimsOf(planes));
    dims[1] += window.padsBegin[0] + window.padsEnd[0];
    if (ArrayRef(dims) == OpMaker::dimsOf(planes))
      return planes;
    NamedAttrList attributes;
    attributes.set("paddings", maker.builder.getI64ArrayAttr({0, window.padsBegin[0], 0, 0, 0, 0,
                                                              window.padsEnd[0], 0, 0, 0}));
    attributes.set("val",
                   maker.builder.getF64FloatAttr(static_cast<double>(tpu::zeroPointOf(planes))));
    const Value no = maker.none();
    return maker.make<tpu::PadOp>("padded", dims, {planes, no, no, no}, attributes);
  }
  const auto zeros = [&](int64_t count) {
    SmallVector<int64_t> padDims(OpMaker::dimsOf(planes));
    padDims[1] = count;
    Tensor tensor(DataType::F32, Shape(std::span(padDims.data(), padDims.size())));
    std::ranges::fill(tensor.mutableData<float>(), 0.0F);
    return maker.weight(tensor, "padding", planes);
  };
  SmallVector<Value> parts = {planes};
  if (window.padsBegin[0] > 0)
    parts.insert(parts.begin(), zeros(window.padsBegin[0]));
  if (window.padsEnd[0] > 0)
    parts.push_back(zeros(window.padsEnd[0]));
  return maker.joined(parts, 1, "padded");
}

/// Of padded planes those that each tap along the depth sees, [N, D', C, H, W].
SmallVector<Value> planesOfTaps(OpMaker &maker, Value padded, const top::Window &window) {
  SmallVector<Value> taps;
  const int64_t span = (window.output[2] - 1) * window.strides[0] + 1;
  for (int64_t tap = 0; tap < window.kernel[0]; ++tap)
    taps.push_back(
        maker.sliced(padded, 1, tap * window.dilations[0], span, "tap", window.strides[0]));
  return taps;
}

/// Taps along the depth become input channels of a convolution over planes, those of each group
/// together.
Value convolvedChannels(OpMaker &maker, tpu::ConvOp op, ArrayRef<Value> taps, const Tensor &filter,
                        const NamedAttrList &attributes, ArrayRef<int64_t> outDims) {
  const SmallVector<int64_t> dims(OpMaker::dimsOf(taps.front()));
  const auto group = static_cast<int64_t>(op.getGroup());
  const auto count = std::ssize(taps);
  Value planes = maker.joined(taps, 2, "taps");
  if (group > 1) {
    planes = maker.reshaped(
        planes, {dims[0] * dims[1], count, group, dims[2] / group * dims[3] * dims[4]}, "of_taps");
    planes = maker.permuted(planes, {0, 2, 1, 3}, "of_groups");
  }
  planes =
      maker.reshaped(planes, {dims[0] * dims[1], count * dims[2], dims[3], dims[4]}, "flat_planes");
  return maker.make(tpu::ConvOp::getOperationName(), "of_planes", partType(maker, outDims, planes),
                    {planes, maker.weight(flatFilter(filter), "flat_filter"), op.getBias()},
                    attributes);
}

/// A convolution whose window has one row and one column of a plane: one over depths, whose rows
/// are whole planes. Null for others.
Value convolvedDepths(OpMaker &maker, tpu::ConvOp op, const Tensor &filter,
                      const top::Window &window) {
  if (!keepsAxis(window, 1) || !keepsAxis(window, 2))
    return {};
  const SmallVector<int64_t> dims(OpMaker::dimsOf(op.getInput()));
  const auto &out = window.output;
  const auto taps = filter.shape().dims();
  const std::array<int64_t, 4> flat = {taps[0], taps[1], taps[2], 1};
  NamedAttrList attributes = withoutWindow(op);
  setWindow(maker, attributes, window, {0});
  const Value rows =
      maker.reshaped(op.getInput(), {dims[0], dims[1], dims[2], dims[3] * dims[4]}, "rows");
  return maker.make(
      tpu::ConvOp::getOperationName(), "of_depths",
      partType(maker, {out[0], out[1], out[2], out[3] * out[4]}, rows),
      {rows, maker.weight(filter.reshaped(Shape(std::span(flat))), "flat_filter"), op.getBias()},
      attributes);
}

/// The same as `convolvedChannels` gives, of planes that are loaded where they are channels,
/// [N * D', O, H', W']. Null where the chip cannot load them so, and for planes of few channels
/// with windows of several rows: those that are pictures in memory may have rows as channels.
Value convolvedPlanes(OpMaker &maker, tpu::ConvOp op, const Tensor &filter,
                      const top::Window &window, const NamedAttrList &attributes) {
  const SmallVector<int64_t> dims(OpMaker::dimsOf(op.getInput()));
  const auto &out = window.output;
  constexpr int64_t kFewChannels = 4;
  const bool isOfPictures =
      window.kernel[0] == 1 && window.kernel[1] > 1 && dims[1] <= kFewChannels;
  if (window.dilations[0] != 1 || (op.getGroup() != 1 && window.kernel[0] != 1) || isOfPictures ||
      OpMaker::constantOf(op.getInput()))
    return {};
  const Value planes = packedPlanes(maker, op.getInput(), out[2], window.kernel[0],
                                    window.strides[0], window.padsBegin[0]);
  if (!planes)
    return {};
  const Value made = maker.make(
      tpu::ConvOp::getOperationName(), "of_planes",
      partType(maker, {out[0] * out[2], out[1], out[3], out[4]}, planes),
      {planes, maker.weight(flatFilter(filter), "flat_filter"), op.getBias()}, attributes);
  if (maker.isLocal(made))
    return made;
  eraseUnused(made.getDefiningOp());
  return {};
}

/// The sum of a depthwise convolution for each tap along the depth, in F32.
Value summedTaps(OpMaker &maker, tpu::ConvOp op, ArrayRef<Value> taps, const Tensor &filter,
                 const NamedAttrList &attributes, ArrayRef<int64_t> outDims) {
  const NamedAttrList plain = OpMaker::withoutActivation(attributes);
  const NamedAttrList activation = OpMaker::activationOf(attributes);
  const Tensor wide = convert(flatFilter(filter), DataType::F32);
  Value total;
  for (auto [index, tap] : llvm::enumerate(taps)) {
    const SmallVector<int64_t> dims(OpMaker::dimsOf(tap));
    const auto at = static_cast<int64_t>(index);
    const Value planes =
        maker.reshaped(tap, {dims[0] * dims[1], dims[2], dims[3], dims[4]}, "flat_planes");
    const Value part =
        maker.make<tpu::ConvOp>("of_planes", outDims,
                                {planes, maker.weight(slicedConstant(wide, 1, at, 1), "tap_filter"),
                                 total ? maker.none() : op.getBias()},
                                plain);
    total = !total ? part
                   : maker.makeLike<tpu::AddOp>("sum", {total, part},
                                                at + 1 == std::ssize(taps) ? activation
                                                                           : NamedAttrList());
  }
  return total;
}

} // namespace

bool codegen::decomposeMatMul(OpMaker &maker) {
  auto op = dyn_cast<tpu::MatMulOp>(maker.op);
  if (!op)
    return false;
  Value left = op.getInput();
  Value right = op.getRight();
  const bool hasVector = OpMaker::dimsOf(left).size() == 1 || OpMaker::dimsOf(right).size() == 1;
  SmallVector<int64_t> output(OpMaker::dimsOf(op.getOutput()));
  if (hasVector && !isa<NoneType>(op.getBias().getType()))
    return false;
  if (OpMaker::dimsOf(right).size() == 1) {
    right = maker.reshaped(right, {OpMaker::dimsOf(right)[0], 1}, "column");
    output.push_back(1);
  }
  if (OpMaker::dimsOf(left).size() == 1) {
    left = maker.reshaped(left, {1, OpMaker::dimsOf(left)[0]}, "row");
    output.insert(output.end() - 1, 1);
  }
  if (!hasVector) {
    const ArrayRef<int64_t> batch = ArrayRef(output).drop_back(2);
    left = repeatedMatrices(maker, left, batch, "left");
    if (OpMaker::dimsOf(right).size() > 2)
      right = repeatedMatrices(maker, right, batch, "right");
    if (left == op.getInput() && right == op.getRight())
      return false;
  }
  NamedAttrList attributes(op->getAttrDictionary());
  // Sums of floats of 16 bits may be F32.
  Value product = maker.make(tpu::MatMulOp::getOperationName(), "product",
                             Type(OpMaker::typeOf(op.getOutput()).clone(output)),
                             {left, right, op.getBias()}, attributes);
  maker.replace(0, maker.finished(product, 0));
  return true;
}

bool codegen::decomposeStoredPool3d(OpMaker &maker) {
  if (auto average = dyn_cast<tpu::AvgPoolOp>(maker.op)) {
    const ArrayRef<int64_t> dims = OpMaker::dimsOf(average.getInput());
    const Expected<top::Window> window = top::poolWindow(top::windowSpec(average), dims);
    return window && dims.size() == 5 && poolWhole(maker, average, *window);
  }
  auto pool = dyn_cast<tpu::MaxPoolOp>(maker.op);
  return pool &&
         OpMaker::typeOf(pool.getInput()).getElementType() ==
             OpMaker::typeOf(pool.getOutput()).getElementType() &&
         decomposePool3d(maker);
}

bool codegen::decomposePool3d(OpMaker &maker) {
  return decomposePoolIf(maker, [](ArrayRef<int64_t> dims, ArrayAttr) { return dims.size() == 5; });
}

bool codegen::decomposePoolApart(OpMaker &maker) {
  return llvm::TypeSwitch<Operation *, bool>(maker.op)
      .Case<tpu::MaxPoolOp, tpu::AvgPoolOp>(
          [&](auto pool) { return !fittingPlaceOf(pool, maker.backend) && poolApart(maker, pool); })
      .Default([](Operation *) { return false; });
}

bool codegen::decomposeLargePool(OpMaker &maker) {
  return decomposePoolIf(maker, [&](ArrayRef<int64_t> dims, ArrayAttr kernel) {
    return dims.size() == 4 &&
           llvm::none_of(top::toInts(kernel), [](int64_t extent) { return extent == 1; }) &&
           !fittingPlaceOf(maker.op, maker.backend);
  });
}

bool codegen::decomposeConv3d(OpMaker &maker, bool foldsDepths) {
  auto op = dyn_cast<tpu::ConvOp>(maker.op);
  const std::optional<Tensor> filter =
      op ? OpMaker::constantOf(op.getFilter()) : std::optional<Tensor>();
  if (!filter || filter->shape().rank() != 5 || op.getInserts())
    return false;
  const Expected<top::Window> window = top::convolutionWindow(
      top::windowSpec(op), OpMaker::dimsOf(op.getInput()), OpMaker::dimsOf(op.getFilter()));
  if (!window)
    return false;
  const auto &out = window->output;
  NamedAttrList attributes = withoutWindow(op);
  setWindow(maker, attributes, *window, {1, 2});
  Value value = convolvedDepths(maker, op, *filter, *window);
  bool isOfDepths = value != nullptr;
  if (!value)
    value = convolvedPlanes(maker, op, *filter, *window, attributes);
  if (!value) {
    const auto group = static_cast<int64_t>(op.getGroup());
    // Sums of integers are scaled once, so that all taps are in one convolution.
    const bool sumsTaps = window->kernel[0] > 1 && group > 1 && group == out[1] &&
                          filter->shape()[1] == 1 && !tpu::isQuantized(op.getInput());
    const Value input = sumsTaps ? maker.widened(op.getInput()) : op.getInput();
    const Value planes =
        paddedPlanes(maker, maker.permuted(input, {0, 2, 1, 3, 4}, "planes"), *window);
    const SmallVector<int64_t> flat = {out[0] * out[2], out[1], out[3], out[4]};
    value = (sumsTaps ? summedTaps : convolvedChannels)(
        maker, op, planesOfTaps(maker, planes, *window), *filter, attributes, flat);
  }
  if (auto apart = value.getDefiningOp<tpu::ConvOp>(); apart && foldsDepths) {
    if (Value blocks = convolvedBlocks(maker, op, *filter, *window, attributes, apart)) {
      value = blocks;
      isOfDepths = false;
      apart = value.getDefiningOp<tpu::ConvOp>();
    }
    if (Value folds = convolvedFolds(maker, op, *filter, *window, attributes, apart)) {
      maker.replace(0, maker.finished(folds, 0));
      return true;
    }
  }
  if (!isOfDepths) {
    value = maker.reshaped(value, {out[0], out[2], out[1], out[3], out[4]}, "depths");
    value = maker.permuted(value, {0, 2, 1, 3, 4}, "turned");
  }
  maker.replace(0, maker.finished(value, 0));
  return true;
}

/// Whether windows of a transposed convolution do not meet along the depth, and nothing is padded
/// or left out there or elsewhere but by `pads`.
static bool areDepthsApart(tpu::DeconvOp op, const top::Window &window) {
  const ArrayRef<int64_t> dims = OpMaker::dimsOf(op.getInput());
  for (size_t axis = 0; axis < 3; ++axis)
    if (window.output[axis + 2] != (dims[axis + 2] - 1) * window.strides[axis] +
                                       (window.kernel[axis] - 1) * window.dilations[axis] + 1 -
                                       window.padsBegin[axis] - window.padsEnd[axis])
      return false;
  return op.getGroup() == 1 && window.strides[0] == window.kernel[0] && window.dilations[0] == 1 &&
         window.padsBegin[0] == 0 && window.padsEnd[0] == 0;
}

/// Each plane becomes as many as the window has, which are channels of a transposed convolution
/// over planes, and then depths.
bool codegen::decomposeDeconv3d(OpMaker &maker) {
  auto op = dyn_cast<tpu::DeconvOp>(maker.op);
  const std::optional<Tensor> filter =
      op ? OpMaker::constantOf(op.getFilter()) : std::optional<Tensor>();
  const std::optional<Tensor> bias =
      op ? OpMaker::constantOf(op.getBias()) : std::optional<Tensor>();
  if (!filter || filter->shape().rank() != 5 || (!isa<NoneType>(op.getBias().getType()) && !bias))
    return false;
  const SmallVector<int64_t> dims(OpMaker::dimsOf(op.getInput()));
  const Expected<top::Window> window =
      top::transposedWindow(top::windowSpec(op), dims, OpMaker::dimsOf(op.getFilter()));
  if (!window || !areDepthsApart(op, *window))
    return false;
  const auto &out = window->output;
  const int64_t taps = window->kernel[0];
  NamedAttrList attributes = withoutWindow(op);
  for (StringRef name : {"output_padding", "output_shape"})
    attributes.erase(name);
  setWindow(maker, attributes, *window, {1, 2});
  Value planes = packedPlanes(maker, op.getInput(), dims[2], 1, 1, 0);
  if (!planes)
    planes = maker.reshaped(maker.permuted(op.getInput(), {0, 2, 1, 3, 4}, "planes"),
                            {dims[0] * dims[2], dims[1], dims[3], dims[4]}, "pictures");
  // What there is for each channel is there for those of each tap.
  for (StringRef name : {"multiplier", "rshift", "dequant_scale"})
    if (auto each = dyn_cast_or_null<ArrayAttr>(attributes.get(name)); each && each.size() > 1) {
      SmallVector<Attribute> all;
      for (int64_t tap = 0; tap < taps; ++tap)
        llvm::append_range(all, each);
      attributes.set(name, maker.builder.getArrayAttr(all));
    }
  Value addends = op.getBias();
  if (bias) {
    const std::array<int64_t, 1> length = {taps * out[1]};
    Tensor repeated(bias->type(), Shape(std::span(length)));
    for (int64_t tap = 0; tap < taps; ++tap)
      std::ranges::copy(bias->rawBytes(),
                        repeated.mutableBytes().begin() +
                            tap * static_cast<ptrdiff_t>(bias->rawBytes().size()));
    addends = maker.weight(repeated, "biases");
  }
  Value value =
      maker.make(tpu::DeconvOp::getOperationName(), "of_planes",
                 partType(maker, {dims[0] * dims[2], taps * out[1], out[3], out[4]}, planes),
                 {planes, maker.weight(flatFilter(*filter), "flat_filter"), addends}, attributes);
  value = maker.reshaped(value, {out[0], out[2], out[1], out[3], out[4]}, "depths");
  maker.replace(0, maker.finished(maker.permuted(value, {0, 2, 1, 3, 4}, "turned"), 0));
  return true;
}

//===- DecomposeWideConv.cpp - Convolutions beyond the fields of a command ----===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Decompose/Decompositions.h"
#include "tpuc/Dialect/Top/WindowShapes.h"
#include "tpuc/Dialect/Tpu/ConvolutionOps.h"
#include "tpuc/Dialect/Tpu/MovementOps.h"
#include "tpuc/Dialect/Tpu/StoredType.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::codegen;

namespace {

/// Zeros around the dimensions behind the channels: of integers what stands for 0.
Value padded(OpMaker &maker, Value input, ArrayRef<int64_t> before, ArrayRef<int64_t> behind) {
  SmallVector<int64_t> dims(OpMaker::dimsOf(input));
  SmallVector<int64_t> paddings(2 * dims.size());
  for (size_t dim = 2; dim < dims.size(); ++dim) {
    paddings[dim] = before[dim - 2];
    paddings[dims.size() + dim] = behind[dim - 2];
    dims[dim] += before[dim - 2] + behind[dim - 2];
  }
  if (ArrayRef(dims) == OpMaker::dimsOf(input))
    return input;
  NamedAttrList attributes;
  attributes.set("paddings", maker.builder.getI64ArrayAttr(paddings));
  attributes.set("val",
                 maker.builder.getF64FloatAttr(static_cast<double>(tpu::zeroPointOf(input))));
  const Value no = maker.none();
  return maker.make<tpu::PadOp>("padded", dims, {input, no, no, no}, attributes);
}

/// The attributes of `op` with another window, without padding.
NamedAttrList withWindow(OpMaker &maker, ArrayRef<int64_t> kernel, ArrayRef<int64_t> strides,
                         ArrayRef<int64_t> dilations) {
  NamedAttrList attributes(maker.op->getAttrDictionary());
  attributes.set("auto_pad", maker.builder.getStringAttr("NOTSET"));
  attributes.set("kernel_shape", maker.builder.getI64ArrayAttr(kernel));
  attributes.set("strides", maker.builder.getI64ArrayAttr(strides));
  attributes.set("dilations", maker.builder.getI64ArrayAttr(dilations));
  attributes.set("pads", maker.builder.getI64ArrayAttr(SmallVector<int64_t>(2 * kernel.size(), 0)));
  return attributes;
}

/// What an op was made of, should it be of no use.
void erase(Value made, Value input) {
  while (made != input) {
    Operation *op = made.getDefiningOp();
    const Value from = op->getOperand(0);
    op->erase();
    made = from;
  }
}

/// Padding as an op of its own. Says no where the chip does not compute the rest either.
bool padFirst(OpMaker &maker, tpu::ConvOp op, const top::Window &window) {
  if (llvm::all_of(window.padsBegin, [](int64_t pad) { return pad == 0; }) &&
      llvm::all_of(window.padsEnd, [](int64_t pad) { return pad == 0; }))
    return false;
  const Value input = padded(maker, op.getInput(), window.padsBegin, window.padsEnd);
  const Value made =
      maker.make(tpu::ConvOp::getOperationName(), "of_padded",
                 Type(OpMaker::typeOf(op.getOutput())), {input, op.getFilter(), op.getBias()},
                 withWindow(maker, window.kernel, window.strides, window.dilations));
  if (!maker.backend.placeOf(made.getDefiningOp())) {
    erase(made, op.getInput());
    return false;
  }
  maker.replace(0, made);
  return true;
}

/// A filter with `steps[i] - 1` taps of zeros between its taps along each dimension.
Tensor spreadFilter(const Tensor &filter, ArrayRef<int64_t> steps) {
  const auto before = filter.shape().dims();
  SmallVector<int64_t> dims(before.begin(), before.end());
  for (auto [dim, step] : llvm::enumerate(steps))
    dims[dim + 2] = (dims[dim + 2] - 1) * step + 1;
  Tensor spread(filter.type(), Shape(std::span(dims.data(), dims.size())));
  const auto element = static_cast<size_t>(byteSize(filter.type(), 1));
  const auto from = filter.rawBytes();
  const auto to = spread.mutableBytes();
  std::ranges::fill(to, std::byte{0});
  const auto count = static_cast<int64_t>(from.size() / element);
  for (int64_t index = 0; index < count; ++index) {
    int64_t target = 0;
    int64_t inner = 1;
    int64_t rest = index;
    for (size_t dim = dims.size(); dim-- > 0;) {
      const int64_t place = rest % filter.shape()[dim];
      rest /= filter.shape()[dim];
      target += place * (dim < 2 ? 1 : steps[dim - 2]) * inner;
      inner *= dims[dim];
    }
    std::ranges::copy(from.subspan(static_cast<size_t>(index) * element, element),
                      to.subspan(static_cast<size_t>(target) * element, element).begin());
  }
  return spread;
}

/// Taps of zeros between those of a filter make dilations shorter: [a, b] with dilation 32 is
/// [a, 0, b] with dilation 16. Padding may become an op of its own. Says no where the chip takes
/// none of these that have up to `mostTaps` times the taps.
bool spreadTaps(OpMaker &maker, tpu::ConvOp op, const top::Window &window, double mostTaps) {
  const std::optional<Tensor> filter = OpMaker::constantOf(op.getFilter());
  if (!filter || llvm::all_of(window.dilations, [](int64_t dilation) { return dilation == 1; }))
    return false;
  constexpr int64_t kMostStep = 32;
  for (int64_t most = 2; most <= kMostStep; ++most) {
    SmallVector<int64_t> kernel;
    SmallVector<int64_t> dilations;
    SmallVector<int64_t> steps;
    double taps = 1;
    for (auto [extent, dilation] : llvm::zip_equal(window.kernel, window.dilations)) {
      // The longest step that divides the dilation.
      int64_t step = std::min(most, dilation);
      while (dilation % step != 0)
        --step;
      steps.push_back(extent == 1 ? 1 : step);
      dilations.push_back(dilation / steps.back());
      kernel.push_back((extent - 1) * steps.back() + 1);
      taps *= double(kernel.back()) / double(extent);
    }
    if (taps > mostTaps)
      return false;
    if (llvm::none_of(steps, [&](int64_t step) { return step == most; }))
      continue;
    const Value spread = maker.weight(spreadFilter(*filter, steps), "spread_filter");
    for (const bool padsFirst : {false, true}) {
      const Value input = padsFirst ? padded(maker, op.getInput(), window.padsBegin, window.padsEnd)
                                    : op.getInput();
      NamedAttrList attributes = withWindow(maker, kernel, window.strides, dilations);
      if (!padsFirst)
        for (StringRef name : {"pads", "auto_pad"}) {
          attributes.erase(name);
          if (const Attribute given = op->getAttr(name))
            attributes.set(name, given);
        }
      const Value made = maker.make(tpu::ConvOp::getOperationName(), "spread",
                                    Type(OpMaker::typeOf(op.getOutput())),
                                    {input, spread, op.getBias()}, attributes);
      if (maker.isLocal(made)) {
        maker.replace(0, made);
        return true;
      }
      erase(made, op.getInput());
    }
  }
  return false;
}

/// Elements that are `dilation` apart stand below each other: [N, C, m * dilation] is [N, C, m,
/// dilation], over whose rows the taps go one by one.
bool foldDilation(OpMaker &maker, tpu::ConvOp op, const top::Window &window) {
  const std::optional<Tensor> filter = OpMaker::constantOf(op.getFilter());
  const ArrayRef<int64_t> dims = OpMaker::dimsOf(op.getInput());
  if (dims.size() != 3 || window.strides[0] != 1 || window.dilations[0] == 1 || !filter)
    return false;
  const int64_t dilation = window.dilations[0];
  const int64_t length = dims[2] + window.padsBegin[0] + window.padsEnd[0];
  const int64_t rows = (length + dilation - 1) / dilation;
  const int64_t made = rows - window.kernel[0] + 1;
  Value value = padded(maker, op.getInput(), window.padsBegin,
                       {window.padsEnd[0] + rows * dilation - length});
  value = maker.reshaped(value, {dims[0], dims[1], rows, dilation}, "rows");
  const Value taps = maker.reshaped(
      op.getFilter(), {filter->shape()[0], filter->shape()[1], filter->shape()[2], 1}, "taps");
  const auto type = OpMaker::typeOf(op.getOutput());
  const int64_t channels = type.getShape()[1];
  value =
      maker.make(tpu::ConvOp::getOperationName(), "of_rows",
                 Type(type.clone({dims[0], channels, made, dilation})), {value, taps, op.getBias()},
                 withWindow(maker, {window.kernel[0], 1}, {1, 1}, {1, 1}));
  value = maker.reshaped(value, {dims[0], channels, made * dilation}, "row");
  maker.replace(0, type.getShape()[2] == made * dilation
                       ? value
                       : maker.sliced(value, 2, 0, type.getShape()[2], "kept"));
  return true;
}

} // namespace

bool codegen::decomposeWideConv(OpMaker &maker) {
  auto op = dyn_cast<tpu::ConvOp>(maker.op);
  // Pads that are no zeros would have to be filled channel by channel.
  if (!op || op.getInserts() || op.getPadValue() || op.getPadValues())
    return false;
  const Expected<top::Window> window = top::convolutionWindow(
      top::windowSpec(op), OpMaker::dimsOf(op.getInput()), OpMaker::dimsOf(op.getFilter()));
  // Some products with zeros take less than moving elements, many less than the host.
  constexpr double kFewMoreTaps = 2, kManyMoreTaps = 256;
  return window &&
         (spreadTaps(maker, op, *window, kFewMoreTaps) || padFirst(maker, op, *window) ||
          foldDilation(maker, op, *window) || spreadTaps(maker, op, *window, kManyMoreTaps));
}

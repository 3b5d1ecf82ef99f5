//===- DecomposeComputedFilters.cpp - Convolutions with filters that are computed ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels read filters in an order in which only constants are kept. With one that is computed, the
// elements under each tap of the window are taken out of the input. What they are multiplied with
// is a matrix, or of a depthwise convolution one number for each channel:
//
//   [O, C, 3] over [N, C, W] -> [O, C * 3] * [N, C * 3, W - 2]
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Decompose/Decompositions.h"
#include "tpuc/Dialect/Top/ShapeInference.h"
#include "tpuc/Dialect/Top/WindowShapes.h"
#include "tpuc/Dialect/Tpu/BinaryOps.h"
#include "tpuc/Dialect/Tpu/ConvolutionOps.h"
#include "tpuc/Dialect/Tpu/MatrixOps.h"
#include "tpuc/Dialect/Tpu/MovementOps.h"
#include "tpuc/Dialect/Tpu/UnaryOps.h"
#include "tpuc/Support/Convert.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::codegen;

namespace {

class ComputedFilter {
public:
  ComputedFilter(OpMaker &maker, tpu::ConvOp op, const top::Window &window)
      : maker(maker), op(op), window(window), group(static_cast<int64_t>(op.getGroup())),
        batch(OpMaker::dimsOf(op.getInput())[0]), inputs(OpMaker::dimsOf(op.getInput())[1]),
        outputs(window.output[1]) {
    for (size_t dim = 0; dim < window.kernel.size(); ++dim) {
      pixels *= window.output[dim + 2];
      taps *= window.kernel[dim];
    }
  }

  void run() {
    const bool isByOne = group == inputs && group == outputs;
    Value sums = OpMaker::constantOf(op.getFilter()) ? constantFilter(isByOne)
                 : isByOne                           ? channelByChannel()
                                                     : product();
    finish(maker.reshaped(sums, {batch, outputs, pixels}, "sums"));
  }

private:
  Type wide(ArrayRef<int64_t> dims) { return RankedTensorType::get(dims, f32()); }
  Type f32() { return maker.builder.getF32Type(); }

  /// The elements that each tap meets, [N, C, pixels], in the order of the filter.
  SmallVector<Value> tapsOf(Value input) {
    SmallVector<int64_t> dims = {batch * inputs};
    llvm::append_range(dims, OpMaker::dimsOf(input).drop_front(2));
    SmallVector<Value> parts = {padded(maker.reshaped(input, dims, "planes"))};
    for (size_t dim = 0; dim < window.kernel.size(); ++dim) {
      SmallVector<Value> finer;
      for (Value part : parts)
        for (int64_t tap = 0; tap < window.kernel[dim]; ++tap)
          finer.push_back(maker.sliced(
              part, static_cast<int64_t>(dim) + 1, tap * window.dilations[dim],
              (window.output[dim + 2] - 1) * window.strides[dim] + 1, "tap", window.strides[dim]));
      parts = std::move(finer);
    }
    for (Value &part : parts)
      part = maker.reshaped(part, {batch, inputs, pixels}, "pixels");
    return parts;
  }

  Value padded(Value planes) {
    SmallVector<int64_t> paddings(2 * (window.kernel.size() + 1));
    SmallVector<int64_t> dims(OpMaker::dimsOf(planes));
    const size_t rank = dims.size();
    for (size_t dim = 1; dim < rank; ++dim) {
      paddings[dim] = window.padsBegin[dim - 1];
      paddings[rank + dim] = window.padsEnd[dim - 1];
      dims[dim] += paddings[dim] + paddings[rank + dim];
    }
    if (ArrayRef(dims) == OpMaker::dimsOf(planes))
      return planes;
    NamedAttrList attributes;
    attributes.set("paddings", maker.builder.getI64ArrayAttr(paddings));
    const Value no = maker.none();
    return maker.make<tpu::PadOp>("padded", dims, {planes, no, no, no}, attributes);
  }

  /// Rows of the filter times columns of what lies under its taps.
  Value product() {
    SmallVector<Value> columns = tapsOf(op.getInput());
    for (Value &column : columns)
      column = maker.reshaped(column, {batch, inputs, 1, pixels}, "column");
    const int64_t terms = inputs / group * taps;
    SmallVector<int64_t> rows = {outputs / group, terms};
    SmallVector<int64_t> right = {batch, terms, pixels};
    SmallVector<int64_t> result = {batch, outputs / group, pixels};
    if (group > 1) {
      rows.insert(rows.begin(), group);
      right.insert(right.begin() + 1, group);
      result.insert(result.begin() + 1, group);
    }
    return maker.make(tpu::MatMulOp::getOperationName(), "product", wide(result),
                      {maker.reshaped(op.getFilter(), rows, "rows"),
                       maker.reshaped(maker.joined(columns, 2, "columns"), right, "terms"),
                       maker.none()},
                      {});
  }

  /// What each tap meets times the number of the channel, added up in F32.
  Value channelByChannel() {
    const Value filter =
        maker.reshaped(maker.widened(op.getFilter()), {1, inputs, taps}, "factors");
    Value total;
    for (auto [index, tap] : llvm::enumerate(tapsOf(maker.widened(op.getInput())))) {
      const Value factor = maker.sliced(filter, 2, static_cast<int64_t>(index), 1, "factor");
      const Value part = maker.makeLike<tpu::MulOp>("part", {tap, factor});
      total = total ? maker.makeLike<tpu::AddOp>("sum", {total, part}) : part;
    }
    return total;
  }

  /// The convolution itself, without a bias. The kernel of depthwise ones keeps the type.
  Value constantFilter(bool isByOne) {
    const NamedAttrList attributes = OpMaker::withoutActivation(op->getAttrDictionary());
    Value input = op.getInput();
    Value filter = op.getFilter();
    if (isByOne) {
      input = maker.widened(input);
      filter = maker.weight(convert(*OpMaker::constantOf(filter), DataType::F32), "filter");
    }
    return maker.make(tpu::ConvOp::getOperationName(), "product", wide(window.output),
                      {input, filter, maker.none()}, attributes);
  }

  void finish(Value sums) {
    if (!isa<NoneType>(op.getBias().getType()))
      sums = maker.makeLike<tpu::AddOp>(
          "biased", {sums, maker.reshaped(maker.widened(op.getBias()), {1, outputs, 1}, "bias")});
    if (op.getDoRelu()) {
      NamedAttrList attributes;
      attributes.set("relu_limit", op.getReluLimitAttr());
      sums = maker.makeLike<tpu::ReluOp>("limited", sums, attributes);
    }
    maker.replace(0, maker.finished(sums, 0));
  }

  OpMaker &maker;
  tpu::ConvOp op;
  const top::Window &window;
  int64_t group, batch, inputs, outputs;
  int64_t pixels = 1, taps = 1;
};

} // namespace

bool codegen::decomposeComputedFilter(OpMaker &maker) {
  auto op = dyn_cast<tpu::ConvOp>(maker.op);
  if (!op || op.getInserts() || op.getPadValue() || op.getPadValues() ||
      OpMaker::dimsOf(op.getInput()).size() > 5)
    return false;
  for (Value value : {op.getInput(), op.getFilter(), op.getOutput()})
    if (!OpMaker::isFloat(value))
      return false;
  const bool hasConstants =
      OpMaker::constantOf(op.getFilter()) &&
      (isa<NoneType>(op.getBias().getType()) || OpMaker::constantOf(op.getBias()));
  const Expected<top::Window> window = top::convolutionWindow(
      top::windowSpec(op), OpMaker::dimsOf(op.getInput()), OpMaker::dimsOf(op.getFilter()));
  if (hasConstants || !window)
    return false;
  ComputedFilter(maker, op, *window).run();
  return true;
}

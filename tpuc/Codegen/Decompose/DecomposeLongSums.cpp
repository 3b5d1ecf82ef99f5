//===- DecomposeLongSums.cpp - Products whose sums are too long in parts -------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel adds up all terms of a sum at once, so the operands of the shortest tile hold all of
// them. Where these are too long for local memory, parts of the terms are products of their own,
// whose sums are F32 until all are added:
//
//   f16 [4, 9] * [9, 5] -> f32(f16 [4, 5] * [5, 5]) + f32(f16 [4, 4] * [4, 5]) -> f16
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Decompose/Decompositions.h"
#include "tpuc/Codegen/Tile/Tiling.h"
#include "tpuc/Dialect/Top/ShapeInference.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Dialect/Top/WindowShapes.h"
#include "tpuc/Dialect/Tpu/BinaryOps.h"
#include "tpuc/Dialect/Tpu/ConvolutionOps.h"
#include "tpuc/Dialect/Tpu/MatrixOps.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::codegen;

namespace {

/// Sums of fewer terms are not looked at: their operands fit every local memory.
constexpr int64_t kShortSum = 2048;

/// Ranges of `size` elements that make up `extent`.
SmallVector<Range> rangesOf(int64_t extent, int64_t size) {
  SmallVector<Range> ranges;
  for (int64_t begin = 0; begin < extent; begin += size)
    ranges.push_back({begin, std::min(size, extent - begin)});
  return ranges;
}

/// Makes the parts of one product and adds them up.
class PartialSums {
public:
  explicit PartialSums(OpMaker &maker) : maker(maker) {}

  /// What the next product is made of.
  Value partOf(Value value, int64_t axis, Range part, StringRef what) {
    return maker.part(value, axis, part.begin, part.size, what.str() + std::to_string(sums.size()));
  }

  /// Adds the product of `left`, `right` and, if it is the first one, the bias.
  void add(Value left, Value right, const NamedAttrList &attributes) {
    const Value bias = sums.empty() ? maker.op->getOperand(2) : maker.none();
    sums.push_back(maker.make(maker.op->getName().getStringRef(),
                              "part" + std::to_string(sums.size()), sumType(), {left, right, bias},
                              attributes));
  }

  /// Gives the users of the op what the parts add up to.
  void finish() {
    const NamedAttrList activation = OpMaker::activationOf(maker.op->getAttrDictionary());
    Value total = sums.front();
    for (size_t index = 1; index < sums.size(); ++index)
      total = maker.makeLike<tpu::AddOp>("sum" + std::to_string(index), {total, sums[index]},
                                         index + 1 == sums.size() ? activation : NamedAttrList());
    maker.replace(0, maker.finished(total, 0));
  }

  /// Whether a product of operands of these dimensions leaves half of local memory to others.
  bool fits(ArrayRef<int64_t> left, ArrayRef<int64_t> right, const NamedAttrList &attributes) {
    SmallVector<Operation *> made;
    const auto standIn = [&](Value like, ArrayRef<int64_t> dims) -> Value {
      auto type = OpMaker::typeOf(like).clone(dims);
      Operation *op =
          OpMaker::constantOf(like)
              ? maker.builder.create<top::WeightOp>(maker.op->getLoc(), type, ArrayAttr())
              : maker.builder
                    .create<UnrealizedConversionCastOp>(maker.op->getLoc(), type, ValueRange())
                    .getOperation();
      made.push_back(op);
      return op->getResult(0);
    };
    const Value first = standIn(maker.op->getOperand(0), left);
    const Value second = standIn(maker.op->getOperand(1), right);
    OperationState state(maker.op->getLoc(), maker.op->getName().getStringRef(),
                         {first, second, maker.op->getOperand(2)}, sumType(),
                         attributes.getAttrs());
    made.push_back(maker.builder.create(state));
    const bool isFitting = maker.backend.placeOf(made.back()) &&
                           planTiling(made.back(), maker.backend,
                                      Footprint::capacityOf(maker.backend.info()).share(1, 2));
    for (Operation *op : llvm::reverse(made))
      op->erase();
    return isFitting;
  }

private:
  Type sumType() {
    return OpMaker::typeOf(maker.op->getResult(0)).clone(maker.builder.getF32Type());
  }

  OpMaker &maker;
  SmallVector<Value> sums;
};

/// The sizes of parts of `extent` to try: equal parts, in whole lines of lanes, fewer and fewer.
SmallVector<int64_t> partSizes(int64_t extent, const Backend &backend) {
  const int64_t lanes = backend.info().tiles().lanes;
  SmallVector<int64_t> sizes;
  for (int64_t count = 1; sizes.empty() || sizes.back() > lanes; count += 1 + count / 4) {
    const auto size = static_cast<int64_t>(
        llvm::alignTo(llvm::divideCeil(extent, count), static_cast<uint64_t>(lanes)));
    if (sizes.empty() || size < sizes.back())
      sizes.push_back(size);
  }
  return sizes;
}

/// The rows that the taps [begin, end) of the first spatial dimension see.
struct TapRows {
  Range rows;
  int64_t padBegin = 0;
  int64_t padEnd = 0;
};

std::optional<TapRows> rowsUnder(const top::Window &window, Range taps, int64_t extent) {
  const int64_t begin = taps.begin * window.dilations[0] - window.padsBegin[0];
  const int64_t end = begin + (window.output[2] - 1) * window.strides[0] +
                      (taps.size - 1) * window.dilations[0] + 1;
  const int64_t first = std::max<int64_t>(begin, 0);
  const int64_t last = std::min(end, extent);
  if (first >= last)
    return std::nullopt;
  return TapRows{{first, last - first}, first - begin, end - last};
}

/// How a convolution is cut: into parts of so many input channels, and of so many taps of the first
/// spatial dimension.
struct ConvSplit {
  int64_t channels = 0;
  int64_t taps = 0;
};

class ConvParts {
public:
  ConvParts(OpMaker &maker, tpu::ConvOp op, top::Window window)
      : maker(maker), op(op), window(std::move(window)), parts(maker),
        input(OpMaker::dimsOf(op.getInput())), filter(OpMaker::dimsOf(op.getFilter())) {}

  bool run() {
    const std::optional<ConvSplit> cut = find();
    if (!cut)
      return false;
    for (Range taps : rangesOf(filter[2], cut->taps))
      if (std::optional<TapRows> rows = rowsUnder(window, taps, input[2]))
        for (Range channels : rangesOf(filter[1], cut->channels))
          add(taps, *rows, channels);
    parts.finish();
    return true;
  }

private:
  /// The least division that fits.
  std::optional<ConvSplit> find() {
    const SmallVector<int64_t> sizes = partSizes(filter[1], maker.backend);
    for (int64_t channels : sizes)
      if (fits({std::min(channels, filter[1]), filter[2]}))
        return ConvSplit{channels, filter[2]};
    for (int64_t channels = std::min(sizes.back(), filter[1]); channels > 0; channels /= 2)
      for (int64_t count = 2, taps = filter[2]; taps > 1; count += 1 + count / 4) {
        taps = static_cast<int64_t>(llvm::divideCeil(filter[2], count));
        if (fits({channels, taps}))
          return ConvSplit{channels, taps};
      }
    return std::nullopt;
  }

  bool fits(ConvSplit cut) {
    const std::optional<TapRows> rows = rowsUnder(window, {0, cut.taps}, input[2]);
    if (!rows)
      return false;
    SmallVector<int64_t> left = input;
    SmallVector<int64_t> right = filter;
    left[1] = input[1] / filter[1] * cut.channels;
    left[2] = rows->rows.size;
    right[1] = cut.channels;
    right[2] = cut.taps;
    return parts.fits(left, right, attributesOf(cut.taps, *rows));
  }

  NamedAttrList attributesOf(int64_t taps, const TapRows &rows) {
    NamedAttrList attributes = OpMaker::withoutActivation(op->getAttrDictionary());
    auto kernel = window.kernel;
    auto pads = window.padsBegin;
    pads.insert(pads.end(), window.padsEnd.begin(), window.padsEnd.end());
    kernel[0] = taps;
    pads[0] = rows.padBegin;
    pads[kernel.size()] = rows.padEnd;
    attributes.set("kernel_shape", maker.builder.getI64ArrayAttr(kernel));
    attributes.set("pads", maker.builder.getI64ArrayAttr(pads));
    attributes.set("auto_pad", maker.builder.getStringAttr("NOTSET"));
    return attributes;
  }

  void add(Range taps, const TapRows &rows, Range channels) {
    Value left = parts.partOf(op.getInput(), 2, rows.rows, "rows");
    if (filter[1] > 1)
      left = parts.partOf(left, 1, channels, "channels");
    Value right = parts.partOf(op.getFilter(), 2, taps, "taps");
    right = parts.partOf(right, 1, channels, "filter");
    parts.add(left, right, attributesOf(taps.size, rows));
  }

  OpMaker &maker;
  tpu::ConvOp op;
  top::Window window;
  PartialSums parts;
  SmallVector<int64_t> input;
  SmallVector<int64_t> filter;
};

/// A convolution for each group, which may be cut in turn.
bool decomposeGroups(OpMaker &maker, tpu::ConvOp op, const top::Window &window) {
  const auto groups = static_cast<int64_t>(op.getGroup());
  const int64_t inputs = OpMaker::dimsOf(op.getFilter())[1];
  const int64_t outputs = window.output[1] / groups;
  NamedAttrList attributes(op->getAttrDictionary());
  attributes.set("group", maker.builder.getI64IntegerAttr(1));
  auto dims = window.output;
  dims[1] = outputs;
  SmallVector<Value> results;
  for (int64_t group = 0; group < groups; ++group) {
    const std::string number = std::to_string(group);
    const Range own{group * outputs, outputs};
    const Value bias = isa<NoneType>(op.getBias().getType())
                           ? op.getBias()
                           : maker.part(op.getBias(), 0, own.begin, own.size, "bias" + number);
    results.push_back(maker.make<tpu::ConvOp>(
        "group" + number, dims,
        {maker.part(op.getInput(), 1, group * inputs, inputs, "input" + number),
         maker.part(op.getFilter(), 0, own.begin, own.size, "filter" + number), bias},
        attributes));
  }
  maker.replace(0, maker.joined(results, 1, "groups"));
  return true;
}

} // namespace

bool codegen::decomposeLongMatMul(OpMaker &maker) {
  auto op = dyn_cast<tpu::MatMulOp>(maker.op);
  if (!op || OpMaker::dimsOf(op.getInput()).size() < 2 || OpMaker::dimsOf(op.getRight()).size() < 2)
    return false;
  SmallVector<int64_t> left(OpMaker::dimsOf(op.getInput()));
  SmallVector<int64_t> right(OpMaker::dimsOf(op.getRight()));
  const size_t leftAxis = left.size() - (op.getLeftTranspose() ? 2 : 1);
  const size_t rightAxis = right.size() - (op.getRightTranspose() ? 1 : 2);
  const int64_t inner = left[leftAxis];
  if (inner < kShortSum || fittingPlaceOf(op, maker.backend))
    return false;
  const NamedAttrList attributes = OpMaker::withoutActivation(op->getAttrDictionary());
  PartialSums parts(maker);
  for (int64_t size : partSizes(inner, maker.backend)) {
    left[leftAxis] = right[rightAxis] = std::min(size, inner);
    if (size >= inner || !parts.fits(left, right, attributes))
      continue;
    for (Range part : rangesOf(inner, size))
      parts.add(parts.partOf(op.getInput(), static_cast<int64_t>(leftAxis), part, "left"),
                parts.partOf(op.getRight(), static_cast<int64_t>(rightAxis), part, "right"),
                attributes);
    parts.finish();
    return true;
  }
  return false;
}

bool codegen::decomposeLongConv(OpMaker &maker) {
  auto op = dyn_cast<tpu::ConvOp>(maker.op);
  if (!op || op.getInserts() || op.getPadValues() || !OpMaker::constantOf(op.getFilter()))
    return false;
  const ArrayRef<int64_t> filter = OpMaker::dimsOf(op.getFilter());
  const int64_t terms = ShapedType::getNumElements(filter.drop_front());
  const Expected<top::Window> window = top::convolutionWindow(
      top::windowSpec(op), OpMaker::dimsOf(op.getInput()), OpMaker::dimsOf(op.getFilter()));
  if (!window || terms < kShortSum || fittingPlaceOf(op, maker.backend))
    return false;
  // Of a depthwise one, only taps are cut.
  const bool isInGroups = op.getGroup() != 1 && filter[1] != 1;
  return isInGroups ? decomposeGroups(maker, op, *window) : ConvParts(maker, op, *window).run();
}

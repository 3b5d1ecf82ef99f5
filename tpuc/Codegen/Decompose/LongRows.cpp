//===- LongRows.cpp - Rows too long for local memory, in parts --------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Decompose/LongRows.h"
#include "tpuc/Dialect/Tpu/BinaryOps.h"
#include "tpuc/Dialect/Tpu/PoolOps.h"
#include "tpuc/Dialect/Tpu/ReduceOps.h"
#include "tpuc/Dialect/Tpu/UnaryOps.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::codegen;

namespace {

/// The tensors of the size of a part that a lane holds at a time: what is loaded, twice, and what
/// the layers of a group make of it.
constexpr int64_t kTensorsOfPart = 16;
/// Shorter rows take as long to load.
constexpr int64_t kShortestRow = 64;
/// What a part's own numbers cost, as elements of a lane.
constexpr int64_t kNumbersOfPart = 2;

int64_t divideUp(int64_t a, int64_t b) { return static_cast<int64_t>(llvm::divideCeil(a, b)); }

/// How many elements of a lane are waited for where `rows` parts lie in images of `channels`.
int64_t costOf(int64_t rows, int64_t channels, int64_t elements, int64_t lanes) {
  return rows / channels * divideUp(channels, lanes) * std::max(elements, kShortestRow) +
         rows * kNumbersOfPart;
}

/// The channels of images that `rows` parts make up, a divisor of them.
int64_t channelsOf(int64_t rows, int64_t elements, int64_t lanes, int64_t mostElements) {
  int64_t best = 1;
  const int64_t most = std::min(rows, lanes * std::max<int64_t>(mostElements / elements, 1));
  for (int64_t channels = 2; channels <= most; ++channels)
    if (rows % channels == 0 &&
        costOf(rows, channels, elements, lanes) < costOf(rows, best, elements, lanes))
      best = channels;
  return best;
}

/// Chooses the pieces of rows.
class Cutter {
public:
  Cutter(const AxisSpan &span, int64_t lanes, int64_t mostElements, bool ownsImages)
      : span(span), lanes(lanes), mostElements(mostElements), ownsImages(ownsImages) {}

  SmallVector<RowPiece> cut() {
    const int64_t longest = mostElements / span.inner;
    if (longest == 0)
      return {};
    SmallVector<RowPiece> best;
    int64_t least = std::numeric_limits<int64_t>::max();
    const auto consider = [&](int64_t size) {
      if (size > longest || span.extent % size != 0)
        return;
      const RowPiece piece{0, span.extent / size, size};
      const int64_t cost = costOf(piece);
      if (cost < least || (cost == least && size > best.front().size)) {
        least = cost;
        best = {piece};
      }
    };
    for (int64_t divisor = 1; divisor <= span.extent / divisor; ++divisor)
      if (span.extent % divisor == 0) {
        consider(divisor);
        consider(span.extent / divisor);
      }
    const SmallVector<RowPiece> uneven = cutUnevenly(longest);
    // Parts of several rows are copied to where they follow each other.
    int64_t cost = span.outer == 1 ? 0 : span.outer * span.extent * span.inner / lanes * 2;
    for (const RowPiece &piece : uneven)
      cost += costOf(piece);
    return cost < least ? uneven : best;
  }

private:
  int64_t costOf(const RowPiece &piece) const {
    const int64_t elements = piece.size * span.inner;
    if (ownsImages)
      return span.outer * ::costOf(piece.parts, piece.parts, elements, lanes);
    const int64_t rows = span.outer * piece.parts;
    return ::costOf(rows, channelsOf(rows, elements, lanes, mostElements), elements, lanes);
  }

  /// Parts that fill all lanes, and what is left.
  SmallVector<RowPiece> cutUnevenly(int64_t longest) const {
    SmallVector<RowPiece> pieces;
    const int64_t fill = ownsImages ? lanes : lanes / std::gcd(span.outer, lanes);
    for (int64_t begin = 0; begin < span.extent;) {
      const int64_t left = span.extent - begin;
      RowPiece piece{begin, 1, left};
      if (left > longest || left >= fill * kShortestRow) {
        piece.parts = divideUp(divideUp(left, longest), fill) * fill;
        piece.size = left / piece.parts;
        if (piece.size == 0)
          piece = {begin, divideUp(left, longest), left / divideUp(left, longest)};
      }
      pieces.push_back(piece);
      begin += piece.parts * piece.size;
    }
    return pieces;
  }

  const AxisSpan &span;
  int64_t lanes;
  int64_t mostElements;
  bool ownsImages;
};

int64_t mostElementsOf(const Backend &backend) {
  return backend.info().tiles().bytes / static_cast<int64_t>(kTensorsOfPart * sizeof(float));
}

} // namespace

SmallVector<RowPiece> codegen::cutRows(const AxisSpan &span, int64_t lanes, int64_t mostElements,
                                       bool ownsImages) {
  return Cutter(span, lanes, mostElements, ownsImages).cut();
}

LongRows::LongRows(OpMaker &maker, Value input, const AxisSpan &span, bool ownsImages)
    : span(span), maker(maker), ownsImages(ownsImages && span.outer > 1),
      dims(OpMaker::dimsOf(input)),
      pieces(cutRows(span, maker.backend.info().tiles().lanes, mostElementsOf(maker.backend),
                     this->ownsImages)) {}

SmallVector<int64_t> LongRows::pictureDims(int64_t rows, int64_t size) const {
  const int64_t channels = channelsOf(rows, size * span.inner, maker.backend.info().tiles().lanes,
                                      mostElementsOf(maker.backend));
  const bool isRow = span.inner == 1;
  return {rows / channels, channels, isRow ? 1 : size, isRow ? size : span.inner};
}

Value LongRows::picture(Value value, const RowPiece &piece, StringRef what) {
  // A view of its operand, so that it is computed in the group that reads the picture.
  if (auto conversion = value.getDefiningOp<tpu::CastOp>())
    return converted(conversion, picture(conversion.getInput(), piece, (what + "_before").str()),
                     what);
  if (pieces.size() > 1) {
    // Of one row, they lie in it.
    SmallVector<Value> &cut = cuts[value];
    if (cut.empty()) {
      const SmallVector<int64_t> sizes =
          llvm::map_to_vector(pieces, [](const RowPiece &each) { return each.parts * each.size; });
      cut = maker.split(
          maker.reshaped(value, {span.outer, span.extent, span.inner}, what.str() + "_rows"), 1,
          sizes, what.str() + "_piece");
    }
    value = cut[static_cast<size_t>(&piece - pieces.data())];
  }
  SmallVector<int64_t> to = pictureDims(span.outer * piece.parts, piece.size);
  if (ownsImages) {
    to[0] = span.outer;
    to[1] = piece.parts;
  }
  return maker.reshaped(value, to, what);
}

Value LongRows::ofOneRow(Value row, const RowPiece &piece, StringRef what) const {
  const int64_t count = piece.parts * piece.size;
  // The same for all that lie beside each other, or not.
  const int64_t inner = OpMaker::typeOf(row).getNumElements() / span.extent;
  row = maker.reshaped(row, {span.extent, inner}, what.str() + "_row");
  row = maker.part(row, 0, piece.begin, count, what.str() + "_piece");
  SmallVector<int64_t> to = pictureDims(piece.parts, piece.size);
  if (ownsImages) {
    to[0] = 1;
    to[1] = piece.parts;
  }
  if (inner != span.inner)
    to[3] = inner;
  return maker.reshaped(row, to, what);
}

Value LongRows::joinParts(ArrayRef<Value> numbers, StringRef what) const {
  SmallVector<Value> rows;
  int64_t parts = 0;
  for (auto [value, piece] : llvm::zip_equal(numbers, pieces)) {
    rows.push_back(maker.reshaped(value, {span.outer, piece.parts, span.inner},
                                  what.str() + "_parts" + std::to_string(parts)));
    parts += piece.parts;
  }
  return maker.reshaped(maker.joined(rows, 1, what.str() + "_joined"),
                        pictureDims(span.outer, parts), what);
}

Value LongRows::partWeights(llvm::function_ref<float(const RowPiece &)> weight, StringRef what,
                            Value like) const {
  std::vector<float> weights;
  for (const RowPiece &piece : pieces)
    weights.insert(weights.end(), static_cast<size_t>(piece.parts), weight(piece));
  const auto parts = static_cast<int64_t>(weights.size());
  const bool isRow = span.inner == 1;
  return maker.weight(Tensor::of<float>(Shape{1, 1, isRow ? 1 : parts, isRow ? parts : 1},
                                        std::span<const float>(weights)),
                      what, like);
}

Value LongRows::ofEachPart(Value numbers, const RowPiece &piece, StringRef what) const {
  if (span.outer == 1)
    return maker.reshaped(numbers, {1, 1, 1, span.inner}, what);
  if (ownsImages)
    return maker.reshaped(numbers, {span.outer, 1, 1, span.inner}, what);
  if (piece.parts > 1) {
    const bool isRow = span.inner == 1;
    const SmallVector<int64_t> ones = {1, 1, isRow ? 1 : piece.parts, isRow ? piece.parts : 1};
    Tensor one(DataType::F32, Shape(std::span(ones.data(), ones.size())));
    std::ranges::fill(one.mutableData<float>(), 1.0F);
    SmallVector<int64_t> repeated(OpMaker::dimsOf(numbers));
    repeated[isRow ? 3 : 2] = piece.parts;
    numbers = maker.make<tpu::MulOp>(what.str() + "_repeated", repeated,
                                     {numbers, maker.weight(one, what.str() + "_ones", numbers)});
  }
  SmallVector<int64_t> to = pictureDims(span.outer * piece.parts, piece.size);
  to[2] = 1;
  to[3] = span.inner;
  return maker.reshaped(numbers, to, what);
}

void LongRows::replaceResult(SmallVector<Value> pictures) const {
  const Value result = maker.op->getResult(0);
  auto conversion =
      result.hasOneUse() ? dyn_cast<tpu::CastOp>(*result.getUsers().begin()) : tpu::CastOp();
  SmallVector<Value> rows;
  for (auto [value, piece] : llvm::zip_equal(pictures, pieces)) {
    const std::string at = std::to_string(piece.begin);
    if (conversion)
      value = converted(conversion, value, "converted" + at);
    rows.push_back(maker.reshaped(value, {span.outer, piece.parts * piece.size, span.inner},
                                  "result_rows" + at));
  }
  const Value joined = maker.reshaped(maker.joined(rows, 1, "result_joined"), dims, "result");
  if (!conversion)
    return maker.replace(0, joined);
  joined.getDefiningOp()->setLoc(conversion.getLoc());
  conversion.getOutput().replaceAllUsesWith(joined);
  conversion.erase();
}

Value LongRows::converted(tpu::CastOp conversion, Value value, StringRef what) const {
  const Type element = OpMaker::typeOf(conversion.getOutput()).getElementType();
  return maker.make(tpu::CastOp::getOperationName(), what,
                    Type(OpMaker::typeOf(value).clone(element)), value,
                    NamedAttrList(conversion->getAttrDictionary()));
}

Value LongRows::reduced(Value picture, StringRef mode, StringRef what) const {
  SmallVector<int64_t> to(OpMaker::dimsOf(picture));
  const int64_t size = to[span.inner == 1 ? 3 : 2];
  if (size == 1)
    return picture;
  NamedAttrList attributes;
  if (span.inner == 1) {
    to[3] = 1;
    attributes.set("axes", maker.builder.getI64ArrayAttr({2, 3}));
    attributes.set("mode", maker.builder.getStringAttr(mode));
    return maker.make<tpu::ReduceOp>(what, to, {picture, maker.none()}, attributes);
  }
  to[2] = 1;
  attributes.set("kernel_shape", maker.builder.getI64ArrayAttr({size, 1}));
  attributes.set("strides", maker.builder.getI64ArrayAttr({1, 1}));
  attributes.set("pads", maker.builder.getI64ArrayAttr({0, 0, 0, 0}));
  if (mode == "ReduceMax")
    return maker.make<tpu::MaxPoolOp>(what, to, picture, attributes);
  if (mode == "ReduceMin")
    return maker.makeLike<tpu::NegOp>(
        what, maker.make<tpu::MaxPoolOp>(
                  what.str() + "_negative", to,
                  maker.makeLike<tpu::NegOp>(what.str() + "_opposite", picture), attributes));
  Value mean = maker.make<tpu::AvgPoolOp>(what.str() + "_mean", to, picture, attributes);
  NamedAttrList factor;
  factor.set("const_val", maker.builder.getF64FloatAttr(static_cast<double>(size)));
  return maker.makeLike<tpu::MulConstOp>(what, mean, factor);
}

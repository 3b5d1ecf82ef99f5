//===- DecomposeLongRows.cpp - Reductions, norms and softmaxes of any length ---===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What is reduced is read once: each part gives what its row needs of it, in F32. Where each
// element of the result depends on its row, the input is read once more:
//
//   sums        parts give their sums
//   norms       parts give their sums s, and m = sum((x - s / size)^2); a row has
//               mean = sum(s) / length, variance = sum(m + size (s / size - mean)^2) / length
//               (Chan, Golub, LeVeque: Updating formulae and a pairwise algorithm, 1979)
//   softmaxes   parts give their maxima M, and t = sum(exp(x - M)); a row has
//               most = max(M), total = sum(t exp(M - most))
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Decompose/Decompositions.h"
#include "tpuc/Codegen/Decompose/LongRows.h"
#include "tpuc/Codegen/Tile/TileModels.h"
#include "tpuc/Codegen/Tile/Tiling.h"
#include "tpuc/Dialect/Top/ShapeInference.h"
#include "tpuc/Dialect/Top/WindowShapes.h"
#include "tpuc/Dialect/Tpu/BinaryOps.h"
#include "tpuc/Dialect/Tpu/NormOps.h"
#include "tpuc/Dialect/Tpu/PoolOps.h"
#include "tpuc/Dialect/Tpu/ReduceOps.h"
#include "tpuc/Dialect/Tpu/UnaryOps.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::codegen;

namespace {

/// Shorter rows fit every local memory.
constexpr int64_t kShortRow = 2048;
/// What the softmax of a row without any number takes for its maximum.
constexpr double kLeastMaximum = -3e38;

/// An op on an element and a number.
template <typename Op>
Value withNumber(OpMaker &maker, Value value, double number, StringRef what) {
  NamedAttrList attributes;
  attributes.set("const_val", maker.builder.getF64FloatAttr(number));
  return maker.makeLike<Op>(what, value, attributes);
}

/// Sums and maxima along rows of a tensor that are cut into parts.
class PartialRows {
public:
  PartialRows(OpMaker &maker, Value input, const AxisSpan &span)
      : maker(maker), input(input), rows(maker, input, span) {}

  explicit operator bool() const { return !rows.isEmpty(); }

  /// `make` gives numbers of each part of the input in F32, or as it is: [n, c, 1, .] each.
  /// Gives the same numbers of all parts of each row.
  template <typename Make> SmallVector<Value> gather(bool isWide, unsigned count, Make make) {
    SmallVector<SmallVector<Value>> numbers(count);
    for (auto [index, piece] : llvm::enumerate(rows.all())) {
      const std::string suffix = std::to_string(index);
      Value picture = rows.picture(input, piece, "parts" + suffix);
      if (isWide)
        picture = maker.widened(picture, "wide" + suffix);
      for (auto [list, value] : llvm::zip_equal(numbers, make(picture, piece, suffix)))
        list.push_back(value);
    }
    SmallVector<Value> joined;
    for (auto [index, list] : llvm::enumerate(numbers))
      joined.push_back(rows.joinParts(list, "of_parts" + std::to_string(index)));
    return joined;
  }

  /// Of each row, what `made` of each part adds up to (or is at most or at least).
  template <typename Make> Value reduced(StringRef mode, Make made) {
    const bool isSum = mode == "ReduceSum";
    const auto parts = gather(isSum, 1, [&](Value picture, const RowPiece &, StringRef suffix) {
      return SmallVector<Value>{rows.reduced(made(picture, suffix), mode, ("part" + suffix).str())};
    });
    return rows.reduced(parts[0], mode, "total");
  }

  Value sub(Value left, Value right, StringRef what) {
    return maker.makeLike<tpu::SubOp>(what, {left, right});
  }

  /// exp(beta (x - most)); `most` is for each row or part.
  Value exponential(Value picture, Value most, double beta, StringRef what) {
    Value less = sub(picture, most, (what + "_less").str());
    if (beta != 1)
      less = withNumber<tpu::MulConstOp>(maker, less, beta, (what + "_scaled").str());
    return maker.makeLike<tpu::ExpOp>(what, less);
  }

  /// The largest of each row, and the sum of what `exponential` gives with it.
  std::pair<Value, Value> exponentials(double beta) {
    const auto parts = gather(true, 2, [&](Value picture, const RowPiece &, StringRef suffix) {
      // Of no number, not the difference of infinities.
      Value most = withNumber<tpu::MaxConstOp>(
          maker, rows.reduced(picture, "ReduceMax", ("most" + suffix).str()), kLeastMaximum,
          ("finite" + suffix).str());
      Value terms = exponential(picture, most, beta, ("term" + suffix).str());
      return SmallVector<Value>{most, rows.reduced(terms, "ReduceSum", ("part" + suffix).str())};
    });
    Value most = rows.reduced(parts[0], "ReduceMax", "most");
    Value share = exponential(parts[0], most, beta, "share");
    Value terms = maker.makeLike<tpu::MulOp>("shares", {share, parts[1]});
    return {most, rows.reduced(terms, "ReduceSum", "total")};
  }

  OpMaker &maker;
  Value input;
  LongRows rows;
};

/// What a norm multiplies its elements with and adds to them behind.
struct Affine {
  Value factor, addend;
  /// One for each row, or for each part of `rowsPerRow` of them; else one for each element of a
  /// row.
  bool isOfRows = false;
  int64_t rowsPerRow = 1;
};

class LongNorm {
public:
  LongNorm(OpMaker &maker, Value input, const AxisSpan &span)
      : maker(maker), partial(maker, input, span), span(span) {}

  explicit operator bool() const { return static_cast<bool>(partial); }

  /// Mean, and 1 / sqrt(variance + epsilon), of each row.
  void findMoments(double epsilon) {
    const LongRows &rows = partial.rows;
    const auto parts =
        partial.gather(true, 2, [&](Value picture, const RowPiece &piece, StringRef suffix) {
          Value sum = rows.reduced(picture, "ReduceSum", ("sum" + suffix).str());
          Value mean = withNumber<tpu::MulConstOp>(maker, sum, 1.0 / double(piece.size),
                                                   ("mean" + suffix).str());
          Value centred = partial.sub(picture, mean, ("centred" + suffix).str());
          return SmallVector<Value>{mean, squares(centred, suffix)};
        });
    const auto sizeOf = [](const RowPiece &piece) { return float(piece.size); };
    const Value sizes = rows.partWeights(sizeOf, "sizes", parts[0]);
    Value sums = maker.makeLike<tpu::MulOp>("sums", {parts[0], sizes});
    mean = share(rows.reduced(sums, "ReduceSum", "sum"), "mean");
    Value distance = partial.sub(parts[0], mean, "distance");
    Value between = maker.makeLike<tpu::MulOp>("distances", {distance, distance});
    between = maker.makeLike<tpu::MulOp>("between", {between, sizes});
    Value all = maker.makeLike<tpu::AddOp>("squares", {parts[1], between});
    setFactor(share(rows.reduced(all, "ReduceSum", "square"), "variance"), epsilon);
  }

  /// The same of a norm that takes the mean for 0.
  void findMeanSquare(double epsilon) {
    Value sum = sumOfSquares();
    setFactor(share(sum, "square"), epsilon);
  }

  Value sumOfSquares() {
    const auto parts =
        partial.gather(true, 1, [&](Value picture, const RowPiece &, StringRef suffix) {
          return SmallVector<Value>{squares(picture, suffix)};
        });
    return partial.rows.reduced(parts[0], "ReduceSum", "sum");
  }

  /// (x - mean) * factor * affine.factor + affine.addend takes the place of the op's result. False
  /// where no parts fit.
  bool apply(Affine affine) {
    const AxisSpan whole{span.outer * affine.rowsPerRow, span.extent / affine.rowsPerRow,
                         span.inner};
    const bool isOfElements = !affine.isOfRows && (affine.factor || affine.addend);
    LongRows rows(maker, partial.input, whole, isOfElements);
    if (rows.isEmpty())
      return false;
    if (affine.rowsPerRow > 1)
      for (Value *number : {&mean, &factor})
        if (*number)
          *number = repeated(*number, affine.rowsPerRow, number == &mean ? "means" : "factors");
    if (affine.isOfRows && affine.factor) {
      factor = maker.makeLike<tpu::MulOp>(
          "slope", {factor, maker.reshaped(affine.factor, OpMaker::dimsOf(factor), "gamma")});
      affine.factor = nullptr;
    }
    SmallVector<Value> pieces;
    for (auto [index, piece] : llvm::enumerate(rows.all()))
      pieces.push_back(applyTo(rows, piece, affine, std::to_string(index)));
    rows.replaceResult(pieces);
    return true;
  }

  OpMaker &maker;
  PartialRows partial;
  AxisSpan span;
  Value mean, factor; ///< Of each row; no mean where it is taken for 0.

private:
  Value squares(Value picture, StringRef suffix) {
    Value all = maker.makeLike<tpu::MulOp>(("square" + suffix).str(), {picture, picture});
    return partial.rows.reduced(all, "ReduceSum", ("squares" + suffix).str());
  }

  Value share(Value sum, StringRef what) {
    return withNumber<tpu::MulConstOp>(maker, sum, 1.0 / double(span.extent), what);
  }

  void setFactor(Value variance, double epsilon) {
    factor = maker.makeLike<tpu::RsqrtOp>(
        "factor", withNumber<tpu::AddConstOp>(maker, variance, epsilon, "positive"));
  }

  /// Each number as often as there are rows in its row.
  Value repeated(Value numbers, int64_t times, StringRef what) {
    Tensor ones(DataType::F32, Shape{1, 1, 1, times});
    std::ranges::fill(ones.mutableData<float>(), 1.0F);
    const int64_t count = OpMaker::typeOf(numbers).getNumElements();
    numbers = maker.reshaped(numbers, {1, count, 1, 1}, (what + "_one").str());
    numbers =
        maker.make<tpu::MulOp>((what + "_all").str(), {1, count, 1, times},
                               {numbers, maker.weight(ones, (what + "_ones").str(), numbers)});
    return maker.reshaped(numbers, {1, count * times, 1, 1}, what);
  }

  Value applyTo(LongRows &rows, const RowPiece &piece, const Affine &affine,
                const std::string &suffix) {
    const auto parameter = [&](Value given, const std::string &what) {
      if (!given)
        return given;
      if (affine.isOfRows)
        return rows.ofEachPart(maker.widened(given, what + "_wide"), piece, what);
      // As long as the picture: loaded as it is.
      return maker.widened(rows.ofOneRow(given, piece, what), what + "_wide", false);
    };
    // First, so that what follows can be one group.
    const Value means = mean ? rows.ofEachPart(mean, piece, "means" + suffix) : Value();
    const Value factors = rows.ofEachPart(factor, piece, "factors" + suffix);
    const Value gamma = parameter(affine.factor, "gamma" + suffix);
    const Value beta = parameter(affine.addend, "beta" + suffix);
    Value value =
        maker.widened(rows.picture(partial.input, piece, "again" + suffix), "wide_again" + suffix);
    if (means)
      value = partial.sub(value, means, "centred_again" + suffix);
    value = maker.makeLike<tpu::MulOp>("normalized" + suffix, {value, factors});
    if (gamma)
      value = maker.makeLike<tpu::MulOp>("multiplied" + suffix, {value, gamma});
    if (beta)
      value = maker.makeLike<tpu::AddOp>("added" + suffix, {value, beta});
    return maker.narrowed(value, 0, "narrow" + suffix);
  }
};

/// Dimensions of a tensor that are reduced, moved behind the others unless they follow each other.
struct ReducedRows {
  Value input;
  AxisSpan span;
};

ReducedRows rowsOf(OpMaker &maker, Value input, const llvm::SmallBitVector &reduced) {
  SmallVector<int64_t> order;
  AxisSpan span;
  for (const bool isReduced : {false, true})
    for (auto [dim, extent] : llvm::enumerate(OpMaker::dimsOf(input)))
      if (reduced[static_cast<unsigned>(dim)] == isReduced) {
        order.push_back(static_cast<int64_t>(dim));
        (isReduced ? span.extent : span.outer) *= extent;
      }
  const int first = reduced.find_first();
  const int last = reduced.find_last();
  if (first < 0 || static_cast<unsigned>(last - first + 1) == reduced.count()) {
    const ArrayRef<int64_t> dims = OpMaker::dimsOf(input);
    const auto begin = static_cast<size_t>(std::max(first, 0));
    span.outer = ShapedType::getNumElements(dims.take_front(begin));
    span.inner = ShapedType::getNumElements(dims.drop_front(static_cast<size_t>(last + 1)));
    return {input, span};
  }
  return {maker.permuted(input, order, "turned"), span};
}

/// Whether a kernel of `Op` has no tile for rows of `span` in F32.
template <typename Op>
bool isTooLong(OpMaker &maker, Value input, const AxisSpan &span, const NamedAttrList &attributes,
               int64_t width) {
  if (span.extent < kShortRow)
    return false;
  const int64_t rows = span.outer * span.inner;
  const Value none = maker.none();
  const Value matrix = maker.reshaped(input, {rows, span.extent}, "probe");
  const Value wide = maker.widened(matrix);
  const Type noneType = none.getType();
  SmallVector<Type> types(Op::template hasTrait<OpTrait::OneResult>() ? 1 : 3, noneType);
  types[0] = OpMaker::typeOf(wide).clone({rows, width});
  SmallVector<Value> operands = {wide, none};
  if (types.size() > 1)
    operands.push_back(none);
  const Value probe = maker.make(Op::getOperationName(), "probe_rows", types, operands, attributes);
  const bool isLong = !fittingPlaceOf(probe.getDefiningOp(), maker.backend);
  SmallVector<Operation *> made = {probe.getDefiningOp(), none.getDefiningOp()};
  if (wide != matrix)
    made.push_back(wide.getDefiningOp());
  if (matrix != input)
    made.push_back(matrix.getDefiningOp());
  for (Operation *op : made)
    op->erase();
  return isLong;
}

bool isTooLongToReduce(OpMaker &maker, Value input, const AxisSpan &span) {
  NamedAttrList attributes;
  attributes.set("axes", maker.builder.getI64ArrayAttr(1));
  attributes.set("mode", maker.builder.getStringAttr("ReduceSum"));
  return isTooLong<tpu::ReduceOp>(maker, input, span, attributes, 1);
}

bool isTooLongToNormalize(OpMaker &maker, Value input, const AxisSpan &span) {
  NamedAttrList attributes;
  attributes.set("axis", maker.builder.getI64IntegerAttr(1));
  return isTooLong<tpu::LayerNormOp>(maker, input, span, attributes, span.extent);
}

bool isLongLayer(Operation *op, int64_t extent, const Backend &backend) {
  return extent >= kShortRow && !fittingPlaceOf(op, backend);
}

/// A sum, mean, maximum or minimum, or what is made of these; in F32 unless it is exact.
Value longReduction(OpMaker &maker, StringRef mode, const ReducedRows &from) {
  PartialRows partial(maker, from.input, from.span);
  if (!partial)
    return nullptr;
  const auto itself = [](Value picture, StringRef) { return picture; };
  if (mode == "ReduceMax" || mode == "ReduceMin")
    return partial.reduced(mode, itself);
  if (mode == "ReduceLogSumExp") {
    const auto [most, total] = partial.exponentials(1);
    return maker.makeLike<tpu::AddOp>("sum",
                                      {maker.makeLike<tpu::LogOp>("logarithm", total), most});
  }
  if (mode == "ReduceL1")
    return partial.reduced("ReduceSum", [&](Value picture, StringRef suffix) {
      return maker.makeLike<tpu::AbsOp>(("magnitudes" + suffix).str(), picture);
    });
  if (mode == "ReduceL2" || mode == "ReduceSumSquare") {
    Value sum = LongNorm(maker, from.input, from.span).sumOfSquares();
    return mode == "ReduceL2" ? maker.makeLike<tpu::SqrtOp>("root", sum) : sum;
  }
  Value sum = partial.reduced("ReduceSum", itself);
  if (mode == "ReduceMean")
    return withNumber<tpu::MulConstOp>(maker, sum, 1.0 / double(from.span.extent), "mean");
  return mode == "ReduceLogSum" ? maker.makeLike<tpu::LogOp>("logarithm", sum) : sum;
}

AxisSpan spanFrom(Value value, int64_t axis) {
  const ArrayRef<int64_t> dims = OpMaker::dimsOf(value);
  const size_t dim = OpMaker::frontAxis(axis, value);
  return {ShapedType::getNumElements(dims.take_front(dim)),
          ShapedType::getNumElements(dims.drop_front(dim)), 1};
}

Value presentOrNull(Value value) { return isa<NoneType>(value.getType()) ? Value() : value; }

/// Whether a parameter has as many elements as it is for.
bool hasElements(Value value, int64_t count) {
  return !value || OpMaker::typeOf(value).getNumElements() == count;
}

/// A norm whose parameters are those of the elements of a row.
template <typename Op>
bool normOfElements(OpMaker &maker, Op op, const AxisSpan &span, Value addend, bool centers) {
  for (unsigned index = 1; index < op->getNumResults(); ++index)
    if (!isa<NoneType>(op->getResult(index).getType()))
      return false;
  const Affine affine{presentOrNull(op->getOperand(1)), addend};
  if (!isLongLayer(op, span.extent, maker.backend) || !OpMaker::isFloat(op.getInput()) ||
      !hasElements(affine.factor, span.extent) || !hasElements(affine.addend, span.extent))
    return false;
  LongNorm norm(maker, op.getInput(), span);
  if (!norm || LongRows(maker, op.getInput(), span, affine.factor || affine.addend).isEmpty())
    return false;
  const double epsilon = op.getEps().convertToDouble();
  centers ? norm.findMoments(epsilon) : norm.findMeanSquare(epsilon);
  return norm.apply(affine);
}

/// A norm of `groups` of channels of each sample.
template <typename Op> bool normOfChannels(OpMaker &maker, Op op, int64_t groups) {
  const SmallVector<int64_t> dims(OpMaker::dimsOf(op.getInput()));
  const AxisSpan span{dims[0] * groups,
                      ShapedType::getNumElements(ArrayRef(dims).drop_front()) / groups, 1};
  if (!OpMaker::isFloat(op.getInput()) || !isTooLongToNormalize(maker, op.getInput(), span))
    return false;
  Affine affine{presentOrNull(op.getWeight()), presentOrNull(op.getBias()), true, dims[1] / groups};
  LongNorm norm(maker, op.getInput(), span);
  if (!norm || !hasElements(affine.factor, dims[1]) || !hasElements(affine.addend, dims[1]))
    return false;
  unsigned number = 0;
  for (Value *parameter : {&affine.factor, &affine.addend})
    if (*parameter) {
      // Of each channel of each sample.
      const std::string what = "parameter" + std::to_string(number++);
      Value wide = maker.widened(*parameter, what + "_wide");
      wide = maker.reshaped(wide, {1, dims[1], 1, 1}, what + "_shaped");
      if (dims[0] > 1)
        wide = maker.joined(SmallVector<Value>(static_cast<size_t>(dims[0]), wide), 1,
                            what + "_joined");
      *parameter = wide;
    }
  norm.findMoments(op.getEps().convertToDouble());
  return norm.apply(affine);
}

/// A division by a norm, 1 or 2.
bool longNormalize(OpMaker &maker, tpu::NormalizeOp op) {
  const AxisSpan span = tiling::spanAt(OpMaker::dimsOf(op.getInput()), op.getAxis());
  if (!OpMaker::isFloat(op.getInput()) || !isTooLongToReduce(maker, op.getInput(), span))
    return false;
  LongNorm norm(maker, op.getInput(), span);
  if (!norm)
    return false;
  Value length =
      longReduction(maker, op.getP() == 1 ? "ReduceL1" : "ReduceL2", {op.getInput(), span});
  // Where the norm is 0 so are the elements.
  length = withNumber<tpu::MaxConstOp>(maker, length, 1e-30, "positive");
  norm.factor = maker.makeLike<tpu::ReciprocalOp>("factor", length);
  return norm.apply({});
}

/// The whole picture under one window, with nothing around it.
template <typename Op> bool isGlobal(Op pool, const top::Window &window) {
  const ArrayRef<int64_t> input = OpMaker::dimsOf(pool.getInput()).drop_front(2);
  return ArrayRef(window.kernel) == input &&
         llvm::all_of(ArrayRef(window.output).drop_front(2), [](int64_t n) { return n == 1; }) &&
         llvm::all_of(window.padsBegin, [](int64_t pad) { return pad == 0; }) &&
         llvm::all_of(window.padsEnd, [](int64_t pad) { return pad == 0; });
}

template <typename Op> bool longPool(OpMaker &maker, Op pool, StringRef mode) {
  const ArrayRef<int64_t> dims = OpMaker::dimsOf(pool.getInput());
  const AxisSpan span = {dims[0] * dims[1], ShapedType::getNumElements(dims.drop_front(2)), 1};
  const Expected<top::Window> window =
      top::poolWindow(top::windowSpec(pool), OpMaker::dimsOf(pool.getInput()));
  if (!window || !OpMaker::isFloat(pool.getInput()) || !isGlobal(pool, *window) ||
      !isLongLayer(pool, span.extent, maker.backend))
    return false;
  Value result = longReduction(maker, mode, {pool.getInput(), span});
  if (!result)
    return false;
  if (pool.getDoRelu()) {
    NamedAttrList limit;
    limit.set("relu_limit", pool.getReluLimitAttr());
    result = maker.makeLike<tpu::ReluOp>("relu", result, limit);
  }
  maker.replace(0, maker.finished(result, 0));
  return true;
}

} // namespace

bool codegen::decomposeLongReduce(OpMaker &maker) {
  auto op = dyn_cast<tpu::ReduceOp>(maker.op);
  if (!op || op.getMode() == "ReduceProd" || !OpMaker::isFloat(op.getInput()))
    return false;
  const std::optional<llvm::SmallBitVector> reduced = dimsReducedBy(op);
  if (!reduced || reduced->none())
    return false;
  AxisSpan whole;
  for (auto [dim, extent] : llvm::enumerate(OpMaker::dimsOf(op.getInput())))
    ((*reduced)[static_cast<unsigned>(dim)] ? whole.extent : whole.outer) *= extent;
  if (!isTooLongToReduce(maker, op.getInput(), whole))
    return false;
  Value result = longReduction(maker, op.getMode(), rowsOf(maker, op.getInput(), *reduced));
  if (!result)
    return false;
  maker.replace(0, maker.finished(result, 0));
  return true;
}

bool codegen::decomposeLongSoftmax(OpMaker &maker) {
  auto op = dyn_cast<tpu::SoftmaxOp>(maker.op);
  if (!op || !OpMaker::isFloat(op.getInput()))
    return false;
  const AxisSpan span = tiling::spanAt(OpMaker::dimsOf(op.getInput()), op.getAxis());
  if (!isLongLayer(op, span.extent, maker.backend))
    return false;
  PartialRows partial(maker, op.getInput(), span);
  if (!partial)
    return false;
  const double beta = op.getBeta().convertToDouble();
  // The largest of what is multiplied with beta.
  if (beta < 0)
    return false;
  auto [most, total] = partial.exponentials(beta);
  const bool isLog = op.getLog();
  total = isLog ? maker.makeLike<tpu::LogOp>("logarithm", total)
                : maker.makeLike<tpu::ReciprocalOp>("share_of_one", total);
  SmallVector<Value> pieces;
  for (auto [index, piece] : llvm::enumerate(partial.rows.all())) {
    const std::string suffix = std::to_string(index);
    // First, so that what follows can be one group.
    const Value mosts = partial.rows.ofEachPart(most, piece, "mosts" + suffix);
    const Value totals = partial.rows.ofEachPart(total, piece, "totals" + suffix);
    Value value = maker.widened(partial.rows.picture(op.getInput(), piece, "again" + suffix),
                                "wide_again" + suffix);
    if (isLog) {
      value = partial.sub(value, mosts, "less_again" + suffix);
      if (beta != 1)
        value = withNumber<tpu::MulConstOp>(maker, value, beta, "scaled_again" + suffix);
      value = partial.sub(value, totals, "result" + suffix);
    } else {
      value = partial.exponential(value, mosts, beta, "powers" + suffix);
      value = maker.makeLike<tpu::MulOp>("result" + suffix, {value, totals});
    }
    pieces.push_back(maker.narrowed(value, 0, "narrow" + suffix));
  }
  partial.rows.replaceResult(pieces);
  return true;
}

bool codegen::decomposeLongNorm(OpMaker &maker) {
  return llvm::TypeSwitch<Operation *, bool>(maker.op)
      .Case([&](tpu::LayerNormOp op) {
        return normOfElements(maker, op, spanFrom(op.getInput(), op.getAxis()),
                              presentOrNull(op.getBias()), true);
      })
      .Case([&](tpu::PixelNormOp op) {
        return normOfElements(maker, op, tiling::spanAt(OpMaker::dimsOf(op.getInput()), 1),
                              presentOrNull(op.getBias()), true);
      })
      .Case([&](tpu::RMSNormOp op) {
        if (op.getNumHeads())
          return false;
        return normOfElements(maker, op, spanFrom(op.getInput(), op.getAxis()), Value(), false);
      })
      .Case([&](tpu::NormalizeOp op) { return longNormalize(maker, op); })
      .Case([&](tpu::InstanceNormOp op) {
        return normOfChannels(maker, op, OpMaker::dimsOf(op.getInput())[1]);
      })
      .Case([&](tpu::GroupNormOp op) {
        return normOfChannels(maker, op, static_cast<int64_t>(op.getNumGroups()));
      })
      .Default([](Operation *) { return false; });
}

bool codegen::decomposeLongPool(OpMaker &maker) {
  if (auto pool = dyn_cast<tpu::AvgPoolOp>(maker.op))
    return longPool(maker, pool, "ReduceMean");
  if (auto pool = dyn_cast<tpu::MaxPoolOp>(maker.op))
    return longPool(maker, pool, "ReduceMax");
  return false;
}

//===- ExpandEinsum.cpp - Einsums as products of matrices -----------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An einsum is what other ops compute: of each operand a diagonal and sums, and of two operands
// then one product,
//
//   bqhd,bkhd->bhqk  ->  MatMul(Permute(x), Permute(y)) with `right_transpose`
//
// where dimensions that one side has alone are rows or columns, those of both sides that the result
// has are a batch, and the others are summed. More than two operands are multiplied two by two.
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Top/BinaryOps.h"
#include "tpuc/Dialect/Top/MatrixOps.h"
#include "tpuc/Dialect/Top/MovementOps.h"
#include "tpuc/Dialect/Top/OpChecks.h"
#include "tpuc/Dialect/Top/ReduceOps.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Dialect/Top/UnaryOps.h"
#include "tpuc/Support/OpShapes/Matrix.h"
#include "tpuc/Support/Tensor.h"
#include "tpuc/Transforms/EinsumLayout.h"
#include "tpuc/Transforms/Fusions.h"
#include "tpuc/Transforms/Matching.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::top;

namespace {

/// A tensor of which each dimension has a label.
struct Labelled {
  Value value;
  Labels labels;

  bool isConstant() const { return value.getDefiningOp<WeightOp>() != nullptr; }
};

/// Makes what one einsum stands for.
class EinsumExpansion {
public:
  EinsumExpansion(EinsumOp op, shapes::EinsumIndices equation, PatternRewriter &rewriter)
      : op(op), equation(std::move(equation)), rewriter(rewriter) {}

  void run();

private:
  Location name(StringRef what) {
    return locWith(rewriter, op, ("_" + what + "_" + Twine(made++)).str());
  }
  RankedTensorType typeOf(ArrayRef<int64_t> dims) {
    return RankedTensorType::get(dims, elementTypeOf(op.getOutput()));
  }
  int64_t extentOf(int64_t label) const { return equation.extents[static_cast<size_t>(label)]; }
  int64_t sizeOf(ArrayRef<int64_t> labels) const { return tpuc::sizeOf(labels, equation.extents); }
  Dims dimsOf(ArrayRef<int64_t> labels) const {
    return Dims(llvm::map_range(labels, [&](int64_t label) { return extentOf(label); }));
  }

  Value reshapedTo(Value value, const Dims &dims, StringRef what);
  Labelled permuted(const Labelled &tensor, ArrayRef<int64_t> order, StringRef what);
  Labelled distinct(size_t operand);
  Labelled diagonal(Labelled tensor, int64_t label);
  Labelled summed(const Labelled &tensor, ArrayRef<int64_t> kept);
  Labelled product(Labelled first, Labelled second, ArrayRef<int64_t> kept, bool isOrdered);
  Labelled elementwise(const Labelled &first, const Labelled &second, ArrayRef<int64_t> order);
  Labelled matrices(const Labelled &left, const Labelled &right, const ProductLayout &layout);
  std::pair<size_t, size_t> cheapestPair(ArrayRef<Labelled> tensors) const;
  Labels neededBy(ArrayRef<Labelled> tensors, size_t first, size_t second) const;

  EinsumOp op;
  shapes::EinsumIndices equation;
  PatternRewriter &rewriter;
  int made = 0;
};

/// Of a constant: another constant.
Value EinsumExpansion::reshapedTo(Value value, const Dims &dims, StringRef what) {
  if (top::dimsOf(value) == std::optional(dims))
    return value;
  if (value.getDefiningOp<WeightOp>())
    if (std::optional<Doubles> numbers = constantFloats(value))
      return makeWeight(rewriter, op, ("_" + what + "_" + Twine(made++)).str(), dims, *numbers);
  return reshaped(rewriter, name(what), value, dims);
}

/// Of a constant: another constant.
Labelled EinsumExpansion::permuted(const Labelled &tensor, ArrayRef<int64_t> order,
                                   StringRef what) {
  if (ArrayRef(tensor.labels) == order)
    return tensor;
  const Dims dims = dimsOf(order);
  if (isSameOrder(tensor.labels, order, equation.extents))
    return {reshapedTo(tensor.value, dims, what), Labels(order)};
  Dims axes;
  for (int64_t label : order)
    axes.push_back(llvm::find(tensor.labels, label) - tensor.labels.begin());
  const std::optional<Doubles> numbers =
      tensor.isConstant() ? constantFloats(tensor.value) : std::nullopt;
  if (!numbers)
    return {rewriter.create<PermuteOp>(name(what), typeOf(dims), tensor.value,
                                       rewriter.getI64ArrayAttr(axes)),
            Labels(order)};
  const Dims from = dimsOf(tensor.labels);
  Dims strides(from.size(), 1);
  for (size_t axis = from.size(); axis-- > 1;)
    strides[axis - 1] = strides[axis] * from[axis];
  Doubles moved;
  moved.reserve(numbers->size());
  Dims place(dims.size(), 0);
  for (size_t count = numbers->size(); count > 0; --count) {
    int64_t offset = 0;
    for (auto [axis, position] : llvm::zip_equal(axes, place))
      offset += position * strides[static_cast<size_t>(axis)];
    moved.push_back((*numbers)[static_cast<size_t>(offset)]);
    for (size_t axis = dims.size(); axis-- > 0 && ++place[axis] == dims[axis];)
      place[axis] = 0;
  }
  return {makeWeight(rewriter, op, ("_" + what + "_" + Twine(made++)).str(), dims, moved),
          Labels(order)};
}

/// The elements of which all places under `label` are the same: every (n + 1)-th of n * n.
Labelled EinsumExpansion::diagonal(Labelled tensor, int64_t label) {
  const Labels others = without(tensor.labels, label);
  const auto times = static_cast<int64_t>(llvm::count(tensor.labels, label));
  const int64_t extent = extentOf(label);
  Dims axes;
  for (auto [axis, each] : llvm::enumerate(tensor.labels))
    if (each != label)
      axes.push_back(static_cast<int64_t>(axis));
  for (auto [axis, each] : llvm::enumerate(tensor.labels))
    if (each == label)
      axes.push_back(static_cast<int64_t>(axis));
  Dims dims = dimsOf(others);
  Dims apart = dims;
  apart.append(static_cast<size_t>(times), extent);
  Value value = tensor.value;
  if (!llvm::is_sorted(axes))
    value = rewriter.create<PermuteOp>(name("turned"), typeOf(apart), value,
                                       rewriter.getI64ArrayAttr(axes));
  int64_t all = 1, step = 0;
  for (int64_t time = 0; time < times; ++time) {
    step += all;
    all *= extent;
  }
  dims.push_back(all);
  value = reshaped(rewriter, name("flat"), value, dims);
  const auto axis = static_cast<int64_t>(dims.size()) - 1;
  dims.back() = extent;
  const auto ints = [&](int64_t number) { return rewriter.getI64ArrayAttr({number}); };
  const Value none = makeNone(rewriter, op.getLoc());
  value = rewriter.create<SliceOp>(name("diagonal"), typeOf(dims), value, none, none, none, none,
                                   ints(0), ints(step), ints(all), ints(axis));
  Labels labels = others;
  labels.push_back(label);
  return {value, labels};
}

/// An operand with each label once. Dimensions of one element that others repeat are left out.
Labelled EinsumExpansion::distinct(size_t operand) {
  Labelled tensor{op.getInputs()[static_cast<unsigned>(operand)], {}};
  Dims dims;
  for (auto [label, extent] :
       llvm::zip_equal(equation.operands[operand], *top::dimsOf(tensor.value)))
    if (extent == extentOf(label) && !(extent == 1 && llvm::is_contained(tensor.labels, label))) {
      tensor.labels.push_back(label);
      dims.push_back(extent);
    }
  tensor.value = reshapedTo(tensor.value, dims, "operand");
  for (;;) {
    const auto *repeated = llvm::find_if(
        tensor.labels, [&](int64_t label) { return llvm::count(tensor.labels, label) > 1; });
    if (repeated == tensor.labels.end())
      return tensor;
    tensor = diagonal(std::move(tensor), *repeated);
  }
}

/// The sums over all dimensions that are not in `kept`.
Labelled EinsumExpansion::summed(const Labelled &tensor, ArrayRef<int64_t> kept) {
  const Labels rest = within(tensor.labels, kept);
  if (rest.size() == tensor.labels.size())
    return tensor;
  const Dims dims = dimsOf(rest);
  if (isSameOrder(tensor.labels, rest, equation.extents))
    return {reshapedTo(tensor.value, dims, "kept"), rest};
  Dims axes;
  for (auto [axis, label] : llvm::enumerate(tensor.labels))
    if (!llvm::is_contained(kept, label))
      axes.push_back(static_cast<int64_t>(axis));
  Value none = makeNone(rewriter, op.getLoc());
  return {rewriter.create<ReduceOp>(name("sum"), typeOf(dims), tensor.value, none,
                                    rewriter.getI64ArrayAttr(axes), rewriter.getBoolAttr(false),
                                    rewriter.getStringAttr("ReduceSum"),
                                    rewriter.getBoolAttr(false)),
          rest};
}

/// Products of single elements, with the dimensions `order`. Where these are many, those that stand
/// together in both factors are one, and if too many are left the result has another order.
Labelled EinsumExpansion::elementwise(const Labelled &first, const Labelled &second,
                                      ArrayRef<int64_t> order) {
  constexpr size_t kMostDims = 4;
  const Labels shared = within(within(order, first.labels), second.labels);
  const auto factorsOf = [&](int64_t label) {
    return llvm::is_contained(shared, label) ? 0 : llvm::is_contained(first.labels, label) ? 1 : 2;
  };
  const auto runsOf = [&](ArrayRef<int64_t> labels) {
    SmallVector<Labels> runs;
    for (int64_t label : labels) {
      if (order.size() <= kMostDims || runs.empty() ||
          factorsOf(runs.back().front()) != factorsOf(label))
        runs.emplace_back();
      runs.back().push_back(label);
    }
    return runs;
  };
  Labels arranged = llvm::to_vector<6>(order);
  if (runsOf(arranged).size() > kMostDims)
    llvm::stable_sort(arranged, [&](int64_t a, int64_t b) { return factorsOf(a) < factorsOf(b); });
  const SmallVector<Labels> runs = runsOf(arranged);
  const auto spread = [&](const Labelled &tensor) {
    const Labelled turned = permuted(tensor, within(arranged, tensor.labels), "factor");
    Dims dims;
    for (const Labels &run : runs)
      dims.push_back(llvm::is_contained(turned.labels, run.front()) ? sizeOf(run) : 1);
    return reshapedTo(turned.value, dims, "factor");
  };
  const Value left = spread(first);
  const Value right = spread(second);
  Dims dims;
  for (const Labels &run : runs)
    dims.push_back(sizeOf(run));
  const Value product =
      rewriter.create<MulOp>(name("product"), TypeRange(typeOf(dims)), ValueRange{left, right})
          .getOutput();
  return {reshapedTo(product, dimsOf(arranged), "apart"), arranged};
}

/// One product of matrices for each of a batch.
Labelled EinsumExpansion::matrices(const Labelled &left, const Labelled &right,
                                   const ProductLayout &layout) {
  // Attention has samples and heads in front of its rows.
  constexpr size_t kMostApart = 2;
  const bool isRepeated = !layout.repeated.empty();
  const bool hasBatch = isRepeated || !layout.batch.empty();
  Dims batch = dimsOf(layout.batch);
  if (isRepeated || batch.size() > kMostApart)
    batch = {sizeOf(layout.batch)};
  if (isRepeated && layout.batch.empty())
    batch.clear();
  // A product with one matrix takes rows of any number of dimensions.
  const bool areRowsApart = !hasBatch && !layout.isLeftTransposed && !layout.rows.empty();
  const auto matrix = [&](const Labelled &tensor, ArrayRef<int64_t> order, bool isFront, Dims dims,
                          StringRef what) {
    Dims all;
    if (isRepeated && isFront)
      all.push_back(sizeOf(layout.repeated));
    else if (isRepeated && !batch.empty())
      all.push_back(1);
    llvm::append_range(all, batch);
    llvm::append_range(all, dims);
    return reshapedTo(permuted(tensor, order, what).value, all, what);
  };
  Dims rows = areRowsApart ? dimsOf(layout.rows) : Dims{sizeOf(layout.rows)};
  const int64_t sums = sizeOf(layout.sums), columns = sizeOf(layout.columns);
  Dims leftDims = rows;
  leftDims.insert(layout.isLeftTransposed ? leftDims.begin() : leftDims.end(), sums);
  const Dims rightDims = layout.isRightTransposed ? Dims{columns, sums} : Dims{sums, columns};
  const Value leftMatrix =
      matrix(left, layout.leftOrder(), layout.isLeftRepeated, leftDims, "left");
  const Value rightMatrix =
      matrix(right, layout.rightOrder(), !layout.isLeftRepeated, rightDims, "right");
  Dims dims;
  if (isRepeated)
    dims.push_back(sizeOf(layout.repeated));
  llvm::append_range(dims, batch);
  llvm::append_range(dims, rows);
  dims.push_back(columns);
  OperationState state(name("product"), MatMulOp::getOperationName(),
                       {leftMatrix, rightMatrix, makeNone(rewriter, op.getLoc())}, typeOf(dims));
  if (layout.isLeftTransposed)
    state.addAttribute("left_transpose", rewriter.getBoolAttr(true));
  if (layout.isRightTransposed)
    state.addAttribute("right_transpose", rewriter.getBoolAttr(true));
  const Value product = rewriter.create(state)->getResult(0);
  return {reshapedTo(product, dimsOf(layout.resultOrder()), "apart"), layout.resultOrder()};
}

/// The product of two tensors, summed over what is not in `kept`; in this order if `isOrdered`.
Labelled EinsumExpansion::product(Labelled first, Labelled second, ArrayRef<int64_t> kept,
                                  bool isOrdered) {
  const auto neededBeside = [&](const Labelled &other) {
    Labels labels(kept);
    // A sum over one element is that element.
    llvm::copy_if(other.labels, std::back_inserter(labels),
                  [&](int64_t label) { return extentOf(label) != 1; });
    return labels;
  };
  const Labels besideFirst = neededBeside(second), besideSecond = neededBeside(first);
  first = summed(first, besideFirst);
  second = summed(second, besideSecond);
  Labels all = first.labels;
  llvm::append_range(all, without(second.labels, first.labels));
  const Labels result = within(isOrdered ? kept : ArrayRef<int64_t>(all), kept);
  const Labels own = isOrdered ? within(result, all) : result;
  const Labels sums = without(all, kept);
  if (sums.empty())
    return elementwise(first, second, own);
  // Sums of single rows: no matrix fills the lanes.
  const Labels free = without(without(all, within(first.labels, second.labels)), sums);
  if (sizeOf(free) == 1 && sizeOf(own) > 1) {
    Labels order = own;
    llvm::append_range(order, sums);
    return summed(elementwise(first, second, order), kept);
  }
  const ProductLayout layout =
      chooseLayout({first.labels, first.isConstant()}, {second.labels, second.isConstant()}, own,
                   isOrdered, equation.extents);
  return layout.isSwapped ? matrices(second, first, layout) : matrices(first, second, layout);
}

/// The labels that the result, or other tensors than these two, have.
Labels EinsumExpansion::neededBy(ArrayRef<Labelled> tensors, size_t first, size_t second) const {
  Labels needed = llvm::to_vector<6>(equation.result);
  for (auto [index, tensor] : llvm::enumerate(tensors))
    if (index != first && index != second)
      llvm::append_range(needed, without(tensor.labels, needed));
  return needed;
}

/// The two tensors whose product has the fewest multiplications.
std::pair<size_t, size_t> EinsumExpansion::cheapestPair(ArrayRef<Labelled> tensors) const {
  std::pair<size_t, size_t> best{0, 1};
  int64_t least = std::numeric_limits<int64_t>::max();
  for (size_t first = 0; first < tensors.size(); ++first)
    for (size_t second = first + 1; second < tensors.size(); ++second) {
      Labels all = tensors[first].labels;
      llvm::append_range(all, without(tensors[second].labels, all));
      if (const int64_t count = sizeOf(all); count < least) {
        least = count;
        best = {first, second};
      }
    }
  return best;
}

void EinsumExpansion::run() {
  rewriter.setInsertionPoint(op);
  SmallVector<Labelled> tensors;
  for (size_t operand = 0; operand < equation.operands.size(); ++operand)
    tensors.push_back(distinct(operand));
  const Labels result = llvm::to_vector<6>(equation.result);
  while (tensors.size() > 1) {
    const auto [first, second] = cheapestPair(tensors);
    const Labels kept = neededBy(tensors, first, second);
    const bool isLast = tensors.size() == 2;
    tensors[first] = product(tensors[first], tensors[second], kept, isLast);
    tensors.erase(tensors.begin() + static_cast<ptrdiff_t>(second));
  }
  Value value = permuted(summed(tensors.front(), result), result, "turned").value;
  value = reshapedTo(value, *top::dimsOf(op.getOutput()), "result");
  // The last op takes over the name of the einsum, unless it is none of these.
  Operation *last = value.getDefiningOp();
  if (made == 0 || isa_and_nonnull<WeightOp>(last))
    value = rewriter.create<CopyOp>(op.getLoc(), op.getType(), value);
  else
    last->setLoc(op.getLoc());
  rewriter.replaceOp(op, value);
}

} // namespace

/// Einsum(x, y) -> MatMul(x, y), with what it takes in front of it and behind it
static LogicalResult einsumToProducts(EinsumOp op, PatternRewriter &rewriter) {
  const Type element = elementTypeOf(op.getOutput());
  std::vector<shapes::Dims> operands;
  const auto isKnown = [&](Value value) {
    return isa<FloatType>(element) && elementTypeOf(value) == element && staticElements(value) > 0;
  };
  for (Value operand : op.getInputs()) {
    if (!isKnown(operand))
      return failure();
    const Dims dims = *top::dimsOf(operand);
    operands.emplace_back(dims.begin(), dims.end());
  }
  Expected<shapes::EinsumIndices> equation = shapes::parseEinsum(op.getMode(), operands);
  if (!equation || !isKnown(op.getOutput()) || equation->extents.size() > Shape::kMaxRank ||
      operands.empty())
    return failure();
  EinsumExpansion(op, std::move(*equation), rewriter).run();
  return success();
}

ArrayRef<Fusion> tpuc::einsumFusions() {
  static constexpr Fusion kFusions[] = {
      fusion<einsumToProducts>("einsum-to-products"),
  };
  return kFusions;
}

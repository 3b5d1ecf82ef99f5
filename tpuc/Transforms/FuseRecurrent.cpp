//===- FuseRecurrent.cpp - LSTM and GRU that were unrolled --------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Exporters that know no recurrent op write each step out. The last step is found first, then those
// before it through the state that each reads. All steps of a sequence make one op; what else reads
// a state reads it from that op's result.
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Top/BinaryOps.h"
#include "tpuc/Dialect/Top/MovementOps.h"
#include "tpuc/Dialect/Top/RecurrentOps.h"
#include "tpuc/Interpreter/Evaluate.h"
#include "tpuc/Transforms/Fusions.h"
#include "tpuc/Transforms/RecurrentCell.h"

#include <cmath>

using namespace mlir;
using namespace tpuc;
using namespace tpuc::top;

//===----------------------------------------------------------------------===//
// All steps
//===----------------------------------------------------------------------===//

namespace {

/// The weights of one gate. A first step from zeros has no product with a state.
struct GateWeights {
  std::optional<Product> input;
  std::optional<Product> state;
};

/// The steps of a sequence, the last one in time first.
struct Chain {
  std::vector<Cell> cells;
  bool isReversed = false;
  int64_t steps = 0;
};

} // namespace

static bool isZero(Value value) {
  std::optional<Doubles> elements = constantFloats(value);
  return elements && llvm::all_of(*elements, [](double each) { return each == 0; });
}

/// The step that a product multiplies, of `sequence` unless that is null.
static std::optional<Step> inputStep(const Product &product, Value sequence) {
  std::optional<Step> step = product.step ? product.step : stepOf(product.source);
  return step && (!sequence || step->sequence == sequence) ? step : std::nullopt;
}

/// Sorts the products of a gate; none if there are others.
static std::optional<GateWeights> weightsOf(const Gate &gate, Value sequence) {
  GateWeights weights;
  for (const Product &product : gate.products) {
    bool isInput = inputStep(product, sequence).has_value();
    std::optional<Product> &kind = isInput ? weights.input : weights.state;
    if (kind)
      return std::nullopt;
    kind = product;
  }
  return weights;
}

/// Whether all gates of `cell` read one step of one sequence and the state before; sets these. The
/// sequence is that of the later steps unless these are none yet.
static bool readsOneStep(Cell &cell, Value sequence) {
  SmallVector<Gate> gates = cell.gates;
  if (cell.reset)
    gates.push_back(*cell.reset);
  std::optional<Step> input;
  for (auto [index, gate] : llvm::enumerate(gates)) {
    std::optional<GateWeights> weights = weightsOf(gate, sequence);
    bool isReset = index >= cell.gates.size();
    bool isNew = cell.cellAfter == nullptr && index == 2;
    if (!weights || weights->input.has_value() == isReset ||
        (isNew && cell.reset && weights->state))
      return false;
    if (weights->input) {
      std::optional<Step> step = inputStep(*weights->input, sequence);
      if (input && (step->sequence != input->sequence || step->axis != input->axis ||
                    step->index != input->index))
        return false;
      input = step;
    }
    if (!weights->state)
      continue;
    Value source = weights->state->source;
    Value wanted = isNew && cell.gated ? cell.gated : cell.before;
    if (wanted && source != wanted)
      return false;
    cell.before = cell.before ? cell.before : source;
  }
  cell.input = *input;
  return true;
}

/// Whether two constants are the same or have the same elements.
static bool areSameConstants(Value a, Value b) {
  if (a == b)
    return true;
  if (a.getType() != b.getType())
    return false;
  std::optional<Tensor> first = constantTensor(a);
  std::optional<Tensor> second = constantTensor(b);
  return first && second && std::ranges::equal(first->data<float>(), second->data<float>());
}

static bool areSameProducts(const std::optional<Product> &a, const std::optional<Product> &b) {
  return a && b && a->begin == b->begin && a->isTransposed == b->isTransposed &&
         areSameConstants(a->weight, b->weight);
}

static bool areSameGates(const Gate &a, const Gate &b, Value sequence, bool isFirstStep) {
  std::optional<GateWeights> left = weightsOf(a, sequence);
  std::optional<GateWeights> right = weightsOf(b, sequence);
  if (left->input.has_value() != right->input.has_value() ||
      (left->input && !areSameProducts(left->input, right->input)))
    return false;
  bool isFromZeros = isFirstStep && !right->state;
  if (!isFromZeros && (left->state.has_value() != right->state.has_value() ||
                       (left->state && !areSameProducts(left->state, right->state))))
    return false;
  for (auto [x, y] : llvm::zip_equal(a.bias, b.bias))
    if (std::abs(x - y) > 1e-6 * std::max(1.0, std::abs(x)))
      return false;
  return true;
}

/// Whether `cell` is like the last one but for what it reads.
static bool areAlike(const Cell &last, const Cell &cell, bool isFirstStep) {
  if (last.gates.size() != cell.gates.size() || last.reset.has_value() != cell.reset.has_value() ||
      (last.gated != nullptr) != (cell.gated != nullptr) || last.input.axis != cell.input.axis)
    return false;
  Value sequence = last.input.sequence;
  for (auto [a, b] : llvm::zip_equal(last.gates, cell.gates))
    if (a.bias.size() != b.bias.size() || !areSameGates(a, b, sequence, isFirstStep))
      return false;
  return !last.reset || areSameGates(*last.reset, *cell.reset, sequence, isFirstStep);
}

using TakeCell = std::optional<Cell> (*)(Interior &, Value);

/// All steps up to that which makes `h`, from the first one of a sequence to its last.
static std::optional<Chain> takeChain(Interior &interior, Value h, TakeCell takeCell) {
  Chain chain;
  std::optional<Cell> cell = takeCell(interior, h);
  if (!cell || !readsOneStep(*cell, {}))
    return std::nullopt;
  const Step last = cell->input;
  chain.steps = (*dimsOf(last.sequence))[last.axis];
  chain.isReversed = last.index == 0;
  if (chain.steps < 2 || (last.index != 0 && last.index != chain.steps - 1))
    return std::nullopt;
  chain.cells.push_back(*cell);
  while (static_cast<int64_t>(chain.cells.size()) < chain.steps) {
    const Cell later = chain.cells.back();
    if (!later.before)
      return std::nullopt;
    cell = takeCell(interior, later.before);
    auto done = static_cast<int64_t>(chain.cells.size());
    if (!cell || !readsOneStep(*cell, last.sequence) || cell->cellAfter != later.cellBefore ||
        cell->input.index != (chain.isReversed ? done : chain.steps - 1 - done) ||
        !areAlike(chain.cells.front(), *cell, done + 1 == chain.steps))
      return std::nullopt;
    chain.cells.push_back(*cell);
  }
  return chain;
}

//===----------------------------------------------------------------------===//
// What is made of them
//===----------------------------------------------------------------------===//

namespace {

/// The sizes of a recurrent op: of a state and of an input.
struct Sizes {
  int64_t hidden;
  int64_t input;
};

} // namespace

/// Appends columns of a matrix as rows: the result of a gate's unit by unit.
static void appendColumns(const std::optional<Product> &product, int64_t columns, int64_t terms,
                          Doubles &rows) {
  if (!product) {
    rows.resize(rows.size() + static_cast<size_t>(columns * terms), 0.0);
    return;
  }
  Doubles matrix = *constantFloats(product->weight);
  int64_t width = static_cast<int64_t>(matrix.size()) / terms;
  for (int64_t column = product->begin; column < product->begin + columns; ++column)
    for (int64_t term = 0; term < terms; ++term)
      rows.push_back(matrix[static_cast<size_t>(product->isTransposed ? column * terms + term
                                                                      : term * width + column)]);
}

/// The terms of a product; none if its columns are not within the matrix.
static std::optional<int64_t> termsOf(const Product &product, int64_t columns) {
  Dims dims = *dimsOf(product.weight);
  int64_t width = product.isTransposed ? dims[0] : dims[1];
  if (product.begin < 0 || product.begin + columns > width)
    return std::nullopt;
  return product.isTransposed ? dims[1] : dims[0];
}

static std::optional<Sizes> sizesOf(const Cell &cell) {
  auto hidden = static_cast<int64_t>(cell.gates.front().bias.size());
  std::optional<int64_t> input;
  SmallVector<Gate> gates = cell.gates;
  if (cell.reset)
    gates.push_back(*cell.reset);
  for (const Gate &gate : gates) {
    std::optional<GateWeights> weights = weightsOf(gate, cell.input.sequence);
    if (static_cast<int64_t>(gate.bias.size()) != hidden ||
        (weights->state && termsOf(*weights->state, hidden) != hidden))
      return std::nullopt;
    if (!weights->input)
      continue;
    std::optional<int64_t> terms = termsOf(*weights->input, hidden);
    if (!terms || (input && input != terms))
      return std::nullopt;
    input = terms;
  }
  if (!input || lastExtent(cell.input.sequence) != input)
    return std::nullopt;
  return Sizes{hidden, *input};
}

namespace {

struct RecurrentWeights {
  Value filter, recurrence, bias;
};

} // namespace

static RecurrentWeights makeWeights(PatternRewriter &rewriter, Operation *op, const Cell &cell,
                                    const Sizes &sizes) {
  Doubles filter;
  Doubles recurrence;
  Doubles bias;
  Doubles stateBias;
  for (auto [index, gate] : llvm::enumerate(cell.gates)) {
    GateWeights weights = *weightsOf(gate, cell.input.sequence);
    bool isReset = cell.reset && index == 2;
    std::optional<Product> state =
        isReset ? weightsOf(*cell.reset, cell.input.sequence)->state : weights.state;
    appendColumns(weights.input, sizes.hidden, sizes.input, filter);
    appendColumns(state, sizes.hidden, sizes.hidden, recurrence);
    llvm::append_range(bias, gate.bias);
    llvm::append_range(stateBias, isReset ? cell.reset->bias : Doubles(gate.bias.size(), 0.0));
  }
  auto rows = static_cast<int64_t>(bias.size());
  llvm::append_range(bias, stateBias);
  return {makeWeight(rewriter, op, "_filter", {1, rows, sizes.input}, filter),
          makeWeight(rewriter, op, "_recurrence", {1, rows, sizes.hidden}, recurrence),
          makeWeight(rewriter, op, "_bias", {1, 2 * rows}, bias)};
}

namespace {

/// The ops that replace a chain.
class Replacement {
public:
  Replacement(PatternRewriter &rewriter, Operation *root, const Interior &interior,
              const Chain &chain, const Sizes &sizes)
      : rewriter(rewriter), root(root), interior(interior), chain(chain), sizes(sizes),
        isBatchFirst(chain.cells.front().input.axis == 1) {
    Dims dims = *dimsOf(chain.cells.front().input.sequence);
    samples = dims[isBatchFirst ? 0 : 1];
  }

  /// Whether states have the shapes that the op gives them, and initial ones that it takes.
  bool fits() const {
    for (const Cell &cell : chain.cells)
      if (dimsOf(cell.after) != std::optional(Dims{samples, sizes.hidden}) ||
          (cell.cellAfter && dimsOf(cell.cellAfter) != dimsOf(cell.after)))
        return false;
    const Cell &first = chain.cells.back();
    return doesStart(first.before) && doesStart(first.cellBefore);
  }

  void replace() {
    const Cell &last = chain.cells.front();
    const Cell &first = chain.cells.back();
    bool isLstm = last.cellAfter != nullptr;
    hasAll = llvm::any_of(ArrayRef<Cell>(chain.cells).drop_front(),
                          [&](const Cell &cell) { return isReadOutside(cell.after); });
    insertBehind({last.input.sequence, first.before, first.cellBefore});
    RecurrentWeights weights = makeWeights(rewriter, root, last, sizes);
    none = makeNone(rewriter, root->getLoc());
    Value before = initial(first.before, "_initial_h");
    Dims all = {chain.steps, 1, samples, sizes.hidden};
    Dims one = {1, samples, sizes.hidden};
    if (isBatchFirst) {
      all = {samples, chain.steps, 1, sizes.hidden};
      one = {samples, 1, sizes.hidden};
    }
    auto typeIf = [&](bool isWanted, const Dims &dims) -> Type {
      return isWanted ? Type(RankedTensorType::get(dims, rewriter.getF32Type()))
                      : rewriter.getNoneType();
    };
    Location loc = locWith(rewriter, root, isLstm ? "_lstm" : "_gru");
    StringAttr direction = rewriter.getStringAttr(chain.isReversed ? "reverse" : "forward");
    SmallVector<NamedAttribute> attributes = {
        rewriter.getNamedAttr("direction", direction),
        rewriter.getNamedAttr("hidden_size", rewriter.getI64IntegerAttr(sizes.hidden)),
        rewriter.getNamedAttr("batch_first", rewriter.getBoolAttr(isBatchFirst))};
    if (isLstm) {
      Value cellBefore = initial(first.cellBefore, "_initial_c");
      bool readsCell = isReadOutside(last.cellAfter);
      auto op = rewriter.create<LSTMOp>(
          loc, TypeRange{typeIf(hasAll, all), typeIf(!hasAll, one), typeIf(readsCell, one)},
          ValueRange{last.input.sequence, weights.filter, weights.recurrence, weights.bias, none,
                     before, cellBefore, none},
          attributes);
      replaceStates(op.getY(), op.getYH());
      if (readsCell)
        replaceState(last.cellAfter, op.getYC());
    } else {
      attributes.push_back(rewriter.getNamedAttr("linear_before_reset",
                                                 rewriter.getBoolAttr(last.reset.has_value())));
      auto op = rewriter.create<GRUOp>(loc, TypeRange{typeIf(hasAll, all), typeIf(!hasAll, one)},
                                       ValueRange{last.input.sequence, weights.filter,
                                                  weights.recurrence, weights.bias, none, before},
                                       attributes);
      replaceStates(op.getY(), op.getYH());
    }
    eraseInterior();
  }

private:
  bool doesStart(Value state) const {
    return !state || isZero(state) || dimsOf(state) == std::optional(Dims{samples, sizes.hidden});
  }

  bool isReadOutside(Value value) const {
    return llvm::any_of(value.getUsers(),
                        [&](Operation *user) { return user != root && !interior.contains(user); });
  }

  /// Whoever reads a state of the chain comes behind what the chain begins with.
  void insertBehind(ArrayRef<Value> values) {
    Value latest;
    for (Value value : values) {
      if (!value ||
          (value.getDefiningOp() && value.getDefiningOp()->getBlock() != root->getBlock()))
        continue;
      if (!latest || isa<BlockArgument>(latest) ||
          (value.getDefiningOp() && latest.getDefiningOp()->isBeforeInBlock(value.getDefiningOp())))
        latest = value;
    }
    rewriter.setInsertionPointAfterValue(latest);
  }

  Value initial(Value state, StringRef suffix) {
    if (!state || isZero(state))
      return none;
    return reshaped(rewriter, locWith(rewriter, root, suffix), state,
                    isBatchFirst ? Dims{samples, 1, sizes.hidden} : Dims{1, samples, sizes.hidden});
  }

  void replaceState(Value state, Value made) {
    Value same = reshaped(rewriter, state.getLoc(), made, {samples, sizes.hidden});
    rewriter.replaceUsesWithIf(state, same, [&](OpOperand &use) {
      return use.getOwner() != root && !interior.contains(use.getOwner());
    });
  }

  void replaceStates(Value all, Value last) {
    if (!hasAll)
      return replaceState(root->getResult(0), last);
    for (const Cell &cell : chain.cells) {
      if (!isReadOutside(cell.after))
        continue;
      Dims dims = *dimsOf(all);
      dims[isBatchFirst ? 1 : 0] = 1;
      auto ints = [&](int64_t value) { return rewriter.getI64ArrayAttr({value}); };
      Value step = rewriter.create<SliceOp>(locWith(rewriter, cell.after.getDefiningOp(), "_step"),
                                            RankedTensorType::get(dims, rewriter.getF32Type()), all,
                                            none, none, none, none, ints(cell.input.index), ints(1),
                                            ints(cell.input.index + 1), ints(isBatchFirst ? 1 : 0));
      replaceState(cell.after, step);
    }
  }

  /// From the last one on, so that none is read any more.
  void eraseInterior() {
    SmallVector<Operation *> dead = interior.operations();
    dead.push_back(root);
    llvm::sort(dead, [](Operation *a, Operation *b) { return b->isBeforeInBlock(a); });
    for (Operation *op : dead)
      if (op->use_empty())
        rewriter.eraseOp(op);
  }

  PatternRewriter &rewriter;
  Operation *root;
  const Interior &interior;
  const Chain &chain;
  const Sizes &sizes;
  bool isBatchFirst;
  int64_t samples = 0;
  bool hasAll = false;
  Value none;
};

} // namespace

/// The states of a chain may be read elsewhere: all h, and the last c.
static bool areOthersClosed(const Interior &interior, const Chain &chain) {
  return interior.isClosed([&](Operation *op) {
    return op->getResult(0) == chain.cells.front().cellAfter ||
           llvm::any_of(chain.cells,
                        [&](const Cell &cell) { return cell.after.getDefiningOp() == op; });
  });
}

static LogicalResult replaceChain(Operation *op, TakeCell takeCell, PatternRewriter &rewriter) {
  if (op->getNumOperands() != 2 || !isF32(op->getResult(0)) || !isPlain(op))
    return failure();
  Interior interior(op);
  std::optional<Chain> chain = takeChain(interior, op->getResult(0), takeCell);
  std::optional<Sizes> sizes = chain ? sizesOf(chain->cells.front()) : std::nullopt;
  if (!sizes || !areOthersClosed(interior, *chain))
    return failure();
  Replacement replacement(rewriter, op, interior, *chain, *sizes);
  if (!replacement.fits())
    return failure();
  replacement.replace();
  return success();
}

/// The steps of an LSTM -> LSTM(x)
static LogicalResult toLstm(MulOp op, PatternRewriter &rewriter) {
  return replaceChain(op, takeLstmCell, rewriter);
}

/// The steps of a GRU -> GRU(x)
static LogicalResult toGru(AddOp op, PatternRewriter &rewriter) {
  return replaceChain(op, takeGruCell, rewriter);
}

ArrayRef<Fusion> tpuc::recurrentFusions() {
  static constexpr Fusion kFusions[] = {
      fusion<toLstm>("to-lstm"),
      fusion<toGru>("to-gru"),
  };
  return kFusions;
}

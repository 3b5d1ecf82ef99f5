//===- GatherRows.cpp - Moves of rows as one gather ------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Transformers with windows roll the rows of pixels, and put those of a window behind each other:
//
//   x [32, 32, c] -> Slice, Slice, Concat -> Slice, Slice, Concat -> Permute [4, 4, 8, 8, c]
//
// Each is a move in global memory, where a row costs as much as one of 256 bytes. All of them
// together bring rows of one tensor to other places. A gather by constant indices does that at
// once.
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Decompose/OpMaker.h"
#include "tpuc/Codegen/Decompose/PickedParts.h"
#include "tpuc/Codegen/Decompose/RewriteOps.h"
#include "tpuc/Codegen/Layers.h"
#include "tpuc/Dialect/Top/MainFunction.h"
#include "tpuc/Dialect/Top/OpTraits.h"
#include "tpuc/Dialect/Top/ShapeInference.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Dialect/Tpu/GroupOps.h"
#include "tpuc/Dialect/Tpu/IndexOps.h"
#include "tpuc/Dialect/Tpu/MovementOps.h"
#include "tpuc/Support/PermutedPlaces.h"
#include "tpuc/Target/BM1684X/Codegen/Passes/Passes.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

#include <map>
#include <numeric>

using namespace mlir;
using namespace tpuc::codegen;

namespace tpuc::bm1684x::backend {

// Not the machine's.
using mlir::Operation;

namespace {

/// The gather takes indices and extents of 16 bits.
constexpr int64_t kMostRows = 65535;
/// A few rows are a transfer each.
constexpr int64_t kFewestRows = 65;

using Rows = std::vector<uint32_t>;

/// Which row of `source` each row of a tensor is.
struct RowPlaces {
  Value source;
  Rows rows;
};

/// [outer, extent, inner] rows of the dimensions in front of the last one, where that has `width`
/// elements: an element of these dimensions is a row.
struct RowAxes {
  size_t outer = 1, extent = 1, inner = 1;
};
RowAxes axesOf(ArrayRef<int64_t> dims, size_t axis) {
  const auto count = [](ArrayRef<int64_t> extents) {
    return static_cast<size_t>(ShapedType::getNumElements(extents));
  };
  return {count(dims.take_front(axis)), static_cast<size_t>(dims[axis]),
          count(dims.drop_front(axis + 1).drop_back())};
}

/// Elements [begin, begin + number) along a dimension.
Rows partOf(const Rows &rows, const RowAxes &axes, size_t begin, size_t number) {
  Rows made;
  made.reserve(axes.outer * number * axes.inner);
  for (size_t block = 0; block < axes.outer; ++block) {
    const auto first =
        rows.begin() + static_cast<ptrdiff_t>((block * axes.extent + begin) * axes.inner);
    made.insert(made.end(), first, first + static_cast<ptrdiff_t>(number * axes.inner));
  }
  return made;
}

/// Replaces chains of moves, from the last one on.
class RowGatherer {
public:
  explicit RowGatherer(const Backend &backend) : backend(backend) {}

  /// The gather that stands for `last` and what it alone reads, or `last` where that stays.
  Operation *run(Operation *last);

private:
  std::optional<RowPlaces> placesOf(Value value);
  std::optional<RowPlaces> movedPlaces(Operation *op, Value value);
  std::optional<SmallVector<int64_t>> cyclesOf(Operation *op, ValueRange operands);
  std::optional<SmallVector<int64_t>> savedCycles(Operation *last);
  std::optional<SmallVector<int64_t>> gatherCycles(const RowPlaces &places, Value result);

  const Backend &backend;
  /// Those of the row that is followed.
  int64_t width = 1;
  llvm::SetVector<Operation *> chain;
  std::map<std::vector<const void *>, std::optional<SmallVector<int64_t>>> known;
};

std::optional<RowPlaces> RowGatherer::placesOf(Value value) {
  const RankedTensorType type = staticType(value);
  if (!type || type.getNumElements() % width != 0 || type.getNumElements() / width > kMostRows)
    return std::nullopt;
  Operation *op = value.getDefiningOp();
  if (op && op->hasTrait<traits::ViewLike>() && !tpu::storedTurned(op) &&
      staticType(op->getOperand(0))) {
    chain.insert(op);
    return placesOf(op->getOperand(0));
  }
  if (op && type.getRank() > 1 && type.getShape().back() == width && !tpu::storedTurned(op) &&
      isa<tpu::PermuteOp, tpu::SliceOp, tpu::SplitOp, tpu::ConcatOp>(op))
    if (std::optional<RowPlaces> moved = movedPlaces(op, value)) {
      chain.insert(op);
      return moved;
    }
  RowPlaces own{value, Rows(static_cast<size_t>(type.getNumElements() / width))};
  std::iota(own.rows.begin(), own.rows.end(), 0);
  return own;
}

std::optional<RowPlaces> RowGatherer::movedPlaces(Operation *op, Value value) {
  const ArrayRef<int64_t> to = staticType(value).getShape();
  const auto last = static_cast<int64_t>(to.size()) - 1;
  const RankedTensorType type = staticType(op->getOperand(0));
  if (!type || type.getRank() != last + 1 || type.getShape().back() != width)
    return std::nullopt;
  const ArrayRef<int64_t> from = type.getShape();
  if (auto permute = dyn_cast<tpu::PermuteOp>(op)) {
    const SmallVector<int64_t> order = top::toInts(permute.getOrder());
    std::optional<RowPlaces> places =
        order.back() == last ? placesOf(permute.getInput()) : std::nullopt;
    if (places)
      places->rows = permutedPlaces(places->rows, from.drop_back(), ArrayRef(order).drop_back());
    return places;
  }
  if (auto concat = dyn_cast<tpu::ConcatOp>(op)) {
    const size_t axis = OpMaker::frontAxis(concat.getAxis(), value);
    if (concat.getDoRelu() || axis == static_cast<size_t>(last))
      return std::nullopt;
    std::vector<RowPlaces> parts;
    for (Value input : concat.getInputs()) {
      std::optional<RowPlaces> places = placesOf(input);
      if (!places || (!parts.empty() && places->source != parts.front().source) ||
          input.getType() == value.getType())
        return std::nullopt;
      parts.push_back(std::move(*places));
    }
    RowPlaces joined{parts.front().source, {}};
    const size_t outer = axesOf(to, axis).outer;
    for (size_t block = 0; block < outer; ++block)
      for (const RowPlaces &part : parts) {
        const auto each = static_cast<ptrdiff_t>(part.rows.size() / outer);
        const auto first = part.rows.begin() + static_cast<ptrdiff_t>(block) * each;
        joined.rows.insert(joined.rows.end(), first, first + each);
      }
    return joined;
  }
  for (int64_t axis = 0; axis < last; ++axis) {
    std::optional<Picked> picked = splitPart(value, axis);
    if (!picked)
      picked = slicePart(value, axis);
    if (!picked)
      continue;
    std::optional<RowPlaces> places = placesOf(picked->from);
    if (places)
      places->rows = partOf(places->rows, axesOf(from, static_cast<size_t>(axis)),
                            static_cast<size_t>(picked->begin),
                            static_cast<size_t>(to[static_cast<size_t>(axis)]));
    return places;
  }
  return std::nullopt;
}

/// The cycles of a move by itself, by each set of timing parameters.
std::optional<SmallVector<int64_t>> RowGatherer::cyclesOf(Operation *op, ValueRange operands) {
  std::vector<const void *> key = {op->getName().getAsOpaquePointer(),
                                   op->getAttrDictionary().getAsOpaquePointer()};
  for (Type type : operands.getTypes())
    key.push_back(type.getAsOpaquePointer());
  for (Type type : op->getResultTypes())
    key.push_back(type.getAsOpaquePointer());
  const auto [entry, isNew] = known.try_emplace(key);
  if (!isNew)
    return entry->second;
  constexpr uint64_t kPage = 4096;
  auto address = static_cast<int64_t>(backend.info().global.modelBase);
  const auto placed = [&](Type type) {
    const auto tensor = cast<RankedTensorType>(type);
    const Type made = withAddress(tensor, address);
    address += static_cast<int64_t>(llvm::alignTo(globalBytes(tensor), kPage));
    return made;
  };
  Block block;
  OpBuilder builder(op->getContext());
  builder.setInsertionPointToEnd(&block);
  IRMapping mapping;
  for (Value operand : operands)
    mapping.map(operand, isa<NoneType>(operand.getType())
                             ? block.addArgument(operand.getType(), op->getLoc())
                             : block.addArgument(placed(operand.getType()), op->getLoc()));
  Operation *copy = builder.clone(*op, mapping);
  for (Value result : copy->getResults())
    result.setType(placed(result.getType()));
  const Expected<SmallVector<int64_t>> cycles =
      backend.runCycles([&](Emitter &emitter) -> Expected<void> {
        emitter.beginLayer(copy);
        if (Expected<void> moved = emitter.move(copy); !moved)
          return moved;
        return emitter.endSubNet();
      });
  if (cycles)
    entry->second = *cycles;
  return entry->second;
}

/// What the moves take that nothing else reads.
std::optional<SmallVector<int64_t>> RowGatherer::savedCycles(Operation *last) {
  SmallVector<int64_t> saved;
  llvm::DenseSet<Operation *> unread = {last};
  // Users come before what they read.
  SmallVector<Operation *> order = chain.takeVector();
  llvm::sort(order, [](Operation *a, Operation *b) { return b->isBeforeInBlock(a); });
  for (Operation *op : order) {
    if (op != last &&
        !llvm::all_of(op->getUsers(), [&](Operation *user) { return unread.contains(user); }))
      continue;
    unread.insert(op);
    // What follows itself in the whole lies there.
    const bool isView = op->hasTrait<traits::ViewLike>();
    const bool isInside = isa<tpu::SliceOp>(op) &&
                          llvm::all_of(llvm::zip_equal(staticType(op->getResult(0)).getShape(),
                                                       staticType(op->getOperand(0)).getShape()),
                                       [front = true](auto each) mutable {
                                         const auto [to, from] = each;
                                         const bool isFine = front || to == from;
                                         front &= to == 1;
                                         return isFine;
                                       });
    if (isView || isInside)
      continue;
    const std::optional<SmallVector<int64_t>> cycles = cyclesOf(op, op->getOperands());
    if (!cycles)
      return std::nullopt;
    saved.resize(cycles->size(), 0);
    for (auto [sum, each] : llvm::zip_equal(saved, *cycles))
      sum += each;
  }
  return saved;
}

std::optional<SmallVector<int64_t>> RowGatherer::gatherCycles(const RowPlaces &places,
                                                              Value result) {
  const RankedTensorType from = staticType(places.source), to = staticType(result);
  Block block;
  OpBuilder builder(result.getContext());
  builder.setInsertionPointToEnd(&block);
  const Location loc = result.getLoc();
  const auto count = static_cast<int64_t>(places.rows.size());
  const Value table = block.addArgument(from.clone({from.getNumElements() / width, width}), loc);
  const Value indices = block.addArgument(
      RankedTensorType::get(count, builder.getIntegerType(32, /*isSigned=*/false)), loc);
  OperationState state(loc, tpu::GatherOp::getOperationName(), {table, indices},
                       {to.clone({count, width})},
                       {builder.getNamedAttr("axis", builder.getI64IntegerAttr(0))});
  return cyclesOf(builder.create(state), {table, indices});
}

Operation *RowGatherer::run(Operation *last) {
  const Value result = last->getResult(0);
  const RankedTensorType type = staticType(result);
  if (!type || type.getRank() < 2 || last->getNumResults() != 1 || tpu::storedTurned(last))
    return last;
  const Expected<Place> place = backend.placeOf(last);
  if (!place || *place != Place::Global)
    return last;
  width = type.getShape().back();
  chain.clear();
  std::optional<RowPlaces> places = placesOf(result);
  if (!places || places->source == result || isConstantValue(places->source) ||
      std::ssize(places->rows) < kFewestRows)
    return last;
  const RankedTensorType source = staticType(places->source);
  if (source.getElementType() != type.getElementType() || !places->source.getDefiningOp())
    return last;
  const auto saved = savedCycles(last);
  const auto gathered = gatherCycles(*places, result);
  if (!saved || saved->empty() || !gathered)
    return last;
  constexpr double kClearly = 0.9;
  for (auto [now, then] : llvm::zip_equal(*saved, *gathered))
    if (then > now)
      return last;
  if (static_cast<double>(gathered->front()) > kClearly * static_cast<double>(saved->front()))
    return last;
  OpMaker maker(last, backend);
  Tensor numbers(DataType::U32, Shape({std::ssize(places->rows)}));
  std::ranges::copy(places->rows, numbers.mutableData<uint32_t>().begin());
  const Value table =
      maker.reshaped(places->source, {source.getNumElements() / width, width}, "table");
  NamedAttrList attributes;
  attributes.set("axis", maker.builder.getI64IntegerAttr(0));
  const Value rows = maker.make(tpu::GatherOp::getOperationName(), "rows",
                                Type(type.clone({std::ssize(places->rows), width})),
                                {table, maker.weight(numbers, "places")}, attributes);
  if (!backend.placeOf(rows.getDefiningOp())) {
    eraseUnused(rows.getDefiningOp());
    return last;
  }
  maker.replace(0, maker.reshaped(rows, type.getShape(), "gathered"));
  eraseUnused(last);
  return rows.getDefiningOp();
}

} // namespace

Expected<void> gatherRows(ModuleOp module, const Backend &backend) {
  Expected<func::FuncOp> main = top::mainFunction(module);
  if (!main)
    return propagate(main);
  RowGatherer gatherer(backend);
  // The last move of a chain comes first, and what it alone reads goes with it.
  for (Operation *op = &main->front().back(); op; op = op->getPrevNode())
    if (isa<tpu::PermuteOp, tpu::ConcatOp, tpu::SliceOp>(op))
      op = gatherer.run(op);
  return {};
}

} // namespace tpuc::bm1684x::backend

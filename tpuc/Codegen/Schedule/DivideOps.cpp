//===- DivideOps.cpp - Layers computed in parts of their rows -------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Groups keep what is between their layers in local memory. Where that is too small for such a
// group, whole tensors go through global memory. Layers that follow each other can then be computed
// on some of the rows after the other: global memory holds a part of what is between them.
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Backend.h"
#include "tpuc/Codegen/Decompose/OpMaker.h"
#include "tpuc/Codegen/Group/GroupMemory.h"
#include "tpuc/Codegen/Group/NetworkGroups.h"
#include "tpuc/Codegen/Layers.h"
#include "tpuc/Codegen/Passes.h"
#include "tpuc/Codegen/Place/AddressAssign.h"
#include "tpuc/Codegen/Schedule/OpOrder.h"
#include "tpuc/Codegen/Tile/TileModel.h"
#include "tpuc/Dialect/Top/MainFunction.h"
#include "tpuc/Dialect/Top/ShapeInference.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Dialect/Tpu/ConvolutionOps.h"
#include "tpuc/Dialect/Tpu/MovementOps.h"
#include "tpuc/Dialect/Tpu/PoolOps.h"

#include "llvm/ADT/MapVector.h"

namespace tpuc::codegen {
#define GEN_PASS_DEF_DIVIDEOPS
#include "tpuc/Codegen/Passes.h.inc"
} // namespace tpuc::codegen

using namespace mlir;
using namespace tpuc;
using namespace tpuc::codegen;

namespace {

/// Into how many parts layers are divided, and how many layers at most.
constexpr int64_t kParts[] = {2, 3, 4, 6, 8};
constexpr size_t kMostLayers = 16;
/// Rows that parts share are computed once for each: results may grow by half of their bytes.
constexpr double kMostRepeated = 1.5;
/// How many divisions are compared by their groups each time, and how often.
constexpr size_t kTrials = 4;
constexpr int kMostDivisions = 6;
/// A division saves this part of the memory at least.
constexpr double kLeastSaved = 0.02;

/// [N, C, H, W].
constexpr unsigned kRank = 4, kRowDim = 2;

bool isPicture(Value value) {
  const RankedTensorType type = staticType(value);
  return type && type.getRank() == kRank;
}

/// Whether the windows of a layer may be those of some of its rows: pads are numbers, and no window
/// counts otherwise than the others.
bool hasPlainWindows(Operation *op) {
  const auto mode = op->getAttrOfType<StringAttr>("auto_pad");
  const auto ceiled = op->getAttrOfType<BoolAttr>("ceil_mode");
  const auto multipliers = op->getAttrOfType<ArrayAttr>("multiplier");
  if ((mode && mode.getValue() != "NOTSET") || (ceiled && ceiled.getValue()))
    return false;
  return isa<tpu::ConvOp>(op) || !multipliers || multipliers.size() <= 1;
}

/// The operands of a layer that have rows, and how those of the result are made of them; none for
/// layers that cannot be computed on some rows.
class RowReader {
public:
  static std::optional<RowReader> of(Operation *op, const Backend &backend) {
    if (!isLayer(op) || isOnCpu(op) || op->getNumResults() != 1 || !isPicture(op->getResult(0)))
      return std::nullopt;
    RowReader made;
    const int64_t rows = OpMaker::dimsOf(op->getResult(0))[kRowDim];
    auto concat = dyn_cast<tpu::ConcatOp>(op);
    if (concat && OpMaker::frontAxis(concat.getAxis(), concat.getOutput()) != 1)
      return std::nullopt;
    if (concat || isElementwise(op)) {
      for (OpOperand &operand : op->getOpOperands()) {
        const Value value = operand.get();
        if (isa<NoneType>(value.getType()))
          continue;
        const RankedTensorType type = staticType(value);
        if (!type)
          return std::nullopt;
        const bool hasRows = type.getRank() == kRank && type.getShape()[kRowDim] != 1;
        if (isConstantValue(value)) {
          if (hasRows)
            return std::nullopt;
          continue;
        }
        if (type.getRank() != kRank || type.getShape()[kRowDim] != rows)
          return std::nullopt;
        made.add(operand.getOperandNumber(), rows, {});
      }
      return made.operands.empty() ? std::nullopt : std::optional(made);
    }
    if (!isa<tpu::ConvOp, tpu::MaxPoolOp, tpu::AvgPoolOp>(op) || !hasPlainWindows(op) ||
        !isPicture(op->getOperand(0)) || isConstantValue(op->getOperand(0)))
      return std::nullopt;
    for (Value value : op->getOperands().drop_front())
      if (!isa<NoneType>(value.getType()) && !isConstantValue(value))
        return std::nullopt;
    Expected<TileModel> model = tileModel(op, backend.info(), TileLayout::NCHW);
    if (!model || model->operands.front().maps[kAxisH].kind != AxisMap::Window)
      return std::nullopt;
    made.isWindow = true;
    made.add(0, model->operands.front().extents[kAxisH], model->operands.front().maps[kAxisH]);
    return made;
  }

  struct Operand {
    unsigned number;
    OperandModel model;
  };
  SmallVector<Operand, 2> operands;
  bool isWindow = false;

private:
  void add(unsigned number, int64_t rows, AxisMap map) {
    Operand operand{.number = number, .model = {.isPresent = true}};
    operand.model.extents[kAxisH] = rows;
    operand.model.maps[kAxisH] = map;
    operands.push_back(operand);
  }
};

/// Layers of a block by their numbers in its order, and into how many parts they are divided.
struct Division {
  size_t first = 0, end = 0;
  int64_t parts = 1;
  /// About how many bytes are alive beside them.
  int64_t bytes = 0;
};

/// Layers that follow each other, of which others read the last one's result only.
class Stretch {
public:
  Stretch(ArrayRef<Operation *> layers, const Backend &backend)
      : layers(layers), backend(backend) {}

  /// Whether all of them can be computed on some rows.
  bool collect() {
    for (Operation *op : layers) {
      std::optional<RowReader> reader = RowReader::of(op, backend);
      if (!reader)
        return false;
      readers.push_back(std::move(*reader));
      inside.insert(op);
    }
    for (Operation *op : layers.drop_back())
      if (llvm::any_of(op->getUsers(), [&](Operation *user) { return !inside.contains(user); }))
        return false;
    return isPossible();
  }

  /// About how many bytes are alive while they are computed in parts: what they read and make, and
  /// one part of what is between. None where parts share too many rows.
  std::optional<int64_t> bytesIn(int64_t parts) const;
  /// Computes them in parts.
  void divide(int64_t parts) const;

private:
  using Rows = llvm::MapVector<Value, Range>;

  bool isPossible() const { return rowsOf(wholeRows()).has_value(); }
  Value result() const { return layers.back()->getResult(0); }
  Range wholeRows() const { return {0, OpMaker::dimsOf(result())[kRowDim]}; }
  Range rowsOfPart(int64_t part, int64_t parts) const {
    const int64_t rows = wholeRows().size;
    return {rows * part / parts, rows * (part + 1) / parts - rows * part / parts};
  }
  bool isInside(Value value) const {
    return value.getDefiningOp() && inside.contains(value.getDefiningOp());
  }
  /// The rows of all tensors that some of the result are made of; none where a window lies outside
  /// of its operand.
  std::optional<Rows> rowsOf(Range made) const;
  Value computed(size_t number, const Rows &rows, DenseMap<Value, Value> &pieces,
                 const std::string &what) const;

  ArrayRef<Operation *> layers;
  const Backend &backend;
  std::vector<RowReader> readers;
  llvm::DenseSet<Operation *> inside;
};

std::optional<Stretch::Rows> Stretch::rowsOf(Range made) const {
  Rows rows;
  rows[result()] = made;
  for (size_t number = layers.size(); number-- > 0;) {
    const auto own = rows.find(layers[number]->getResult(0));
    if (own == rows.end())
      return std::nullopt;
    const Range range = own->second;
    for (const RowReader::Operand &operand : readers[number].operands) {
      const PaddedRange read = operand.model.padded(kAxisH, range);
      const AxisMap &map = operand.model.maps[kAxisH];
      if (readers[number].isWindow && read.padBegin + read.range.size + read.padEnd !=
                                          (range.size - 1) * map.stride + map.window)
        return std::nullopt;
      const Value value = layers[number]->getOperand(operand.number);
      const auto [entry, isNew] = rows.insert({value, read.range});
      const int64_t begin = std::min(entry->second.begin, read.range.begin);
      const int64_t end = std::max(entry->second.end(), read.range.end());
      entry->second = {begin, end - begin};
    }
  }
  return rows;
}

std::optional<int64_t> Stretch::bytesIn(int64_t parts) const {
  if (wholeRows().size < 2 * parts)
    return std::nullopt;
  const auto bytesOf = [](Value value) { return globalBytes(value.getType()); };
  const auto bytesOfRows = [&](Value value, Range range) {
    return bytesOf(value) / OpMaker::dimsOf(value)[kRowDim] * range.size;
  };
  int64_t read = 0;
  int64_t most = 0;
  int64_t once = 0;
  int64_t inParts = 0;
  llvm::DenseSet<Value> outer;
  for (auto [op, reader] : llvm::zip_equal(layers, readers)) {
    once += bytesOf(op->getResult(0));
    for (const RowReader::Operand &operand : reader.operands)
      if (const Value value = op->getOperand(operand.number);
          !isInside(value) && outer.insert(value).second)
        read += bytesOf(value);
  }
  for (int64_t part = 0; part < parts; ++part) {
    const std::optional<Rows> rows = rowsOf(rowsOfPart(part, parts));
    if (!rows)
      return std::nullopt;
    // Operands of the part, then each result until its last reader.
    int64_t alive = 0;
    for (Value value : outer)
      alive += bytesOfRows(value, rows->lookup(value));
    for (Operation *op : layers) {
      const Value own = op->getResult(0);
      alive += bytesOfRows(own, rows->lookup(own));
      inParts += bytesOfRows(own, rows->lookup(own));
      most = std::max(most, alive);
      for (Value value : llvm::SmallDenseSet<Value>(op->operand_begin(), op->operand_end())) {
        const bool isLast = isInside(value) && llvm::all_of(value.getUsers(), [&](Operation *user) {
                              return user == op || user->isBeforeInBlock(op);
                            });
        alive -= isLast ? bytesOfRows(value, rows->lookup(value)) : 0;
      }
    }
  }
  if (static_cast<double>(inParts) > kMostRepeated * static_cast<double>(once))
    return std::nullopt;
  return std::max(read + most + bytesOf(result()), 2 * bytesOf(result()));
}

/// Layer `number` on its rows, in front of the last one.
Value Stretch::computed(size_t number, const Rows &rows, DenseMap<Value, Value> &pieces,
                        const std::string &what) const {
  Operation *op = layers[number];
  OpMaker maker(op, backend);
  maker.builder.setInsertionPoint(layers.back());
  const Value own = op->getResult(0);
  const Range range = rows.lookup(own);
  SmallVector<Value> operands(op->getOperands());
  NamedAttrList attributes(op->getAttrs());
  for (const RowReader::Operand &operand : readers[number].operands) {
    const PaddedRange read = operand.model.padded(kAxisH, range);
    Value &value = operands[operand.number];
    const Range held =
        isInside(value) ? rows.lookup(value) : Range{0, OpMaker::dimsOf(value)[kRowDim]};
    Value &piece = pieces.try_emplace(value, value).first->second;
    const bool isCut = held != read.range;
    value = isCut ? maker.sliced(piece, kRowDim, read.range.begin - held.begin, read.range.size,
                                 what + "_in" + std::to_string(operand.number))
                  : piece;
    if (isCut)
      for (StringRef name : {"subnet_id", "subnet_mode"})
        if (Attribute attribute = op->getAttr(name))
          value.getDefiningOp()->setAttr(name, attribute);
    if (!readers[number].isWindow)
      continue;
    SmallVector<int64_t> pads(2 * (kRank - kRowDim), 0);
    if (auto stated = op->getAttrOfType<ArrayAttr>("pads"))
      pads = top::toInts(stated);
    pads[0] = read.padBegin;
    pads[pads.size() / 2] = read.padEnd;
    attributes.set("pads", maker.builder.getI64ArrayAttr(pads));
  }
  SmallVector<int64_t> dims(OpMaker::dimsOf(own));
  dims[kRowDim] = range.size;
  return maker.make(op->getName().getStringRef(), what, Type(OpMaker::typeOf(own).clone(dims)),
                    operands, attributes);
}

void Stretch::divide(int64_t parts) const {
  Operation *last = layers.back();
  SmallVector<Value> made;
  for (int64_t part = 0; part < parts; ++part) {
    const Rows rows = *rowsOf(rowsOfPart(part, parts));
    DenseMap<Value, Value> pieces;
    for (size_t number = 0; number < layers.size(); ++number)
      pieces[layers[number]->getResult(0)] =
          computed(number, rows, pieces, "rows" + std::to_string(part));
    made.push_back(pieces.lookup(result()));
  }
  OpMaker maker(last, backend);
  const Value joined = maker.joined(made, kRowDim, "joined");
  for (StringRef name : {"subnet_id", "subnet_mode"})
    if (Attribute attribute = last->getAttr(name))
      joined.getDefiningOp()->setAttr(name, attribute);
  maker.replace(0, joined);
  for (Operation *op : llvm::reverse(layers))
    op->erase();
}

/// The layers of a division in another copy of the network.
SmallVector<Operation *> layersOf(const Division &division, func::FuncOp main) {
  const SmallVector<Operation *> order = orderOf(main.front());
  return {order.begin() + static_cast<int64_t>(division.first),
          order.begin() + static_cast<int64_t>(division.end)};
}

void apply(const Division &division, func::FuncOp main, const Backend &backend) {
  const SmallVector<Operation *> layers = layersOf(division, main);
  Stretch stretch(layers, backend);
  if (stretch.collect())
    stretch.divide(division.parts);
}

/// What a network needs with the groups that would be chosen, and beside which op that is.
struct Need {
  int64_t bytes = 0;
  Operation *at = nullptr;
};

class NetworkDivider {
public:
  NetworkDivider(ModuleOp module, func::FuncOp main, const GroupOptions &options,
                 const Backend &backend)
      : module(module), main(main), options(options), backend(backend) {}

  Expected<void> run();

private:
  /// What a network needs with a division.
  struct Trial {
    int64_t bytes = 0;
    /// Beside which op of the divided network, by its number in the order; that of the layer of the
    /// whole one, if it is not a part of the division's. None: it is beside no op.
    std::optional<size_t> at = std::nullopt, elsewhere = std::nullopt;
  };

  Expected<Need> needOf(func::FuncOp network) const;
  std::vector<Division> divisions(const Need &need);
  Expected<Trial> tryOut(const Division &division);

  ModuleOp module;
  func::FuncOp main;
  const GroupOptions &options;
  const Backend &backend;
};

Expected<Need> NetworkDivider::needOf(func::FuncOp network) const {
  Expected<NetworkGroups> groups = chooseGroups(network, options, backend);
  if (!groups)
    return propagate(groups);
  Need need;
  MemoryPeak most;
  SmallVector<const GroupPlan *> planned;
  for (const SubNetGroups &part : groups->parts) {
    for (const GroupPlan &group : part.groups)
      planned.push_back(&group);
    if (!part.table)
      continue;
    const MemoryPeak peak = memoryPeak(part.subNet.layers, *part.table, part.partition, backend);
    if (peak.op && peak.bytes > most.bytes)
      most = peak;
  }
  need.at = most.op;
  Expected<int64_t> bytes = plannedBytes(network, planned, backend);
  if (!bytes)
    return propagate(bytes);
  need.bytes = *bytes;
  return need;
}

/// Those of layers at the peak that promise to need less, the least first.
std::vector<Division> NetworkDivider::divisions(const Need &need) {
  const SmallVector<Operation *> order = orderOf(main.front());
  const auto at = static_cast<size_t>(llvm::find(order, need.at) - order.begin());
  std::vector<Division> made;
  for (size_t before = 0; before <= at && before < kMostLayers; ++before) {
    const size_t first = at - before;
    for (size_t end = at + 1; end <= order.size() && end - first <= kMostLayers; ++end) {
      Stretch stretch(ArrayRef(order).slice(first, end - first), backend);
      if (!stretch.collect())
        continue;
      for (const int64_t parts : kParts)
        if (const std::optional<int64_t> bytes = stretch.bytesIn(parts);
            bytes && *bytes < need.bytes)
          made.push_back({first, end, parts, *bytes});
    }
  }
  std::ranges::stable_sort(made, {},
                           [](const Division &each) { return std::pair(each.bytes, each.parts); });
  // The same layers once, in the number of parts that promises most.
  std::vector<Division> different;
  for (const Division &each : made)
    if (llvm::none_of(different, [&](const Division &other) {
          return other.first == each.first && other.end == each.end;
        }))
      different.push_back(each);
  if (different.size() > kTrials)
    different.resize(kTrials);
  return different;
}

Expected<NetworkDivider::Trial> NetworkDivider::tryOut(const Division &division) {
  OwningOpRef<ModuleOp> copy(module.clone());
  Expected<func::FuncOp> network = top::mainFunction(*copy);
  if (!network)
    return propagate(network);
  const size_t numWhole = orderOf(network->front()).size();
  apply(division, *network, backend);
  Expected<Need> need = needOf(*network);
  if (!need)
    return propagate(need);
  Trial trial{.bytes = need->bytes};
  if (!need->at)
    return trial;
  const SmallVector<Operation *> order = orderOf(network->front());
  const size_t added = order.size() - numWhole;
  const auto at = static_cast<size_t>(llvm::find(order, need->at) - order.begin());
  trial.at = at;
  if (at < division.first)
    trial.elsewhere = at;
  else if (at >= division.end + added)
    trial.elsewhere = at - added;
  return trial;
}

Expected<void> NetworkDivider::run() {
  Expected<Need> need = needOf(main);
  if (!need)
    return propagate(need);
  for (int count = 0; count < kMostDivisions && need->at; ++count) {
    std::optional<Division> best;
    Trial least{.bytes =
                    static_cast<int64_t>(static_cast<double>(need->bytes) * (1 - kLeastSaved))};
    // What is needed beside another layer stays, unless that is divided, too.
    std::optional<size_t> elsewhere;
    for (const Division &each : divisions(*need)) {
      if (elsewhere && (*elsewhere < each.first || *elsewhere >= each.end))
        continue;
      // What does not find its place is no division.
      const Expected<Trial> trial = tryOut(each);
      if (!trial)
        continue;
      if (trial->elsewhere && trial->bytes >= least.bytes)
        elsewhere = trial->elsewhere;
      if (trial->bytes > least.bytes)
        continue;
      elsewhere = trial->elsewhere;
      least = *trial;
      best = each;
    }
    if (!best)
      return {};
    apply(*best, main, backend);
    need->bytes = least.bytes;
    need->at = least.at ? orderOf(main.front())[*least.at] : nullptr;
  }
  return {};
}

struct DivideOpsPass : codegen::impl::DivideOpsBase<DivideOpsPass> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    const std::unique_ptr<Backend> backend = backendOrEmit(module);
    if (!backend)
      return signalPassFailure();
    Expected<Heuristics> heuristics = Heuristics::without(without, *backend);
    Expected<func::FuncOp> main = top::mainFunction(module);
    Expected<void> done = !heuristics ? propagate(heuristics)
                          : main      ? Expected<void>()
                                      : propagate(main);
    if (done) {
      // Groups that are only faster need no less memory.
      heuristics->leastWork = false;
      done =
          NetworkDivider(module, *main,
                         {.opt = 1, .numThreads = numThreads, .heuristics = *heuristics}, *backend)
              .run();
    }
    if (!done) {
      module.emitError(done.error().message());
      signalPassFailure();
    }
  }
};

} // namespace

//===- PackedRows.cpp - A convolution whose rows are channels ---------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Codegen/Passes/PackedRows.h"
#include "tpuc/Codegen/Decompose/OpMaker.h"
#include "tpuc/Codegen/Decompose/RewriteOps.h"
#include "tpuc/Codegen/Group/GroupCosts.h"
#include "tpuc/Codegen/Layers.h"
#include "tpuc/Codegen/Tile/Tiling.h"
#include "tpuc/Dialect/Quant/QuantTypes.h"
#include "tpuc/Dialect/Top/Names.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Dialect/Top/WindowShapes.h"
#include "tpuc/Dialect/Tpu/BinaryOps.h"
#include "tpuc/Dialect/Tpu/StoredType.h"
#include "tpuc/Target/BM1684X/Codegen/OperandForm.h"
#include "tpuc/Target/BM1684X/Kernels/Convolution.h"

using namespace mlir;
using namespace tpuc::codegen;

namespace tpuc::bm1684x::backend {

// Not the machine's.
using mlir::Operation;

/// At most so many rows lie side by side.
constexpr int64_t kMostRows = 8;
/// So many ways to pack the rows of a convolution are tried, those that compute fastest, and those
/// whose results need no order.
constexpr size_t kTrials = 5;

static bool isAll(std::optional<ArrayAttr> attribute, int64_t value) {
  return !attribute || llvm::all_of(top::toInts(*attribute), [&](int64_t x) { return x == value; });
}

/// The multipliers of a cycle share blocks of input channels, and each lane has an output channel.
std::optional<int64_t> convolutionCycles(Operation *op, std::array<int64_t, 4> filter,
                                         std::array<int64_t, 4> result) {
  const std::optional<Prec> prec = precOf(elementTypeOf(op, 0));
  if (!prec)
    return std::nullopt;
  const int64_t pixels = *prec == Prec::F32 ? 16 : 4;
  return result[0] * ceilDiv(result[1], kLanes) * ceilDiv(result[2] * result[3], pixels) *
         ceilDiv(filter[1], bm1684x::channelBlock(*prec)) * filter[2] * filter[3];
}

bool hasPlainWindows(tpu::ConvOp op) {
  for (Value value : {op.getInput(), op.getFilter(), op.getOutput()})
    if (const RankedTensorType type = staticType(value); !type || type.getRank() != 4)
      return false;
  if (tpu::readsPixelRow(op) || tpu::givesPixelRow(op))
    return false;
  const bool hasBias = !isa<NoneType>(op.getBias().getType());
  return op.getGroup() == 1 && !op.getPadValue() && op.getFilter().getDefiningOp<top::WeightOp>() &&
         (!hasBias || op.getBias().getDefiningOp<top::WeightOp>()) && isAll(op.getInserts(), 0) &&
         isAll(op.getDilations(), 1) && op.getOutput() == op->getResult(0);
}

static std::optional<top::Window> windowOf(tpu::ConvOp op) {
  Expected<top::Window> window = top::convolutionWindow(
      top::windowSpec(op), OpMaker::dimsOf(op.getInput()), OpMaker::dimsOf(op.getFilter()));
  return window ? std::optional(std::move(*window)) : std::nullopt;
}

static bool isCombination(Operation *op) {
  return isa<tpu::AddOp, tpu::SubOp, tpu::MulOp, tpu::MinOp, tpu::MaxOp>(op);
}

/// Whether an op combines two tensors of the same dimensions, of which neither is a constant.
static bool combinesTwo(Operation *op) {
  return isCombination(op) && op->getNumOperands() == 2 && op->getOperand(0) != op->getOperand(1) &&
         llvm::all_of(op->getOperands(), [&](Value operand) {
           Operation *maker = operand.getDefiningOp();
           return staticType(operand) &&
                  OpMaker::dimsOf(operand) == OpMaker::dimsOf(op->getResult(0)) && maker &&
                  !isa<top::WeightOp, tpu::PackRowsOp>(maker);
         });
}

/// Whether a transfer of one row of `value` after the other takes no longer than that of all.
static bool hasLongRows(Value value, const TargetInfo &target) {
  const RankedTensorType type = OpMaker::typeOf(value);
  const std::optional<DataType> stored = storageDataType(type.getElementType());
  return stored && target.timing &&
         byteSize(*stored, type.getShape().back()) >= int64_t{target.timing->minBurstBytes};
}

/// An op whose result's elements are each made of one element of `value`, which it reads, or of one
/// of each of two tensors, all alike.
static bool isPointwise(Operation *op, Value value, const TargetInfo &target) {
  if (op->getNumResults() != 1 || op->getNumOperands() == 0 || !staticType(op->getResult(0)) ||
      !staticType(op->getOperand(0)) || !isa<tpu::StoredRowsInterface>(op) ||
      tpu::readsPixelRow(op) || tpu::givesPixelRow(op))
    return false;
  const ArrayRef<int64_t> dims = OpMaker::dimsOf(op->getResult(0));
  if (dims.size() != 4 || dims != OpMaker::dimsOf(op->getOperand(0)))
    return false;
  const bool hasTwo = combinesTwo(op) && hasLongRows(value, target);
  if (!hasTwo && op->getOperand(0) != value)
    return false;
  for (auto [index, operand] : llvm::enumerate(op->getOperands()))
    if (index > 0 && !isa<NoneType>(operand.getType()) && !isa<tpu::LutOp>(op) && !hasTwo)
      return false;
  // What an op states for each of two operands is not stated for channels.
  for (NamedAttribute attribute : op->getAttrs())
    if (auto array = dyn_cast<ArrayAttr>(attribute.getValue());
        array && array.size() > 1 && attribute.getName() != tpu::kLutSteps && !hasTwo)
      return false;
  Expected<TileModel> model = tileModel(op, target, TileLayout::NCHW);
  return model && llvm::all_of(ArrayRef(model->operands).take_front(hasTwo ? 2 : 1),
                               [](const OperandModel &operand) {
                                 return llvm::all_of(operand.maps, [](const AxisMap &map) {
                                   return map.kind == AxisMap::Same;
                                 });
                               });
}

static bool isPerAxis(Value value) {
  return isa<quant::UniformQuantizedPerAxisType>(OpMaker::typeOf(value).getElementType());
}

PackedRows::PackedRows(tpu::ConvOp op, const Backend &backend) : op(op), backend(backend) {
  std::optional<top::Window> found = hasPlainWindows(op) ? windowOf(op) : std::nullopt;
  if (!found || isPerAxis(op.getOutput()))
    return;
  window = RowWindows{.inputRows = OpMaker::dimsOf(op.getInput())[2],
                      .resultRows = OpMaker::dimsOf(op.getOutput())[2],
                      .kernel = found->kernel[0],
                      .stride = found->strides[0],
                      .padBegin = found->padsBegin[0],
                      .padEnd = found->padsEnd[0]};
  kernelColumns = found->kernel[1];
  strideColumns = found->strides[1];
  padLeft = found->padsBegin[1];
  padRight = found->padsEnd[1];
  Value last = op.getOutput();
  while (last.hasOneUse() && isPointwise(*last.user_begin(), last, backend.info()) &&
         !isPerAxis((*last.user_begin())->getResult(0))) {
    chain.push_back(*last.user_begin());
    last = chain.back()->getResult(0);
  }
}

/// Whether `value` holds bytes that are numbers themselves, as pictures are.
static bool holdsBytes(Value value) {
  const quant::UniformQuantizedType type = tpu::quantizedType(value);
  return type && type.getStorage() == quant::StorageSpec::full(/*isSigned=*/false, 8) &&
         type.getScale() == 1 && type.getZeroPoint() == 0;
}

/// A conversion of an input of the network, or of a picture made of one, that only this convolution
/// reads.
tpu::CastOp PackedRows::castOfInput() {
  auto cast = op.getInput().getDefiningOp<tpu::CastOp>();
  const bool isOwn =
      cast && cast->hasOneUse() && isPointwise(cast, cast.getOperand(), backend.info()) &&
      (cast->getOperand(0).getDefiningOp<top::InputOp>() || holdsBytes(cast->getOperand(0)));
  return isOwn ? cast : tpu::CastOp();
}

std::vector<double> PackedRows::outsides() { return toDoubles(op.getPadValues()); }

std::optional<RowMarks> PackedRows::marksFor(const RowPacking &how) {
  if (!how.isStacked || !op.getPadValues())
    return std::nullopt;
  return window->marks(outsides(), how, padLeft > 0 || padRight > 0);
}

std::vector<RowChoice> PackedRows::choices() {
  const int64_t channels = OpMaker::dimsOf(op.getOutput())[1];
  tpu::UnpackRowsOp rows = unpacked();
  SmallVector<RowChoice> starts = {{}};
  // What is packed already cannot be packed once more.
  const bool mayStack = window->kernel > 1 && !op.getInput().getDefiningOp<tpu::PackRowsOp>();
  if (mayStack)
    starts.push_back({.packing = {.isStacked = true}});
  tpu::CastOp own = castOfInput();
  // Inputs of the network are loaded anyway, and whole in few lanes they would need many tiles.
  if (mayStack && !own && !op.getPadValues())
    starts.push_back({.packing = {.isStacked = true}, .isLocal = true});
  // Rows of bytes can hold what stands outside.
  if (window->kernel > 1 && own && (!op.getPadValues() || holdsBytes(own->getOperand(0))))
    starts.push_back({.packing = {.isStacked = true}, .isBeforeCast = true});
  if (rows && rows->hasOneUse() && !op.getPadValues())
    starts.push_back({.packing = {.inputs = static_cast<int64_t>(rows.getRows())}});
  std::vector<RowChoice> found;
  for (RowChoice each : starts)
    for (int64_t results = 1; results <= kMostRows; results *= 2)
      if (results == 1 || results * channels <= int64_t{backend.info().tiles().lanes}) {
        each.packing.results = results;
        if (!each.isLocal || canStackLocally(each.packing))
          found.push_back(each);
      }
  return found;
}

/// All rows of a window have lanes of their own.
bool PackedRows::canStackLocally(const RowPacking &how) {
  return window->reach(how.results) * OpMaker::dimsOf(op.getInput())[1] <=
         int64_t{backend.info().tiles().lanes};
}

/// Every row is brought to its place among the rows, and then one channel after the other to its
/// lane.
int64_t PackedRows::stackingCycles(const RowPacking &how) {
  constexpr int64_t kLineBytes = 64;
  const RankedTensorType type = OpMaker::typeOf(op.getInput());
  const ArrayRef<int64_t> dims = type.getShape();
  const int64_t rows = window->packedRows(how.results);
  const int64_t bytes = byteSize(*storageDataType(type.getElementType()), rows * dims[3]);
  const int64_t lines = dims[0] * ceilDiv(bytes, kLineBytes);
  const int64_t places = window->reach(how.results);
  return lines * (places + (places - 1) * dims[1]);
}

std::optional<int64_t> PackedRows::computeCycles(const RowPacking &packing) {
  const std::optional<RowWindows> windows = window->packed(packing);
  if (!windows)
    return std::nullopt;
  const ArrayRef<int64_t> filter = OpMaker::dimsOf(op.getFilter());
  const ArrayRef<int64_t> output = OpMaker::dimsOf(op.getOutput());
  int64_t channels =
      (packing.isStacked ? window->reach(packing.results) : packing.inputs) * filter[1];
  if (const std::optional<RowMarks> marks = marksFor(packing))
    channels += std::ssize(marks->rows);
  return convolutionCycles(
      op, {filter[0] * packing.results, channels, windows->kernel, filter[3]},
      {output[0], output[1] * packing.results, window->packedRows(packing.results), output[3]});
}

std::optional<int64_t> sampledCycles(Operation *op, GroupCosts &costs, const Backend &backend) {
  constexpr int64_t kSample = 16;
  Expected<TileModel> model = backend.modelOf(op, TileLayout::NCHW);
  if (!model)
    return std::nullopt;
  TiledOp tiled{.op = op, .model = &*model};
  for (unsigned axis = 0; axis < kNumAxes; ++axis)
    tiled.result.tile[axis] = {0, model->result[axis]};
  Range &rows = tiled.result.tile[kAxisH];
  rows.size = std::min(rows.size, kSample);
  for (const OperandModel &operand : model->operands)
    tiled.operands.push_back({operand.isPresent ? operand.slice(tiled.result.tile) : Tile()});
  const std::optional<GroupCosts::Work> work = costs.compute(tiled);
  return work ? std::optional(work->cycles * model->result[kAxisH] / rows.size) : std::nullopt;
}

int64_t PackedRows::chainCycles(const RowChoice &choice) {
  GroupCosts costs(backend, std::make_shared<KnownCosts>());
  int64_t sum = 0;
  SmallVector<Operation *> ops(chain);
  if (tpu::CastOp cast = castOfInput())
    ops.push_back(cast);
  for (Operation *each : ops) {
    const int64_t all = sampledCycles(each, costs, backend).value_or(0);
    const bool isBefore = each->getResult(0) == op.getInput();
    if (!isBefore)
      sum += all / choice.packing.results;
    else
      sum += choice.isBeforeCast ? all / (choice.packing.results * window->stride) : all;
  }
  return sum;
}

std::vector<RowChoice> PackedRows::faster() {
  if (!window)
    return {};
  const auto cyclesOf = [&](const RowChoice &choice) -> std::optional<int64_t> {
    const std::optional<int64_t> cycles = computeCycles(choice.packing);
    const int64_t stacking = choice.isLocal ? stackingCycles(choice.packing) : 0;
    return cycles ? std::optional(*cycles + stacking + chainCycles(choice)) : std::nullopt;
  };
  const std::optional<int64_t> now = cyclesOf({});
  if (!now)
    return {};
  std::vector<std::pair<int64_t, RowChoice>> found;
  for (const RowChoice &each : choices()) {
    const std::optional<int64_t> cycles = cyclesOf(each);
    // What is read as it lies need not be faster: nothing has to be brought into order for it.
    if (!cycles || *cycles >= (each.packing.inputs > 1 ? 2 * *now : *now))
      continue;
    // Rows under several windows are loaded several times.
    const RowChoice apart = {.packing = {.results = each.packing.results}};
    if (each.packing.isStacked && *cycles >= cyclesOf(apart).value_or(*now))
      continue;
    found.emplace_back(*cycles, each);
  }
  llvm::stable_sort(found, [](const auto &a, const auto &b) { return a.first < b.first; });
  std::vector<RowChoice> result;
  for (const auto &[index, entry] : llvm::enumerate(found))
    if (index < kTrials || entry.second.packing.results == 1)
      result.push_back(entry.second);
  return result;
}

tpu::ConvOp PackedRows::user() {
  const Value result = (made.empty() ? last() : made.back())->getResult(0);
  if (!made.empty() && !isa<tpu::UnpackRowsOp>(made.back()))
    return {};
  auto conv = result.hasOneUse() ? dyn_cast<tpu::ConvOp>(*result.user_begin()) : tpu::ConvOp();
  return conv && conv.getInput() == result ? conv : tpu::ConvOp();
}

SmallVector<Operation *> PackedRows::ops() {
  SmallVector<Operation *> found(chain);
  found.push_back(op);
  if (tpu::CastOp cast = castOfInput())
    found.push_back(cast);
  if (tpu::UnpackRowsOp rows = unpacked())
    found.append({rows, rows.getInput().getDefiningOp()});
  return found;
}

static Location nameOf(Operation *op, const char *suffix) {
  return NameLoc::get(StringAttr::get(op->getContext(), tensorNames(op)[0] + suffix));
}

/// The same op on rows that lie side by side, with `input` in the place of `read`. Rows of what
/// else it combines are loaded so.
Operation *PackedRows::packedClone(Operation *from, Value read, Value input, OpBuilder &builder) {
  Operation *clone = builder.clone(*from);
  if (from != op && combinesTwo(from))
    for (OpOperand &operand : clone->getOpOperands()) {
      if (operand.get() == read)
        continue;
      const RankedTensorType type = OpMaker::typeOf(operand.get());
      const ArrayRef<int64_t> dims = type.getShape();
      const int64_t rows = packing.results;
      OpBuilder before(clone);
      auto apart = before.create<tpu::PackRowsOp>(
          nameOf(from, "_apart"),
          type.clone({dims[0], rows * dims[1], window->packedRows(rows), dims[3]}), operand.get(),
          rows, rows, 0);
      made.push_back(apart);
      operand.set(apart.getOutput());
    }
  clone->replaceUsesOfWith(read, input);
  const RankedTensorType type = OpMaker::typeOf(from->getResult(0));
  SmallVector<int64_t> dims(type.getShape());
  dims[1] *= packing.results;
  dims[2] = window->packedRows(packing.results);
  clone->getResult(0).setType(type.clone(dims));
  if (packing.results > 1)
    clone->setLoc(nameOf(from, "_rows"));
  made.push_back(clone);
  return clone;
}

Value PackedRows::packedInput(OpBuilder &builder) {
  if (packing.inputs > 1)
    return unpacked().getInput();
  if (!packing.isStacked)
    return op.getInput();
  tpu::CastOp cast = movedCast();
  const Value source = cast ? Value(cast->getOperand(0)) : Value(op.getInput());
  const ArrayRef<int64_t> dims = OpMaker::dimsOf(source);
  const int64_t kernel = window->reach(packing.results);
  const std::optional<RowMarks> marks = marksFor(packing);
  const int64_t numMarks = marks ? std::ssize(marks->rows) : 0;
  const SmallVector<int64_t> stacked = {dims[0], kernel * dims[1] + numMarks,
                                        window->packedRows(packing.results), dims[3]};
  auto rows = builder.create<tpu::PackRowsOp>(
      nameOf(op, "_windows"), OpMaker::typeOf(source).clone(stacked), source, kernel,
      window->stride * packing.results, window->padBegin);
  rows.setInLocalMemory(isLocal);
  if (marks)
    rows.setFill(static_cast<uint64_t>(marks->fill));
  if (numMarks > 0)
    rows.setMarksAttr(builder.getI64ArrayAttr(marks->rows));
  made.push_back(rows);
  if (!cast)
    return rows.getOutput();
  Operation *clone = builder.clone(*cast);
  clone->setOperand(0, rows.getOutput());
  clone->getResult(0).setType(OpMaker::typeOf(op.getInput()).clone(stacked));
  clone->setLoc(nameOf(cast, "_windows"));
  made.push_back(clone);
  return clone->getResult(0);
}

Value PackedRows::emptyWeight(Value like, ArrayRef<int64_t> dims, OpBuilder &builder) {
  auto weight = builder.create<top::WeightOp>(
      like.getLoc(), RankedTensorType::get(dims, OpMaker::typeOf(like).getElementType()),
      ArrayAttr());
  made.push_back(weight);
  return weight.getOutput();
}

bool PackedRows::apply(const RowChoice &choice) {
  packing = choice.packing;
  isBeforeCast = choice.isBeforeCast;
  isLocal = choice.isLocal;
  const int64_t rows = packing.results;
  const std::optional<RowWindows> windows = window ? window->packed(packing) : std::nullopt;
  if (!windows)
    return false;
  OpBuilder builder(op);
  const Value input = packedInput(builder);
  const ArrayRef<int64_t> filter = OpMaker::dimsOf(op.getFilter());
  const Value weight = emptyWeight(
      op.getFilter(), {rows * filter[0], OpMaker::dimsOf(input)[1], windows->kernel, filter[3]},
      builder);
  Value bias = op.getBias();
  if (!isa<NoneType>(bias.getType()) && rows > 1)
    bias = emptyWeight(bias, {rows * filter[0]}, builder);
  packed = cast<tpu::ConvOp>(packedClone(op, op.getInput(), input, builder));
  packed->setOperand(1, weight);
  packed->setOperand(2, bias);
  packed->setAttr("kernel_shape", builder.getI64ArrayAttr({windows->kernel, kernelColumns}));
  packed->setAttr("strides", builder.getI64ArrayAttr({windows->stride, strideColumns}));
  packed->setAttr("pads",
                  builder.getI64ArrayAttr({windows->padBegin, padLeft, windows->padEnd, padRight}));
  packed->setAttr("auto_pad", builder.getStringAttr("NOTSET"));
  if (const std::optional<RowMarks> marks = marksFor(packing)) {
    packed.removePadValuesAttr();
    if (padLeft > 0 || padRight > 0)
      packed.setPadValueAttr(builder.getF64FloatAttr(static_cast<double>(marks->fill)));
  }
  for (StringRef name : {"multiplier", "rshift", "dequant_scale"})
    if (auto each = op->getAttrOfType<ArrayAttr>(name);
        each && static_cast<int64_t>(each.size()) == filter[0]) {
      SmallVector<Attribute> all;
      for (int64_t row = 0; row < rows; ++row)
        llvm::append_range(all, each);
      packed->setAttr(name, builder.getArrayAttr(all));
    }
  Value after = packed.getOutput();
  Value before = op.getOutput();
  replaced = {op};
  if (rows > 1) {
    Value read = op.getOutput();
    for (Operation *each : chain) {
      builder.setInsertionPoint(each);
      after = packedClone(each, read, after, builder)->getResult(0);
      read = each->getResult(0);
      replaced.push_back(each);
    }
    cast<tpu::StoredRowsInterface>(after.getDefiningOp())
        .setStoredRowsAttr(builder.getI64IntegerAttr(rows));
    before = last()->getResult(0);
    auto unstack =
        builder.create<tpu::UnpackRowsOp>(last()->getLoc(), before.getType(), after, rows);
    made.push_back(unstack);
    after = unstack.getOutput();
  }
  if (tpu::CastOp cast = movedCast())
    replaced.insert(replaced.begin(), cast);
  if (packing.inputs > 1) {
    replaced.insert(replaced.begin(), unpacked());
    if (auto stored = dyn_cast<tpu::StoredRowsInterface>(input.getDefiningOp()))
      stored.removeStoredRowsAttr();
  }
  before.replaceAllUsesWith(after);
  // Nothing reads what they read any more.
  for (Operation *each : replaced) {
    each->setOperand(0, weight);
    if (isCombination(each))
      each->setOperand(1, weight);
  }
  return true;
}

bool PackedRows::fits() const {
  return llvm::all_of(made, [&](Operation *each) {
    return !isLayer(each) || fittingPlaceOf(each, backend).has_value();
  });
}

/// As often as rows lie side by side.
static Tensor repeated(const Tensor &tensor, int64_t rows) {
  Tensor result(tensor.type(), {rows * tensor.shape().numElements()});
  const std::span<const std::byte> from = tensor.rawBytes();
  for (int64_t row = 0; row < rows; ++row)
    std::copy(from.begin(), from.end(),
              result.mutableBytes().begin() + row * static_cast<int64_t>(from.size()));
  return result;
}

Expected<void> PackedRows::commit() {
  Expected<Tensor> filter = op.getFilter().getDefiningOp<top::WeightOp>().read();
  if (!filter)
    return propagate(filter);
  packed->setOperand(1, op.getFilter());
  const std::optional<RowMarks> marks = marksFor(packing);
  replaceWeight(packed.getFilterMutable(),
                marks ? window->markedFilter(*filter, packing, *marks, outsides())
                      : window->packedFilter(*filter, packing),
                "_rows");
  if (!isa<NoneType>(op.getBias().getType()) && packing.results > 1) {
    Expected<Tensor> bias = op.getBias().getDefiningOp<top::WeightOp>().read();
    if (!bias)
      return propagate(bias);
    packed->setOperand(2, op.getBias());
    replaceWeight(packed.getBiasMutable(), repeated(*bias, packing.results), "_rows");
  }
  for (Operation *each : llvm::reverse(replaced)) {
    const SmallVector<Value> operands(each->getOperands());
    each->erase();
    for (Value value : operands)
      if (Operation *maker = value.getDefiningOp();
          maker && isa<top::WeightOp>(maker) && maker->use_empty())
        maker->erase();
  }
  return {};
}

} // namespace tpuc::bm1684x::backend

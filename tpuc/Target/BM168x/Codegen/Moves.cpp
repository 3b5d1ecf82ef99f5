//===- Moves.cpp - Ops that only move data in global memory ---------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM168x/Codegen/Moves.h"
#include "tpuc/Codegen/Layers.h"
#include "tpuc/Dialect/Top/OpTable.h"
#include "tpuc/Dialect/Top/ShapeInference.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Dialect/Tpu/IndexOps.h"
#include "tpuc/Dialect/Tpu/MovementOps.h"
#include "tpuc/Dialect/Tpu/UnaryOps.h"
#include "tpuc/Target/BM168x/Codegen/Rearrangements.h"
#include "tpuc/Target/BM168x/GlobalTensor.h"

using namespace mlir;

namespace tpuc::bm168x::backend {

namespace {

/// Elements from one tensor to another, any number of dimensions.
struct Copy {
  Value from, to;
  int64_t fromOffset = 0, toOffset = 0;
  SmallVector<int64_t> dims, fromStrides, toStrides;
  /// What all of `to` becomes instead.
  std::optional<double> fill = std::nullopt;
};
using Copies = Expected<std::vector<Copy>>;

ArrayRef<int64_t> dimsOf(Value value) { return cast<RankedTensorType>(value.getType()).getShape(); }

SmallVector<int64_t> rowMajor(ArrayRef<int64_t> dims) {
  SmallVector<int64_t> strides(dims.size(), 1);
  for (size_t i = dims.size(); i-- > 1;)
    strides[i - 1] = strides[i] * dims[i];
  return strides;
}

/// All of `from` to where it begins in `to`.
Copy wholeCopy(Value from, Value to) {
  return {.from = from,
          .to = to,
          .dims = SmallVector<int64_t>(dimsOf(from)),
          .fromStrides = rowMajor(dimsOf(from)),
          .toStrides = rowMajor(dimsOf(to))};
}

int64_t frontAxis(int64_t axis, Value value) {
  return axis < 0 ? axis + static_cast<int64_t>(dimsOf(value).size()) : axis;
}

Copies concatCopies(tpu::ConcatOp op) {
  if (op.getDoRelu())
    return makeError("", "a concatenation with a ReLU");
  std::vector<Copy> copies;
  const auto axis = static_cast<size_t>(frontAxis(op.getAxis(), op.getOutput()));
  int64_t first = 0;
  for (Value input : op.getInputs()) {
    Copy copy = wholeCopy(input, op.getOutput());
    copy.toOffset = first * copy.toStrides[axis];
    first += dimsOf(input)[axis];
    copies.push_back(std::move(copy));
  }
  return copies;
}

Copies splitCopies(tpu::SplitOp op) {
  std::vector<Copy> copies;
  const auto axis = static_cast<size_t>(frontAxis(op.getAxis(), op.getInput()));
  int64_t first = 0;
  for (Value output : op.getOutputs()) {
    if (isa<NoneType>(output.getType()))
      return makeError("", "a part that is left out");
    Copy copy = wholeCopy(op.getInput(), output);
    copy.dims = SmallVector<int64_t>(dimsOf(output));
    copy.fromOffset = first * copy.fromStrides[axis];
    first += dimsOf(output)[axis];
    copies.push_back(std::move(copy));
  }
  return copies;
}

/// How many transfers may stand for one op.
constexpr size_t kMostCopies = 1024;

/// Runs of all dimensions, each with each.
Copies rearrangedCopies(Operation *op) {
  Expected<Rearrangement> made = rearrangementOf(op);
  if (!made)
    return propagate(made);
  const Value from = op->getOperand(0);
  const Value to = op->getResult(0);
  std::vector<Copy> copies = {wholeCopy(to, to)};
  if (made->isFilled)
    copies.front().fill = made->fill;
  Copy first = wholeCopy(from, to);
  first.dims.clear();
  std::vector<Copy> parts = {std::move(first)};
  for (auto [dim, runs] : llvm::enumerate(made->runs)) {
    std::vector<Copy> longer;
    for (const Copy &part : parts)
      for (const Run &run : runs) {
        Copy copy = part;
        copy.dims.push_back(run.count);
        copy.fromOffset += run.from * part.fromStrides[dim];
        copy.toOffset += run.to * part.toStrides[dim];
        copy.fromStrides[dim] *= run.step;
        longer.push_back(std::move(copy));
      }
    parts = std::move(longer);
    if (parts.size() > kMostCopies)
      return makeError("", "more than " + std::to_string(kMostCopies) + " parts",
                       "fewer transfers");
  }
  if (!made->isFilled)
    return parts;
  llvm::append_range(copies, std::move(parts));
  return copies;
}

Copies permuteCopies(tpu::PermuteOp op) {
  Copy copy = wholeCopy(op.getInput(), op.getOutput());
  const SmallVector<int64_t> strides = copy.fromStrides;
  copy.dims = SmallVector<int64_t>(dimsOf(op.getOutput()));
  for (auto [index, source] : llvm::enumerate(top::toInts(op.getOrder())))
    copy.fromStrides[index] = strides[static_cast<size_t>(source)];
  return std::vector<Copy>{copy};
}

/// Channels of blocks as [n, c, h, block h, w, block w] of the picture.
Copies depthToSpaceCopies(tpu::Depth2SpaceOp op) {
  Value deep = op.getInput();
  Value wide = op.getOutput();
  if (op.getIsInversed())
    std::swap(deep, wide);
  const auto deepDims = dimsOf(deep);
  const int64_t blockH = op.getBlockH();
  const int64_t blockW = op.getBlockW();
  const int64_t channels = dimsOf(wide)[1];
  const int64_t plane = deepDims[2] * deepDims[3];
  const SmallVector<int64_t> wideStrides = rowMajor(dimsOf(wide));
  SmallVector<int64_t> deepOrder;
  if (op.getIs_CRD())
    deepOrder = {blockH * blockW * plane, blockW * plane, plane};
  else
    deepOrder = {plane, blockW * channels * plane, channels * plane};
  Copy copy{.from = op.getInput(),
            .to = op.getOutput(),
            .dims = {deepDims[0], channels, deepDims[2], blockH, deepDims[3], blockW},
            .fromStrides = {deepDims[1] * plane, deepOrder[0], deepDims[3], deepOrder[1], 1,
                            deepOrder[2]},
            .toStrides = {wideStrides[0], wideStrides[1], wideStrides[2] * blockH, wideStrides[2],
                          blockW, 1}};
  if (op.getIsInversed())
    std::swap(copy.fromStrides, copy.toStrides);
  return std::vector<Copy>{copy};
}

/// How many rows a gather may take by a transfer each, where the chip has a command for more.
constexpr size_t kMaxGathered = 64;
/// How many transfers a gather may be: more take as long as a layer of the host.
constexpr size_t kMostRuns = 256;

/// Rows at equal distances.
struct RowRun {
  int64_t first = 0, step = 0, count = 1;
};
/// Indices as few runs, each in its order.
SmallVector<RowRun> runsOf(ArrayRef<int64_t> indices) {
  SmallVector<RowRun> runs;
  for (int64_t index : indices) {
    RowRun *last = runs.empty() ? nullptr : &runs.back();
    if (last && last->count == 1 && index >= last->first)
      last->step = index - last->first;
    if (last && index >= last->first && index == last->first + last->count * last->step)
      ++last->count;
    else
      runs.push_back({index, 0, 1});
  }
  return runs;
}

Copies gatherCopies(tpu::GatherOp op) {
  std::optional<Tensor> constant = top::constantTensor(op.getIndices());
  std::optional<SmallVector<int64_t>> indices;
  if (constant)
    indices = top::constantInts(op.getIndices());
  if (!indices)
    return makeError("", "indices that are computed", "constants");
  const auto axis = static_cast<size_t>(frontAxis(op.getAxis(), op.getInput()));
  const ArrayRef<int64_t> input = dimsOf(op.getInput());
  const SmallVector<int64_t> strides = rowMajor(input);
  const int64_t outer = ShapedType::getNumElements(input.take_front(axis));
  const int64_t inner = strides[axis];
  const auto count = static_cast<int64_t>(indices->size());
  for (int64_t &index : *indices) {
    const int64_t row = index < 0 ? index + input[axis] : index;
    if (row < 0 || row >= input[axis])
      return makeError("", "index " + std::to_string(index),
                       "one of " + std::to_string(input[axis]) + " elements");
    index = row;
  }
  const SmallVector<RowRun> runs = runsOf(*indices);
  if (runs.size() > kMostRuns)
    return makeError("", std::to_string(runs.size()) + " runs of indices",
                     "at most " + std::to_string(kMostRuns));
  std::vector<Copy> copies;
  int64_t position = 0;
  for (const RowRun &run : runs) {
    copies.push_back({.from = op.getInput(),
                      .to = op.getOutput(),
                      .fromOffset = run.first * inner,
                      .toOffset = position * inner,
                      .dims = {outer, run.count, inner},
                      .fromStrides = {input[axis] * inner, run.step * inner, 1},
                      .toStrides = {count * inner, inner, 1}});
    position += run.count;
  }
  return copies;
}

/// How many elements of the result each element of the operand takes, where both are integers of
/// whole bytes: a cast keeps the low bits.
std::optional<int64_t> integerRatio(Operation *op) {
  auto narrowing = dyn_cast<tpu::DtypeCastOp>(op);
  if (!narrowing)
    return std::nullopt;
  int64_t bytes[2];
  for (auto [value, size] :
       llvm::zip_equal(ValueRange{narrowing.getInput(), narrowing.getOutput()}, bytes)) {
    const std::optional<DataType> type = storageDataType(value.getType());
    if (!type || isFloat(*type) || type == DataType::Bool || byteSize(*type, 2) == 1)
      return std::nullopt;
    size = byteSize(*type, 1);
  }
  return bytes[0] / bytes[1];
}

/// Parts of wider integers.
Copies castCopies(tpu::DtypeCastOp op) {
  const auto bits = static_cast<int64_t>(bitWidth(*storageDataType(op.getOutput().getType())));
  return std::vector<Copy>{Copy{.from = op.getInput(),
                                .to = op.getOutput(),
                                .fromOffset = static_cast<int64_t>(op.getFromBit()) / bits,
                                .dims = {cast<RankedTensorType>(op.getType()).getNumElements()},
                                .fromStrides = {*integerRatio(op)},
                                .toStrides = {1}}};
}

Copies expandCopies(tpu::ExpandOp op) {
  Copy copy{.from = op.getInput(),
            .to = op.getOutput(),
            .dims = SmallVector<int64_t>(dimsOf(op.getOutput())),
            .fromStrides = {},
            .toStrides = rowMajor(dimsOf(op.getOutput()))};
  const ArrayRef<int64_t> input = dimsOf(op.getInput());
  const SmallVector<int64_t> strides = rowMajor(input);
  copy.fromStrides.assign(copy.dims.size() - input.size(), 0);
  for (auto [extent, stride] : llvm::zip_equal(input, strides))
    copy.fromStrides.push_back(extent == 1 ? 0 : stride);
  return std::vector<Copy>{copy};
}

/// How the copies of an op are made; a cast between integers copies where it narrows them.
const OpFunctions<Copies()> &copyFunctions() {
  static const auto kFunctions =
      OpFunctions<Copies()>()
          .add<tpu::ConcatOp>([](tpu::ConcatOp concat) { return concatCopies(concat); })
          .add<tpu::SplitOp>([](tpu::SplitOp split) { return splitCopies(split); })
          .add<tpu::PermuteOp>([](tpu::PermuteOp permute) { return permuteCopies(permute); })
          .add<tpu::Depth2SpaceOp>(
              [](tpu::Depth2SpaceOp shuffle) { return depthToSpaceCopies(shuffle); })
          .add<tpu::GatherOp>([](tpu::GatherOp gather) { return gatherCopies(gather); })
          .add<tpu::ExpandOp>([](tpu::ExpandOp expand) { return expandCopies(expand); })
          .add<tpu::DtypeCastOp>([](tpu::DtypeCastOp narrowing) { return castCopies(narrowing); });
  return kFunctions;
}

Copies copiesOf(Operation *op) {
  for (Value value : llvm::concat<Value>(SmallVector<Value>(op->getOperands()),
                                         SmallVector<Value>(op->getResults()))) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (isa<NoneType>(value.getType()))
      continue;
    if (!type || !type.hasStaticShape() || type.getNumElements() == 0)
      return makeError("", "a tensor whose extents are not known, or 0", "static shapes");
  }
  if (isRearrangement(op))
    return rearrangedCopies(op);
  if (const auto copies = copyFunctions().find(op))
    return copies(op);
  return makeError("", "there is no transfer for it");
}

/// The same elements with as few dimensions as possible, at least 4.
void simplify(Copy &copy) {
  Copy merged = copy;
  merged.dims.clear();
  merged.fromStrides.clear();
  merged.toStrides.clear();
  for (size_t i = 0; i < copy.dims.size(); ++i) {
    if (copy.dims[i] == 1)
      continue;
    if (!merged.dims.empty() && merged.fromStrides.back() == copy.fromStrides[i] * copy.dims[i] &&
        merged.toStrides.back() == copy.toStrides[i] * copy.dims[i]) {
      merged.dims.back() *= copy.dims[i];
      merged.fromStrides.back() = copy.fromStrides[i];
      merged.toStrides.back() = copy.toStrides[i];
      continue;
    }
    merged.dims.push_back(copy.dims[i]);
    merged.fromStrides.push_back(copy.fromStrides[i]);
    merged.toStrides.push_back(copy.toStrides[i]);
  }
  // Strides of new dimensions as if there was no gap: the DMA looks at them.
  while (merged.dims.size() < 4) {
    const bool isFirst = merged.dims.empty();
    merged.fromStrides.insert(merged.fromStrides.begin(),
                              isFirst ? 1 : merged.dims.front() * merged.fromStrides.front());
    merged.toStrides.insert(merged.toStrides.begin(),
                            isFirst ? 1 : merged.dims.front() * merged.toStrides.front());
    merged.dims.insert(merged.dims.begin(), 1);
  }
  copy = std::move(merged);
}

/// What the DMA moves for each element of a type that it does not know: whole words.
struct Words {
  DataType type;
  int64_t count;
};
std::optional<Words> wordsOf(const TransferForms &forms, DataType type) {
  constexpr int64_t kWord = 4;
  if (forms.takes(type))
    return Words{type, 1};
  const int64_t bytes = byteSize(type, 1);
  if (bytes <= kWord || bytes % kWord != 0)
    return std::nullopt;
  return Words{DataType::U32, bytes / kWord};
}

/// The same copy of words.
void divide(Copy &copy, int64_t words) {
  if (words == 1)
    return;
  for (int64_t *offset : {&copy.fromOffset, &copy.toOffset})
    *offset *= words;
  for (auto *strides : {&copy.fromStrides, &copy.toStrides}) {
    for (int64_t &stride : *strides)
      stride *= words;
    strides->push_back(1);
  }
  copy.dims.push_back(words);
}

/// Rows that become columns: the dimension that is the last one of the source, and the one that is
/// the last one of the result.
struct Turn {
  size_t source, result;
};
std::optional<Turn> turnOf(const Copy &copy) {
  std::optional<size_t> source;
  std::optional<size_t> result;
  for (size_t i = 0; i < copy.dims.size(); ++i) {
    if (copy.dims[i] > 1 && copy.fromStrides[i] == 1)
      source = i;
    if (copy.dims[i] > 1 && copy.toStrides[i] == 1)
      result = i;
  }
  if (!source || !result || source == result)
    return std::nullopt;
  return Turn{*source, *result};
}

/// The copy with n, h and the turned dimensions in the order n, result, h, source; the others, the
/// longest of which are n and h, in front.
Copy turned(const Copy &copy, const Turn &turn) {
  SmallVector<size_t> others;
  for (size_t i = 0; i < copy.dims.size(); ++i)
    if (i != turn.source && i != turn.result)
      others.push_back(i);
  llvm::sort(others, [&](size_t a, size_t b) {
    return std::pair(copy.dims[a], a) < std::pair(copy.dims[b], b);
  });
  SmallVector<size_t> order(others.begin(), others.end() - 1);
  order.append({turn.result, others.back(), turn.source});
  Copy ordered = copy;
  for (auto [position, i] : llvm::enumerate(order)) {
    ordered.dims[position] = copy.dims[i];
    ordered.fromStrides[position] = copy.fromStrides[i];
    ordered.toStrides[position] = copy.toStrides[i];
  }
  return ordered;
}

/// The last four dimensions by one transfer, those in front one after the other.
Expected<void> emitCopy(const TransferEmitter &transfers, const Copy &copy, DataType type,
                        int64_t from, int64_t to, bool isTurned) {
  const size_t outer = copy.dims.size() - 4;
  if (outer > 0) {
    Copy inner = copy;
    for (auto *list : {&inner.dims, &inner.fromStrides, &inner.toStrides})
      list->erase(list->begin());
    for (int64_t i = 0; i < copy.dims[0]; ++i)
      if (Expected<void> done =
              emitCopy(transfers, inner, type, from + byteSize(type, i * copy.fromStrides[0]),
                       to + byteSize(type, i * copy.toStrides[0]), isTurned);
          !done)
        return done;
    return {};
  }
  GlobalTensor source{.type = type, .address = static_cast<uint64_t>(from)};
  GlobalTensor target{.type = type, .address = static_cast<uint64_t>(to)};
  for (unsigned i = 0; i < 4; ++i) {
    source.shape[i] = target.shape[i] = copy.dims[i];
    source.stride[i] = copy.fromStrides[i];
    target.stride[i] = copy.toStrides[i];
  }
  if (isTurned) {
    // to[n, w, h, c] = from[n, c, h, w].
    std::swap(target.shape[1], target.shape[3]);
    std::swap(target.stride[1], target.stride[3]);
    return transfers.turn(source, target);
  }
  return transfers.copy(source, target);
}

/// All of a dense tensor.
Expected<void> emitFill(const TransferEmitter &transfers, DataType type, int64_t to, int64_t count,
                        double value) {
  // As rows that are as long as a field allows.
  constexpr int64_t kLongest = 65535;
  int64_t width = std::min(count, kLongest);
  while (count % width != 0)
    --width;
  return transfers.fill(globalTensor(type, {1, 1, count / width, width}, static_cast<uint64_t>(to)),
                        value);
}

/// Rows of a gather by indices that are computed: [1, outer, extent, inner] and as many indices as
/// the result has rows. A gather of 64-bit indices reads their low words.
struct ComputedGather {
  int64_t outer = 1, extent = 1, inner = 1, count = 1;
  int64_t words = 1;
};
std::optional<ComputedGather> computedGather(const TransferForms &forms, Operation *op) {
  auto gather = dyn_cast<tpu::GatherOp>(op);
  if (!gather)
    return std::nullopt;
  if (top::constantTensor(gather.getIndices())) {
    if (!forms.hasGather)
      return std::nullopt;
    // A few have a transfer each; the command does not count from the end.
    const auto indices = top::constantInts(gather.getIndices());
    if (!indices || indices->size() <= kMaxGathered ||
        llvm::any_of(*indices, [](int64_t index) { return index < 0; }))
      return std::nullopt;
  }
  const std::optional<DataType> type = storageDataType(gather.getIndices().getType());
  const auto axis = static_cast<size_t>(frontAxis(gather.getAxis(), gather.getInput()));
  const ArrayRef<int64_t> dims = dimsOf(gather.getInput());
  ComputedGather made;
  for (auto [dim, extent] : llvm::enumerate(dims))
    (dim < axis ? made.outer : dim == axis ? made.extent : made.inner) *= extent;
  for (int64_t extent : dimsOf(gather.getIndices()))
    made.count *= extent;
  if (type)
    made.words = byteSize(*type, 1) / 4;
  return made;
}

/// Whether the indices are constants that are none too large.
bool areInside(tpu::GatherOp op, const ComputedGather &gather) {
  const auto indices =
      top::constantTensor(op.getIndices()) ? top::constantInts(op.getIndices()) : std::nullopt;
  return indices && llvm::all_of(*indices, [&](int64_t index) { return index < gather.extent; });
}

/// Indices that are too large give NaN, which integers do not have.
Expected<void> checkComputedGather(const TransferForms &forms, tpu::GatherOp op,
                                   const ComputedGather &gather) {
  if (!forms.hasGather)
    return makeError("", "indices that are computed", "constants");
  const std::optional<DataType> indices = storageDataType(op.getIndices().getType());
  const std::optional<DataType> type = storageDataType(op.getInput().getType());
  if (!indices || isFloat(*indices) || gather.words == 0)
    return makeError("", "indices of less than 32 bits", "32 or 64 bits");
  if (isSigned(*indices) && !top::constantTensor(op.getIndices()))
    return makeError("", "indices that may be negative", "ui32");
  if (!type || !forms.takes(*type))
    return makeError("", "elements of a type that the DMA does not know");
  if (!isFloat(*type) && !areInside(op, gather))
    return makeError("", "integers gathered by computed indices", "floats, or constant indices");
  constexpr int64_t kLongest = 65535;
  for (int64_t extent : {gather.outer, gather.extent, gather.inner, gather.count})
    if (extent > kLongest)
      return makeError("", "an extent of " + std::to_string(extent), "at most 65535");
  return {};
}

Expected<void> emitComputedGather(const TransferEmitter &transfers, tpu::GatherOp op,
                                  const ComputedGather &gather) {
  std::optional<int64_t> from = codegen::addressOf(op.getInput().getType());
  std::optional<int64_t> indices = codegen::addressOf(op.getIndices().getType());
  std::optional<int64_t> to = codegen::addressOf(op.getOutput().getType());
  if (!from || !indices || !to)
    return makeError("", "a tensor without an address", "--address-assign first");
  const DataType type = *storageDataType(op.getOutput().getType());
  GlobalTensor index =
      globalTensor(DataType::U32, {1, 1, gather.count, 1}, static_cast<uint64_t>(*indices));
  index.stride[2] = gather.words;
  return transfers.gather(globalTensor(type, {1, gather.outer, gather.extent, gather.inner},
                                       static_cast<uint64_t>(*from)),
                          index,
                          globalTensor(type, {1, gather.outer, gather.count, gather.inner},
                                       static_cast<uint64_t>(*to)));
}

} // namespace

bool keepsBits(Operation *op) { return integerRatio(op) == 1; }

bool isMove(Operation *op) {
  if (isa<tpu::DtypeCastOp>(op))
    return integerRatio(op) > 1;
  return copyFunctions().find(op) || isRearrangement(op);
}

Expected<void> checkElements(Operation *op, bool (*takes)(DataType type)) {
  for (Value value : op->getOperands())
    if (const std::optional<DataType> type = storageDataType(value.getType());
        type && !takes(*type))
      return makeError("", "a tensor of " + std::string(dataTypeName(*type)),
                       "elements of at most 32 bits");
  return {};
}

Expected<void> checkMove(const TransferForms &forms, Operation *op) {
  if (const std::optional<ComputedGather> gather = computedGather(forms, op))
    return checkComputedGather(forms, cast<tpu::GatherOp>(op), *gather);
  Copies copies = copiesOf(op);
  if (!copies)
    return propagate(copies);
  const std::optional<DataType> type = storageDataType(op->getResult(0).getType());
  const std::optional<Words> words = type ? wordsOf(forms, *type) : std::nullopt;
  if (!words)
    return makeError("", "elements of a type that the DMA does not know");
  const auto isFilled = [](const Copy &copy) { return copy.fill && *copy.fill != 0; };
  if (words->count > 1 && llvm::any_of(*copies, isFilled))
    return makeError("", "elements of several words filled with a number", "0");
  return {};
}

Expected<void> emitMove(const TransferEmitter &transfers, Operation *op) {
  if (const std::optional<ComputedGather> gather = computedGather(transfers.forms, op))
    return emitComputedGather(transfers, cast<tpu::GatherOp>(op), *gather);
  Copies copies = copiesOf(op);
  if (!copies)
    return propagate(copies);
  for (Copy &copy : *copies) {
    std::optional<int64_t> from = codegen::addressOf(copy.from.getType());
    std::optional<int64_t> to = codegen::addressOf(copy.to.getType());
    const std::optional<DataType> stored = storageDataType(copy.to.getType());
    const std::optional<Words> words = stored ? wordsOf(transfers.forms, *stored) : std::nullopt;
    if (!from || !to || !words)
      return makeError("", "a tensor without an address", "--address-assign first");
    const DataType type = words->type;
    if (copy.fill) {
      const int64_t count = cast<RankedTensorType>(copy.to.getType()).getNumElements();
      if (Expected<void> done = emitFill(transfers, type, *to, count * words->count, *copy.fill);
          !done)
        return done;
      continue;
    }
    divide(copy, words->count);
    simplify(copy);
    // A part that is where it belongs.
    if (*from + byteSize(type, copy.fromOffset) == *to + byteSize(type, copy.toOffset) &&
        copy.fromStrides == copy.toStrides)
      continue;
    std::optional<Turn> turn = transfers.forms.hasTurn ? turnOf(copy) : std::nullopt;
    if (turn && transfers.turnPays &&
        !transfers.turnPays(type, copy.dims[turn->result], copy.dims[turn->source]))
      turn.reset();
    if (turn)
      copy = turned(copy, *turn);
    if (Expected<void> done =
            emitCopy(transfers, copy, type, *from + byteSize(type, copy.fromOffset),
                     *to + byteSize(type, copy.toOffset), turn.has_value());
        !done)
      return done;
  }
  return {};
}

} // namespace tpuc::bm168x::backend

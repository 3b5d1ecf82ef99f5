//===- Moves.cpp - Ops that only move data in global memory ---------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/CV18xx/Codegen/Moves.h"
#include "tpuc/Codegen/Layers.h"
#include "tpuc/Dialect/Top/OpTable.h"
#include "tpuc/Dialect/Top/ShapeInference.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Dialect/Tpu/CastOps.h"
#include "tpuc/Dialect/Tpu/MovementOps.h"
#include "tpuc/Dialect/Tpu/StoredType.h"
#include "tpuc/Dialect/Tpu/UnaryOps.h"
#include "tpuc/Target/CV18xx/Codegen/Site.h"
#include "tpuc/Target/CV18xx/Kernels/LaneMoves.h"

#include <limits>

using namespace mlir;

namespace tpuc::cv18xx::backend {

// Not the machine's.
using mlir::Operation;

namespace {

/// Elements from one tensor to another, any number of dimensions; offsets and strides count them.
struct Copy {
  Value from, to;
  int64_t fromOffset = 0, toOffset = 0;
  SmallVector<int64_t> dims = {}, fromStrides = {}, toStrides = {};
};
using Copies = Expected<std::vector<Copy>>;

SmallVector<int64_t> rowMajor(ArrayRef<int64_t> dims) {
  SmallVector<int64_t> strides(dims.size(), 1);
  for (size_t i = dims.size(); i-- > 1;)
    strides[i - 1] = strides[i] * dims[i];
  return strides;
}

/// All of `dims` from where both tensors begin.
Copy copyOf(Value from, Value to, ArrayRef<int64_t> dims) {
  return {.from = from,
          .to = to,
          .dims = SmallVector<int64_t>(dims),
          .fromStrides = rowMajor(extentsIn(from)),
          .toStrides = rowMajor(extentsIn(to))};
}

size_t frontAxis(int64_t axis, Value value) {
  return static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(extentsIn(value).size())
                                      : axis);
}

Copies copiesOf(tpu::ConcatOp op) {
  if (op.getDoRelu())
    return makeError("", "a concatenation with a ReLU");
  std::vector<Copy> copies;
  const size_t axis = frontAxis(op.getAxis(), op.getOutput());
  int64_t first = 0;
  for (Value input : op.getInputs()) {
    Copy copy = copyOf(input, op.getOutput(), extentsIn(input));
    copy.toOffset = first * copy.toStrides[axis];
    first += extentsIn(input)[axis];
    copies.push_back(std::move(copy));
  }
  return copies;
}

Copies copiesOf(tpu::SplitOp op) {
  std::vector<Copy> copies;
  const size_t axis = frontAxis(op.getAxis(), op.getInput());
  int64_t first = 0;
  for (Value output : op.getOutputs()) {
    if (isa<NoneType>(output.getType()))
      return makeError("", "a part that is left out");
    Copy copy = copyOf(op.getInput(), output, extentsIn(output));
    copy.fromOffset = first * copy.fromStrides[axis];
    first += extentsIn(output)[axis];
    copies.push_back(std::move(copy));
  }
  return copies;
}

Copies copiesOf(tpu::PermuteOp op) {
  Copy copy = copyOf(op.getInput(), op.getOutput(), extentsIn(op.getOutput()));
  const SmallVector<int64_t> strides = copy.fromStrides;
  for (auto [index, source] : llvm::enumerate(top::toInts(op.getOrder())))
    copy.fromStrides[index] = strides[static_cast<size_t>(source)];
  return std::vector<Copy>{copy};
}

Copies copiesOf(tpu::SliceOp op) {
  const auto offset = top::intsOf(op.getOffset(), op.getOffsetTensor());
  const auto steps = top::intsOf(op.getSteps(), op.getStepsTensor());
  auto axes = top::intsOf(op.getAxes(), op.getAxesTensor());
  if (!offset || (!steps && !isa<NoneType>(op.getStepsTensor().getType())) ||
      (!axes && !isa<NoneType>(op.getAxesTensor().getType())))
    return makeError("", "offsets that are computed", "constants");
  if (!axes)
    axes = llvm::to_vector(llvm::seq<int64_t>(static_cast<int64_t>(offset->size())));
  Copy copy = copyOf(op.getInput(), op.getOutput(), extentsIn(op.getOutput()));
  for (auto [index, axis] : llvm::enumerate(*axes)) {
    const size_t dim = frontAxis(axis, op.getInput());
    const int64_t extent = extentsIn(op.getInput())[dim];
    const int64_t step = steps ? (*steps)[index] : 1;
    if (step < 0)
      return makeError("", "a step of " + std::to_string(step), "one forwards");
    const int64_t given = (*offset)[index];
    copy.fromOffset +=
        std::clamp<int64_t>(given < 0 ? given + extent : given, 0, extent) * copy.fromStrides[dim];
    copy.fromStrides[dim] *= step;
  }
  return std::vector<Copy>{copy};
}

/// Blocks of pictures, whose places are channels in the other tensor.
Copies copiesOf(tpu::Depth2SpaceOp op) {
  const bool isInversed = op.getIsInversed();
  const Value pictures = isInversed ? op.getInput() : op.getOutput();
  const Value blocks = isInversed ? op.getOutput() : op.getInput();
  const ArrayRef<int64_t> large = extentsIn(pictures), small = extentsIn(blocks);
  const auto height = static_cast<int64_t>(op.getBlockH()),
             width = static_cast<int64_t>(op.getBlockW());
  const int64_t channel = op.getIs_CRD() ? height * width : 1;
  const int64_t place = op.getIs_CRD() ? 1 : large[1];
  const int64_t plane = small[2] * small[3];
  // [n, c, h, rows of a block, w, columns of a block]
  const SmallVector<int64_t> ofPictures = {
      large[1] * large[2] * large[3], large[2] * large[3], height * large[3], large[3], width, 1};
  const SmallVector<int64_t> ofBlocks = {
      small[1] * plane, channel * plane, small[3], width * place * plane, 1, place * plane};
  Copy copy{.from = op.getInput(), .to = op.getOutput()};
  copy.dims = {large[0], large[1], small[2], height, small[3], width};
  copy.fromStrides = isInversed ? ofPictures : ofBlocks;
  copy.toStrides = isInversed ? ofBlocks : ofPictures;
  return std::vector<Copy>{copy};
}

/// Dimensions of extent 1 that are repeated.
Copies copiesOf(tpu::ExpandOp op) {
  const ArrayRef<int64_t> to = extentsIn(op.getOutput());
  Copy copy = copyOf(op.getInput(), op.getOutput(), to);
  SmallVector<int64_t> dims(to.size() - extentsIn(op.getInput()).size(), 1);
  llvm::append_range(dims, extentsIn(op.getInput()));
  copy.fromStrides = rowMajor(dims);
  for (size_t dim = 0; dim < dims.size(); ++dim)
    if (dims[dim] == 1)
      copy.fromStrides[dim] = 0;
  return std::vector<Copy>{copy};
}

/// Each dimension again and again.
Copies copiesOf(tpu::TileOp op) {
  const ArrayRef<int64_t> from = extentsIn(op.getInput()), to = extentsIn(op.getOutput());
  const SmallVector<int64_t> fromStrides = rowMajor(from), toStrides = rowMajor(to);
  if (from.size() != to.size())
    return makeError("", "more dimensions than the input has", "as many");
  Copy copy{.from = op.getInput(), .to = op.getOutput()};
  for (size_t dim = 0; dim < from.size(); ++dim) {
    copy.dims.append({to[dim] / from[dim], from[dim]});
    copy.fromStrides.append({0, fromStrides[dim]});
    copy.toStrides.append({from[dim] * toStrides[dim], toStrides[dim]});
  }
  return std::vector<Copy>{copy};
}

/// The input, and beside it elements of it: along one dimension after the other, from the last one
/// on, out of what the result has already.
Copies mirroredCopies(tpu::PadOp op, ArrayRef<int64_t> paddings) {
  const ArrayRef<int64_t> from = extentsIn(op.getInput()), to = extentsIn(op.getOutput());
  const bool isEdge = op.getMode() == "edge";
  if (llvm::any_of(paddings, [](int64_t pad) { return pad < 0; }))
    return makeError("", "a pad that also cuts", "one that does not");
  Copy inner = copyOf(op.getInput(), op.getOutput(), from);
  for (size_t dim = 0; dim < from.size(); ++dim)
    inner.toOffset += paddings[dim] * inner.toStrides[dim];
  std::vector<Copy> copies = {inner};
  Copy part = copyOf(op.getOutput(), op.getOutput(), from);
  part.toOffset = inner.toOffset;
  for (size_t dim = from.size(); dim-- > 0;) {
    const int64_t before = paddings[dim], behind = paddings[from.size() + dim];
    const int64_t stride = part.toStrides[dim];
    // Of the first element of the input.
    const int64_t first = part.toOffset, last = first + (from[dim] - 1) * stride;
    if (!isEdge && std::max(before, behind) >= from[dim])
      return makeError("", "a mirror beyond the other end", "one inside the input");
    Copy line = part;
    line.dims[dim] = 1;
    for (int64_t i = 1; i <= std::max(before, behind); ++i)
      for (const auto &[has, end, step] :
           {std::tuple(i <= before, first, -stride), std::tuple(i <= behind, last, stride)}) {
        if (!has)
          continue;
        line.fromOffset = isEdge ? end : end - i * step;
        line.toOffset = end + i * step;
        copies.push_back(line);
      }
    part.toOffset -= before * stride;
    part.dims[dim] = to[dim];
  }
  return copies;
}

/// What is kept of the input, in a result that is filled first.
Copies copiesOf(tpu::PadOp op) {
  const auto paddings = top::intsOf(op.getPaddings(), op.getPaddingsTensor());
  const bool isConstant = op.getMode() == "constant";
  if ((!isConstant && op.getMode() != "reflect" && op.getMode() != "edge") || !paddings ||
      !isa<NoneType>(op.getAxesTensor().getType()) || !isa<NoneType>(op.getValTensor().getType()))
    return makeError("", "a pad of another mode, or of extents that are computed",
                     "one constant, the edge or a mirror around the input");
  if (!isConstant)
    return mirroredCopies(op, *paddings);
  const std::optional<DataType> type = storageDataType(op.getOutput().getType());
  if (type != DataType::BF16 && (type != DataType::I8 || op.getVal().convertToDouble() != 0))
    return makeError("", "a number around such elements", "bf16, or 0");
  Copy copy = copyOf(op.getInput(), op.getOutput(), extentsIn(op.getInput()));
  for (size_t dim = 0; dim < copy.dims.size(); ++dim) {
    const int64_t before = (*paddings)[dim], behind = (*paddings)[copy.dims.size() + dim];
    copy.fromOffset += std::max<int64_t>(-before, 0) * copy.fromStrides[dim];
    copy.toOffset += std::max<int64_t>(before, 0) * copy.toStrides[dim];
    copy.dims[dim] += std::min<int64_t>(before, 0) + std::min<int64_t>(behind, 0);
    if (copy.dims[dim] <= 0)
      return makeError("", "nothing of the input", "some of it");
  }
  return std::vector<Copy>{copy};
}

const OpFunctions<Copies()> &copyFunctions() {
  static const auto kFunctions =
      OpFunctions<Copies()>()
          .add<tpu::PadOp, tpu::Depth2SpaceOp, tpu::ExpandOp, tpu::TileOp, tpu::ConcatOp,
               tpu::SplitOp, tpu::PermuteOp, tpu::SliceOp>([](auto op) { return copiesOf(op); });
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
  if (const auto copies = copyFunctions().find(op))
    return copies(op);
  return makeError("", "there is no transfer for it");
}

/// Bytes instead of elements: the last dimension is what one element takes.
void countBytes(Copy &copy, int64_t bytes) {
  for (int64_t *offset : {&copy.fromOffset, &copy.toOffset})
    *offset *= bytes;
  for (auto *strides : {&copy.fromStrides, &copy.toStrides}) {
    for (int64_t &stride : *strides)
      stride *= bytes;
    strides->push_back(1);
  }
  copy.dims.push_back(bytes);
}

/// The dimensions of bytes, as few as possible. Those that become longer than `most` are not put
/// together.
SmallVector<CopyAxis> axesOf(const Copy &copy, int64_t most = std::numeric_limits<int64_t>::max()) {
  SmallVector<CopyAxis> axes;
  for (size_t i = 0; i < copy.dims.size(); ++i) {
    const CopyAxis axis = {copy.dims[i], copy.fromStrides[i], copy.toStrides[i]};
    if (axis.extent == 1 && i + 1 != copy.dims.size())
      continue;
    const bool continues = !axes.empty() && axes.back().from == axis.from * axis.extent &&
                           axes.back().to == axis.to * axis.extent &&
                           axes.back().extent <= most / axis.extent;
    if (continues)
      axes.back() = {axes.back().extent * axis.extent, axis.from, axis.to};
    else
      axes.push_back(axis);
  }
  return axes;
}

/// The same bytes with as few dimensions as possible, four at least and none longer than a field
/// has it.
void simplify(Copy &copy) {
  constexpr int64_t kMost = 65535, kStep = 32768;
  SmallVector<CopyAxis> axes = axesOf(copy, kMost);
  for (size_t i = axes.size(); i-- > 0;) {
    const CopyAxis axis = axes[i];
    if (axis.extent <= kMost || axis.extent % kStep != 0)
      continue;
    axes[i].extent = kStep;
    axes.insert(axes.begin() + static_cast<std::ptrdiff_t>(i),
                {axis.extent / kStep, axis.from * kStep, axis.to * kStep});
  }
  while (axes.size() < 4)
    axes.insert(axes.begin(), CopyAxis());
  copy.dims.clear();
  copy.fromStrides.clear();
  copy.toStrides.clear();
  for (const CopyAxis &axis : axes) {
    copy.dims.push_back(axis.extent);
    copy.fromStrides.push_back(axis.from);
    copy.toStrides.push_back(axis.to);
  }
}

/// The last four dimensions by one transfer, those in front one after the other. Dimensions that
/// are too long are cut.
Expected<void> emitCopy(Builder &builder, const Copy &copy, int64_t from, int64_t to) {
  constexpr int64_t kMost = 65535;
  for (size_t axis = 0; axis < copy.dims.size(); ++axis) {
    const bool isOuter = axis + 4 < copy.dims.size();
    if (!isOuter && copy.dims[axis] <= kMost)
      continue;
    const int64_t step = isOuter ? 1 : kMost;
    for (int64_t begin = 0; begin < copy.dims[axis]; begin += step) {
      Copy part = copy;
      part.dims[axis] = std::min(step, copy.dims[axis] - begin);
      if (isOuter)
        for (auto *list : {&part.dims, &part.fromStrides, &part.toStrides})
          list->erase(list->begin() + static_cast<std::ptrdiff_t>(axis));
      if (Expected<void> done = emitCopy(builder, part, from + begin * copy.fromStrides[axis],
                                         to + begin * copy.toStrides[axis]);
          !done)
        return done;
    }
    return {};
  }
  GlobalTensor source = placeOf(from);
  GlobalTensor target = placeOf(to);
  for (size_t i = 0; i < 4; ++i) {
    source.shape[i] = target.shape[i] = static_cast<uint32_t>(copy.dims[i]);
    if (i == 3)
      break;
    source.strides[i] = static_cast<uint64_t>(copy.fromStrides[i]);
    target.strides[i] = static_cast<uint64_t>(copy.toStrides[i]);
  }
  return emitMove(builder, source, target);
}

std::optional<int64_t> bytesOf(Value value) {
  const std::optional<DataType> type = storageDataType(value.getType());
  if (!type || bitWidth(*type) % 8 != 0)
    return std::nullopt;
  return bitWidth(*type) / 8;
}

/// The plan that an op is marked with, if its copy can still have it.
std::optional<LanePlan> plannedOf(Operation *op, const Exchange &exchange) {
  const auto planned = op->getAttrOfType<ArrayAttr>(kLanePlan);
  if (!planned || planned.size() != 3)
    return std::nullopt;
  const SmallVector<int64_t> numbers = top::toInts(planned);
  const LanePlan plan = {numbers[0], numbers[1], numbers[2]};
  return isPlanOf(exchange, plan) ? std::optional(plan) : std::nullopt;
}

/// The only copy of an op, in bytes, where it exchanges runs.
std::optional<std::pair<Copy, Exchange>> onlyExchange(Operation *op) {
  Copies copies = copiesOf(op);
  if (!copies || copies->size() != 1)
    return std::nullopt;
  Copy &copy = copies->front();
  const std::optional<int64_t> bytes = bytesOf(copy.to);
  if (!bytes)
    return std::nullopt;
  countBytes(copy, *bytes);
  std::optional<Exchange> exchange = exchangeOf(axesOf(copy));
  if (!exchange)
    return std::nullopt;
  return std::pair(std::move(copy), std::move(*exchange));
}

/// What the transfer between two places of global memory takes, by each set of timing parameters.
std::optional<std::array<double, kNumTimingSets>> directNanoseconds(const Chip &chip, Copy copy) {
  simplify(copy);
  Builder builder(chip);
  if (!emitCopy(builder, copy, copy.fromOffset, copy.toOffset))
    return std::nullopt;
  const CommandStream stream = builder.finish();
  const auto sets = timingSets(chip);
  std::array<double, kNumTimingSets> made = {};
  for (size_t i = 0; i < sets.size(); ++i)
    made[i] = runNanoseconds(chip, stream.commands, sets[i]);
  return made;
}

} // namespace

/// Bytes without a sign, or truth values, as integers of 32 bits.
static bool isWideningOfBytes(Operation *op) {
  if (!isa<tpu::DtypeCastOp>(op) || tpu::isQuantized(op->getOperand(0)))
    return false;
  const auto from = storageDataType(op->getOperand(0).getType());
  return (from == DataType::U8 || from == DataType::Bool) &&
         storageDataType(op->getResult(0).getType()) == DataType::I32;
}

bool isMove(Operation *op) {
  return isWideningOfBytes(op) || static_cast<bool>(copyFunctions().find(op));
}

Expected<void> checkMove(Operation *op) {
  if (!bytesOf(op->getResult(0)))
    return makeError("", "elements that are no whole bytes", "bytes");
  if (isWideningOfBytes(op))
    return {};
  Copies copies = copiesOf(op);
  if (!copies)
    return propagate(copies);
  return {};
}

bool isThroughLanes(Operation *op) { return op->hasAttr(kLanePlan); }

void planMove(const Chip &chip, Operation *op) {
  const std::optional<std::pair<Copy, Exchange>> exchanged = onlyExchange(op);
  if (!exchanged)
    return;
  const auto &[copy, exchange] = *exchanged;
  const auto direct = directNanoseconds(chip, copy);
  if (!direct)
    return;
  if (const std::optional<LanePlan> plan = bestPlan(chip, exchange, *direct))
    op->setAttr(
        kLanePlan,
        OpBuilder(op->getContext()).getI64ArrayAttr({plan->lanes, plan->rows, plan->columns}));
}

/// Each byte in front of three zeros.
static Expected<void> emitWidening(Builder &builder, Operation *op) {
  constexpr int64_t kWide = 4;
  const auto count = ShapedType::getNumElements(extentsIn(op->getResult(0)));
  const int64_t from = addressIn(op->getOperand(0)), to = addressIn(op->getResult(0));
  if (Expected<void> done = emitFill(builder, placeOf(to), static_cast<uint64_t>(kWide * count), 0);
      !done)
    return done;
  Copy copy{.from = op->getOperand(0), .to = op->getResult(0)};
  copy.dims = {count, 1};
  copy.fromStrides = {1, 1};
  copy.toStrides = {kWide, 1};
  simplify(copy);
  return emitCopy(builder, copy, from, to);
}

Expected<void> emitMove(Builder &builder, Operation *op) {
  if (isWideningOfBytes(op))
    return emitWidening(builder, op);
  Copies copies = copiesOf(op);
  if (!copies)
    return propagate(copies);
  if (auto pad = dyn_cast<tpu::PadOp>(op); pad && pad.getMode() == "constant") {
    const std::optional<int64_t> to = codegen::addressOf(pad.getOutput().getType());
    if (!to)
      return makeError("", "a tensor without an address", "--address-assign first");
    GlobalTensor begin = placeOf(*to);
    begin.isBf16 = storageDataType(pad.getOutput().getType()) == DataType::BF16;
    const auto count =
        static_cast<uint64_t>(ShapedType::getNumElements(extentsIn(pad.getOutput())));
    const uint16_t bits = begin.isBf16 ? bf16Of(pad.getVal().convertToDouble()) : uint16_t{0};
    if (Expected<void> done = emitFill(builder, begin, count, bits); !done)
      return done;
  }
  for (Copy &copy : *copies) {
    const std::optional<int64_t> from = codegen::addressOf(copy.from.getType());
    const std::optional<int64_t> to = codegen::addressOf(copy.to.getType());
    const std::optional<int64_t> bytes = bytesOf(copy.to);
    if (!from || !to || !bytes)
      return makeError("", "a tensor without an address", "--address-assign first");
    countBytes(copy, *bytes);
    if (const auto exchange = exchangeOf(axesOf(copy))) {
      if (const std::optional<LanePlan> plan = plannedOf(op, *exchange)) {
        if (Expected<void> done =
                emitThroughLanes(builder, *exchange, *plan, placeOf(*from + copy.fromOffset),
                                 placeOf(*to + copy.toOffset));
            !done)
          return done;
        continue;
      }
    }
    simplify(copy);
    // A part that is where it belongs.
    if (*from + copy.fromOffset == *to + copy.toOffset && copy.fromStrides == copy.toStrides)
      continue;
    const int64_t begin = *from + copy.fromOffset;
    const int64_t target = *to + copy.toOffset;
    if (Expected<void> done = emitCopy(builder, copy, begin, target); !done)
      return done;
  }
  return {};
}

} // namespace tpuc::cv18xx::backend

//===- BM1684XBackend.cpp - The BM1684X as the code generator sees it --------- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Codegen/BM1684XBackend.h"
#include "tpuc/Codegen/Layers.h"
#include "tpuc/Dialect/Top/Names.h"
#include "tpuc/Dialect/Tpu/BinaryOps.h"
#include "tpuc/Dialect/Tpu/ConvolutionOps.h"
#include "tpuc/Dialect/Tpu/GroupOps.h"
#include "tpuc/Dialect/Tpu/MatrixOps.h"
#include "tpuc/Dialect/Tpu/MovementOps.h"
#include "tpuc/Dialect/Tpu/StoredType.h"
#include "tpuc/Dialect/Tpu/UnaryOps.h"
#include "tpuc/Target/BM1684X/Codegen/BM1684XEmitter.h"
#include "tpuc/Target/BM1684X/Codegen/Moves.h"
#include "tpuc/Target/BM1684X/Codegen/OpKernels.h"
#include "tpuc/Target/BM1684X/Codegen/Operands.h"
#include "tpuc/Target/BM1684X/Codegen/Parameters.h"
#include "tpuc/Target/BM1684X/Kernels/Convolution.h"
#include "tpuc/Target/BM1684X/Kernels/TableFit.h"

#include <cstring>

using namespace mlir;
using namespace tpuc::codegen;

namespace tpuc::bm1684x::backend {

// Not the machine's.
using mlir::Operation;

/// An op on the least slice: what is wrong with it whatever the slice.
static Expected<void> checkKernel(const Backend &backend, Operation *op) {
  Expected<SliceModel> model = sliceModel(op);
  if (!model)
    return propagate(model);
  SlicedOp sliced;
  sliced.op = op;
  sliced.model = &*model;
  for (unsigned axis = 0; axis < kNumAxes; ++axis) {
    const int64_t unit = std::max(model->unit[axis], backend.cutUnit(op, axis));
    const int64_t least = std::min(unit, model->result[axis]);
    sliced.result.slice[axis] = {0, model->isCuttable[axis] ? least : model->result[axis]};
  }
  for (const OperandModel &operand : model->operands)
    sliced.operands.push_back({operand.isPresent ? operand.slice(sliced.result.slice) : Slice()});
  Expected<int64_t> scratch = backend.scratchBytes(sliced);
  if (!scratch)
    return propagate(scratch);
  return {};
}

/// A part of the last dimension of several rows, which lie over lanes.
static bool isColumnSlice(Operation *op) {
  auto slice = dyn_cast<tpu::SliceOp>(op);
  auto type = slice ? dyn_cast<RankedTensorType>(slice.getInput().getType()) : RankedTensorType();
  return type && type.getRank() == 3 && type.getShape()[1] > 1;
}

PrecisionSet BM1684XBackend::precisions() const {
  return {Precision::F32, Precision::F16, Precision::BF16, Precision::INT8};
}

Expected<Place> BM1684XBackend::placeOf(Operation *op) const {
  // Stacked rows are read from where their input lies, and stored there one below the other.
  if (isa<tpu::StackRowsOp, tpu::UnstackRowsOp>(op))
    return Place::Alias;
  // What its operand is made of stores it turned.
  if (isa<tpu::PermuteOp>(op) && op->hasAttr(codegen::kStoredTurned))
    return Place::Alias;
  if (isa<tpu::ReshapeOp, tpu::FlattenOp, tpu::FlattenTo2DOp, tpu::SqueezeOp, tpu::UnsqueezeOp,
          tpu::CopyOp>(op) ||
      keepsBits(op)) {
    if (isConstantOperand(op, 0))
      return makeError("", "a constant in other dimensions, or that is a result",
                       "one that is computed");
    return Place::Alias;
  }
  if (isColumnSlice(op) && sliceModel(op) && checkKernel(*this, op))
    return Place::Local;
  if (isMove(op)) {
    if (Expected<void> checked = checkMove(op); !checked)
      return propagate(checked);
    return Place::Global;
  }
  if (!hasKernel(op))
    return makeError("", "there is no kernel for it");
  if (isa<tpu::ConvOp, tpu::DeconvOp>(op))
    for (unsigned index : {1U, 2U})
      if (!isa<NoneType>(op->getOperand(index).getType()) && !isConstantOperand(op, index))
        return makeError("", "a filter or bias that is computed", "constants");
  if (Expected<void> checked = checkKernel(*this, op); !checked)
    return propagate(checked);
  return Place::Local;
}

bool BM1684XBackend::turnsStores(Operation *op) const {
  return operandForm(op, op->getNumOperands()) == OperandForm::Tensor &&
         precOf(elementTypeOf(op, op->getNumOperands())).has_value();
}

/// Each group takes rounds of lanes and blocks of input channels of its own. As long as merged
/// groups have one block, the filter takes no more room. One channel each is another command.
int64_t BM1684XBackend::groupsAtOnce(Operation *op) const {
  auto conv = dyn_cast<tpu::ConvOp>(op);
  const DataType type = elementTypeOf(op, 0);
  if (!conv || !precOf(type))
    return 1;
  const auto groups = static_cast<int64_t>(conv.getGroup());
  const auto channelsOf = [&](Value value) {
    return cast<RankedTensorType>(value.getType()).getDimSize(1) / groups;
  };
  const int64_t inputs = channelsOf(conv.getInput());
  const int64_t outputs = channelsOf(conv.getOutput());
  if (inputs == 1 && outputs == 1)
    return 1;
  int64_t best = 1;
  int64_t fewest = groups * ceilDiv(outputs, kLanes);
  const int64_t apart = fewest;
  for (int64_t merged = 2; merged <= groups && merged * inputs <= channelBlock(*precOf(type));
       ++merged) {
    const int64_t rounds = groups / merged * ceilDiv(merged * outputs, kLanes);
    if (groups % merged != 0 || rounds > fewest || rounds == apart)
      continue;
    best = merged;
    fewest = rounds;
  }
  return best;
}

/// The multipliers of a cycle share blocks of input channels, and each lane has an output channel.
std::optional<int64_t> BM1684XBackend::convolutionCycles(Operation *op,
                                                         std::array<int64_t, 4> filter,
                                                         std::array<int64_t, 4> result) const {
  const std::optional<Prec> prec = precOf(elementTypeOf(op, 0));
  if (!prec)
    return std::nullopt;
  const int64_t pixels = *prec == Prec::F32 ? 16 : 4;
  return result[0] * ceilDiv(result[1], kLanes) * ceilDiv(result[2] * result[3], pixels) *
         ceilDiv(filter[1], channelBlock(*prec)) * filter[2] * filter[3];
}

/// Short rows take as long as rows of 256 bytes.
int64_t BM1684XBackend::transferCycles(int64_t bytes, int64_t rows) const {
  constexpr int64_t kRate = 50, kShortRow = 256, kStart = 300;
  return bytes == 0 ? kStart : std::max(bytes, rows * kShortRow) / kRate;
}

/// A filter has long rows in each lane, and one row of a product uses one lane of 64. Input
/// channels in blocks that are not full would be loaded for nothing. Local memory has to hold the
/// filters of one round of lanes while others are loaded.
bool BM1684XBackend::wantsConvolution(Operation *product, ArrayRef<int64_t> picture) const {
  const DataType type = elementTypeOf(product, 1);
  if (!precOf(type))
    return false;
  const int64_t taps = picture[1] * picture[2];
  const int64_t own = picture[0] * taps;
  const int64_t kept = alignUp(picture[0], channelBlock(*precOf(type))) * taps;
  const int64_t row = taps == 1 ? byteSize(elementTypeOf(product, 0), own) : 0;
  const int64_t room = int64_t{info().memory.localBytesPerLane} / 8 * 7;
  // Zeros in the filter are loaded, too; a few take less time than a row of single elements that is
  // stored and loaded.
  constexpr int64_t kFewBytes = 16384;
  const int64_t columns = cast<RankedTensorType>(product->getResult(0).getType()).getShape().back();
  const int64_t zeros = byteSize(type, (kept - own) * columns);
  return (kept <= own + own / 8 || zeros <= kFewBytes) && 2 * byteSize(type, kept) + row <= room;
}

/// A lookup is one command, a sequence many: small tensors are looked up, as commands have to
/// start.
Expected<std::optional<SmallVector<int64_t>>> BM1684XBackend::tableSteps(Operation *op) const {
  constexpr int64_t kLookup = 64, kStart = 40, kFewest = 3 * kStart;
  const std::optional<SmallVector<int64_t>> none;
  const int64_t elements =
      ceilDiv(cast<RankedTensorType>(op->getResult(0).getType()).getNumElements(), kLanes);
  if (elements <= kFewest)
    return none;
  Expected<Tensor> table = readConstant(op, 1);
  if (!table)
    return propagate(table);
  const DataType input = elementTypeOf(op, 0);
  TableBytes bytes;
  std::memcpy(bytes.data(), table->rawBytes().data(), bytes.size());
  const std::optional<std::vector<TableStep>> steps =
      fitTable(bytes, input, static_cast<int32_t>(tpu::zeroPointOf(op->getOperand(0))));
  if (!steps)
    return none;
  const int64_t saved = elements * (kLookup - cyclesOfSteps(*steps, input)) / kLookup;
  if (saved <= kStart * static_cast<int64_t>(steps->size()))
    return none;
  const std::vector<int64_t> numbers = numbersOf(*steps);
  return std::optional(SmallVector<int64_t>(numbers.begin(), numbers.end()));
}

Expected<std::optional<PackedLayout>> BM1684XBackend::packedLayout(OpOperand &operand) const {
  Expected<std::optional<PackedLayout>> layout = backend::packedLayout(operand);
  if (!layout && layout.error().where.empty())
    layout.error().where = "layer '" + layerName(operand.getOwner()) + "'";
  return layout;
}

bool BM1684XBackend::isLoaded(OpOperand &operand) const {
  return operandForm(operand.getOwner(), operand.getOperandNumber()) != OperandForm::Absent;
}

int64_t BM1684XBackend::localBytes(Operation *op, const SliceModel &model, unsigned index,
                                   const Slice &slice) const {
  return localOperandBytes(op, model, index, slice);
}

Expected<int64_t> BM1684XBackend::scratchBytes(const SlicedOp &sliced) const {
  Kernels kernels = kernelsOf(sliced);
  if (!kernels)
    return propagate(kernels);
  int64_t bytes = 0;
  for (const Kernel &kernel : *kernels) {
    Expected<uint32_t> wanted = kernel.scratch();
    if (!wanted)
      return propagate(wanted);
    bytes = std::max<int64_t>(bytes, *wanted);
  }
  if (isa<tpu::PReluOp>(sliced.op) && !isQuantized(sliced.op))
    bytes += localBytes(sliced.op, *sliced.model, sliced.op->getNumOperands(), sliced.result.slice);
  return bytes;
}

bool BM1684XBackend::isAligned(Operation *op, unsigned index) const {
  return operandForm(op, index) != OperandForm::PerChannel;
}

bool BM1684XBackend::liesAlike(Operation *first, unsigned firstIndex, Operation *second,
                               unsigned secondIndex) const {
  const OperandForm form = operandForm(first, firstIndex);
  return form != OperandForm::Absent && form != OperandForm::PerChannel &&
         form == operandForm(second, secondIndex) &&
         elementTypeOf(first, firstIndex) == elementTypeOf(second, secondIndex);
}

std::optional<int64_t> BM1684XBackend::poolAlignment(OpOperand &operand) const {
  return backend::poolAlignment(operand);
}

Expected<int64_t>
BM1684XBackend::cyclesOf(llvm::function_ref<Expected<void>(Emitter &)> emit) const {
  BM1684XEmitter emitter(info());
  if (Expected<void> emitted = emit(emitter); !emitted)
    return propagate(emitted);
  return emitter.cycles();
}

Expected<SmallVector<int64_t>>
BM1684XBackend::runCycles(llvm::function_ref<Expected<void>(Emitter &)> emit) const {
  BM1684XEmitter emitter(info());
  if (Expected<void> emitted = emit(emitter); !emitted)
    return propagate(emitted);
  return emitter.runCycles();
}

int64_t BM1684XBackend::cutUnit(Operation *op, unsigned axis) const {
  // Short rows of columns take as long as longer ones.
  const bool isOfColumns = axis == kAxisW && isa<tpu::MatMulOp>(op);
  return axis == kAxisC || isOfColumns ? info().memory.lanes : 1;
}

std::unique_ptr<Emitter> BM1684XBackend::createEmitter() const {
  return std::make_unique<BM1684XEmitter>(info());
}

} // namespace tpuc::bm1684x::backend

namespace tpuc::BM1684X {

std::unique_ptr<codegen::Backend> createBackend(const TargetInfo &target) {
  if (target.name != "bm1684x")
    return nullptr;
  return std::make_unique<bm1684x::backend::BM1684XBackend>(target);
}

} // namespace tpuc::BM1684X

//===- Operands.cpp - How the operands of ops lie on the BM1684X ------------- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Codegen/Operands.h"
#include "tpuc/Codegen/Layers.h"
#include "tpuc/Dialect/Top/ShapeInference.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Dialect/Tpu/BinaryOps.h"
#include "tpuc/Dialect/Tpu/CastOps.h"
#include "tpuc/Dialect/Tpu/ConvolutionOps.h"
#include "tpuc/Dialect/Tpu/GroupOps.h"
#include "tpuc/Dialect/Tpu/MatrixOps.h"
#include "tpuc/Dialect/Tpu/MovementOps.h"
#include "tpuc/Dialect/Tpu/NormOps.h"
#include "tpuc/Dialect/Tpu/RecurrentOps.h"
#include "tpuc/Dialect/Tpu/ReduceOps.h"
#include "tpuc/Dialect/Tpu/StoredType.h"
#include "tpuc/Support/Convert.h"
#include "tpuc/Target/BM1684X/Codegen/Parameters.h"
#include "tpuc/Target/BM1684X/Codegen/SlicedOperands.h"
#include "tpuc/Target/BM1684X/Codegen/Transfers.h"
#include "tpuc/Target/BM1684X/Kernels/DataMovement.h"
#include "tpuc/Target/BM1684X/Kernels/Matrix.h"
#include "tpuc/Target/BM1684X/TargetInfo.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tpuc::codegen;

namespace tpuc::bm1684x::backend {

// Not the machine's.
using mlir::Operation;

/// The constant that an operand is, whatever stands between.
static top::WeightOp constantOf(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (auto weight = dyn_cast<top::WeightOp>(op))
      return weight;
    if (!isa<tpu::UnpackOp, tpu::LoadOp>(op))
      break;
    value = op->getOperand(0);
  }
  return {};
}

static Value valueAt(Operation *op, unsigned index) {
  return index < op->getNumOperands() ? op->getOperand(index) : givenResult(op);
}

std::optional<double> scalarOperand(Operation *op, unsigned index) {
  const Value value = valueAt(op, index);
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (index >= op->getNumOperands() || !type || !type.hasStaticShape() ||
      type.getNumElements() != 1)
    return std::nullopt;
  top::WeightOp weight = constantOf(value);
  if (!weight)
    return std::nullopt;
  Expected<std::vector<float>> values = weight.read_as_float();
  return values ? std::optional<double>(values->front()) : std::nullopt;
}

bool isConstantOperand(Operation *op, unsigned index) {
  return constantOf(op->getOperand(index)) != nullptr;
}

Expected<Tensor> readConstant(Operation *op, unsigned index) {
  auto weight = op->getOperand(index).getDefiningOp<top::WeightOp>();
  if (!weight)
    return makeError("", "operand " + std::to_string(index) + " that is computed", "a constant");
  return weight.read();
}

/// Whether the right operand of a product is a constant for all of its batch.
static bool isConstantMatrix(tpu::MatMulOp op) {
  return isConstantOperand(op, 1) && cast<RankedTensorType>(op.getRight().getType()).getRank() == 2;
}

/// Whether an op takes a constant operand of one element as a number: one that is exact.
static bool takesNumber(Operation *op, unsigned index) {
  if (isQuantized(op))
    return isa<tpu::PReluOp>(op);
  if (isa<tpu::CompareOp>(op) || (isa<tpu::WhereOp>(op) && index > 0)) {
    constexpr double kMostExact = 1 << 24;
    return isFloat(elementTypeOf(op, index)) ||
           std::abs(scalarOperand(op, index).value_or(0)) <= kMostExact;
  }
  return isa<tpu::AddOp, tpu::SubOp, tpu::MulOp, tpu::DivOp, tpu::MaxOp, tpu::MinOp, tpu::PReluOp>(
      op);
}

static OperandForm matrixForm(tpu::MatMulOp op, unsigned index) {
  if (index == 2)
    return OperandForm::EveryLane;
  if (index == 0)
    return op.getLeftTranspose() ? OperandForm::Transposed : OperandForm::Tensor;
  // No command takes F32 columns: a constant is turned when it is packed.
  if (index > 2 || !op.getRightTranspose() || !isConstantMatrix(op) ||
      elementTypeOf(op, 1) == DataType::F32)
    return OperandForm::Tensor;
  return OperandForm::Columns;
}

bool liesTurned(tpu::MatMulOp op) {
  return op.getRightTranspose() &&
         (matrixForm(op, 1) == OperandForm::Columns || !isConstantMatrix(op));
}

/// Operands of a recurrent cell that are rows of channels: filters and biases.
constexpr unsigned kFirstRecurrentRow = 1, kRecurrentBias = 3, kRecurrentLengths = 4;
constexpr unsigned kRecurrentPeephole = 7;

static bool isRecurrent(Operation *op) { return isa<tpu::LSTMOp, tpu::GRUOp, tpu::RNNOp>(op); }

static OperandForm recurrentForm(Operation *op, unsigned index) {
  if (index == op->getNumOperands())
    return OperandForm::Transposed;
  if (index == kRecurrentLengths || index == kRecurrentPeephole)
    return OperandForm::Absent;
  return index >= kFirstRecurrentRow && index <= kRecurrentBias ? OperandForm::PerChannel
                                                                : OperandForm::Transposed;
}

/// Whether an operand or result of a convolution or cast is one pixel that lies as a row.
static bool isPixelRow(Operation *op, unsigned index) {
  return op->hasAttr(index == 0 ? kFromRow : kInRow);
}

OperandForm operandForm(Operation *op, unsigned index) {
  if (isa<NoneType>(valueAt(op, index).getType()))
    return OperandForm::Absent;
  // Filters and matrices carry the biases of integer sums.
  if (index == 2 && index < op->getNumOperands() && carriesParameters(op, 1))
    return OperandForm::Absent;
  if (carriesParameters(op, index) && !isa<tpu::MatMulOp>(op))
    return OperandForm::PerChannel;
  if (isa<tpu::ConvOp, tpu::DeconvOp>(op)) {
    if (index == 1 || index == 2)
      return OperandForm::PerChannel;
    return isPixelRow(op, index) ? OperandForm::PixelRow : OperandForm::Tensor;
  }
  if (auto product = dyn_cast<tpu::MatMulOp>(op))
    return matrixForm(product, index);
  if (isRecurrent(op))
    return recurrentForm(op, index);
  if (index == 1 && isa<tpu::ReduceOp>(op))
    return OperandForm::Absent;
  // Steps take its place.
  if (index == 1 && op->hasAttr(kLutSteps))
    return OperandForm::Absent;
  const bool isResult = index == op->getNumOperands();
  if ((index == 0 || (isResult && !isa<tpu::ReduceOp>(op))) && worksInTheMiddle(op))
    return OperandForm::Transposed;
  if ((isa<tpu::LayerNormOp, tpu::PixelNormOp, tpu::RMSNormOp>(op) && (index == 1 || index == 2) &&
       index < op->getNumOperands()) ||
      (isa<tpu::LutOp>(op) && index == 1))
    return OperandForm::EveryLane;
  if (isa<tpu::CastOp>(op) && isPixelRow(op, index))
    return OperandForm::PixelRow;
  const bool isPlace = isa<tpu::SliceOp>(op) && index > 0 && index < op->getNumOperands();
  if (isPlace || (takesNumber(op, index) && scalarOperand(op, index)))
    return OperandForm::Absent;
  return OperandForm::Tensor;
}

DataType elementTypeOf(Operation *op, unsigned index) {
  return storageDataType(valueAt(op, index).getType()).value_or(DataType::F32);
}

/// How the rows of a filter or bias are put over lanes.
struct ChannelRows {
  int64_t channels = 1;
  /// Elements of one channel as they are kept, in each phase.
  int64_t row = 1;
  /// Phases of a filter with a large stride follow each other.
  std::array<int64_t, 2> factors{1, 1};
  /// A lane's rows stand together, channel after channel of that lane; else a channel's do.
  bool isByLane = true;
  DataType type = DataType::F32;
  /// Whether words of each channel stand behind the rows of a lane, or behind all rows.
  bool hasWords = false;
  /// A long filter stands as matrices, whose transfer is the fastest: the rows of 64 channels are
  /// cut into so many parts (of the blocks of input channels, and of the taps of each), each of
  /// which stands beside those of the other lanes. 0: rows as they are.
  std::array<int64_t, 2> parts{0, 0};
  /// The taps of a transposed convolution of one channel take the place of channels.
  bool areTaps = false;

  int64_t lanes() const { return std::min<int64_t>(channels, kLanes); }
  int64_t slots() const { return slotsOf(channels); }
  int64_t phases() const { return factors[0] * factors[1]; }
  static int64_t slotsOf(int64_t count) {
    return static_cast<int64_t>(llvm::divideCeil(count, int64_t{kLanes}));
  }
  int64_t rowBytes() const { return byteSize(type, row); }
  bool isInParts() const { return parts[0] > 0; }
  /// The rows of a tile of the result's channels.
  Range rowsOf(Range tile) const { return areTaps ? Range{0, channels} : tile; }

  //===--- In local memory ------------------------------------------------===//

  /// Bytes of the words of one channel in each lane.
  static constexpr int64_t kSlotBytes = kEuBytes;
  /// Where the words of a tile of `count` channels begin in a lane, behind its rows.
  int64_t wordsAt(int64_t count) const {
    return alignUp(phases() * slotsOf(count) * rowBytes(), kEuBytes);
  }

  //===--- In global memory -----------------------------------------------===//

  /// Rows of a phase, of a lane (or of all channels), without and with the words behind them.
  int64_t ownRows() const {
    if (isByLane)
      return slots();
    return isInParts() ? slots() * lanes() : channels;
  }
  int64_t phaseRows() const {
    const int64_t bytes = slots() * kSlotBytes * (isByLane ? 1 : lanes());
    const int64_t rows = hasWords ? ceilDiv(firstWord(ownRows()) + bytes, rowBytes()) : ownRows();
    return isInParts() ? alignUp(rows, lanes()) : rows;
  }
  int64_t laneRows() const { return phases() * phaseRows(); }
  /// Where the words of a lane (or of all) begin, behind the rows of the last phase.
  int64_t wordsBegin() const { return firstWord((phases() - 1) * phaseRows() + ownRows()); }

private:
  /// The words of a lane lie as in local memory, so that one transfer brings both.
  int64_t firstWord(int64_t rows) const {
    return isByLane ? alignUp(rows * rowBytes(), kEuBytes) : rows * rowBytes();
  }
};

/// Whether a convolution has one input channel for each output channel and no others.
static bool isDepthwise(Operation *op, const TileModel &model) {
  const auto group = op->getAttrOfType<IntegerAttr>("group");
  return group && group.getInt() > 1 && group.getInt() == model.result[kAxisC] &&
         group.getInt() == model.operands[0].extents[kAxisC];
}

/// Input channels that stand together in a filter.
static int64_t channelBlock(DataType type) { return bm1684x::channelBlock(*precOf(type)); }

/// The factor of tap dimension `axis` of `count`: of one, that of w.
static int64_t factorOf(const ChannelRows &rows, size_t axis, size_t count) {
  return count > 2 ? 1 : std::max<int64_t>(rows.factors[2 - count + axis], 1);
}

/// The filter's own row and phases.
static void setFilter(ChannelRows &rows, Operation *op, const TileModel &model) {
  const bool isByOne = isDepthwise(op, model);
  const auto taps = cast<RankedTensorType>(op->getOperand(1).getType()).getShape().drop_front(2);
  if (isa<tpu::ConvOp>(op) && !isByOne)
    rows.factors = strideFactors(strideOf(op));
  if (isInPhases(op))
    rows.factors = rows.areTaps ? std::array<int64_t, 2>{1, 1} : strideOf(op);
  int64_t all = 1;
  int64_t own = 1;
  for (auto [axis, extent] : llvm::enumerate(taps)) {
    all *= extent;
    if (rows.areTaps)
      continue;
    own *= static_cast<int64_t>(llvm::divideCeil(extent, factorOf(rows, axis, taps.size())));
  }
  const int64_t inputs = model.operands[1].extents[kAxisW] / all;
  rows.row = isByOne ? own : own * alignUp(inputs, channelBlock(rows.type));
}

/// The cut of a filter of `blocks` times `taps` times `inner` elements for each channel into parts
/// of which those of `lanes` lanes fit a row of a matrix; none where parts would be too short.
static std::array<int64_t, 2> filterParts(const ChannelRows &rows, int64_t blocks, int64_t taps) {
  constexpr int64_t kLongPart = 256, kMostColumns = 65535;
  for (int64_t cut = 1; cut <= blocks * taps; ++cut) {
    const bool cutsTaps = cut > blocks;
    if (cutsTaps ? cut % blocks != 0 || taps % (cut / blocks) != 0 : blocks % cut != 0)
      continue;
    const int64_t part = rows.row / cut;
    if (byteSize(rows.type, part) < kLongPart)
      break;
    if (part * rows.lanes() <= kMostColumns)
      return cutsTaps ? std::array{blocks, cut / blocks} : std::array{cut, int64_t{1}};
  }
  return {0, 0};
}

/// Whether a filter is so long that it pays to let it stand in parts, with as many rows as whole
/// rounds of lanes have, and its words apart.
static bool mayBeInParts(Operation *op, const ChannelRows &rows) {
  constexpr int64_t kLong = 32 << 10, kLongWithWords = 256 << 10, kMostPadding = 25;
  auto conv = dyn_cast<tpu::ConvOp>(op);
  if (!conv || conv.getGroup() != 1 || rows.phases() != 1 ||
      cast<RankedTensorType>(conv.getFilter().getType()).getRank() != 4)
    return false;
  const int64_t padding = rows.slots() * rows.lanes() - rows.channels;
  return rows.channels * rows.rowBytes() >= (rows.hasWords ? kLongWithWords : kLong) &&
         padding * kMostPadding <= rows.channels;
}

static ChannelRows channelRows(Operation *op, const TileModel &model, unsigned index) {
  const DataType type = elementTypeOf(op, index);
  ChannelRows rows{
      .channels = model.result[kAxisC], .type = type, .hasWords = carriesParameters(op, index)};
  if (hasTapsAsChannels(op)) {
    rows.areTaps = true;
    rows.channels = strideOf(op)[0] * strideOf(op)[1];
  }
  if (isRecurrent(op)) {
    const AxisExtents &extents = model.operands[index].extents;
    rows.channels = extents[kAxisC];
    rows.row = index == kRecurrentBias ? 1 : alignUp(extents[kAxisW], channelBlock(type));
  } else if (index == 1 && !isa<tpu::PReluOp>(op)) {
    setFilter(rows, op, model);
  }
  // Short rows cost as much as long ones: lanes with several channels put them together.
  rows.isByLane = rows.channels <= int64_t{kLanes} || rows.channels % int64_t{kLanes} == 0 ||
                  byteSize(type, rows.row) < 256;
  if (index == 1 && mayBeInParts(op, rows)) {
    const int64_t blocks = ceilDiv(model.operands[0].extents[kAxisC], channelBlock(type));
    rows.parts = filterParts(rows, blocks,
                             cast<RankedTensorType>(op->getOperand(1).getType()).getShape()[2]);
    rows.isByLane = rows.isByLane && !rows.isInParts();
  }
  return rows;
}

static Extents extentsOf(int64_t n, int64_t c, int64_t h, int64_t w) { return {n, c, h, w}; }

/// The part `local.tile` of a tensor [n, c, d * h, w] that holds `local.held`.
static LocalTensor partOf(LocalTensor tensor, const LocalTile &local) {
  constexpr unsigned kAxes[] = {kAxisN, kAxisC, kAxisH, kAxisW};
  for (auto [dim, axis] : llvm::enumerate(kAxes)) {
    const Range part = local.tile[axis];
    const Range held = (*local.held)[axis];
    if (part != held)
      tensor = tensor.slice(static_cast<unsigned>(dim), part.begin - held.begin, part.size);
  }
  return tensor;
}

LocalTensor localOperand(Operation *op, const TileModel &model, unsigned index,
                         const LocalTile &local) {
  if (local.held && *local.held != local.tile && operandForm(op, index) == OperandForm::Tensor)
    return partOf(localOperand(op, model, index, {*local.held, local.address}), local);
  const DataType type = elementTypeOf(op, index);
  const auto address = static_cast<uint32_t>(local.address);
  const auto size = [&](unsigned axis) { return local.tile[axis].size; };
  switch (operandForm(op, index)) {
  case OperandForm::Absent:
    break;
  case OperandForm::PerChannel: {
    const ChannelRows rows = channelRows(op, model, index);
    return localTensor(type,
                       extentsOf(rows.phases(), rows.rowsOf(local.tile[kAxisC]).size, 1, rows.row),
                       address, Layout::Compact);
  }
  case OperandForm::Columns:
    return localTensor(type, extentsOf(size(kAxisN), size(kAxisW), 1, size(kAxisC)), address);
  case OperandForm::EveryLane:
    return localTensor(type, extentsOf(1, kLanes, 1, size(kAxisW)), address);
  case OperandForm::PixelRow:
    return localTensor(type, extentsOf(1, 1, 1, size(kAxisC) * size(kAxisW)), address);
  case OperandForm::Transposed:
  case OperandForm::Tensor:
    return localTensor(
        type, extentsOf(size(kAxisN), size(kAxisC), size(kAxisD) * size(kAxisH), size(kAxisW)),
        address);
  }
  return localTensor(type, extentsOf(1, 1, 1, 1), address);
}

uint32_t parameterAddress(Operation *op, const TileModel &model, unsigned index,
                          const LocalTile &local) {
  const auto address = static_cast<uint32_t>(local.address);
  if (operandForm(op, index) == OperandForm::PerChannel)
    return address +
           static_cast<uint32_t>(channelRows(op, model, index).wordsAt(local.tile[kAxisC].size));
  const LocalTensor matrix = localOperand(op, model, index, local);
  return address + static_cast<uint32_t>(alignUp(matrix.bytesPerLane(), kEuBytes));
}

/// The rows of words of the columns of a tile.
static LocalTensor localColumnWords(Operation *op, const TileModel &model, unsigned index,
                                    const LocalTile &local) {
  return localTensor(DataType::I32, extentsOf(kColumnRows, kLanes, 1, local.tile[kAxisW].size),
                     parameterAddress(op, model, index, local));
}

int64_t localOperandBytes(Operation *op, const TileModel &model, unsigned index, const Tile &tile) {
  const LocalTile local{tile, 0};
  if (index == op->getNumOperands() || !carriesParameters(op, index))
    return localOperand(op, model, index, local).bytesPerLane();
  const int64_t words = parameterAddress(op, model, index, local);
  if (operandForm(op, index) == OperandForm::PerChannel)
    return words + ChannelRows::slotsOf(tile[kAxisC].size) * ChannelRows::kSlotBytes;
  return words + localColumnWords(op, model, index, local).bytesPerLane();
}

/// A matrix that lies transposed: n, w, c.
static GlobalTensor turnedSlice(DataType type, const OperandModel &model, const Tile &tile,
                                int64_t address) {
  const int64_t columns = model.extents[kAxisC];
  const int64_t matrix = model.extents[kAxisW] * columns;
  const int64_t offset =
      tile[kAxisN].begin * matrix + tile[kAxisW].begin * columns + tile[kAxisC].begin;
  GlobalTensor tensor =
      globalTensor(type, extentsOf(tile[kAxisN].size, tile[kAxisW].size, 1, tile[kAxisC].size),
                   static_cast<uint64_t>(address + byteSize(type, offset)));
  tensor.stride = extentsOf(matrix, columns, columns, 1);
  return tensor;
}

static GlobalTensor channelSlice(const ChannelRows &rows, Range channels, int64_t address) {
  const int64_t phase = rows.phaseRows() * rows.row;
  if (!rows.isByLane) {
    GlobalTensor tensor =
        globalTensor(rows.type, extentsOf(rows.phases(), channels.size, 1, rows.row),
                     static_cast<uint64_t>(address + channels.begin * rows.rowBytes()));
    tensor.stride[0] = phase;
    return tensor;
  }
  GlobalTensor tensor = globalTensor(
      rows.type,
      extentsOf(rows.phases(), std::min<int64_t>(channels.size, kLanes), 1,
                ChannelRows::slotsOf(channels.size) * rows.row),
      static_cast<uint64_t>(address + channels.begin / int64_t{kLanes} * rows.rowBytes()));
  const int64_t lane = rows.laneRows() * rows.row;
  tensor.stride = extentsOf(phase, lane, lane, 1);
  return tensor;
}

/// The requantization parameters of channels, as bytes.
static GlobalTensor channelWords(const ChannelRows &rows, Range channels, int64_t address) {
  const int64_t slot = channels.begin / int64_t{kLanes};
  const int64_t lane =
      rows.isByLane ? rows.laneRows() * rows.rowBytes() : rows.slots() * ChannelRows::kSlotBytes;
  GlobalTensor tensor = globalTensor(
      DataType::I8,
      extentsOf(1, std::min<int64_t>(channels.size, kLanes), 1,
                ChannelRows::slotsOf(channels.size) * ChannelRows::kSlotBytes),
      static_cast<uint64_t>(address + rows.wordsBegin() + slot * ChannelRows::kSlotBytes));
  tensor.stride = extentsOf(rows.lanes() * lane, lane, lane, 1);
  return tensor;
}

/// Where the rows of words stand behind a constant matrix of `count` bytes.
static int64_t columnWordsAt(int64_t count) { return alignUp(count, int64_t{sizeof(int32_t)}); }

static GlobalTensor columnWords(const OperandModel &matrix, Range columns, int64_t address) {
  const int64_t all = matrix.extents[kAxisW];
  const int64_t first = columnWordsAt(matrix.extents[kAxisC] * all) +
                        columns.begin * static_cast<int64_t>(sizeof(int32_t));
  GlobalTensor tensor = globalTensor(DataType::I32, extentsOf(kColumnRows, 1, 1, columns.size),
                                     static_cast<uint64_t>(address + first));
  tensor.stride = extentsOf(all, all, all, 1);
  return tensor;
}

GlobalTensor globalOperand(Operation *op, const TileModel &model, unsigned index, const Tile &tile,
                           int64_t address) {
  const DataType type = elementTypeOf(op, index);
  const bool isResult = index == op->getNumOperands();
  OperandModel tensor;
  if (isResult)
    tensor.extents = model.result;
  else
    tensor = model.operands[index];
  switch (operandForm(op, index)) {
  case OperandForm::PerChannel: {
    const ChannelRows rows = channelRows(op, model, index);
    return channelSlice(rows, rows.rowsOf(tile[kAxisC]), address);
  }
  case OperandForm::Columns:
  case OperandForm::Transposed:
    return turnedSlice(type, tensor, tile, address);
  case OperandForm::EveryLane:
    return globalTensor(type, extentsOf(1, 1, 1, tile[kAxisW].size),
                        static_cast<uint64_t>(address + byteSize(type, tile[kAxisW].begin)));
  case OperandForm::PixelRow:
    // Alone, a cast sees a row of columns.
    return globalTensor(
        type, extentsOf(1, 1, 1, tile[kAxisC].size * tile[kAxisW].size),
        static_cast<uint64_t>(address + byteSize(type, tile[kAxisC].begin + tile[kAxisW].begin)));
  case OperandForm::Absent:
  case OperandForm::Tensor:
    break;
  }
  // Rows of different d follow each other: d is whole, or one.
  const AxisExtents &extents = tensor.extents;
  const Extents stride =
      extentsOf(extents[kAxisC] * extents[kAxisD] * extents[kAxisH] * extents[kAxisW],
                extents[kAxisD] * extents[kAxisH] * extents[kAxisW], extents[kAxisW], 1);
  const int64_t offset = tile[kAxisN].begin * stride[0] + tile[kAxisC].begin * stride[1] +
                         (tile[kAxisD].begin * extents[kAxisH] + tile[kAxisH].begin) * stride[2] +
                         tile[kAxisW].begin;
  GlobalTensor result =
      globalTensor(type,
                   extentsOf(tile[kAxisN].size, tile[kAxisC].size,
                             tile[kAxisD].size * tile[kAxisH].size, tile[kAxisW].size),
                   static_cast<uint64_t>(address + byteSize(type, offset)));
  result.stride = stride;
  return result;
}

//===--- Loads ------------------------------------------------------------===//

/// A tile of a filter that stands in parts.
static Expected<void> loadParts(Builder &builder, const ChannelRows &rows, Range channels,
                                int64_t address, uint32_t to) {
  const int64_t cut = rows.parts[0] * rows.parts[1];
  const int64_t columns = rows.row / cut * rows.lanes();
  const int64_t first = channels.begin / int64_t{kLanes} * rows.lanes() * rows.rowBytes();
  const LocalTensor local = localTensor(
      rows.type,
      extentsOf(ChannelRows::slotsOf(channels.size) * cut, rows.lanes(), 1, rows.row / cut), to,
      Layout::Compact);
  return emitLoadMatrix(builder, static_cast<uint64_t>(address + first), columns, columns, local);
}

/// The rows of channels and their words: by one transfer where they stand together.
static Expected<void> loadChannels(Builder &builder, Operation *op, const TileModel &model,
                                   unsigned index, const LocalTile &local, int64_t address) {
  const ChannelRows rows = channelRows(op, model, index);
  const Range channels = rows.rowsOf(local.tile[kAxisC]);
  GlobalTensor from = channelSlice(rows, channels, address);
  // A packed row of channels is laid out the same in both memories.
  const LocalTensor to = localOperand(op, model, index, local);
  const auto asLoaded = [&](const GlobalTensor &source, uint32_t at) {
    return localTensor(source.type, source.shape, at, Layout::Compact);
  };
  const bool isOne =
      rows.hasWords && rows.isByLane && rows.phases() == 1 && channels.size == rows.channels;
  if (isOne)
    from.shape[3] = (rows.wordsAt(channels.size) + rows.slots() * ChannelRows::kSlotBytes) /
                    byteSize(rows.type, 1);
  const Expected<void> loaded = rows.isInParts()
                                    ? loadParts(builder, rows, channels, address, to.address)
                                    : emitLoad(builder, from, asLoaded(from, to.address));
  if (!loaded || isOne || !rows.hasWords)
    return loaded;
  const GlobalTensor words = channelWords(rows, channels, address);
  return emitLoad(builder, words, asLoaded(words, parameterAddress(op, model, index, local)));
}

/// The rows that operand `index` stacks; null for others.
static tpu::PackRowsOp packedRows(Operation *op, unsigned index) {
  Value value = op->getOperand(index);
  if (auto load = value.getDefiningOp<tpu::LoadOp>())
    value = load.getInput();
  return value.getDefiningOp<tpu::PackRowsOp>();
}

/// The rows of one place in their windows, which are the channels `to`, and zero points where there
/// are none.
static Expected<void> loadRow(Builder &builder, tpu::PackRowsOp rows, int64_t place,
                              const Tile &tile, const LocalTensor &to, int64_t address) {
  const auto dims = cast<RankedTensorType>(rows.getInput().getType()).getShape();
  const auto stride = static_cast<int64_t>(rows.getStride());
  const int64_t before = static_cast<int64_t>(rows.getPad()) - place;
  const Range all = tile[kAxisH];
  const int64_t first = std::clamp(before > 0 ? ceilDiv(before, stride) : 0, all.begin, all.end());
  const int64_t reach = dims[2] - 1 + before;
  const int64_t end = std::clamp(reach < 0 ? 0 : reach / stride + 1, first, all.end());
  const auto zero = static_cast<uint32_t>(tpu::zeroPointOf(rows.getInput()));
  for (const Range &outside : {Range{all.begin, first - all.begin}, Range{end, all.end() - end}})
    if (outside.size > 0)
      if (Expected<void> filled =
              emitLocalFill(builder, to.slice(2, outside.begin - all.begin, outside.size), zero);
          !filled)
        return filled;
  if (first == end)
    return {};
  const int64_t plane = dims[2] * dims[3];
  const int64_t offset = tile[kAxisN].begin * dims[1] * plane +
                         (first * stride - before) * dims[3] + tile[kAxisW].begin;
  GlobalTensor from =
      globalTensor(to.type, extentsOf(tile[kAxisN].size, dims[1], end - first, tile[kAxisW].size),
                   static_cast<uint64_t>(address + byteSize(to.type, offset)));
  from.stride = extentsOf(dims[1] * plane, plane, stride * dims[3], 1);
  return emitLoad(builder, from, to.slice(2, first - all.begin, end - first));
}

static Expected<void> loadPackedRows(Builder &builder, tpu::PackRowsOp rows, const Tile &tile,
                                     const LocalTensor &to, int64_t address) {
  const int64_t channels = cast<RankedTensorType>(rows.getInput().getType()).getDimSize(1);
  for (int64_t place = 0; place < static_cast<int64_t>(rows.getKernel()); ++place)
    if (Expected<void> loaded =
            loadRow(builder, rows, place, tile, to.slice(1, place * channels, channels), address);
        !loaded)
      return loaded;
  return {};
}

Expected<void> loadOperand(Builder &builder, Operation *op, const TileModel &model, unsigned index,
                           const LocalTile &local, int64_t address) {
  const OperandForm form = operandForm(op, index);
  if (form == OperandForm::Absent)
    return {};
  if (form == OperandForm::PerChannel)
    return loadChannels(builder, op, model, index, local, address);
  const LocalTensor to = localOperand(op, model, index, local);
  if (tpu::PackRowsOp rows = packedRows(op, index))
    return loadPackedRows(builder, rows, local.tile, to, address);
  const GlobalTensor from = globalOperand(op, model, index, local.tile, address);
  if (form == OperandForm::EveryLane)
    return emitLoadToLanes(builder, from, to);
  if (form == OperandForm::Transposed)
    return emitLoadTransposedCW(builder, from, to);
  if (Expected<void> loaded = loadTensor(builder, from, to);
      !loaded || !carriesParameters(op, index))
    return loaded;
  return emitLoadToLanes(builder, columnWords(model.operands[index], local.tile[kAxisW], address),
                         localColumnWords(op, model, index, local));
}

/// Calls `store(part, group, begin, end)` for each of `groups` equal parts of the channels of a
/// tile of a result: what is in the tile are channels [begin, end) of the group.
static Expected<void> storeGroups(
    const TiledOp &tiled, int64_t groups,
    llvm::function_ref<Expected<void>(const LocalTensor &, int64_t, int64_t, int64_t)> store) {
  const LocalTensor from =
      localOperand(tiled.op, *tiled.model, tiled.op->getNumOperands(), tiled.result);
  const int64_t channels = tiled.model->result[kAxisC] / groups;
  const Range all = tiled.result.tile[kAxisC];
  for (int64_t group = 0; group < groups; ++group) {
    const int64_t begin = std::max(all.begin, group * channels);
    const int64_t end = std::min(all.end(), (group + 1) * channels);
    if (begin >= end)
      continue;
    if (Expected<void> stored = store(from.slice(1, begin - all.begin, end - begin), group,
                                      begin - group * channels, end - group * channels);
        !stored)
      return stored;
  }
  return {};
}

Expected<void> storeRows(Builder &builder, const TiledOp &tiled, int64_t rows, int64_t address) {
  const AxisExtents &extents = tiled.model->result;
  const Tile &tile = tiled.result.tile;
  const int64_t channels = extents[kAxisC] / rows;
  const int64_t width = extents[kAxisW];
  const int64_t plane = extents[kAxisH] * rows * width;
  return storeGroups(
      tiled, rows, [&](const LocalTensor &from, int64_t row, int64_t begin, int64_t end) {
        const int64_t offset = tile[kAxisN].begin * channels * plane + begin * plane +
                               (tile[kAxisH].begin * rows + row) * width + tile[kAxisW].begin;
        GlobalTensor to = globalTensor(
            from.type,
            extentsOf(tile[kAxisN].size, end - begin, tile[kAxisH].size, tile[kAxisW].size),
            static_cast<uint64_t>(address + byteSize(from.type, offset)));
        to.stride = extentsOf(channels * plane, plane, rows * width, 1);
        return emitStore(builder, from, to);
      });
}

Expected<void> storeTurned(Builder &builder, const TiledOp &tiled, int64_t groups,
                           int64_t address) {
  const AxisExtents &extents = tiled.model->result;
  const Tile &tile = tiled.result.tile;
  const int64_t channels = extents[kAxisC] / groups;
  const int64_t width = extents[kAxisW];
  const int64_t elements = extents[kAxisH] * width * channels;
  return storeGroups(
      tiled, groups, [&](const LocalTensor &from, int64_t group, int64_t begin, int64_t end) {
        const int64_t offset = (tile[kAxisN].begin * groups + group) * elements +
                               (tile[kAxisH].begin * width + tile[kAxisW].begin) * channels + begin;
        // Turned, the columns stand where the channels did.
        GlobalTensor to = globalTensor(
            from.type,
            extentsOf(tile[kAxisN].size, tile[kAxisW].size, tile[kAxisH].size, end - begin),
            static_cast<uint64_t>(address + byteSize(from.type, offset)));
        to.stride = extentsOf(groups * elements, channels, width * channels, 1);
        return emitStoreTransposedCW(builder, from, to);
      });
}

//===--- Constants --------------------------------------------------------===//

/// The layout of a filter [output channels, input channels, h, w] that stands in parts: round of
/// lanes, part of the blocks, part of the taps, lane, and what a part holds.
static PackedLayout partsLayout(const ChannelRows &rows, ArrayRef<int64_t> dims, int64_t block) {
  const auto [blockParts, tapParts] = rows.parts;
  const int64_t blocks = ceilDiv(dims[1], block);
  const int64_t rounds = rows.phaseRows() / rows.lanes();
  return {.shape = {rows.phaseRows(), rows.row},
          .blocks = {rounds, blockParts, tapParts, rows.lanes(), blocks / blockParts,
                     dims[2] / tapParts, dims[3], block},
          .order = {0, 3, 1, 4, 7, 2, 5, 6},
          .padded = {rows.phaseRows(), blocks * block, dims[2], dims[3]}};
}

/// The layout of a filter [input channels, 1, h, w] whose taps take the place of channels.
static PackedLayout tapsLayout(const ChannelRows &rows, ArrayRef<int64_t> dims, int64_t block) {
  const int64_t blocks = ceilDiv(dims[0], block);
  return {.shape = {rows.lanes(), rows.laneRows() * rows.row},
          .blocks = {dims[2], dims[3], rows.laneRows(), blocks, block},
          .order = {3, 4, 2, 0, 1},
          .padded = {blocks * block, rows.laneRows(), dims[2], dims[3]}};
}

/// The layout of a filter: `dims` in the order [output channels, input channels, taps...], or with
/// the first two exchanged (`isSwapped`).
static PackedLayout filterLayout(const ChannelRows &rows, ArrayRef<int64_t> dims, bool isSwapped,
                                 bool isWhole, int64_t block) {
  const int64_t inputs = isWhole ? 1 : dims[isSwapped ? 0 : 1];
  const int64_t width = isWhole ? 1 : block;
  const int64_t blocks = static_cast<int64_t>(llvm::divideCeil(inputs, width));
  const ArrayRef<int64_t> taps = dims.drop_front(2);
  // The packed order: lane, phases, slot (or phases, channel), block, taps, input channel within
  // the block. Words of channels take the place of more channels.
  PackedLayout layout;
  const auto add = [&](int64_t extent) {
    layout.blocks.push_back(extent);
    return static_cast<int64_t>(layout.blocks.size()) - 1;
  };
  SmallVector<int64_t> channelOrder;
  if (rows.isByLane)
    channelOrder.push_back(add(rows.lanes()));
  SmallVector<SmallVector<int64_t>> tapOrder(taps.size());
  for (size_t axis = 0; axis < taps.size(); ++axis)
    if (int64_t factor = factorOf(rows, axis, taps.size()); factor > 1)
      tapOrder[axis].push_back(add(factor));
  channelOrder.insert(channelOrder.begin(), add(rows.phaseRows()));
  SmallVector<int64_t> inputOrder = {add(blocks)};
  SmallVector<int64_t> paddedTaps;
  for (auto [axis, extent] : llvm::enumerate(taps)) {
    const int64_t factor = factorOf(rows, axis, taps.size());
    const auto own = static_cast<int64_t>(llvm::divideCeil(extent, factor));
    tapOrder[axis].insert(tapOrder[axis].begin(), add(own));
    paddedTaps.push_back(own * factor);
  }
  inputOrder.push_back(add(width));
  layout.order = isSwapped ? inputOrder : channelOrder;
  llvm::append_range(layout.order, isSwapped ? channelOrder : inputOrder);
  for (const SmallVector<int64_t> &order : tapOrder)
    llvm::append_range(layout.order, order);
  const int64_t channels = (rows.isByLane ? rows.lanes() : 1) * rows.phaseRows();
  layout.padded = {channels, blocks * width};
  if (isSwapped)
    std::swap(layout.padded[0], layout.padded[1]);
  llvm::append_range(layout.padded, paddedTaps);
  layout.shape = {rows.isByLane ? rows.lanes() : rows.laneRows(),
                  rows.isByLane ? rows.laneRows() * rows.row : rows.row};
  return layout;
}

/// One number for each channel.
static PackedLayout biasLayout(const ChannelRows &rows) {
  return {.shape = {rows.lanes(), rows.slots()},
          .blocks = {rows.lanes(), rows.slots()},
          .order = {1, 0},
          .padded = {rows.lanes() * rows.slots()}};
}

/// Slopes [..., channels, ...], of which one dimension counts.
static PackedLayout slopeLayout(const ChannelRows &rows, ArrayRef<int64_t> dims) {
  PackedLayout layout{.shape = {rows.lanes(), rows.laneRows()},
                      .blocks = {rows.lanes(), rows.laneRows()},
                      .order = {1, 0},
                      .padded = SmallVector<int64_t>(dims)};
  *llvm::find(layout.padded, rows.channels) = rows.lanes() * rows.laneRows();
  return layout;
}

/// Puts the requantization parameters of channels behind the rows of each lane, or behind all rows.
static void addChannelWords(PackedLayout &layout, const ChannelRows &rows,
                            ArrayRef<int32_t> words) {
  const GlobalTensor place = channelWords(rows, {0, rows.channels}, 0);
  const int64_t numWords = std::ssize(words);
  const int64_t each = rows.areTaps ? kRequantWords : numWords / rows.channels;
  for (int64_t channel = 0; channel < rows.channels; ++channel) {
    // Taps may share the words of their channel.
    const auto *own = reinterpret_cast<const uint8_t *>(&words[channel * each % numWords]);
    layout.parameters.push_back({static_cast<int64_t>(place.address) +
                                     channel % int64_t{kLanes} * place.stride[1] +
                                     channel / int64_t{kLanes} * ChannelRows::kSlotBytes,
                                 {own, own + each * sizeof(int32_t)}});
  }
}

/// The bias of the only channel for each of its taps.
static Expected<PackedLayout> tapBiasLayout(Operation *op, const ChannelRows &rows) {
  Expected<Tensor> bias = readConstant(op, 2);
  if (!bias)
    return propagate(bias);
  PackedLayout layout = biasLayout(rows);
  const auto *bytes = reinterpret_cast<const uint8_t *>(bias->rawBytes().data());
  for (int64_t tap = 1; tap < rows.channels; ++tap)
    layout.parameters.push_back({tap * bias->byteSize(), {bytes, bytes + bias->byteSize()}});
  return layout;
}

/// Of an operand that is a row for each channel.
static Expected<PackedLayout> convolutionLayout(OpOperand &operand, const TileModel &model) {
  Operation *op = operand.getOwner();
  const unsigned index = operand.getOperandNumber();
  const ChannelRows rows = channelRows(op, model, index);
  const bool isByOne = isDepthwise(op, model);
  PackedLayout layout;
  if (index == 2 && rows.areTaps)
    return tapBiasLayout(op, rows);
  if (index == 2) {
    layout = biasLayout(rows);
    // The command takes the bias in the type of the input.
    if (isByOne)
      layout.type = elementTypeOf(op, 0);
    return layout;
  }
  const auto dims = cast<RankedTensorType>(operand.get().getType()).getShape();
  const int64_t block = channelBlock(elementTypeOf(op, 1));
  if (rows.isInParts())
    return partsLayout(rows, dims, block);
  if (rows.areTaps)
    return tapsLayout(rows, dims, block);
  return filterLayout(rows, dims, isa<tpu::DeconvOp>(op) && !isByOne, isByOne, block);
}

/// Filters and biases of one direction.
static PackedLayout recurrentLayout(const ChannelRows &rows, ArrayRef<int64_t> dims,
                                    unsigned index) {
  PackedLayout layout = index == kRecurrentBias
                            ? biasLayout(rows)
                            : filterLayout(rows, dims.drop_front(), /*isSwapped=*/false,
                                           /*isWhole=*/false, channelBlock(rows.type));
  layout.padded.insert(layout.padded.begin(), 1);
  if (index == kRecurrentBias)
    layout.type = DataType::F32;
  return layout;
}

std::optional<int64_t> residentAlignment(OpOperand &operand) {
  Operation *op = operand.getOwner();
  const unsigned index = operand.getOperandNumber();
  if (operandForm(op, index) != OperandForm::PerChannel || !isConstantOperand(op, index))
    return std::nullopt;
  // With words behind them filters are long, and would only hold up the first layer.
  if (carriesParameters(op, index))
    return std::nullopt;
  Expected<TileModel> model = tileModel(op, chipInfo());
  if (!model)
    return std::nullopt;
  // The phases of one channel are apart, so a part of the channels is in several places.
  const ChannelRows rows = channelRows(op, *model, index);
  if (!rows.isByLane || rows.phases() > 1)
    return std::nullopt;
  // Filters in blocks of input channels begin at whole lines of a lane.
  if (isRecurrent(op))
    return index == kRecurrentBias ? int64_t{4} : int64_t{kEuBytes};
  return index == 1 && !isDepthwise(op, *model) ? int64_t{kEuBytes} : int64_t{4};
}

/// A constant matrix: F32 ones are turned, those of integers carry rows of words.
static std::optional<PackedLayout> matrixLayout(tpu::MatMulOp op, ArrayRef<int64_t> dims) {
  if (dims.size() != 2)
    return std::nullopt;
  if (carriesParameters(op, 1)) {
    const int64_t columns = dims[op.getRightTranspose() ? 0 : 1];
    const int64_t bytes = columnWordsAt(dims[0] * dims[1]) +
                          kColumnRows * columns * static_cast<int64_t>(sizeof(int32_t));
    const auto rows = static_cast<int64_t>(llvm::divideCeil(bytes, dims[1]));
    return PackedLayout{.shape = {rows, dims[1]},
                        .blocks = {rows, dims[1]},
                        .order = {0, 1},
                        .padded = {rows, dims[1]}};
  }
  if (!op.getRightTranspose() || elementTypeOf(op, 1) != DataType::F32)
    return std::nullopt;
  return PackedLayout{.shape = {dims[1], dims[0]},
                      .blocks = {dims[1], dims[0]},
                      .order = {1, 0},
                      .padded = {dims[0], dims[1]}};
}

Expected<std::optional<PackedLayout>> packedLayout(OpOperand &operand) {
  Operation *op = operand.getOwner();
  const unsigned index = operand.getOperandNumber();
  Expected<TileModel> model =
      isa<tpu::ConvOp, tpu::DeconvOp, tpu::MatMulOp, tpu::PReluOp>(op) || isRecurrent(op)
          ? tileModel(op, chipInfo())
          : Expected<TileModel>(TileModel());
  // What cannot be computed needs no layout.
  if (!constantOf(operand.get()) || !model)
    return std::optional<PackedLayout>();
  const auto dims = cast<RankedTensorType>(operand.get().getType()).getShape();
  std::optional<PackedLayout> layout;
  if (auto product = dyn_cast<tpu::MatMulOp>(op); product && index == 1)
    layout = matrixLayout(product, dims);
  else if (isa<tpu::ConvOp, tpu::DeconvOp>(op) &&
           operandForm(op, index) == OperandForm::PerChannel) {
    Expected<PackedLayout> made = convolutionLayout(operand, *model);
    if (!made)
      return propagate(made);
    layout = std::move(*made);
  } else if (isRecurrent(op) && operandForm(op, index) == OperandForm::PerChannel)
    layout = recurrentLayout(channelRows(op, *model, index), dims, index);
  else if (isa<tpu::PReluOp>(op) && carriesParameters(op, index))
    layout = slopeLayout(channelRows(op, *model, index), dims);
  if (!layout || !carriesParameters(op, index))
    return layout;
  Expected<std::vector<int32_t>> words = parameterWords(op);
  if (!words)
    return propagate(words);
  if (isa<tpu::MatMulOp>(op)) {
    const auto *bytes = reinterpret_cast<const uint8_t *>(words->data());
    layout->parameters.push_back(
        {columnWordsAt(dims[0] * dims[1]), {bytes, bytes + words->size() * sizeof(int32_t)}});
  } else {
    addChannelWords(*layout, channelRows(op, *model, index), *words);
  }
  return layout;
}

} // namespace tpuc::bm1684x::backend

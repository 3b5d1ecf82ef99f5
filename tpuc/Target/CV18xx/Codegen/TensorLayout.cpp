//===- TensorLayout.cpp - How tensors lie in both memories ----------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/CV18xx/Codegen/TensorLayout.h"
#include "tpuc/Codegen/Layers.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Dialect/Tpu/BinaryOps.h"
#include "tpuc/Dialect/Tpu/CastOps.h"
#include "tpuc/Dialect/Tpu/ConvolutionOps.h"
#include "tpuc/Dialect/Tpu/GroupOps.h"
#include "tpuc/Dialect/Tpu/MatrixOps.h"
#include "tpuc/Dialect/Tpu/PoolOps.h"
#include "tpuc/Dialect/Tpu/RecurrentOps.h"
#include "tpuc/Dialect/Tpu/ReduceOps.h"
#include "tpuc/Dialect/Tpu/StoredType.h"
#include "tpuc/Dialect/Tpu/UnaryOps.h"
#include "tpuc/Interpreter/Kernels/FixedPoint.h"
#include "tpuc/Support/Convert.h"
#include "tpuc/Support/Float.h"
#include "tpuc/Target/CV18xx/Codegen/SlicedOps.h"
#include "tpuc/Target/CV18xx/Kernels/Products.h"
#include "tpuc/Target/CV18xx/Kernels/Windows.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tpuc::codegen;

namespace tpuc::cv18xx::backend {

// Not the machine's.
using mlir::Operation;

static int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

ArrayRef<int64_t> extentsIn(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

top::WeightOp constantOf(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (auto weight = dyn_cast<top::WeightOp>(op))
      return weight;
    if (!isa<tpu::UnpackOp, tpu::LoadOp>(op))
      break;
    value = op->getOperand(0);
  }
  return {};
}

Value tensorOf(Operation *op, unsigned index) {
  return index < op->getNumOperands() ? op->getOperand(index) : givenResult(op);
}

std::optional<double> numberOf(Operation *op, unsigned index) {
  if (index >= op->getNumOperands())
    return std::nullopt;
  auto type = dyn_cast<RankedTensorType>(op->getOperand(index).getType());
  if (!type || !type.hasStaticShape() || type.getNumElements() != 1)
    return std::nullopt;
  top::WeightOp weight = constantOf(op->getOperand(index));
  if (!weight)
    return std::nullopt;
  Expected<std::vector<float>> values = weight.read_as_float();
  return values ? std::optional<double>(values->front()) : std::nullopt;
}

bool hasConstantMatrix(Operation *op) {
  auto product = dyn_cast<tpu::MatMulOp>(op);
  return product && constantOf(product.getRight()) && extentsIn(product.getRight()).size() == 2;
}

bool hasComputedMatrix(Operation *op) { return isa<tpu::MatMulOp>(op) && !hasConstantMatrix(op); }

//===--- Filters ------------------------------------------------------------===//

int64_t FilterLayout::carriedRows() const {
  return ceilDiv(channels * carried, row * elementBytes());
}

int64_t FilterLayout::rowBytes(const Chip &chip, int64_t count) const {
  const int64_t bytes = row * elementBytes();
  return ceilDiv(count, chip.lanes) * (isDepthwise ? alignedTo(bytes, kEuBytes) : bytes);
}

int64_t FilterLayout::carriedBytes(const Chip &chip, int64_t count) const {
  return ceilDiv(count, chip.lanes) * carried;
}

LocalMatrix FilterLayout::gate(int64_t number, int64_t address, const Chip &chip) const {
  LocalMatrix matrix{0, static_cast<uint32_t>(row + biasRows()),
                     static_cast<uint32_t>(channels / gates), isBf16};
  matrix.address = static_cast<uint32_t>(address + number * matrix.bytes(chip));
  return matrix;
}

/// The number of the operand that has biases.
static unsigned biasOf(Operation *op);

/// A cell, whose filter and recurrence are both filters.
bool isCell(Operation *op) { return isa<tpu::LSTMOp, tpu::GRUOp, tpu::RNNOp>(op); }

unsigned biasOf(Operation *op) { return isCell(op) ? 3 : 2; }

FilterLayout filterOf(Operation *op, unsigned index) {
  FilterLayout layout;
  const ArrayRef<int64_t> dims = extentsIn(op->getOperand(index));
  if (isCell(op)) {
    layout.channels = dims[1];
    layout.row = dims[2];
    layout.gates = dims[1] / op->getAttrOfType<IntegerAttr>("hidden_size").getInt();
  } else if (auto conv = dyn_cast<tpu::ConvOp>(op)) {
    layout.channels = dims[0];
    layout.row = ShapedType::getNumElements(dims.drop_front());
    layout.isDepthwise =
        conv.getGroup() != 1 && static_cast<int64_t>(conv.getGroup()) == dims[0] && dims[1] == 1;
    if (conv.getGroup() == 1)
      layout.inputs = dims[1];
  } else if (auto deconv = dyn_cast<tpu::DeconvOp>(op)) {
    const auto groups = static_cast<int64_t>(deconv.getGroup());
    layout.channels = groups * dims[1];
    layout.row = dims[0] / groups * ShapedType::getNumElements(dims.drop_front(2));
    layout.isDepthwise = groups != 1 && groups == dims[0] && dims[1] == 1;
    layout.turnedTaps = {dims.size() > 3 ? dims[2] : 1, dims.back()};
  } else {
    layout.isMatrix = true;
    const bool isTurned = cast<tpu::MatMulOp>(op).getRightTranspose();
    layout.channels = dims[isTurned ? 0 : 1];
    layout.row = dims[isTurned ? 1 : 0];
  }
  const auto type = storageDataType(op->getOperand(index).getType());
  layout.isBf16 = type == DataType::BF16;
  if (!layout.isBf16 && layout.inputs > 1 && layout.inputs % 2 != 0) {
    layout.row += layout.row / layout.inputs;
    ++layout.inputs;
  }
  const bool hasBias = !isa<NoneType>(op->getOperand(biasOf(op)).getType());
  auto conv = dyn_cast<tpu::ConvOp>(op);
  // Slices of groups have biases of their own.
  const bool hasGroups = conv && conv.getGroup() != 1 && !layout.isDepthwise && !isSliced(op);
  layout.carried = !layout.isBf16 ? kRequantBytes : !hasBias ? 0 : hasGroups ? 2 : 4;
  // There is no cell of integers.
  if (isCell(op) && !layout.isBf16)
    layout.carried = 0;
  return layout;
}

//===--- Tensors ------------------------------------------------------------===//

/// Whether an operand is a number in a command.
static bool isNumber(Operation *op, unsigned index) {
  if (isa<tpu::CompareOp>(op) || (isa<tpu::WhereOp>(op) && index != 0))
    return index < op->getNumOperands() && numberOf(op, index) &&
           storageDataType(op->getOperand(index).getType()) == DataType::BF16;
  return index == 1 && isa<tpu::AddOp, tpu::SubOp, tpu::MulOp, tpu::MaxOp, tpu::MinOp>(op) &&
         numberOf(op, index) && storageDataType(op->getOperand(0).getType()) == DataType::BF16;
}

static Form formOf(Operation *op, unsigned index, const TileModel &model) {
  const bool isResult = index == op->getNumOperands();
  const Value value = tensorOf(op, index);
  if (isa<NoneType>(value.getType()) || (!isResult && !model.operands[index].isPresent) ||
      isNumber(op, index))
    return Form::Absent;
  const bool isProduct = hasConstantMatrix(op);
  if (isProduct || isa<tpu::ConvOp, tpu::DeconvOp>(op)) {
    if (index == 1)
      return Form::Filter;
    if (index == 2)
      return Form::Absent;
    return isProduct ? Form::Columns : Form::Plain;
  }
  if (isCell(op))
    return index == 1 || index == 2   ? Form::Gates
           : index == 3 || index == 4 ? Form::Absent
                                      : Form::Rows;
  if (hasComputedMatrix(op))
    return index == 2 ? Form::Absent : Form::Matrix;
  if (isa<tpu::LutOp>(op) && index == 1)
    return Form::Table;
  if ((index == 0 || (isResult && !isa<tpu::ReduceOp>(op))) && worksInTheMiddle(op))
    return Form::Turned;
  const bool isRepeated =
      !isResult && model.operands[index].extents[kAxisC] == 1 && model.result[kAxisC] != 1;
  return isRepeated ? Form::EveryLane : Form::Plain;
}

CV18xxLayout::CV18xxLayout(const Chip &chip, Operation *op, const TileModel &model)
    : chip(chip),
      isWindow(isa<tpu::ConvOp, tpu::MaxPoolOp, tpu::AvgPoolOp>(op) || hasConstantMatrix(op)) {
  for (unsigned index = 0; index <= op->getNumOperands(); ++index) {
    const bool isResult = index == op->getNumOperands();
    TensorLayout &tensor = tensors.emplace_back();
    tensor.form = formOf(op, index, model);
    tensor.isLoaded = tensor.form != Form::Absent;
    tensor.type = storageDataType(tensorOf(op, index).getType()).value_or(DataType::F32);
    tensor.isBf16 = tensor.type == DataType::BF16;
    tensor.extents = isResult ? model.result : model.operands[index].extents;
    if (tensor.form == Form::Filter || tensor.form == Form::Gates)
      tensor.filter = filterOf(op, index);
    if (auto product = dyn_cast<tpu::MatMulOp>(op))
      tensor.isTurned =
          (tensor.form == Form::Matrix && index == 1 && product.getRightTranspose()) ||
          (tensor.form == Form::Columns && index == 0 && product.getLeftTranspose());
    const bool isOfOthers = tensor.form == Form::Plain || tensor.form == Form::Columns ||
                            tensor.form == Form::Turned || tensor.form == Form::Matrix;
    if (isOfOthers && !tensor.isTurned)
      tensor.likeness = static_cast<uint8_t>(tensor.form);
  }
}

/// A tile as [n, channels over lanes, rows, elements of a row].
static Extents shapeOf(Form form, const Tile &tile) {
  const auto size = [&](unsigned axis) { return static_cast<uint32_t>(tile[axis].size); };
  if (form == Form::Columns)
    return {size(kAxisN), size(kAxisW), size(kAxisC), 1};
  return {size(kAxisN), size(kAxisC), size(kAxisD) * size(kAxisH), size(kAxisW)};
}

int64_t CV18xxLayout::bytes(unsigned index, const Tile &tile) const {
  const TensorLayout &tensor = tensors[index];
  switch (tensor.form) {
  case Form::Absent:
    return 0;
  case Form::Table:
    return 256 * (tensor.isBf16 ? 2 : 1);
  case Form::Matrix: {
    const LocalMatrix one{0, static_cast<uint32_t>(tile[tensor.rowAxis()].size),
                          static_cast<uint32_t>(tile[tensor.columnAxis()].size), tensor.isBf16};
    return tile[kAxisN].size * one.bytes(chip);
  }
  case Form::Rows:
    return tensor.rows(0).bytes(chip);
  case Form::Gates:
    return tensor.filter.gates * tensor.filter.gate(0, 0, chip).bytes(chip);
  case Form::Filter: {
    const int64_t count = tensor.channels(tile).size;
    return alignedTo(tensor.filter.rowBytes(chip, count), kEuBytes) +
           alignedTo(tensor.filter.carriedBytes(chip, count), kEuBytes);
  }
  default: {
    Extents shape = shapeOf(tensor.form, tile);
    const bool isTooLong = llvm::any_of(llvm::ArrayRef(shape).drop_front(),
                                        [](uint32_t extent) { return extent > kMostWindowExtent; });
    if (isWindow && isTooLong)
      return int64_t{kLaneBytes} + 1;
    if (tensor.form == Form::EveryLane)
      shape[1] = 1;
    return alignedBytes(chip, shape, tensor.isBf16);
  }
  }
}

LocalMatrix TensorLayout::rows(int64_t address) const {
  return {static_cast<uint32_t>(address), static_cast<uint32_t>(extents[kAxisW]),
          static_cast<uint32_t>(extents[kAxisC]), isBf16};
}

Range TensorLayout::channels(const Tile &tile) const {
  return tile[filter.isMatrix ? kAxisW : kAxisC];
}

Expected<LocalTensor> TensorLayout::local(const Chip &chip, const LocalTile &tile) const {
  if (form == Form::Rows) {
    const LocalMatrix matrix = rows(tile.address);
    return alignedTensor(chip, matrix.address,
                         {matrix.rows, matrix.pieces(chip), 1, matrix.width(chip)}, isBf16);
  }
  const Tile &held = tile.held.value_or(tile.tile);
  LocalTensor tensor =
      alignedTensor(chip, static_cast<uint32_t>(tile.address), shapeOf(form, held), isBf16);
  if (form == Form::EveryLane)
    tensor.strides[1] = 0;
  if (!tile.held || *tile.held == tile.tile)
    return tensor;
  const auto lead = [&](unsigned axis) { return tile.tile[axis].begin - held[axis].begin; };
  const unsigned lanesAxis = form == Form::Columns ? kAxisW : kAxisC;
  if (lead(lanesAxis) % int64_t{chip.lanes} != 0)
    return makeError("", "a part that begins in another lane", "whole rounds of lanes");
  const bool hasPlanes = held[kAxisD].size != 1;
  if (hasPlanes && tile.tile[kAxisH] != held[kAxisH])
    return makeError("", "a part of planes", "whole ones");
  const int64_t rows =
      form == Form::Columns ? lead(kAxisC) : lead(kAxisD) * held[kAxisH].size + lead(kAxisH);
  const int64_t columns = form == Form::Columns ? 0 : lead(kAxisW);
  tensor.address += static_cast<uint32_t>(
      lead(kAxisN) * tensor.strides[0] + lead(lanesAxis) / int64_t{chip.lanes} * tensor.strides[1] +
      rows * tensor.strides[2] + columns * tensor.strides[3]);
  tensor.shape = shapeOf(form, tile.tile);
  return tensor;
}

int64_t addressIn(Value value) {
  if (top::WeightOp weight = constantOf(value))
    value = weight.getOutput();
  return addressOf(value.getType()).value_or(0);
}

GlobalTensor placeOf(int64_t address) {
  GlobalTensor tensor;
  tensor.base = static_cast<unsigned>(address >> kTagShift);
  tensor.offset = static_cast<uint64_t>(address & ((int64_t{1} << kTagShift) - 1));
  return tensor;
}

std::array<uint64_t, kNumAxes> TensorLayout::strides() const {
  static constexpr std::array<unsigned, kNumAxes> kOrder = {kAxisW, kAxisH, kAxisD, kAxisC, kAxisN};
  static constexpr std::array<unsigned, kNumAxes> kTurned = {kAxisC, kAxisW, kAxisH, kAxisD,
                                                             kAxisN};
  std::array<uint64_t, kNumAxes> strides{};
  uint64_t stride = isBf16 ? 2 : 1;
  const bool hasRowsLast = form == Form::Turned || (form == Form::Columns && isTurned);
  for (const unsigned axis : hasRowsLast ? kTurned : kOrder) {
    strides[axis] = stride;
    stride *= static_cast<uint64_t>(extents[axis]);
  }
  return strides;
}

Expected<GlobalTensor> TensorLayout::global(const Tile &tile, int64_t address) const {
  GlobalTensor tensor = placeOf(address);
  tensor.isBf16 = isBf16;
  tensor.shape = shapeOf(form, tile);
  const std::array<uint64_t, kNumAxes> strides = this->strides();
  for (unsigned axis = 0; axis < kNumAxes; ++axis)
    tensor.offset += static_cast<uint64_t>(tile[axis].begin) * strides[axis];
  if (form == Form::Columns) {
    tensor.strides = {strides[kAxisN], strides[kAxisW], strides[kAxisC]};
    if (isTurned)
      std::swap(tensor.shape[2], tensor.shape[3]);
    return tensor;
  }
  if (form == Form::Turned) {
    tensor.strides = {strides[kAxisN], strides[kAxisC], strides[kAxisW]};
    std::swap(tensor.shape[2], tensor.shape[3]);
    return tensor;
  }
  tensor.strides = {strides[kAxisN], strides[kAxisC], strides[kAxisH]};
  const bool hasPlanes = tile[kAxisD].size != 1;
  if (hasPlanes && tile[kAxisH].size == 1)
    tensor.strides[2] = strides[kAxisD];
  else if (hasPlanes && tile[kAxisH].size != extents[kAxisH])
    return makeError("", "a part of planes", "whole ones");
  return tensor;
}

//===--- Packed constants ---------------------------------------------------===//

/// Multiplier and shift of each channel, with the bias in front.
static Expected<std::vector<uint8_t>> requantBytes(Operation *op, const FilterLayout &filter,
                                                   ArrayRef<int32_t> biases) {
  const auto mode = op->getAttrOfType<StringAttr>("quant_mode");
  const auto multipliers = op->getAttrOfType<ArrayAttr>("multiplier");
  const auto shifts = op->getAttrOfType<ArrayAttr>("rshift");
  const StringRef twice = requantModeName(kernels::fixedPointMode(false));
  if (!mode || mode.getValue() != twice || !multipliers || !shifts || multipliers.empty() ||
      multipliers.size() != shifts.size())
    return makeError("", "sums that are not scaled by multiplier and shift",
                     "quant_mode " + twice.str());
  const auto factor = [](ArrayAttr factors, int64_t channel) {
    const auto at = factors.size() == 1 ? 0 : static_cast<unsigned>(channel);
    return cast<IntegerAttr>(factors[at]).getInt();
  };
  if (multipliers.size() != 1 && static_cast<int64_t>(multipliers.size()) != filter.channels)
    return makeError("", std::to_string(multipliers.size()) + " factors",
                     "one for each of " + std::to_string(filter.channels) + " channels");
  constexpr int64_t kMostShift = 31;
  std::vector<uint8_t> bytes;
  for (int64_t channel = 0; channel < filter.channels; ++channel) {
    int64_t multiplier = factor(multipliers, channel);
    int64_t shift = factor(shifts, channel);
    if (multiplier < 0 || multiplier > INT32_MAX || shift < 0)
      return makeError("",
                       "a factor of " + std::to_string(multiplier) + " >> " + std::to_string(shift),
                       "one that is not negative, of 31 bits");
    // A product of 32 bits leaves nothing of so many, but the chip shifts in another way then.
    if (shift > kMostShift)
      multiplier = shift = 0;
    const int32_t bias = biases.empty() ? 0 : biases[static_cast<size_t>(channel)];
    for (const auto word : {static_cast<uint32_t>(bias), static_cast<uint32_t>(multiplier)})
      for (unsigned byte = 0; byte < 4; ++byte)
        bytes.push_back(static_cast<uint8_t>(word >> 8 * byte));
    bytes.push_back(static_cast<uint8_t>(shift));
  }
  return bytes;
}

/// The upper halves of all biases, then the lower ones.
static std::vector<uint8_t> biasHalves(ArrayRef<float> biases) {
  std::vector<uint8_t> bytes;
  for (const unsigned half : {16U, 0U})
    for (const float bias : biases) {
      const uint32_t bits = std::bit_cast<uint32_t>(bias) >> half;
      bytes.push_back(static_cast<uint8_t>(bits));
      bytes.push_back(static_cast<uint8_t>(bits >> 8));
    }
  return bytes;
}

/// Behind the rows of each gate the halves of its biases. Those of the filter are in front of those
/// of the recurrence.
static Expected<std::vector<PackedLayout::Bytes>> gateBiases(Operation *op, unsigned index,
                                                             const FilterLayout &filter) {
  top::WeightOp weight = constantOf(op->getOperand(biasOf(op)));
  if (!weight)
    return makeError("", "a bias that is computed", "a constant");
  Expected<std::vector<float>> numbers = weight.read_as_float();
  if (!numbers)
    return propagate(numbers);
  const int64_t units = filter.channels / filter.gates;
  std::vector<PackedLayout::Bytes> made;
  for (int64_t gate = 0; gate < filter.gates; ++gate)
    made.push_back(
        {(gate * (filter.row + filter.biasRows()) + filter.row) * units * filter.elementBytes(),
         biasHalves(ArrayRef<float>(*numbers).slice(
             static_cast<size_t>((index - 1) * filter.channels + gate * units),
             static_cast<size_t>(units)))});
  return made;
}

static Expected<std::vector<uint8_t>> carriedBytes(Operation *op, const FilterLayout &filter) {
  std::optional<Tensor> bias;
  if (const Value given = op->getOperand(biasOf(op)); !isa<NoneType>(given.getType())) {
    top::WeightOp weight = constantOf(given);
    if (!weight)
      return makeError("", "a bias that is computed", "a constant");
    Expected<Tensor> read = weight.read();
    if (!read)
      return propagate(read);
    bias = std::move(*read);
  }
  const auto spread = [&](auto values) {
    using Value = std::remove_const_t<typename decltype(values)::element_type>;
    std::vector<Value> made(values.begin(), values.end());
    if (made.size() == 1)
      made.assign(static_cast<size_t>(filter.channels), Value(values[0]));
    return made;
  };
  if (filter.isBf16) {
    const Tensor numbers = convert(*bias, DataType::F32);
    if (filter.carried == 2) {
      std::vector<uint8_t> bytes;
      for (const float number : spread(numbers.data<float>())) {
        const auto bits = static_cast<uint16_t>(encodeFloat<DataType::BF16>(number));
        bytes.push_back(static_cast<uint8_t>(bits));
        bytes.push_back(static_cast<uint8_t>(bits >> 8));
      }
      return bytes;
    }
    return biasHalves(spread(numbers.data<float>()));
  }
  std::vector<int32_t> biases;
  if (bias && bias->type() != DataType::I32)
    return makeError("", "a bias of another type", "i32");
  if (bias)
    biases = spread(bias->data<int32_t>());
  if (bias && static_cast<int64_t>(biases.size()) != filter.channels)
    return makeError("", std::to_string(biases.size()) + " biases", "one for each channel");
  return requantBytes(op, filter, biases);
}

/// [rows, kh, kw, ic] for [oc, ic, kh, kw]; matrices as rows of the shared dimension; of cells
/// [gates, inputs and biases, units].
static PackedLayout rowsLayout(Operation *op, const FilterLayout &filter, int64_t rows) {
  const ArrayRef<int64_t> dims = extentsIn(op->getOperand(1));
  PackedLayout layout;
  layout.shape = {rows, filter.row};
  if (isCell(op)) {
    const int64_t length = filter.row + filter.biasRows(), units = filter.channels / filter.gates;
    layout.shape = {filter.gates * length, units};
    layout.blocks = {filter.gates, length, units};
    layout.order = {0, 2, 1};
    layout.padded = {1, filter.channels, length};
    return layout;
  }
  if (isa<tpu::DeconvOp>(op) && !filter.isDepthwise) {
    // Of [ic, oc, kh, kw], one group.
    layout.blocks = {rows};
    llvm::append_range(layout.blocks, dims.drop_front(2));
    layout.blocks.push_back(dims[0]);
    layout.order = {static_cast<int64_t>(dims.size()) - 1, 0};
    for (int64_t axis = 1; axis + 1 < std::ssize(dims); ++axis)
      layout.order.push_back(axis);
    layout.padded = SmallVector<int64_t>(dims);
    layout.padded[1] = rows;
    return layout;
  }
  if (isa<tpu::ConvOp, tpu::DeconvOp>(op)) {
    layout.blocks = {rows};
    llvm::append_range(layout.blocks, dims.drop_front(2));
    const int64_t inputs = filter.inputs != 0 ? filter.inputs : dims[1];
    layout.blocks.push_back(inputs);
    layout.order = {0, static_cast<int64_t>(dims.size()) - 1};
    for (int64_t axis = 1; axis + 1 < std::ssize(dims); ++axis)
      layout.order.push_back(axis);
    layout.padded = SmallVector<int64_t>(dims);
    layout.padded[0] = rows;
    layout.padded[1] = inputs;
    return layout;
  }
  const bool isTurned = cast<tpu::MatMulOp>(op).getRightTranspose();
  layout.blocks = {rows, filter.row};
  layout.order = isTurned ? SmallVector<int64_t>{0, 1} : SmallVector<int64_t>{1, 0};
  layout.padded =
      isTurned ? SmallVector<int64_t>{rows, filter.row} : SmallVector<int64_t>{filter.row, rows};
  return layout;
}

Expected<std::optional<PackedLayout>> packedLayout(OpOperand &operand) {
  Operation *op = operand.getOwner();
  const unsigned index = operand.getOperandNumber();
  const bool isFilter =
      (index == 1 && (isa<tpu::ConvOp, tpu::DeconvOp>(op) || hasConstantMatrix(op))) ||
      ((index == 1 || index == 2) && isCell(op));
  if (!isFilter || !constantOf(operand.get()))
    return std::optional<PackedLayout>();
  const FilterLayout filter = filterOf(op, index);
  PackedLayout layout = rowsLayout(op, filter, filter.channels + filter.carriedRows());
  if (filter.carried != 0 && isCell(op)) {
    Expected<std::vector<PackedLayout::Bytes>> biases = gateBiases(op, index, filter);
    if (!biases)
      return propagate(biases);
    layout.parameters = std::move(*biases);
  } else if (filter.carried != 0) {
    Expected<std::vector<uint8_t>> bytes = carriedBytes(op, filter);
    if (!bytes)
      return propagate(bytes);
    layout.parameters.push_back(
        {filter.channels * filter.row * filter.elementBytes(), std::move(*bytes)});
  }
  return std::optional(std::move(layout));
}

} // namespace tpuc::cv18xx::backend

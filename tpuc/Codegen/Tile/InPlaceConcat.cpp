//===- Concats.cpp - Concatenations in local memory ------------------------------- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Tile/InPlaceConcat.h"
#include "tpuc/Codegen/Layers.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Dialect/Tpu/MovementOps.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::codegen;

static ArrayRef<int64_t> shapeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

int64_t codegen::channelsBefore(Operation *concat, unsigned index) {
  int64_t channels = 0;
  for (Value operand : concat->getOperands().take_front(index))
    channels += shapeOf(operand)[1];
  return channels;
}

bool codegen::isInPlaceConcat(Operation *op, const Backend &backend) {
  auto concat = dyn_cast<tpu::ConcatOp>(op);
  if (!concat || concat.getDoRelu() || !isa<RankedTensorType>(concat.getOutput().getType()))
    return false;
  const Value result = concat.getOutput();
  const auto rank = static_cast<int64_t>(shapeOf(result).size());
  const int64_t axis = concat.getAxis();
  if ((rank != 3 && rank != 4) || (axis != 1 && axis != 1 - rank))
    return false;
  llvm::DenseSet<Value> seen;
  for (Value operand : op->getOperands())
    if (storageDataType(operand.getType()) != storageDataType(result.getType()) ||
        (operand.getDefiningOp() && isConstant(operand.getDefiningOp())) ||
        !seen.insert(operand).second)
      return false;
  Expected<Place> place = backend.placeOf(op);
  return place && *place == Place::Global;
}

bool codegen::liesInPlace(Operation *concat, unsigned index, const Backend &backend) {
  return channelsBefore(concat, index) % backend.tileUnit(concat, kAxisC) == 0;
}

Expected<TileModel> codegen::inPlaceConcatModel(Operation *op, const Backend &backend) {
  Expected<AxisExtents> result = axisExtents(shapeOf(op->getResult(0)));
  if (!result)
    return propagate(result);
  TileModel model{.operands = {}, .result = *result, .isTileable = {true, false, true, true, true}};
  for (Value operand : op->getOperands()) {
    OperandModel part{.isPresent = true, .extents = *axisExtents(shapeOf(operand))};
    part.maps[kAxisC] = {.kind = AxisMap::Whole};
    model.operands.push_back(part);
  }
  model.layout = backend.layoutOf(op, model);
  return model;
}

int64_t codegen::concatOffset(Operation *concat, const TileModel &model, unsigned index,
                              const Tile &result) {
  // What one channel more takes than one: a tile ends with its last element, not with the room for
  // the next channel.
  const auto bytesOf = [&](int64_t channels) {
    Tile tile = result;
    tile[kAxisC] = {0, channels};
    return model.localBytes(concat->getNumOperands(), tile);
  };
  return bytesOf(channelsBefore(concat, index) + 1) - bytesOf(1);
}

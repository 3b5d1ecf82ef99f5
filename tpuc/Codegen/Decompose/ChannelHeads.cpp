//===- ChannelHeads.cpp - Heads that are channels of pictures --------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Decompose/ChannelHeads.h"
#include "tpuc/Codegen/Layers.h"
#include "tpuc/Dialect/Top/Names.h"
#include "tpuc/Dialect/Top/ShapeInference.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Dialect/Tpu/MovementOps.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::codegen;

/// Looks through a split or slice of dimension 1, each of whose extents are `each` channels.
static void lookThroughPart(Picked &picked, int64_t each) {
  std::optional<Picked> longer = splitPart(picked.from, 1);
  if (!longer)
    longer = slicePart(picked.from, 1);
  if (longer)
    picked = {longer->from, picked.begin + longer->begin * each};
}

std::optional<Picked> codegen::channelsOfHeads(Value heads) {
  const RankedTensorType type = staticType(heads);
  if (!type || type.getRank() != 4)
    return std::nullopt;
  const ArrayRef<int64_t> dims = type.getShape();
  const int64_t width = dims[3];
  const std::optional<DataType> element = storageDataType(type);
  if (dims[1] == 1 || !element || byteSize(*element, width) >= kLongHeadRow)
    return std::nullopt;
  Picked picked{heads, 0};
  lookThroughPart(picked, width);
  auto permute = picked.from.getDefiningOp<tpu::PermuteOp>();
  if (!permute || top::toInts(permute.getOrder()) != SmallVector<int64_t>{0, 1, 3, 2})
    return std::nullopt;
  picked.from = permute.getInput();
  lookThroughPart(picked, width);
  auto reshape = picked.from.getDefiningOp<tpu::ReshapeOp>();
  const RankedTensorType split = reshape ? staticType(reshape.getOutput()) : RankedTensorType();
  const RankedTensorType channels = reshape ? staticType(reshape.getInput()) : RankedTensorType();
  if (!split || !channels || channels.getRank() < 3 || channels.getDimSize(0) != dims[0] ||
      channels.getDimSize(1) != split.getDimSize(1) * width)
    return std::nullopt;
  picked.from = reshape.getInput();
  lookThroughPart(picked, 1);
  return picked;
}

static Value made(OpBuilder &builder, StringRef kind, ValueRange operands, RankedTensorType type,
                  NamedAttribute attribute, Location loc) {
  OperationState state(loc, kind, operands, {type}, {attribute});
  return builder.create(state)->getResult(0);
}

static Value turned(OpBuilder &builder, Value value, Location loc) {
  const RankedTensorType type = staticType(value);
  const ArrayRef<int64_t> dims = type.getShape();
  return made(builder, tpu::PermuteOp::getOperationName(), value,
              type.clone(ArrayRef<int64_t>{dims[0], dims[2], dims[1]}),
              builder.getNamedAttr("order", builder.getI64ArrayAttr({0, 2, 1})), loc);
}

Value codegen::rowsOfChannels(Value channels) {
  OpBuilder builder(channels.getContext());
  builder.setInsertionPointAfterValue(channels);
  Operation *op = channels.getDefiningOp();
  const std::string name = op ? tensorNames(op)[0] : "";
  const auto named = [&](StringRef what) -> Location {
    return NameLoc::get(builder.getStringAttr(name + what.str()));
  };
  // Another attention may have made them.
  Operation *first = nullptr;
  for (Operation *reader : channels.getUsers())
    first =
        reader->getLoc() == named("_rows") || reader->getLoc() == named("_places") ? reader : first;
  if (first && isa<tpu::ReshapeOp>(first))
    first = *first->getResult(0).getUsers().begin();
  if (first)
    return first->getResult(0);
  const RankedTensorType type = staticType(channels);
  const ArrayRef<int64_t> dims = type.getShape();
  if (dims.size() != 3) {
    const SmallVector<int64_t> flat = {dims[0], dims[1],
                                       type.getNumElements() / (dims[0] * dims[1])};
    Value none = builder.create<top::NoneOp>(channels.getLoc(), builder.getNoneType());
    channels = made(builder, tpu::ReshapeOp::getOperationName(), {channels, none}, type.clone(flat),
                    builder.getNamedAttr("shape", builder.getI64ArrayAttr(flat)), named("_places"));
  }
  return turned(builder, channels, named("_rows"));
}

Value codegen::channelsOfRows(Value rows, Location loc) {
  OpBuilder builder(rows.getContext());
  builder.setInsertionPointAfterValue(rows);
  return turned(builder, rows, loc);
}

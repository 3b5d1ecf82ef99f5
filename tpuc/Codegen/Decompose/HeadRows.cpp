//===- HeadRows.cpp - Rows that hold the heads of attention ----------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Decompose/HeadRows.h"
#include "tpuc/Codegen/Decompose/ChannelHeads.h"
#include "tpuc/Codegen/Decompose/PickedParts.h"
#include "tpuc/Codegen/Decompose/SampleRows.h"
#include "tpuc/Codegen/Layers.h"
#include "tpuc/Dialect/Top/Names.h"
#include "tpuc/Dialect/Top/OpTraits.h"
#include "tpuc/Dialect/Top/ShapeInference.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Dialect/Tpu/IndexOps.h"
#include "tpuc/Dialect/Tpu/MovementOps.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::codegen;

bool codegen::hasOrder(Operation *op, ArrayRef<int64_t> order) {
  auto permute = dyn_cast_or_null<tpu::PermuteOp>(op);
  return permute && ArrayRef<int64_t>(top::toInts(permute.getOrder())) == order;
}

namespace {

/// The part along dimension `axis` of `from`, of extent 1, that `value` is without that dimension:
/// by a gather, or by a slice or split whose dimension is dropped.
std::optional<Picked> pickedPart(Value value, int64_t axis) {
  if (auto gather = value.getDefiningOp<tpu::GatherOp>()) {
    const auto indices = top::constantInts(gather.getIndices());
    const RankedTensorType from = staticType(gather.getInput());
    if (static_cast<int64_t>(gather.getAxis()) != axis || !indices || indices->size() != 1 || !from)
      return std::nullopt;
    const int64_t index = indices->front();
    return Picked{gather.getInput(),
                  index < 0 ? index + from.getDimSize(static_cast<unsigned>(axis)) : index};
  }
  Operation *squeeze = value.getDefiningOp();
  if (!isa_and_nonnull<tpu::SqueezeOp, tpu::ReshapeOp>(squeeze))
    return std::nullopt;
  const Value one = squeeze->getOperand(0);
  std::optional<Picked> picked = splitPart(one, axis);
  if (!picked)
    picked = slicePart(one, axis);
  const RankedTensorType type = staticType(one);
  if (!picked || !type || type.getRank() <= axis ||
      type.getDimSize(static_cast<unsigned>(axis)) != 1)
    return std::nullopt;
  SmallVector<int64_t> dims(type.getShape());
  dims.erase(dims.begin() + axis);
  return staticType(value).getShape() == ArrayRef(dims) ? picked : std::nullopt;
}

/// The rows [B, T, parts * H * D] of `dims` [B, T, (parts,) H, D], of which only part `part`
/// counts.
std::optional<HeadRows> reshapedRows(Value value, ArrayRef<int64_t> dims, int64_t part = 0) {
  auto reshape = value.getDefiningOp<tpu::ReshapeOp>();
  const RankedTensorType rows = reshape ? staticType(reshape.getInput()) : RankedTensorType();
  const RankedTensorType split = reshape ? staticType(value) : RankedTensorType();
  if (!rows || !split || split.getShape() != dims)
    return std::nullopt;
  const bool areApart =
      rows.getRank() == 3 && rows.getShape()[0] == dims[0] && rows.getShape()[1] == dims[1];
  const bool isTurned = !areApart && dims[0] == 1 && isSampleTurned(reshape.getInput(), dims[1]);
  const int64_t width = dims[dims.size() - 2] * dims.back();
  const bool arePlanes = rows.getRank() > 3 && rows.getShape()[0] == dims[0] &&
                         rows.getShape().back() == ShapedType::getNumElements(dims.drop_front(2));
  if (!areApart && !isTurned && !arePlanes)
    return std::nullopt;
  HeadRows found{.tensor = reshape.getInput(),
                 .begin = part * width,
                 .width = width,
                 .cast = {},
                 .form = isTurned   ? HeadRows::SampleTurned
                         : areApart ? HeadRows::Apart
                                    : HeadRows::Planes,
                 .samples = dims[0]};
  // Rows may be parts of longer ones.
  const int64_t last = rows.getRank() - 1;
  std::optional<Picked> longer = splitPart(found.tensor, last);
  if (!longer && isTurned)
    longer = slicePart(found.tensor, last);
  if (longer) {
    found.tensor = longer->from;
    found.begin += longer->begin;
  }
  return found;
}

} // namespace

int64_t codegen::numWindows(Value whole, Value parts) {
  const RankedTensorType from = staticType(whole);
  const RankedTensorType to = staticType(parts);
  if (!from || !to || from.getRank() != 4 || to.getRank() != 4)
    return 1;
  const ArrayRef<int64_t> all = from.getShape();
  const ArrayRef<int64_t> dims = to.getShape();
  const bool isDivided =
      dims[0] == all[0] * all[1] && dims[1] * dims[2] == all[2] && dims[3] == all[3];
  return isDivided ? dims[1] : 1;
}

/// Rows [B, T, D] of one head, which is a dimension of one element.
static std::optional<HeadRows> rowsOfOneHead(Value heads) {
  Operation *view = heads.getDefiningOp();
  const ArrayRef<int64_t> dims = staticType(heads).getShape();
  if (!view || !view->hasTrait<traits::ViewLike>() || dims.size() != 4 || dims[1] != 1)
    return std::nullopt;
  const RankedTensorType rows = staticType(view->getOperand(0));
  if (!rows || rows.getShape() != ArrayRef<int64_t>{dims[0], dims[2], dims[3]})
    return std::nullopt;
  return HeadRows{.tensor = view->getOperand(0), .begin = 0, .width = dims[3], .cast = {}};
}

std::optional<HeadRows> codegen::rowsOfHeads(Value heads) {
  if (auto cast = heads.getDefiningOp<tpu::CastOp>()) {
    std::optional<HeadRows> rows = rowsOfHeads(cast.getInput());
    if (!rows || rows->cast)
      return std::nullopt;
    rows->cast = cast;
    return rows;
  }
  const ArrayRef<int64_t> dims = staticType(heads).getShape();
  if (std::optional<HeadRows> rows = rowsOfOneHead(heads))
    return rows;
  if (auto reshape = heads.getDefiningOp<tpu::ReshapeOp>();
      reshape && numWindows(reshape.getInput(), heads) > 1) {
    std::optional<HeadRows> rows = rowsOfHeads(reshape.getInput());
    if (!rows || rows->cast || rows->windows > 1 || rows->form != HeadRows::Apart)
      return std::nullopt;
    rows->windows = dims[1];
    return rows;
  }
  if (const std::optional<Picked> channels = channelsOfHeads(heads))
    return HeadRows{.tensor = channels->from,
                    .begin = channels->begin,
                    .width = dims[1] * dims[3],
                    .cast = {},
                    .form = HeadRows::Channels};
  if (auto permute = heads.getDefiningOp<tpu::PermuteOp>();
      permute && hasOrder(permute, {0, 2, 1, 3})) {
    const Value split = permute.getInput();
    const int64_t batch = dims[0], rows = dims[2], number = dims[1], width = dims[3];
    if (std::optional<HeadRows> found = reshapedRows(split, {batch, rows, number, width}))
      return found;
    const std::optional<Picked> picked = pickedPart(split, 2);
    const RankedTensorType all = picked ? staticType(picked->from) : RankedTensorType();
    if (!all || all.getRank() != 5)
      return std::nullopt;
    return reshapedRows(picked->from, {batch, rows, all.getDimSize(2), number, width},
                        picked->begin);
  }
  // Parts may stand in front of samples, heads or rows.
  for (int64_t axis : {0, 1, 2}) {
    const std::optional<Picked> picked = pickedPart(heads, axis);
    auto permute = picked ? picked->from.getDefiningOp<tpu::PermuteOp>() : tpu::PermuteOp();
    const RankedTensorType all = permute ? staticType(permute.getOutput()) : RankedTensorType();
    SmallVector<int64_t> order = {0, 3, 1, 4};
    order.insert(order.begin() + axis, 2);
    if (!all || !hasOrder(permute, order))
      continue;
    const int64_t parts = all.getShape()[static_cast<size_t>(axis)];
    if (picked->begin < 0 || picked->begin >= parts)
      return std::nullopt;
    return reshapedRows(permute.getInput(), {dims[0], dims[2], parts, dims[1], dims[3]},
                        picked->begin);
  }
  return std::nullopt;
}

static Location named(OpBuilder &builder, Value like, StringRef what) {
  return NameLoc::get(builder.getStringAttr(tensorNames(like.getDefiningOp())[0] + what.str()));
}

/// Those columns of the rows, which somebody may have taken.
static Value slicedColumns(OpBuilder &builder, const HeadRows &rows, Value heads) {
  const RankedTensorType type = staticType(rows.tensor);
  if (rows.width == type.getShape()[2])
    return rows.tensor;
  const Location loc = named(builder, heads, "_rows");
  const auto here = builder.getInsertionPoint();
  for (Operation *reader : rows.tensor.getUsers()) {
    if (!isa<tpu::SliceOp>(reader) || reader->getLoc() != loc ||
        reader->getBlock() != builder.getInsertionBlock())
      continue;
    if (here != reader->getBlock()->end() && &*here == reader) {
      builder.setInsertionPointAfter(reader);
    } else if (here != reader->getBlock()->end() && !reader->isBeforeInBlock(&*here)) {
      // What it reads beside the rows was made for it.
      reader->moveBefore(reader->getBlock(), here);
      for (Value nothing : reader->getOperands().drop_front())
        nothing.getDefiningOp()->moveBefore(reader);
    }
    return reader->getResult(0);
  }
  Value none = builder.create<top::NoneOp>(heads.getLoc(), builder.getNoneType());
  OperationState state(loc, tpu::SliceOp::getOperationName(), {rows.tensor, none, none, none, none},
                       type.clone({type.getShape()[0], type.getShape()[1], rows.width}));
  state.addAttribute("axes", builder.getI64ArrayAttr({2}));
  state.addAttribute("offset", builder.getI64ArrayAttr({rows.begin}));
  state.addAttribute("ends", builder.getI64ArrayAttr({rows.begin + rows.width}));
  state.addAttribute("steps", builder.getI64ArrayAttr({1}));
  return builder.create(state)->getResult(0);
}

Value codegen::columnsOf(OpBuilder &builder, HeadRows rows, Value heads) {
  if (!rows.cast)
    return slicedColumns(builder, rows, heads);
  Value value = slicedColumns(builder, rows, rows.cast.getInput());
  auto *cast = builder.clone(*rows.cast);
  cast->setOperand(0, value);
  cast->getResult(0).setType(staticType(value).clone(staticType(heads).getElementType()));
  cast->setLoc(named(builder, heads, "_rows"));
  return cast->getResult(0);
}

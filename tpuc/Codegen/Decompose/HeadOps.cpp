//===- HeadOps.cpp - What is done to heads, done to rows -------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Decompose/HeadOps.h"
#include "tpuc/Codegen/Decompose/HeadRows.h"
#include "tpuc/Codegen/Decompose/OpMaker.h"
#include "tpuc/Codegen/Decompose/RewriteOps.h"
#include "tpuc/Codegen/Layers.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Dialect/Tpu/AttentionOps.h"
#include "tpuc/Dialect/Tpu/MovementOps.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::codegen;

/// Whether attention alone reads heads, behind norms, products and casts.
static bool isForAttention(Value heads, unsigned steps = 4) {
  return steps > 0 && !heads.use_empty() && llvm::all_of(heads.getUsers(), [&](Operation *user) {
           if (isa<tpu::ScaleDotProductAttentionOp>(user))
             return true;
           return isa<tpu::RMSNormOp, tpu::MulOp, tpu::CastOp>(user) &&
                  isForAttention(user->getResult(0), steps - 1);
         });
}

/// The rows of several heads that attention alone reads in the end.
static std::optional<HeadRows> rowsForAttention(Operation *op, Value heads) {
  const RankedTensorType type = staticType(heads);
  if (!type || type.getRank() != 4 || type.getDimSize(1) == 1 || !staticType(op->getResult(0)) ||
      staticType(op->getResult(0)).getShape() != type.getShape() ||
      !isForAttention(op->getResult(0)))
    return std::nullopt;
  std::optional<HeadRows> rows = rowsOfHeads(heads);
  return rows && rows->form == HeadRows::Apart && rows->windows == 1 ? rows : std::nullopt;
}

/// A constant of the heads' dimensions [..., H or 1, 1, D or 1] as one of rows [H * D].
static Tensor constantOfRows(const Tensor &constant, ArrayRef<int64_t> heads) {
  const int64_t number = heads[1];
  const int64_t width = heads[3];
  const Shape &shape = constant.shape();
  const auto extent = [&](size_t back) {
    return back <= shape.rank() ? shape[shape.rank() - back] : 1;
  };
  const bool isForAll = extent(3) == 1;
  const bool isForColumns = extent(1) == 1;
  Tensor made(constant.type(), Shape({number * width}));
  const auto bytes = static_cast<size_t>(byteSize(constant.type(), 1));
  for (int64_t i = 0; i < number * width; ++i) {
    const int64_t from = (isForAll ? 0 : i / width * extent(1)) + (isForColumns ? 0 : i % width);
    std::ranges::copy(constant.rawBytes().subspan(static_cast<size_t>(from) * bytes, bytes),
                      made.mutableBytes().subspan(static_cast<size_t>(i) * bytes).begin());
  }
  return made;
}

/// Gives the users of `op` the heads [B, H, T, D] of the rows that `made` gives; false, and `made`
/// is erased, where the chip does not compute it.
static bool takeRows(OpMaker &maker, Value made) {
  const Expected<Place> place = maker.backend.placeOf(made.getDefiningOp());
  if (!place || *place != Place::Local) {
    eraseUnused(made.getDefiningOp());
    return false;
  }
  const ArrayRef<int64_t> dims = OpMaker::dimsOf(maker.op->getResult(0));
  const Value split = maker.reshaped(made, {dims[0], dims[2], dims[1], dims[3]}, "split");
  maker.replace(0, maker.permuted(split, {0, 2, 1, 3}, "heads"));
  eraseUnused(maker.op);
  return true;
}

bool codegen::normalizeRows(tpu::RMSNormOp op, const Backend &backend) {
  const std::optional<HeadRows> rows = rowsForAttention(op, op.getInput());
  const auto axis = static_cast<int64_t>(op.getAxis());
  const bool isScaled = !isa<NoneType>(op.getGamma().getType());
  const std::optional<Tensor> gamma = isScaled ? OpMaker::constantOf(op.getGamma()) : std::nullopt;
  if (!rows || (axis != -1 && axis != 3) || (isScaled && !gamma) || op.getNumHeads())
    return false;
  const ArrayRef<int64_t> dims = OpMaker::dimsOf(op.getOutput());
  OpMaker maker(op, backend);
  const Value input = columnsOf(maker.builder, *rows, op.getInput());
  NamedAttrList attributes(op->getAttrs());
  attributes.set("axis", maker.builder.getI64IntegerAttr(-1));
  attributes.set("num_heads", maker.builder.getI64IntegerAttr(dims[1]));
  const Value factors =
      gamma ? maker.weight(constantOfRows(*gamma, dims), "gamma_of_heads") : op.getGamma();
  return takeRows(maker, maker.makeLike<tpu::RMSNormOp>("of_rows", {input, factors}, attributes));
}

bool codegen::scaleRows(tpu::MulOp op, const Backend &backend) {
  if (op.getInputs().size() != 2 || !OpMaker::isFloat(op.getOutput()))
    return false;
  for (unsigned index : {0, 1}) {
    const Value heads = op.getInputs()[index];
    const std::optional<Tensor> factors = OpMaker::constantOf(op.getInputs()[1 - index]);
    if (!factors)
      continue;
    const std::optional<HeadRows> rows = rowsForAttention(op, heads);
    const Shape &shape = factors->shape();
    const bool isOfHeads = rows && shape.rank() >= 3 && shape[shape.rank() - 1] == 1 &&
                           shape[shape.rank() - 2] == 1 &&
                           shape[shape.rank() - 3] == factors->numElements();
    if (!isOfHeads)
      continue;
    OpMaker maker(op, backend);
    const Value input = columnsOf(maker.builder, *rows, heads);
    const Value made =
        maker.weight(constantOfRows(*factors, OpMaker::dimsOf(op.getOutput())), "factors_of_heads");
    return takeRows(maker, maker.makeLike<tpu::MulOp>("of_rows", {input, made}, op->getAttrs()));
  }
  return false;
}

//===- SampleRows.cpp - Rows of one sample in front of others --------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Decompose/SampleRows.h"
#include "tpuc/Codegen/Decompose/RewriteOps.h"
#include "tpuc/Codegen/Layers.h"
#include "tpuc/Dialect/Top/Names.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Dialect/Tpu/CastOps.h"
#include "tpuc/Dialect/Tpu/MatrixOps.h"
#include "tpuc/Dialect/Tpu/MovementOps.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::codegen;

bool codegen::isSampleTurned(Value value, int64_t rows) {
  const RankedTensorType type = staticType(value);
  if (!type || type.getRank() < 2 || type.getRank() > 3 || type.getShape()[0] != rows)
    return false;
  return type.getRank() == 2 || type.getShape()[1] == 1;
}

static RankedTensorType sampleType(Value value) {
  const RankedTensorType type = staticType(value);
  return type.clone(ArrayRef<int64_t>{1, type.getShape().front(), type.getShape().back()});
}

/// Behind what makes `value`, once: another reader may have made it.
static Value reshaped(OpBuilder &builder, Value value, RankedTensorType type, Location loc) {
  for (Operation *reader : value.getUsers())
    if (isa<tpu::ReshapeOp>(reader) && reader->getLoc() == loc &&
        reader->getResult(0).getType() == type)
      return reader->getResult(0);
  builder.setInsertionPointAfterValue(value);
  Value none = builder.create<top::NoneOp>(loc, builder.getNoneType());
  OperationState state(loc, tpu::ReshapeOp::getOperationName(), {value, none}, {type});
  state.addAttribute("shape", builder.getI64ArrayAttr(type.getShape()));
  return builder.create(state)->getResult(0);
}

/// Whether each row of the result is made of the same row of the first operand.
static bool isByRows(Operation *op) {
  if (isa<tpu::CastOp>(op))
    return true;
  auto product = dyn_cast<tpu::MatMulOp>(op);
  const RankedTensorType right = product ? staticType(product.getRight()) : RankedTensorType();
  return right && right.getRank() == 2 && isConstantValue(product.getRight()) &&
         !product.getLeftTranspose();
}

Value codegen::asSamples(Value rows, int64_t samples) {
  const RankedTensorType type = staticType(rows);
  const int64_t width = type.getShape().back();
  const RankedTensorType wanted =
      type.clone({samples, type.getNumElements() / (samples * width), width});
  OpBuilder builder(rows.getContext());
  Operation *op = rows.getDefiningOp();
  const std::string name = op ? tensorNames(op)[0] : "";
  return reshaped(builder, rows, wanted, NameLoc::get(builder.getStringAttr(name + "_samples")));
}

Value codegen::asSample(Value value) {
  const RankedTensorType wanted = sampleType(value);
  Operation *op = value.getDefiningOp();
  if (auto reshape = dyn_cast_or_null<tpu::ReshapeOp>(op);
      reshape && reshape.getInput().getType() == wanted)
    return reshape.getInput();
  const std::string name = op ? tensorNames(op)[0] : "";
  const bool isMadeSo =
      op && isByRows(op) && isSampleTurned(op->getOperand(0), wanted.getDimSize(1));
  OpBuilder builder(value.getContext());
  const Location sampleLoc = NameLoc::get(builder.getStringAttr(name + "_sample"));
  if (!isMadeSo)
    return reshaped(builder, value, wanted, sampleLoc);
  Value rows = asSample(op->getOperand(0));
  builder.setInsertionPoint(op);
  Operation *made = builder.clone(*op);
  made->setOperand(0, rows);
  made->getResult(0).setType(wanted);
  made->setLoc(sampleLoc);
  // What reads the old form: a reshape back needs none.
  for (Operation *reader : llvm::make_early_inc_range(value.getUsers()))
    if (isa<tpu::ReshapeOp>(reader) && reader->getResult(0).getType() == wanted) {
      reader->getResult(0).replaceAllUsesWith(made->getResult(0));
      reader->setOperand(0, made->getResult(0));
      eraseUnused(reader);
    }
  if (!value.use_empty())
    value.replaceAllUsesWith(
        reshaped(builder, made->getResult(0), staticType(value), op->getLoc()));
  eraseUnused(op);
  return made->getResult(0);
}

Value codegen::asWindows(Value rows, int64_t windows) {
  OpBuilder builder(rows.getContext());
  const RankedTensorType type = staticType(rows);
  const ArrayRef<int64_t> dims = type.getShape();
  const std::string name = tensorNames(rows.getDefiningOp())[0];
  return reshaped(builder, rows,
                  type.clone(ArrayRef<int64_t>{dims[0] * windows, dims[1] / windows, dims[2]}),
                  NameLoc::get(builder.getStringAttr(name + "_windows")));
}

//===- FoldHeadReshapes.cpp - Attention on rows that hold all heads ----------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Backend.h"
#include "tpuc/Codegen/Decompose/RewriteOps.h"
#include "tpuc/Codegen/Layers.h"
#include "tpuc/Codegen/Passes.h"
#include "tpuc/Dialect/Top/Names.h"
#include "tpuc/Dialect/Top/ShapeInference.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Dialect/Tpu/AttentionOps.h"
#include "tpuc/Dialect/Tpu/CastOps.h"
#include "tpuc/Dialect/Tpu/IndexOps.h"
#include "tpuc/Dialect/Tpu/MovementOps.h"

#include "llvm/ADT/SetVector.h"

namespace tpuc::codegen {
#define GEN_PASS_DEF_FOLDHEADRESHAPES
#include "tpuc/Codegen/Passes.h.inc"
} // namespace tpuc::codegen

using namespace mlir;
using namespace tpuc;
using namespace tpuc::codegen;

namespace {

/// The shape of one type with the elements of another.
Type withElements(RankedTensorType shape, Value elements) {
  return RankedTensorType::get(shape.getShape(), staticType(elements).getElementType());
}

bool hasOrder(tpu::PermuteOp op, ArrayRef<int64_t> order) {
  return ArrayRef<int64_t>(top::toInts(op.getOrder())) == order;
}

/// Rows, and which of their columns: part `part` of `parts` of equal width. Behind them stands a
/// cast, or not.
struct Rows {
  Value tensor;
  int64_t part = 0, parts = 1;
  tpu::CastOp cast;
};

/// The rows [B, T, parts * H * D] of `dims` [B, T, (parts,) H, D].
Value reshapedRows(Value value, ArrayRef<int64_t> dims) {
  auto reshape = value.getDefiningOp<tpu::ReshapeOp>();
  const RankedTensorType rows = reshape ? staticType(reshape.getInput()) : RankedTensorType();
  const RankedTensorType split = reshape ? staticType(value) : RankedTensorType();
  if (!rows || !split || rows.getRank() != 3 || split.getShape() != dims ||
      rows.getShape()[0] != dims[0] || rows.getShape()[1] != dims[1])
    return {};
  return reshape.getInput();
}

/// One of the parts along the first dimension of `from`.
struct Picked {
  Value from;
  int64_t index = 0;
};

/// The part that `value` is, by a gather or a slice whose first dimension is dropped.
std::optional<Picked> pickedPart(Value value) {
  if (auto gather = value.getDefiningOp<tpu::GatherOp>()) {
    const auto indices = top::constantInts(gather.getIndices());
    if (gather.getAxis() != 0 || !indices || indices->size() != 1)
      return std::nullopt;
    return Picked{gather.getInput(), indices->front()};
  }
  auto squeeze = value.getDefiningOp<tpu::SqueezeOp>();
  auto slice = squeeze ? squeeze.getInput().getDefiningOp<tpu::SliceOp>() : tpu::SliceOp();
  const RankedTensorType from = slice ? staticType(slice.getInput()) : RankedTensorType();
  const RankedTensorType one = slice ? staticType(slice.getOutput()) : RankedTensorType();
  if (!from || !one || one.getRank() < 2 || one.getShape()[0] != 1 ||
      one.getShape().drop_front() != from.getShape().drop_front() ||
      staticType(value).getShape() != one.getShape().drop_front())
    return std::nullopt;
  const auto offsets = top::intsOf(slice.getOffset(), slice.getOffsetTensor());
  const auto axes = top::intsOf(slice.getAxes(), slice.getAxesTensor());
  if (!offsets || offsets->size() != 1 || (axes && axes->front() != 0))
    return std::nullopt;
  return Picked{slice.getInput(), offsets->front()};
}

/// The rows of `heads` [B, H, T, D].
std::optional<Rows> rowsOf(Value heads) {
  if (auto cast = heads.getDefiningOp<tpu::CastOp>()) {
    std::optional<Rows> rows = rowsOf(cast.getInput());
    if (!rows || rows->cast)
      return std::nullopt;
    rows->cast = cast;
    return rows;
  }
  const ArrayRef<int64_t> dims = staticType(heads).getShape();
  if (auto permute = heads.getDefiningOp<tpu::PermuteOp>();
      permute && hasOrder(permute, {0, 2, 1, 3})) {
    Value rows = reshapedRows(permute.getInput(), {dims[0], dims[2], dims[1], dims[3]});
    return rows ? std::optional(Rows{.tensor = rows, .cast = {}}) : std::nullopt;
  }
  const std::optional<Picked> picked = pickedPart(heads);
  auto permute = picked ? picked->from.getDefiningOp<tpu::PermuteOp>() : tpu::PermuteOp();
  const RankedTensorType all = permute ? staticType(permute.getOutput()) : RankedTensorType();
  if (!all || !hasOrder(permute, {2, 0, 3, 1, 4}))
    return std::nullopt;
  const int64_t parts = all.getShape()[0];
  const int64_t part = picked->index < 0 ? picked->index + parts : picked->index;
  Value rows = reshapedRows(permute.getInput(), {dims[0], dims[2], parts, dims[1], dims[3]});
  if (!rows || part < 0 || part >= parts)
    return std::nullopt;
  return Rows{rows, part, parts, {}};
}

/// The tensor that puts the heads [B, H, T, D] of `value` back into rows [B, T, H * D], and the
/// cast in between.
struct Rejoined {
  tpu::ReshapeOp rows;
  tpu::CastOp cast;
};
std::optional<Rejoined> rejoined(Value value) {
  Rejoined found;
  const auto only = [&]() -> Operation * {
    return value.hasOneUse() ? *value.getUsers().begin() : nullptr;
  };
  if (auto cast = dyn_cast_or_null<tpu::CastOp>(only())) {
    found.cast = cast;
    value = cast.getOutput();
  }
  auto permute = dyn_cast_or_null<tpu::PermuteOp>(only());
  if (!permute || !hasOrder(permute, {0, 2, 1, 3}))
    return std::nullopt;
  const ArrayRef<int64_t> dims = staticType(value).getShape();
  value = permute.getOutput();
  found.rows = dyn_cast_or_null<tpu::ReshapeOp>(only());
  if (!found.rows)
    return std::nullopt;
  const RankedTensorType rows = staticType(found.rows.getOutput());
  if (!rows || rows.getShape() != ArrayRef<int64_t>{dims[0], dims[2], dims[1] * dims[3]})
    return std::nullopt;
  return found;
}

/// Erases an op that nothing reads, and those that only it read.
void eraseUnused(Operation *op) {
  llvm::SetVector<Operation *> unused;
  unused.insert(op);
  while (!unused.empty()) {
    Operation *next = unused.pop_back_val();
    if (!next->use_empty() || isa<top::InputOp>(next))
      continue;
    for (Value operand : next->getOperands())
      if (Operation *producer = operand.getDefiningOp())
        unused.insert(producer);
    next->erase();
  }
}

class RowsRewriter {
public:
  RowsRewriter(tpu::ScaleDotProductAttentionOp op, const Backend &backend)
      : op(op), backend(backend), builder(op) {}

  /// Leaves everything as it was where the forms do not fit.
  void run();

private:
  Location name(Value like, StringRef what) {
    const std::string base = tensorNames(like.getDefiningOp())[0];
    return NameLoc::get(builder.getStringAttr(base + what.str()));
  }
  Value columns(Rows rows, Value heads);
  Value input(Rows rows, Value heads);

  tpu::ScaleDotProductAttentionOp op;
  const Backend &backend;
  OpBuilder builder;
};

/// Those columns of the rows, named after the heads that they are.
Value RowsRewriter::columns(Rows rows, Value heads) {
  if (rows.parts == 1)
    return rows.tensor;
  const RankedTensorType type = staticType(rows.tensor);
  const int64_t width = type.getShape()[2] / rows.parts;
  Value none = builder.create<top::NoneOp>(op.getLoc(), builder.getNoneType());
  OperationState state(name(heads, "_rows"), tpu::SliceOp::getOperationName(),
                       {rows.tensor, none, none, none, none},
                       type.clone({type.getShape()[0], type.getShape()[1], width}));
  state.addAttribute("axes", builder.getI64ArrayAttr({2}));
  state.addAttribute("offset", builder.getI64ArrayAttr({rows.part * width}));
  state.addAttribute("ends", builder.getI64ArrayAttr({(rows.part + 1) * width}));
  state.addAttribute("steps", builder.getI64ArrayAttr({1}));
  return builder.create(state)->getResult(0);
}

/// The rows in the type of the heads.
Value RowsRewriter::input(Rows rows, Value heads) {
  if (!rows.cast)
    return columns(rows, heads);
  Value value = columns(rows, rows.cast.getInput());
  auto *cast = builder.clone(*rows.cast);
  cast->setOperand(0, value);
  cast->getResult(0).setType(withElements(staticType(value), heads));
  cast->setLoc(name(heads, "_rows"));
  return cast->getResult(0);
}

void RowsRewriter::run() {
  std::optional<Rejoined> output = rejoined(op->getResult(0));
  if (!output)
    return;
  SmallVector<Rows> inputs;
  for (Value heads : op->getOperands().take_front(3)) {
    std::optional<Rows> rows = staticType(heads) ? rowsOf(heads) : std::nullopt;
    if (!rows)
      return;
    inputs.push_back(*rows);
  }
  SmallVector<Value> operands(op->getOperands());
  for (unsigned i = 0; i < 3; ++i) {
    // Keys may be the values, too.
    const bool isAgain = i > 0 && op->getOperand(i) == op->getOperand(i - 1);
    operands[i] = isAgain ? operands[i - 1] : input(inputs[i], op->getOperand(i));
  }
  const auto headsOf = [&](unsigned index) {
    return builder.getI64IntegerAttr(staticType(op->getOperand(index)).getShape()[1]);
  };
  const RankedTensorType joined = staticType(output->rows.getOutput());
  auto made = cast<tpu::ScaleDotProductAttentionOp>(builder.clone(*op));
  made->setOperands(operands);
  made->setAttr("q_num_heads", headsOf(0));
  made->setAttr("kv_num_heads", headsOf(1));
  made->getResult(0).setType(withElements(joined, op->getResult(0)));
  if (!backend.placeOf(made)) {
    eraseUnused(made);
    return;
  }
  Value result = made->getResult(0);
  if (output->cast) {
    made->setLoc(name(op->getResult(0), "_rows"));
    auto *cast = builder.clone(*output->cast);
    cast->setOperand(0, result);
    cast->getResult(0).setType(joined);
    result = cast->getResult(0);
  }
  result.getDefiningOp()->setLoc(output->rows.getLoc());
  output->rows.getOutput().replaceAllUsesWith(result);
  eraseUnused(output->rows);
}

struct FoldHeadReshapesPass : codegen::impl::FoldHeadReshapesBase<FoldHeadReshapesPass> {
  using Base::Base;

  void runOnOperation() override {
    const auto hasHeads = [](tpu::ScaleDotProductAttentionOp op, const Backend &) {
      const RankedTensorType type = staticType(op->getOperand(0));
      return type && type.getRank() == 4;
    };
    const auto takeRows = [](tpu::ScaleDotProductAttentionOp op,
                             const Backend &backend) -> Expected<void> {
      RowsRewriter(op, backend).run();
      return {};
    };
    if (failed(rewriteOps<tpu::ScaleDotProductAttentionOp>(getOperation(), hasHeads, takeRows)))
      signalPassFailure();
  }
};

} // namespace

//===- FoldHeadReshapes.cpp - Attention on rows that hold all heads ----------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Backend.h"
#include "tpuc/Codegen/Decompose/AttentionMasks.h"
#include "tpuc/Codegen/Decompose/ChannelHeads.h"
#include "tpuc/Codegen/Decompose/Decompositions.h"
#include "tpuc/Codegen/Decompose/HeadOps.h"
#include "tpuc/Codegen/Decompose/HeadProducts.h"
#include "tpuc/Codegen/Decompose/HeadRows.h"
#include "tpuc/Codegen/Decompose/RewriteOps.h"
#include "tpuc/Codegen/Decompose/SampleRows.h"
#include "tpuc/Codegen/Layers.h"
#include "tpuc/Codegen/Passes.h"
#include "tpuc/Dialect/Top/Names.h"
#include "tpuc/Dialect/Top/OpTraits.h"
#include "tpuc/Dialect/Top/ShapeInference.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Dialect/Tpu/AttentionOps.h"
#include "tpuc/Dialect/Tpu/CastOps.h"
#include "tpuc/Dialect/Tpu/IndexOps.h"
#include "tpuc/Dialect/Tpu/MatrixOps.h"
#include "tpuc/Dialect/Tpu/MovementOps.h"

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

/// The tensor that puts the heads [B, H, T, D] of `value` back into rows [B, T, H * D], or others
/// of that length, such as [B * T, H * D], and the cast in between.
struct Rejoined {
  Operation *rows = nullptr;
  tpu::CastOp cast;
  /// It makes channels [B, H * D, ...] instead.
  bool isOfChannels = false;
  /// `value` has windows [B * H, windows, T / windows, D].
  int64_t windows = 1;
  /// [B, T, H * D].
  SmallVector<int64_t> dims = {};
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
  const ArrayRef<int64_t> given = staticType(value).getShape();
  if (Operation *view = only();
      view && given.size() == 4 && given[1] == 1 && view->hasTrait<traits::ViewLike>()) {
    // One head is a dimension of one element.
    found.dims = {given[0], given[2], given[3]};
    found.rows = view;
    const RankedTensorType type = staticType(view->getResult(0));
    return type && type.getShape() == ArrayRef(found.dims) ? std::optional(found) : std::nullopt;
  }
  if (auto whole = dyn_cast_or_null<tpu::ReshapeOp>(only())) {
    found.windows = numWindows(whole.getOutput(), value);
    if (found.windows == 1)
      return std::nullopt;
    value = whole.getOutput();
  }
  auto permute = dyn_cast_or_null<tpu::PermuteOp>(only());
  found.isOfChannels = permute && hasOrder(permute, {0, 1, 3, 2});
  if (!permute || !(found.isOfChannels || hasOrder(permute, {0, 2, 1, 3})))
    return std::nullopt;
  const ArrayRef<int64_t> dims = staticType(value).getShape();
  value = permute.getOutput();
  found.rows = dyn_cast_or_null<tpu::ReshapeOp>(only());
  if (!found.rows)
    return std::nullopt;
  const RankedTensorType rows = staticType(found.rows->getResult(0));
  found.dims = {dims[0], dims[2], dims[1] * dims[3]};
  if (found.isOfChannels)
    return rows ? std::optional(found) : std::nullopt;
  // Samples and rows may be divided in another way, as those of blocks of pixels.
  if (!rows || rows.getRank() < 2 || rows.getShape().back() != found.dims.back())
    return std::nullopt;
  return found;
}

class RowsRewriter {
public:
  RowsRewriter(tpu::ScaleDotProductAttentionOp op, const Backend &backend, AttentionBiases &biases)
      : op(op), backend(backend), builder(op), biases(biases) {}

  /// Leaves everything as it was where the forms do not fit.
  void run();

private:
  Location name(Value like, StringRef what) {
    const std::string base = tensorNames(like.getDefiningOp())[0];
    return NameLoc::get(builder.getStringAttr(base + what.str()));
  }

  tpu::ScaleDotProductAttentionOp op;
  const Backend &backend;
  OpBuilder builder;
  AttentionBiases &biases;
};

/// Has products take the rows [1, T, W] of one sample that `rows` shows as [T, W].
static void takeSample(Value rows) {
  if (!isa<tpu::ReshapeOp>(rows.getDefiningOp()))
    return;
  for (Operation *reader : llvm::make_early_inc_range(rows.getUsers()))
    if (isa<tpu::MatMulOp>(reader) && reader->getOperand(0) == rows &&
        isSampleTurned(reader->getResult(0), staticType(rows).getDimSize(0)))
      asSample(reader->getResult(0));
}

void RowsRewriter::run() {
  std::optional<Rejoined> output = rejoined(op->getResult(0));
  if (!output)
    return;
  SmallVector<HeadRows> inputs;
  for (Value heads : op->getOperands().take_front(3)) {
    std::optional<HeadRows> rows = staticType(heads) ? rowsOfHeads(heads) : std::nullopt;
    if (!rows || rows->windows != output->windows)
      return;
    inputs.push_back(*rows);
  }
  // A mask would be one for each window.
  if (output->windows > 1 && (output->isOfChannels || !isa<NoneType>(op.getMask().getType())))
    return;
  // Queries, keys and values may be columns of the same rows, which are made anew.
  for (HeadRows &rows : inputs)
    if (rows.form != HeadRows::Apart) {
      const HeadRows before = rows;
      const Value made = before.form == HeadRows::Channels ? rowsOfChannels(before.tensor)
                         : before.form == HeadRows::Planes
                             ? asSamples(before.tensor, before.samples)
                             : asSample(before.tensor);
      for (HeadRows &others : inputs)
        if (others.form == before.form && others.tensor == before.tensor) {
          others.tensor = made;
          others.form = HeadRows::Apart;
        }
    }
  for (HeadRows &rows : inputs)
    if (rows.windows > 1)
      rows.tensor = asWindows(rows.tensor, rows.windows);
  SmallVector<Value> operands(op->getOperands());
  for (unsigned i = 0; i < 3; ++i) {
    // Keys may be the values, too.
    const bool isAgain = i > 0 && op->getOperand(i) == op->getOperand(i - 1);
    operands[i] = isAgain ? operands[i - 1] : columnsOf(builder, inputs[i], op->getOperand(i));
  }
  const auto headsOf = [&](unsigned index) {
    const int64_t width = staticType(op->getOperand(index)).getShape().back();
    return builder.getI64IntegerAttr(inputs[index].width / width);
  };
  const RankedTensorType joined = staticType(output->rows->getResult(0)).clone(output->dims);
  const RankedTensorType given = joined.clone(ArrayRef<int64_t>{
      output->dims[0] * output->windows, output->dims[1] / output->windows, output->dims[2]});
  OpMaker maker(op, backend);
  const Value numbers = biases.of(maker, op);
  auto made = cast<tpu::ScaleDotProductAttentionOp>(builder.clone(*op));
  made->setOperands(operands);
  addBiases(made, numbers);
  made->setAttr("q_num_heads", headsOf(0));
  made->setAttr("kv_num_heads", headsOf(1));
  made->getResult(0).setType(withElements(given, op->getResult(0)));
  if (!isFitting(made, backend))
    return;
  Value result = made->getResult(0);
  if (output->cast) {
    made->setLoc(name(op->getResult(0), "_rows"));
    auto *cast = builder.clone(*output->cast);
    cast->setOperand(0, result);
    cast->getResult(0).setType(given);
    result = cast->getResult(0);
  }
  const StringRef rowsName = output->cast ? "_cast_rows" : "_rows";
  if (output->isOfChannels) {
    result.getDefiningOp()->setLoc(name(op->getResult(0), rowsName));
    result = channelsOfRows(result, name(op->getResult(0), "_channels"));
  }
  if (result.getType() != output->rows->getResult(0).getType()) {
    if (!output->isOfChannels)
      result.getDefiningOp()->setLoc(name(op->getResult(0), rowsName));
    builder.setInsertionPoint(output->rows);
    auto *ofAll = builder.clone(*output->rows);
    ofAll->setOperand(0, result);
    result = ofAll->getResult(0);
  }
  result.getDefiningOp()->setLoc(output->rows->getLoc());
  output->rows->getResult(0).replaceAllUsesWith(result);
  eraseUnused(output->rows);
  if (output->dims[0] == 1 && !output->isOfChannels)
    takeSample(result);
}

/// Turns rows [B, T, H * D] instead of the heads [B, H, T, D] that are made of them, with a cast
/// between or not: the heads are made behind that. Where one product turns the rows (canTurnRows),
/// and nothing else reads the heads as they were.
bool turnRows(tpu::RopeOp op) {
  Value heads = op.getInput();
  auto cast = heads.getDefiningOp<tpu::CastOp>();
  if (cast && !heads.hasOneUse())
    return false;
  auto permute = (cast ? cast.getInput() : heads).getDefiningOp<tpu::PermuteOp>();
  if (!permute || !hasOrder(permute, {0, 2, 1, 3}) || !permute.getOutput().hasOneUse() ||
      !isa<NoneType>(op.getPositions().getType()) || !staticType(op.getOutput()) ||
      staticType(op.getOutput()).getRank() != 4)
    return false;
  auto reshape = permute.getInput().getDefiningOp<tpu::ReshapeOp>();
  const RankedTensorType turnedHeads = staticType(op.getOutput());
  const ArrayRef<int64_t> dims = turnedHeads.getShape();
  const SmallVector<int64_t> rows = {dims[0], dims[2], dims[1] * dims[3]};
  if (!reshape || !reshape.getOutput().hasOneUse() || !staticType(reshape.getInput()) ||
      staticType(reshape.getInput()).getShape() != ArrayRef(rows) ||
      !canTurnRows(rows[0] * rows[1], rows[2]))
    return false;
  OpBuilder builder(op);
  const std::string base = tensorNames(op)[0];
  const auto named = [&](Operation *made, StringRef what) {
    made->setLoc(NameLoc::get(builder.getStringAttr(base + what.str())));
    return made->getResult(0);
  };
  // A copy of `like` that reads `operand` and makes `shape` with the elements of `elements`.
  const auto copied = [&](Operation *like, Value operand, ArrayRef<int64_t> shape, Value elements) {
    Operation *made = builder.clone(*like);
    made->setOperand(0, operand);
    made->getResult(0).setType(staticType(elements).clone(shape));
    return made;
  };
  Value made = reshape.getInput();
  if (cast)
    made = named(copied(cast, made, rows, cast.getOutput()), "_rows");
  Operation *turned = copied(op, made, rows, op.getOutput());
  turned->setAttr("num_heads", builder.getI64IntegerAttr(dims[1]));
  made = named(turned, "_turned");
  const SmallVector<int64_t> split(staticType(reshape.getOutput()).getShape());
  made = named(copied(reshape, made, split, op.getOutput()), "_split");
  Operation *moved = copied(permute, made, dims, op.getOutput());
  moved->setLoc(op->getLoc());
  op.getOutput().replaceAllUsesWith(moved->getResult(0));
  return true;
}

struct FoldHeadReshapesPass : codegen::impl::FoldHeadReshapesBase<FoldHeadReshapesPass> {
  using Base::Base;

  void runOnOperation() override {
    const auto isAny = [](tpu::RopeOp, const Backend &) { return true; };
    const auto turn = [](tpu::RopeOp op, const Backend &) -> Expected<void> {
      if (turnRows(op))
        eraseUnused(op);
      return {};
    };
    if (failed(rewriteOps<tpu::RopeOp>(getOperation(), isAny, turn)))
      return signalPassFailure();
    const auto isNorm = [](tpu::RMSNormOp, const Backend &) { return true; };
    const auto normalize = [](tpu::RMSNormOp op, const Backend &backend) -> Expected<void> {
      normalizeRows(op, backend);
      return {};
    };
    const auto isProduct = [](tpu::MulOp, const Backend &) { return true; };
    const auto scale = [](tpu::MulOp op, const Backend &backend) -> Expected<void> {
      scaleRows(op, backend);
      return {};
    };
    if (failed(rewriteOps<tpu::RMSNormOp>(getOperation(), isNorm, normalize)) ||
        failed(rewriteOps<tpu::MulOp>(getOperation(), isProduct, scale)))
      return signalPassFailure();
    AttentionBiases biases;
    const auto hasHeads = [](tpu::ScaleDotProductAttentionOp op, const Backend &) {
      return !op.getQNumHeads() && isAttentionAlone(op);
    };
    const auto takeRows = [&](tpu::ScaleDotProductAttentionOp op,
                              const Backend &backend) -> Expected<void> {
      RowsRewriter(op, backend, biases).run();
      return {};
    };
    if (failed(rewriteOps<tpu::ScaleDotProductAttentionOp>(getOperation(), hasHeads, takeRows)))
      return signalPassFailure();
    biases.eraseUnused();
    const std::unique_ptr<Backend> backend = backendOrEmit(getOperation());
    if (auto main = getOperation().lookupSymbol<func::FuncOp>("main"); main && !main.isExternal())
      multiplyRowsOfHeads(main, *backend);
  }
};

} // namespace

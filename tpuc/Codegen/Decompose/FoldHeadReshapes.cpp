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
#include "tpuc/Codegen/Decompose/PickedParts.h"
#include "tpuc/Codegen/Decompose/RewriteOps.h"
#include "tpuc/Codegen/Decompose/SampleRows.h"
#include "tpuc/Codegen/Layers.h"
#include "tpuc/Codegen/Passes.h"
#include "tpuc/Dialect/Top/Names.h"
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

bool hasOrder(tpu::PermuteOp op, ArrayRef<int64_t> order) {
  return ArrayRef<int64_t>(top::toInts(op.getOrder())) == order;
}

/// Rows, and which of their columns: `width` from `begin` on. Behind them stands a cast, or not.
struct Rows {
  Value tensor;
  int64_t begin = 0, width = 0;
  tpu::CastOp cast;
  enum Form : uint8_t {
    Apart,
    SampleTurned, ///< The only sample stands behind its rows (isSampleTurned).
    Channels,     ///< Rows are columns (rowsOfChannels).
  } form = Apart;
  /// Windows that attend each by itself.
  int64_t windows = 1;
};

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
std::optional<Rows> reshapedRows(Value value, ArrayRef<int64_t> dims, int64_t part = 0) {
  auto reshape = value.getDefiningOp<tpu::ReshapeOp>();
  const RankedTensorType rows = reshape ? staticType(reshape.getInput()) : RankedTensorType();
  const RankedTensorType split = reshape ? staticType(value) : RankedTensorType();
  if (!rows || !split || split.getShape() != dims)
    return std::nullopt;
  const bool areApart =
      rows.getRank() == 3 && rows.getShape()[0] == dims[0] && rows.getShape()[1] == dims[1];
  const bool isTurned = !areApart && dims[0] == 1 && isSampleTurned(reshape.getInput(), dims[1]);
  if (!areApart && !isTurned)
    return std::nullopt;
  const int64_t width = dims[dims.size() - 2] * dims.back();
  Rows found{.tensor = reshape.getInput(),
             .begin = part * width,
             .width = width,
             .cast = {},
             .form = isTurned ? Rows::SampleTurned : Rows::Apart};
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

/// How many windows of `whole` [B, H, T, D] are dimension 1 of `parts` [B * H, windows, rows, D];
/// 1 where these are none.
int64_t numWindows(Value whole, Value parts) {
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

/// The rows of `heads` [B, H, T, D], or of windows of them.
std::optional<Rows> rowsOf(Value heads) {
  if (auto cast = heads.getDefiningOp<tpu::CastOp>()) {
    std::optional<Rows> rows = rowsOf(cast.getInput());
    if (!rows || rows->cast)
      return std::nullopt;
    rows->cast = cast;
    return rows;
  }
  const ArrayRef<int64_t> dims = staticType(heads).getShape();
  if (auto reshape = heads.getDefiningOp<tpu::ReshapeOp>();
      reshape && numWindows(reshape.getInput(), heads) > 1) {
    std::optional<Rows> rows = rowsOf(reshape.getInput());
    if (!rows || rows->cast || rows->windows > 1 || rows->form != Rows::Apart)
      return std::nullopt;
    rows->windows = dims[1];
    return rows;
  }
  if (const std::optional<Picked> channels = channelsOfHeads(heads))
    return Rows{.tensor = channels->from,
                .begin = channels->begin,
                .width = dims[1] * dims[3],
                .cast = {},
                .form = Rows::Channels};
  if (auto permute = heads.getDefiningOp<tpu::PermuteOp>();
      permute && hasOrder(permute, {0, 2, 1, 3})) {
    const Value split = permute.getInput();
    const int64_t batch = dims[0], rows = dims[2], number = dims[1], width = dims[3];
    if (std::optional<Rows> found = reshapedRows(split, {batch, rows, number, width}))
      return found;
    const std::optional<Picked> picked = pickedPart(split, 2);
    const RankedTensorType all = picked ? staticType(picked->from) : RankedTensorType();
    if (!all || all.getRank() != 5)
      return std::nullopt;
    return reshapedRows(picked->from, {batch, rows, all.getDimSize(2), number, width},
                        picked->begin);
  }
  const std::optional<Picked> picked = pickedPart(heads, 0);
  auto permute = picked ? picked->from.getDefiningOp<tpu::PermuteOp>() : tpu::PermuteOp();
  const RankedTensorType all = permute ? staticType(permute.getOutput()) : RankedTensorType();
  if (!all || !hasOrder(permute, {2, 0, 3, 1, 4}))
    return std::nullopt;
  const int64_t parts = all.getShape()[0];
  if (picked->begin < 0 || picked->begin >= parts)
    return std::nullopt;
  return reshapedRows(permute.getInput(), {dims[0], dims[2], parts, dims[1], dims[3]},
                      picked->begin);
}

/// The tensor that puts the heads [B, H, T, D] of `value` back into rows [B, T, H * D], or those of
/// all samples [B * T, H * D], and the cast in between.
struct Rejoined {
  tpu::ReshapeOp rows;
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
  const RankedTensorType rows = staticType(found.rows.getOutput());
  found.dims = {dims[0], dims[2], dims[1] * dims[3]};
  if (found.isOfChannels)
    return rows ? std::optional(found) : std::nullopt;
  const std::array<int64_t, 2> ofAll = {dims[0] * dims[2], dims[1] * dims[3]};
  if (!rows || (rows.getShape() != ArrayRef(found.dims) && rows.getShape() != ArrayRef(ofAll)))
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
  Value columns(Rows rows, Value heads);
  Value input(Rows rows, Value heads);

  tpu::ScaleDotProductAttentionOp op;
  const Backend &backend;
  OpBuilder builder;
  AttentionBiases &biases;
};

/// Those columns of the rows, named after the heads that they are.
Value RowsRewriter::columns(Rows rows, Value heads) {
  const RankedTensorType type = staticType(rows.tensor);
  if (rows.width == type.getShape()[2])
    return rows.tensor;
  Value none = builder.create<top::NoneOp>(op.getLoc(), builder.getNoneType());
  OperationState state(name(heads, "_rows"), tpu::SliceOp::getOperationName(),
                       {rows.tensor, none, none, none, none},
                       type.clone({type.getShape()[0], type.getShape()[1], rows.width}));
  state.addAttribute("axes", builder.getI64ArrayAttr({2}));
  state.addAttribute("offset", builder.getI64ArrayAttr({rows.begin}));
  state.addAttribute("ends", builder.getI64ArrayAttr({rows.begin + rows.width}));
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
  SmallVector<Rows> inputs;
  for (Value heads : op->getOperands().take_front(3)) {
    std::optional<Rows> rows = staticType(heads) ? rowsOf(heads) : std::nullopt;
    if (!rows || rows->windows != output->windows)
      return;
    inputs.push_back(*rows);
  }
  // A mask would be one for each window.
  if (output->windows > 1 && (output->isOfChannels || !isa<NoneType>(op.getMask().getType())))
    return;
  // Queries, keys and values may be columns of the same rows, which are made anew.
  for (Rows &rows : inputs)
    if (rows.form != Rows::Apart) {
      const Rows before = rows;
      const Value made =
          before.form == Rows::Channels ? rowsOfChannels(before.tensor) : asSample(before.tensor);
      for (Rows &others : inputs)
        if (others.form == before.form && others.tensor == before.tensor) {
          others.tensor = made;
          others.form = Rows::Apart;
        }
    }
  for (Rows &rows : inputs)
    if (rows.windows > 1)
      rows.tensor = asWindows(rows.tensor, rows.windows);
  SmallVector<Value> operands(op->getOperands());
  for (unsigned i = 0; i < 3; ++i) {
    // Keys may be the values, too.
    const bool isAgain = i > 0 && op->getOperand(i) == op->getOperand(i - 1);
    operands[i] = isAgain ? operands[i - 1] : input(inputs[i], op->getOperand(i));
  }
  const auto headsOf = [&](unsigned index) {
    const int64_t width = staticType(op->getOperand(index)).getShape().back();
    return builder.getI64IntegerAttr(inputs[index].width / width);
  };
  const RankedTensorType joined = staticType(output->rows.getOutput()).clone(output->dims);
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
  if (result.getType() != output->rows.getOutput().getType()) {
    if (!output->isOfChannels)
      result.getDefiningOp()->setLoc(name(op->getResult(0), rowsName));
    builder.setInsertionPoint(output->rows);
    auto *ofAll = builder.clone(*output->rows);
    ofAll->setOperand(0, result);
    result = ofAll->getResult(0);
  }
  result.getDefiningOp()->setLoc(output->rows.getLoc());
  output->rows.getOutput().replaceAllUsesWith(result);
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
  }
};

} // namespace

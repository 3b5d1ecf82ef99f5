//===- DecomposeAttention.cpp - Attention as products and a softmax -------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Backend.h"
#include "tpuc/Codegen/Decompose/Decompositions.h"
#include "tpuc/Codegen/Decompose/RewriteOps.h"
#include "tpuc/Codegen/Layers.h"
#include "tpuc/Codegen/Passes.h"
#include "tpuc/Dialect/Top/Names.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Dialect/Tpu/AttentionOps.h"
#include "tpuc/Dialect/Tpu/MovementOps.h"
#include "tpuc/Dialect/Tpu/StoredType.h"

#include <cmath>

namespace tpuc::codegen {
#define GEN_PASS_DEF_DECOMPOSEATTENTION
#include "tpuc/Codegen/Passes.h.inc"
} // namespace tpuc::codegen

using namespace mlir;
using namespace tpuc;
using namespace tpuc::codegen;

namespace {

/// Whether an attention on stored integers is one of the plain form: [B, H, rows, D] with as many
/// heads for keys as for queries, nothing hidden, nothing kept.
bool isPlain(tpu::ScaleDotProductAttentionOp op) {
  for (Value operand : op->getOperands().drop_front(3))
    if (!isa<NoneType>(operand.getType()))
      return false;
  for (Value result : op->getResults().drop_front())
    if (!isa<NoneType>(result.getType()))
      return false;
  for (Value operand : op->getOperands().take_front(3))
    if (const RankedTensorType type = staticType(operand); !type || type.getRank() != 4)
      return false;
  const auto headsOf = [&](unsigned index) {
    return cast<RankedTensorType>(op->getOperand(index).getType()).getShape()[1];
  };
  return headsOf(0) == headsOf(1) && headsOf(0) == headsOf(2) && !op.getIsCausal() &&
         static_cast<int64_t>(op.getLeftWindow()) < 0 &&
         static_cast<int64_t>(op.getRightWindow()) < 0 && op.getSoftcap().convertToDouble() == 0 &&
         op.getSoftmaxType().value_or(Float32Type::get(op.getContext())).isF32();
}

/// Attention on stored integers [B, H, T, D] as that of B * H samples of one head, in rows:
/// products and a softmax would round in other steps.
class RowsOfIntegers {
public:
  explicit RowsOfIntegers(tpu::ScaleDotProductAttentionOp op) : op(op), builder(op) {}

  void run() {
    none = builder.create<top::NoneOp>(op.getLoc(), builder.getNoneType());
    constexpr StringLiteral kNames[] = {"query_rows", "key_rows", "value_rows"};
    SmallVector<Value> operands(op->getOperands());
    for (auto [operand, what] : llvm::zip(operands, kNames))
      operand = reshaped(operand, rowsOf(cast<RankedTensorType>(operand.getType())), name(what));
    auto rows = cast<tpu::ScaleDotProductAttentionOp>(builder.clone(*op));
    rows->setOperands(operands);
    const double width = cast<RankedTensorType>(op.getQuery().getType()).getDimSize(3);
    rows->setAttr("scale", builder.getF64FloatAttr(op.getScale() ? op.getScale()->convertToDouble()
                                                                 : 1 / std::sqrt(width)));
    for (const char *heads : {"q_num_heads", "kv_num_heads"})
      rows->setAttr(heads, builder.getI64IntegerAttr(1));
    const auto type = cast<RankedTensorType>(op->getResult(0).getType());
    rows->getResult(0).setType(rowsOf(type));
    rows->setLoc(name("rows"));
    op->getResult(0).replaceAllUsesWith(reshaped(rows->getResult(0), type, op.getLoc()));
    op->erase();
  }

private:
  static RankedTensorType rowsOf(RankedTensorType type) {
    const ArrayRef<int64_t> dims = type.getShape();
    return type.clone({dims[0] * dims[1], dims[2], dims[3]});
  }
  Location name(StringRef what) {
    return NameLoc::get(builder.getStringAttr(tensorNames(op)[0] + "_" + what.str()));
  }
  Value reshaped(Value value, RankedTensorType type, Location loc) {
    OperationState state(loc, tpu::ReshapeOp::getOperationName(), {value, none}, TypeRange(type));
    state.addAttribute("shape", builder.getI64ArrayAttr(type.getShape()));
    return builder.create(state)->getResult(0);
  }

  tpu::ScaleDotProductAttentionOp op;
  OpBuilder builder;
  Value none;
};

struct DecomposeAttentionPass : codegen::impl::DecomposeAttentionBase<DecomposeAttentionPass> {
  using Base::Base;

  void runOnOperation() override {
    const auto wants = [](tpu::ScaleDotProductAttentionOp op, const Backend &backend) {
      return !backend.placeOf(op) && (isPlain(op) || !tpu::hasIntegerFusion(op));
    };
    const auto decompose = [](tpu::ScaleDotProductAttentionOp op,
                              const Backend &backend) -> Expected<void> {
      OpMaker maker(op, backend);
      if (tpu::hasIntegerFusion(op))
        RowsOfIntegers(op).run();
      else if (decomposeAttention(maker))
        op->erase();
      return {};
    };
    if (failed(rewriteOps<tpu::ScaleDotProductAttentionOp>(getOperation(), wants, decompose)))
      signalPassFailure();
  }
};

} // namespace

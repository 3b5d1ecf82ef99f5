//===- WeightReorder.cpp - Weights as the chip reads them ---------------------- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Backend.h"
#include "tpuc/Codegen/Layers.h"
#include "tpuc/Codegen/Passes.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Dialect/Tpu/GroupOps.h"
#include "tpuc/Interpreter/Evaluate.h"
#include "tpuc/Support/MappedFile.h"

#include "llvm/ADT/MapVector.h"

namespace tpuc::codegen {
#define GEN_PASS_DEF_WEIGHTREORDER
#include "tpuc/Codegen/Passes.h.inc"
} // namespace tpuc::codegen

using namespace mlir;
using namespace tpuc;
using namespace tpuc::codegen;

namespace {

struct WeightReorderPass : codegen::impl::WeightReorderBase<WeightReorderPass> {
  using Base::Base;

  /// A packed weight and the op that says what it means, in front of `weight`.
  Expected<tpu::UnpackOp> packed(top::WeightOp weight, const PackedLayout &layout) {
    Expected<Tensor> tensor = weight.read();
    if (!tensor)
      return propagate(tensor);
    OpBuilder builder(weight);
    top::WeightOp made = top::WeightOp::create(builder, getOperation(), weight.name() + "_packed",
                                               pack(*tensor, layout));
    releaseMapped(tensor->rawBytes());
    auto type = cast<RankedTensorType>(weight.getOutput().getType());
    auto packedType = cast<RankedTensorType>(made.getOutput().getType());
    return builder.create<tpu::UnpackOp>(weight.getLoc(), type.clone(packedType.getElementType()),
                                         made.getOutput(), builder.getI64ArrayAttr(layout.blocks),
                                         builder.getI64ArrayAttr(layout.order),
                                         builder.getI64ArrayAttr(layout.padded));
  }

  /// Parameters are those of one op: it does not share what it reads.
  static intptr_t ownerOf(const OpOperand &use, const PackedLayout &layout) {
    return layout.parameters.empty() ? 0 : reinterpret_cast<intptr_t>(use.getOwner());
  }

  Expected<void> run() {
    Expected<std::unique_ptr<Backend>> backend = backendOf(getOperation());
    if (!backend)
      return propagate(backend);
    // By weight and shape of the packed form.
    llvm::MapVector<std::pair<Operation *, Attribute>, Value> made;
    SmallVector<OpOperand *> uses;
    getOperation().walk([&](Operation *op) {
      if (isOnCpu(op))
        return;
      for (OpOperand &operand : op->getOpOperands())
        if (operand.get().getDefiningOp<top::WeightOp>())
          uses.push_back(&operand);
    });
    for (OpOperand *use : uses) {
      Expected<std::optional<PackedLayout>> packing = (*backend)->packedLayout(*use);
      if (!packing)
        return propagate(packing);
      if (!*packing)
        continue;
      const std::optional<PackedLayout> &layout = *packing;
      auto weight = use->get().getDefiningOp<top::WeightOp>();
      Builder builder(&getContext());
      Attribute key = builder.getArrayAttr(
          {builder.getI64ArrayAttr(layout->shape), builder.getI64ArrayAttr(layout->blocks),
           builder.getI64ArrayAttr(layout->order), builder.getI64IntegerAttr(layout->type ? 1 : 0),
           builder.getI64IntegerAttr(ownerOf(*use, *layout))});
      Value &value = made[{weight, key}];
      if (!value) {
        Expected<tpu::UnpackOp> unpack = packed(weight, *layout);
        if (!unpack)
          return propagate(unpack);
        value = unpack->getOutput();
      }
      use->set(value);
    }
    for (const auto &[key, value] : made)
      if (key.first->use_empty())
        key.first->erase();
    return {};
  }

  void runOnOperation() override {
    if (Expected<void> done = run(); !done) {
      getOperation().emitError(done.error().message());
      signalPassFailure();
    }
  }
};

} // namespace

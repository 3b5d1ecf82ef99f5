//===- SubnetDivide.cpp - Which engine runs which part of a network -------------- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Backend.h"
#include "tpuc/Codegen/Layers.h"
#include "tpuc/Codegen/Passes.h"
#include "tpuc/Dialect/Top/TypeUtils.h"

namespace tpuc::codegen {
#define GEN_PASS_DEF_SUBNETDIVIDE
#include "tpuc/Codegen/Passes.h.inc"
} // namespace tpuc::codegen

using namespace mlir;
using namespace tpuc;
using namespace tpuc::codegen;

namespace {

/// The stored type of the first tensor of `op`, in words.
std::string typeName(Operation *op) {
  for (Type type : llvm::concat<const Type>(SmallVector<Type>(op->getResultTypes()),
                                            SmallVector<Type>(op->getOperandTypes())))
    if (std::optional<DataType> stored = storageDataType(type))
      return std::string(dataTypeName(*stored));
  return "none";
}

struct SubnetDividePass : codegen::impl::SubnetDivideBase<SubnetDividePass> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    Expected<std::unique_ptr<Backend>> backend = backendOf(module);
    if (!backend) {
      module.emitError(backend.error().message());
      return signalPassFailure();
    }
    auto main = module.lookupSymbol<func::FuncOp>("main");
    if (!main || main.isExternal()) {
      module.emitError("has no function 'main'");
      return signalPassFailure();
    }
    bool isRefused = false;
    for (Operation &op : main.front().without_terminator()) {
      if (!isLayer(&op))
        continue;
      Expected<Place> place = (*backend)->placeOf(&op);
      if (place)
        continue;
      op.emitError() << op.getName() << " on " << typeName(&op) << " cannot be computed on "
                     << (*backend)->info().name << ": " << place.error().message();
      isRefused = true;
    }
    if (isRefused)
      return signalPassFailure();
    OpBuilder builder(&getContext());
    main->setAttr("subnet_id", builder.getI64IntegerAttr(0));
    main->setAttr("subnet_mode", builder.getStringAttr("TPU"));
    module->setAttr("module.state", builder.getStringAttr("TPU_DIVIDED"));
  }
};

} // namespace

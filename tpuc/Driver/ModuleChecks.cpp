//===- ModuleChecks.cpp - What a module is checked for --------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Driver/ModuleChecks.h"
#include "tpuc/Dialect/Top/Names.h"
#include "tpuc/Dialect/Top/ShapeInference.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Driver/Diagnostics.h"
#include "tpuc/Support/Sizes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <fmt/format.h>

using namespace mlir;
using namespace tpuc;

Expected<void> tpuc::checkTypes(ModuleOp module, const std::string &path) {
  auto main = module.lookupSymbol<func::FuncOp>("main");
  if (!main || main.isExternal())
    return {};
  DiagnosticCollector diagnostics(*module.getContext());
  // Inference completes what it finds; nobody asked for that here.
  OwningOpRef<func::FuncOp> copy(main.clone());
  // The weights of the copy are found through its module.
  copy->setName("main_of_check");
  module.push_back(*copy);
  func::FuncOp checked = copy.release();
  LogicalResult result = success();
  for (Operation &op : checked.front().without_terminator()) {
    auto inference = dyn_cast<top::InferShapeInterface>(op);
    if (inference && failed(result = inference.inferShape()))
      break;
  }
  checked.erase();
  if (succeeded(result))
    return {};
  return diagnostics.error(path, "has types that its ops do not make");
}

Expected<void> tpuc::checkTensorsFit(ModuleOp module, const TargetInfo &target) {
  auto main = module.lookupSymbol<func::FuncOp>("main");
  if (!main || main.isExternal())
    return {};
  const Count most = static_cast<int64_t>(target.global.mostBytes);
  for (Operation &op : main.front().without_terminator())
    for (Type type : op.getResultTypes()) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      const std::optional<DataType> element = tensor ? storageDataType(tensor) : std::nullopt;
      if (!element || !tensor.hasStaticShape())
        continue;
      const std::string where = "layer '" + layerName(&op) + "'";
      if (const Count bytes = tensorBytes(tensor.getShape(), *element); bytes > most)
        return makeError(
            where, "makes a tensor of " + sizeText(bytes),
            fmt::format("at most {}, which {} may have", sizeText(most), std::string(target.name)));
      if (isa<top::InputOp>(op) && tensor.getNumElements() == 0)
        return makeError(
            "input '" + layerName(&op) + "'",
            fmt::format("has shape {} and no elements", shapes::dimsText(tensor.getShape())),
            "extents of at least 1");
    }
  return {};
}

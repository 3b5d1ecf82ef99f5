//===- ModuleChecks.cpp - What a module is checked for --------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Driver/ModuleChecks.h"
#include "tpuc/Dialect/Top/Names.h"
#include "tpuc/Dialect/Top/OpTraits.h"
#include "tpuc/Dialect/Top/ShapeInference.h"
#include "tpuc/Dialect/Top/TopInterfaces.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Driver/Diagnostics.h"
#include "tpuc/Support/Sizes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/SmallPtrSet.h"

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

/// The bytes of a tensor of static shape; 0 for anything else.
static Count bytesOfType(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  const std::optional<DataType> element = tensor ? storageDataType(tensor) : std::nullopt;
  return element && tensor.hasStaticShape() ? tensorBytes(tensor.getShape(), *element) : Count(0);
}

/// The bytes of what `op` reads and writes, all of which are there while it runs.
static Count bytesAround(Operation &op) {
  Count bytes = 0;
  for (Type type : op.getResultTypes())
    bytes += bytesOfType(type);
  if (op.hasTrait<traits::ViewLike>() || op.hasTrait<traits::Structural>())
    return bytes;
  const llvm::SmallPtrSet<Value, 4> operands(op.operand_begin(), op.operand_end());
  for (Value operand : operands)
    bytes += bytesOfType(operand.getType());
  return bytes;
}

Expected<void> tpuc::checkTensorsFit(ModuleOp module, const TargetInfo &target) {
  auto main = module.lookupSymbol<func::FuncOp>("main");
  if (!main || main.isExternal())
    return {};
  const Count most = static_cast<int64_t>(target.global.mostBytes);
  for (Operation &op : main.front().without_terminator())
    if (const Count bytes = bytesAround(op); bytes > most)
      return makeError("layer '" + layerName(&op) + "'",
                       "reads and writes tensors of " + sizeText(bytes),
                       fmt::format("at most {}, which {} may have", sizeText(most), target.name));
  return {};
}

//===- WideFloats.cpp - Networks of 16-bit floats as networks of F32 ------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Driver/WideFloats.h"
#include "tpuc/Conversion/TopToTpu/Lowering.h"
#include "tpuc/Conversion/TopToTpu/Passes.h"
#include "tpuc/Dialect/Top/MainFunction.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Driver/ModuleFile.h"
#include "tpuc/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace tpuc;

Expected<void> tpuc::widenFloats(ModuleOp module, bool withDoubles, const std::string &path) {
  std::vector<std::string> types;
  for (DataType type : {DataType::F16, DataType::BF16, DataType::F64})
    if (type != DataType::F64 || withDoubles)
      types.emplace_back(dataTypeName(type));
  const auto isWidened = [&](Type type) {
    const Type element = getElementTypeOrSelf(type);
    return element.isF16() || element.isBF16() || (withDoubles && element.isF64());
  };
  const bool hasSome = module
                           .walk([&](Operation *op) {
                             return llvm::any_of(op->getResultTypes(), isWidened)
                                        ? WalkResult::interrupt()
                                        : WalkResult::advance();
                           })
                           .wasInterrupted();
  if (!hasSome)
    return {};
  Expected<void> done = runPasses(module, [&](OpPassManager &manager) {
    manager.addPass(createWidenFloats({types}));
    addTopOptimization(manager);
  });
  if (!done && done.error().where == "module")
    return makeError(path, done.error().found, done.error().expected);
  return done;
}

void tpuc::restoreGivenTypes(ModuleOp module, std::vector<InputSpec> &inputs) {
  Expected<func::FuncOp> main = top::mainFunction(module);
  if (!main)
    return;
  for (auto [spec, input] : llvm::zip(inputs, main->getOps<top::InputOp>())) {
    auto argument = dyn_cast<BlockArgument>(input.getInput());
    if (!argument || spec.type != DataType::F32)
      continue;
    if (auto given = main->getArgAttrOfType<TypeAttr>(argument.getArgNumber(), kGivenType))
      spec.type = storageDataType(given.getValue()).value_or(spec.type);
  }
}

//===- MainFunction.cpp - The function that is the network ----------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Top/MainFunction.h"

using namespace mlir;
using namespace tpuc;

Expected<func::FuncOp> top::mainFunction(ModuleOp module) {
  auto main = module.lookupSymbol<func::FuncOp>("main");
  if (!main || main.isExternal())
    return makeError("module", "has no function 'main'");
  return main;
}

void top::updateFunctionType(func::FuncOp function) {
  function.setType(FunctionType::get(function.getContext(), function.front().getArgumentTypes(),
                                     function.front().getTerminator()->getOperandTypes()));
}

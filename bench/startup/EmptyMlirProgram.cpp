//===- EmptyMlirProgram.cpp - What every program with MLIR takes to start --===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/MLIRContext.h"

int main() {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  return 0;
}

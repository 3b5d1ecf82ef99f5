//===- AttachOps.cpp - The evaluators that need no MLIR, for ops of MLIR -----===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Interpreter/Attach.h"
#include "tpuc/Interpreter/Evaluate.h"
#include "tpuc/Interpreter/Ops/OpEvaluator.h"
#include "tpuc/Interpreter/StoredOps.h"

using namespace tpuc;

namespace {

/// Any op whose name, without the dialect, `Ops/` knows.
struct NamedModel : EvaluateInterface::FallbackModel<NamedModel> {
  Expected<void> evaluate(mlir::Operation *op, EvalContext &context) const {
    if (isOnStoredNumbers(op))
      return evaluateOnStoredNumbers(op, context);
    return ops::evaluate(*ops::findEvaluator(op->getName().stripDialect()), context);
  }
};

} // namespace

void tpuc::attachOps(mlir::MLIRContext *context, llvm::StringRef dialect) {
  for (const ops::OpEvaluator &evaluator : ops::evaluators()) {
    const bool isTpu = evaluator.name == "RoundTo";
    if (isTpu == (dialect == "tpu"))
      if (auto name = mlir::RegisteredOperationName::lookup(
              (dialect + "." + llvm::StringRef(evaluator.name)).str(), context))
        name->attachInterface<NamedModel>();
  }
}

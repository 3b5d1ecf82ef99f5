//===- AttachOps.cpp - The meanings that need no MLIR, for ops of MLIR -----===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Interpreter/Attach.h"
#include "tpuc/Interpreter/Evaluate.h"
#include "tpuc/Interpreter/Ops/Meaning.h"

using namespace tpuc;

namespace {

/// Any op whose name, without the dialect, `Ops/` knows.
struct NamedModel : EvaluateInterface::FallbackModel<NamedModel> {
  Expected<void> evaluate(mlir::Operation *op, EvalContext &context) const {
    return ops::evaluate(*ops::findMeaning(op->getName().stripDialect()), context);
  }
};

} // namespace

void tpuc::attachOps(mlir::MLIRContext *context, llvm::StringRef dialect) {
  for (const ops::Meaning &meaning : ops::meanings()) {
    const bool isTpu = meaning.name == "RoundTo";
    if (isTpu == (dialect == "tpu"))
      if (auto name = mlir::RegisteredOperationName::lookup(
              (dialect + "." + llvm::StringRef(meaning.name)).str(), context))
        name->attachInterface<NamedModel>();
  }
}

//===- EvaluateInterface.td - What an op computes -*- tablegen -*-
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_INTERPRETER_EVALUATEINTERFACE
#define TPUC_INTERPRETER_EVALUATEINTERFACE

include "mlir/IR/OpBase.td"

def EvaluateInterface : OpInterface<"EvaluateInterface"> {
  let cppNamespace = "::tpuc";
  let description = [{
    What an op computes from tensors. Attached to ops from outside, so that the dialects stay light
    and the meaning of an op stands beside its kernel.
  }];
  let methods = [InterfaceMethod<[{
      Computes the results from the operands that the context holds. The shapes are those of the
      tensors, which may be more exact than the types of the op. Errors name what does not fit.
    }], "::tpuc::Expected<void>", "evaluate", (ins "::tpuc::EvalContext &":$context)>];
}

#endif // TPUC_INTERPRETER_EVALUATEINTERFACE

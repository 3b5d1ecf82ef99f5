//===- Passes.td - Passes that take quantized types away -*- tablegen -* -===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DIALECT_QUANT_TRANSFORMS_PASSES
#define TPUC_DIALECT_QUANT_TRANSFORMS_PASSES

include "mlir/Pass/PassBase.td"

def LowerQuantOps : Pass<"lower-quant-ops"> {
  let summary = "Turn quant.dcast and quant.qcast into arithmetic";
  let description = [{
    Rewrites every `quant.dcast` and `quant.qcast` below the op it runs on. The result computes on
    the storage integers, which a `quant.scast` (never lowered) connects to the quantized values.

    | parameters | value | how |
    | --- | --- | --- |
    | per layer | scalar, ranked tensor | `arith` ops on the whole value, constants splat to its shape |
    | per layer | unranked tensor | reshaped to one dimension, then as above |
    | per axis | ranked tensor | a `linalg.generic` that reads scales and zero points along the axis |
    | per axis | unranked tensor | reshaped to three dimensions, the channels in the middle, then as above |

    Per layer, a zero point of 0 costs no op; per axis the zero points are always there. Storage
    bounds that are the storage type's own cost no op in either case.

    By default a float becomes an integer by `arith.fptosi` or `arith.fptoui`: rounded toward zero
    and undefined for NaN and for values outside the storage type. With `saturate` it is

    ```
    stored = min(max(roundeven(input / scale) + zeroPoint, storageMin), storageMax)
    ```

    with input / scale rounded to the expressed type and everything after it exact; an infinity
    goes to the bound on its side and NaN to the zero point (clamped, if it lies outside of the
    bounds). The clamp comes before the conversion, so that this is defined for every input.
  }];
  let options = [Option<"saturate", "saturate", "bool", /*default=*/"false",
      "Round to nearest even, saturate, and turn NaN into the zero point">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::math::MathDialect", "::mlir::shape::ShapeDialect",
                           "::mlir::tensor::TensorDialect", "::tpuc::quant::QuantDialect"];
}

def StripFuncQuantTypes : Pass<"strip-func-quant-types", "::mlir::ModuleOp"> {
  let summary = "Take quantized types out of function signatures";
  let description = [{
    In the signature of every `func.func` that lies directly in the module, defined or declared,
    each `!quant.uniform` becomes its storage integer. `quant.scast` connects the new arguments
    with the body, and the values of the body with `func.return`, `func.call` and
    `func.call_indirect`. Function types themselves (of `func.constant`, of values of function
    type) change in place. A container that `quant.scast` does not take (a tuple, say) is
    connected by `builtin.unrealized_conversion_cast` instead.

    Functions of nested modules, `!quant.any` and `!quant.calibrated` stay as they are.
  }];
  let dependentDialects = ["::mlir::func::FuncDialect", "::tpuc::quant::QuantDialect"];
}

def QuantFallback : Pass<"quant-fallback"> {
  let summary = "Compute on floats what has no integer form";
  let description = [{
    Rewrites each op of `QuantizableOpInterface` that has a `!quant.uniform` operand or result and
    no integer form for its types: `op(q)` becomes `qcast(op'(dcast(q)))`, with op' the same op on
    the expressed types.
  }];
  let dependentDialects = ["::tpuc::quant::QuantDialect"];
}

def VerifyQuantLowered : Pass<"verify-quant-lowered"> {
  let summary = "Fail where a !quant.uniform type or an op of the quant dialect is left";
}

#endif // TPUC_DIALECT_QUANT_TRANSFORMS_PASSES

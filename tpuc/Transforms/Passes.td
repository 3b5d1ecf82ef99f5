//===- Passes.td - Passes from Top to Top -*- tablegen -*-
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TRANSFORMS_PASSES
#define TPUC_TRANSFORMS_PASSES

include "mlir/Pass/PassBase.td"

def ShapeInfer : Pass<"shape-infer", "::mlir::ModuleOp"> {
  let summary = "Make types exact and compute what is constant";
  let description = [{
    Sets the result types of all ops, in their order and those of bodies before the op around them,
    from the types of their operands and the values of constant ones. An op whose operands are all
    weights of at most `max-folded` elements is computed at once, and its results become weights;
    so is the shape of a tensor whose shape is known. Last, the functions' types follow what they
    return, and constants that nobody reads go.

    The weights that come to be are in the module's weight store, not in a file.
  }];
  let options = [Option<"maxFolded", "max-folded", "int64_t", /*default=*/"4096",
      "Compute at once up to this many elements per tensor; 0: compute nothing">];
  let dependentDialects = ["::tpuc::top::TopDialect"];
}

def TopFuse : Pass<"top-fuse", "::mlir::ModuleOp"> {
  let summary = "Make one op of several";
  let description = [{
    Until nothing changes, with a pattern for each; `c` is a constant. The op that is left has the
    name of the last one.

    | pattern | from | to |
    | --- | --- | --- |
    | `batchnorm-to-scale` | `BatchNorm(x, c...)` | `Scale(x, c, c)` |
    | `scale-into-conv` | `Scale(Conv(x, c, c), c, c)` | `Conv(x, c, c)` |
    | `add-into-conv` | `Add(Conv(x, c, c), c)`, one per channel | `Conv(x, c, c)` |
    | `add-into-matmul` | `Add(MatMul(x, y), c)`, one per column | `MatMul(x, y, c)` |
    | `clip-to-relu` | `Clip(x)` from 0 | `Relu(x)` with `relu_limit` |
    | `relu-into-producer` | `Relu(op(x))` | `op(x)` with `do_relu` |
    | `mul-to-silu` | `Mul(x, Sigmoid(x))` | `SiLU(x)` |
    | `mul-to-hardswish` | `Mul(x, HardSigmoid(x))` of 1/6 and 1/2 | `HardSwish(x)` |

    An op is only taken into another if nobody else reads its result. New constants are computed in
    f64 and rounded once.
  }];
  let options = [ListOption<"disabled", "disable", "std::string", "Patterns to leave out">];
  let dependentDialects = ["::tpuc::top::TopDialect"];
}

def ExtraOptimize : Pass<"extra-optimize", "::mlir::ModuleOp"> {
  let summary = "Remove what nobody reads, count the operations";
  let description = [{
    Erases ops without effects whose results nobody reads, and sets `module.FLOPs`: the operations
    of one run of `main` (see `FlopsInterface`), bodies counted once.
  }];
}

#endif // TPUC_TRANSFORMS_PASSES

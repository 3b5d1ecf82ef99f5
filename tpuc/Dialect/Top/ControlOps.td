//===- ControlOps.td - Branches and loops -*- tablegen -*-
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DIALECT_TOP_CONTROLOPS
#define TPUC_DIALECT_TOP_CONTROLOPS

include "tpuc/Dialect/Top/TopBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

// Regions may read values of the surrounding ones.

def Top_IfOp : Top_Op<"If", [
    RecursiveMemoryEffects, SingleBlock, NoRegionArguments,
    DeclareOpInterfaceMethods<Top_InferShapeInterface>]> {
  let summary = "One of two sub-networks, by a condition";
  let arguments = (ins AnyTensor:$cond);
  let regions = (region SizedRegion<1>:$then_branch, SizedRegion<1>:$else_branch);
  let results = (outs Variadic<AnyTensor>:$outputs);
}

def Top_LoopOp : Top_Op<"Loop", [
    RecursiveMemoryEffects, SingleBlock,
    DeclareOpInterfaceMethods<Top_InferShapeInterface>]> {
  let summary = "A sub-network again and again, as ONNX's Loop";
  let description = [{
    The body takes the iteration number, the condition and the carried values; it yields the
    condition, the carried values and what is gathered of each iteration.
  }];
  let arguments = (ins Top_OptionalTensor:$trip_count, Top_OptionalTensor:$cond,
                       Variadic<AnyTensor>:$initial);
  let regions = (region SizedRegion<1>:$body);
  let results = (outs Variadic<AnyTensor>:$outputs);
}

def Top_ScanOp : Top_Op<"Scan", [
    RecursiveMemoryEffects, SingleBlock,
    DeclareOpInterfaceMethods<Top_InferShapeInterface>]> {
  let summary = "A sub-network over the slices of tensors, as ONNX's Scan";
  let description = [{
    The operands are the initial states, then `num_scan_inputs` tensors that are cut into slices.
    The body takes and yields states, and yields what is gathered of each slice.
  }];
  let arguments = (ins Variadic<AnyTensor>:$inputs, I64Attr:$num_scan_inputs,
                       OptionalAttr<I64ArrayAttr>:$input_axes,
                       OptionalAttr<I64ArrayAttr>:$input_directions,
                       OptionalAttr<I64ArrayAttr>:$output_axes,
                       OptionalAttr<I64ArrayAttr>:$output_directions);
  let regions = (region SizedRegion<1>:$body);
  let results = (outs Variadic<AnyTensor>:$outputs);
}

def Top_YieldOp : Top_Op<"Yield", [Pure, Terminator]> {
  let summary = "The results of a sub-network";
  let arguments = (ins Variadic<AnyTensor>:$operands);
}

#endif // TPUC_DIALECT_TOP_CONTROLOPS

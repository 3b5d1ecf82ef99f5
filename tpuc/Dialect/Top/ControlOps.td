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
    Top_MovesElements, RecursiveMemoryEffects, SingleBlock, NoRegionArguments,
    DeclareOpInterfaceMethods<Top_InferShapeInterface>]> {
  let summary = "One of two sub-networks, by a condition";
  let description = [{
    The results of `then_branch` where the one element of `cond` is true, else those of
    `else_branch`. The branches may read values of the surrounding regions.

    Example:

    ```mlir
    func.func @if(%c: tensor<i1>, %a: tensor<2xf32>, %b: tensor<2xf32>) {
      %0 = "top.If"(%c) ({
        "top.Yield"(%a) : (tensor<2xf32>) -> ()
      }, {
        "top.Yield"(%b) : (tensor<2xf32>) -> ()
      }) : (tensor<i1>) -> tensor<2xf32>
      return
    }
    ```
  }];
  let arguments = (ins AnyTensor:$cond);
  let regions = (region SizedRegion<1>:$then_branch, SizedRegion<1>:$else_branch);
  let results = (outs Variadic<AnyTensor>:$outputs);
  let hasVerifier = 1;
}

def Top_LoopOp : Top_Op<"Loop", [
    Top_MovesElements, RecursiveMemoryEffects, SingleBlock,
    DeclareOpInterfaceMethods<Top_InferShapeInterface>]> {
  let summary = "A sub-network again and again, as ONNX's Loop";
  let description = [{
    The body takes the iteration number, the condition and the carried values; it yields the
    condition, the carried values and what is gathered of each iteration. It runs while the
    condition holds and at most `trip_count` times. The results are the last carried values, then
    the gathered ones, stacked along a new first dimension.

    Example:

    ```mlir
    func.func @loop(%n: tensor<i64>, %none: none, %a: tensor<2xf32>) {
      %0 = "top.Loop"(%n, %none, %a) ({
      ^bb0(%i: tensor<i64>, %c: tensor<i1>, %x: tensor<2xf32>):
        "top.Yield"(%c, %x) : (tensor<i1>, tensor<2xf32>) -> ()
      }) : (tensor<i64>, none, tensor<2xf32>) -> tensor<2xf32>
      return
    }
    ```
  }];
  let arguments = (ins Top_OptionalTensor:$trip_count, Top_OptionalTensor:$cond,
                       Variadic<AnyTensor>:$initial);
  let regions = (region SizedRegion<1>:$body);
  let results = (outs Variadic<AnyTensor>:$outputs);
  let hasVerifier = 1;
}

def Top_ScanOp : Top_Op<"Scan", [
    Top_MovesElements, RecursiveMemoryEffects, SingleBlock,
    DeclareOpInterfaceMethods<Top_InferShapeInterface>]> {
  let summary = "A sub-network over the slices of tensors, as ONNX's Scan";
  let description = [{
    The operands are the initial states, then `num_scan_inputs` tensors that are cut into slices
    along `input_axes` (0 where not given), from the last slice on where `input_directions` is 1.
    The body takes and yields states, and yields what is gathered of each slice, which is stacked
    along `output_axes`, in front of what there is where `output_directions` is 1.

    Example:

    ```mlir
    func.func @scan(%s: tensor<2xf32>, %x: tensor<3x2xf32>) {
      %0:2 = "top.Scan"(%s, %x) ({
      ^bb0(%state: tensor<2xf32>, %slice: tensor<2xf32>):
        "top.Yield"(%slice, %state) : (tensor<2xf32>, tensor<2xf32>) -> ()
      }) {num_scan_inputs = 1 : i64} : (tensor<2xf32>, tensor<3x2xf32>) -> (tensor<2xf32>, tensor<3x2xf32>)
      return
    }
    ```
  }];
  let arguments = (ins Variadic<AnyTensor>:$inputs, Top_AtLeast<I64Attr, 1>:$num_scan_inputs,
                       Top_SomeAxis<OptionalAttr<I64ArrayAttr>>:$input_axes,
                       Top_Choices:$input_directions,
                       Top_SomeAxis<OptionalAttr<I64ArrayAttr>>:$output_axes,
                       Top_Choices:$output_directions);
  let regions = (region SizedRegion<1>:$body);
  let results = (outs Variadic<AnyTensor>:$outputs);
  let hasVerifier = 1;
}

def Top_YieldOp : Top_Op<"Yield", [Pure, Terminator, Top_MovesElements]> {
  let summary = "The results of a sub-network";
  let description = [{
    Ends a region and names what it gives.

    Example:

    ```mlir
    func.func @yield(%c: tensor<i1>, %a: tensor<2xf32>, %b: tensor<2xf32>) {
      %0 = "top.If"(%c) ({
        "top.Yield"(%a) : (tensor<2xf32>) -> ()
      }, {
        "top.Yield"(%b) : (tensor<2xf32>) -> ()
      }) : (tensor<i1>) -> tensor<2xf32>
      return
    }
    ```
  }];
  let arguments = (ins Variadic<AnyTensor>:$operands);
}

#endif // TPUC_DIALECT_TOP_CONTROLOPS

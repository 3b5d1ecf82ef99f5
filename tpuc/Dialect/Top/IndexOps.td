//===- IndexOps.td - Gathering and scattering -*- tablegen -*-
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DIALECT_TOP_INDEXOPS
#define TPUC_DIALECT_TOP_INDEXOPS

include "tpuc/Dialect/Top/TopBase.td"

def Top_GatherOp : Top_ComputeOp<"Gather", [Top_MovesElements, Top_MovesIntegers]> {
  let summary = "Slices that indices name";
  let description = [{
    `output[i..., j..., k...] = input[i..., indices[j...], k...]`, where `i` are the dimensions
    before `axis` and `k` those behind it. Negative indices count from the end.

    Example:

    ```mlir
    %0 = "top.Gather"(%a, %i) {axis = 1 : i64} : (tensor<2x5x3xf32>, tensor<4xi64>) -> tensor<2x4x3xf32>
    ```
  }];
  let arguments = (ins AnyTensor:$input,
                       AnyTensor:$indices,
                       Top_AxisOf<Top_DefaultI64<0>, 0>:$axis);
  let results = (outs AnyTensor:$output);
  let hasVerifier = 1;
}

def Top_GatherElementsOp : Top_ComputeOp<"GatherElements", [Top_MovesElements, Top_MovesIntegers]> {
  let summary = "Elements that indices along an axis name";
  let description = [{
    `output[i..., j, k...] = input[i..., indices[i..., j, k...], k...]`, where `j` is dimension
    `axis`. Negative indices count from the end.

    Example:

    ```mlir
    %0 = "top.GatherElements"(%a, %i) {axis = 1 : i64} : (tensor<2x5xf32>, tensor<2x3xi64>) -> tensor<2x3xf32>
    ```
  }];
  let arguments = (ins AnyTensor:$input,
                       AnyTensor:$indices,
                       Top_AxisOf<Top_DefaultI64<0>, 0>:$axis);
  let results = (outs AnyTensor:$output);
  let hasVerifier = 1;
}

def Top_GatherNDOp : Top_ComputeOp<"GatherND", [Top_MovesElements, Top_MovesIntegers]> {
  let summary = "Slices that tuples of indices name";
  let description = [{
    `output[b..., j...] = input[b..., indices[b..., j..., 0], ..., indices[b..., j..., n - 1],
    ...]`: the last dimension of `indices` holds tuples that name slices of the input, `b` are the
    first `batch_dims` dimensions of both.

    Example:

    ```mlir
    %0 = "top.GatherND"(%a, %i) : (tensor<2x5x3xf32>, tensor<4x2xi64>) -> tensor<4x3xf32>
    ```
  }];
  let arguments = (ins AnyTensor:$input,
                       AnyTensor:$indices,
                       Top_Between<Top_DefaultI64<0>, 0, Top_MostRank>:$batch_dims);
  let results = (outs AnyTensor:$output);
  let hasVerifier = 1;
}

def Top_ScatterElementsOp : Top_ComputeOp<"ScatterElements"> {
  let summary = "Writes elements where indices along an axis say";
  let description = [{
    The input, in which `output[i..., indices[i..., j, k...], k...]` becomes `updates[i..., j,
    k...]` (`reduction` "none"), or the sum ("add"), the product ("mul"), the larger ("max") or
    the smaller ("min") of what is there and it. `j` is dimension `axis`.

    Example:

    ```mlir
    %0 = "top.ScatterElements"(%a, %i, %u) {axis = 1 : i64, reduction = "add"} : (tensor<2x5xf32>, tensor<2x3xi64>, tensor<2x3xf32>) -> tensor<2x5xf32>
    ```
  }];
  let arguments = (ins AnyTensor:$input,
                       AnyTensor:$indices,
                       AnyTensor:$updates,
                       Top_AxisOf<Top_DefaultI64<0>, 0>:$axis,
                       DefaultValuedStrAttr<StrAttr, "none">:$reduction);
  let results = (outs AnyTensor:$output);
  let hasVerifier = 1;
}

def Top_ScatterNDOp : Top_ComputeOp<"ScatterND"> {
  let summary = "Writes slices where tuples of indices say";
  let description = [{
    The input, in which the slice that the tuple `indices[j..., :]` names becomes `updates[j...,
    ...]`, or is combined with it as `reduction` says ("none", "add", "mul", "max", "min").

    Example:

    ```mlir
    %0 = "top.ScatterND"(%a, %i, %u) : (tensor<4x3xf32>, tensor<2x1xi64>, tensor<2x3xf32>) -> tensor<4x3xf32>
    ```
  }];
  let arguments = (ins AnyTensor:$input,
                       AnyTensor:$indices,
                       AnyTensor:$updates,
                       DefaultValuedStrAttr<StrAttr, "none">:$reduction);
  let results = (outs AnyTensor:$output);
  let hasVerifier = 1;
}

def Top_TensorScatterOp : Top_ComputeOp<"TensorScatter"> {
  let summary = "Writes a run of slices into each sample of a cache";
  let description = [{
    The input, in which the slices from `starts[n]` on along `axis` of sample n become those of
    `updates[n]`, which has the input's extents but for the one of `axis`, at most as long. Without
    `starts` the runs begin at 0. `mode` "circular" wraps around at the end of `axis`, "linear" must
    not reach it. `axis` is not 0, the samples.

    Example:

    ```mlir
    %0 = "top.TensorScatter"(%cache, %u, %starts) : (tensor<2x8x4xf32>, tensor<2x3x4xf32>, tensor<2xi64>) -> tensor<2x8x4xf32>
    ```
  }];
  let arguments = (ins AnyTensor:$input,
                       AnyTensor:$updates,
                       Top_OptionalTensor:$starts,
                       Top_AxisOf<Top_DefaultI64<-2>, 0>:$axis,
                       DefaultValuedStrAttr<StrAttr, "linear">:$mode);
  let results = (outs AnyTensor:$output);
  let hasVerifier = 1;
}

def Top_OneHotOp : Top_ComputeOp<"OneHot"> {
  let summary = "Ones where indices say";
  let description = [{
    A new dimension `axis` of extent `depth`, in which the element that the index names is
    `values[1]` and the others `values[0]`. Negative indices count from the end; one beyond the
    ends leaves `values[0]` alone.

    Example:

    ```mlir
    %0 = "top.OneHot"(%i, %depth, %values) {axis = -1 : i64} : (tensor<4xi64>, tensor<i64>, tensor<2xf32>) -> tensor<4x?xf32>
    ```
  }];
  let arguments = (ins AnyTensor:$indices,
                       AnyTensor:$depth,
                       AnyTensor:$values,
                       Top_AxisOf<Top_DefaultI64<-1>, 0, 1>:$axis);
  let results = (outs AnyTensor:$output);
  let hasVerifier = 1;
}

def Top_CompressOp : Top_ComputeOp<"Compress", [Top_MovesElements]> {
  let summary = "Slices where a condition holds";
  let description = [{
    The slices along `axis` whose element of `condition` is true; without `axis`, elements of the
    flattened input. A condition that is shorter than the dimension drops the rest.

    Example:

    ```mlir
    %0 = "top.Compress"(%a, %c) {axis = 0 : i64} : (tensor<4x3xf32>, tensor<4xi1>) -> tensor<?x3xf32>
    ```
  }];
  let arguments = (ins AnyTensor:$input,
                       AnyTensor:$condition,
                       Top_AxisOf<OptionalAttr<I64Attr>, 0>:$axis);
  let results = (outs AnyTensor:$output);
  let hasVerifier = 1;
}

#endif // TPUC_DIALECT_TOP_INDEXOPS

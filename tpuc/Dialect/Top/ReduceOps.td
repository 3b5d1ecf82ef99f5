//===- ReduceOps.td - Reductions, searches -*- tablegen -*-
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DIALECT_TOP_REDUCEOPS
#define TPUC_DIALECT_TOP_REDUCEOPS

include "tpuc/Dialect/Top/ElementwiseBase.td"

def Top_ReduceOp : Top_ComputeOp<"Reduce", [Top_KeepsSign, Top_ComputesIntegers]> {
  let summary = "Reduces dimensions";
  let description = [{
    Reduces the dimensions `axes` (or `axes_tensor`) to one element each; without either, all of
    them, or none with `noop_with_empty_axes`. `mode`:
    - "ReduceSum": `sum x`; "ReduceMean": `sum x / n`; "ReduceProd": `product x`;
    - "ReduceMax", "ReduceMin": the largest and the smallest, NaN where one is;
    - "ReduceL1": `sum |x|`; "ReduceL2": `sqrt(sum x^2)`; "ReduceSumSquare": `sum x^2`;
    - "ReduceLogSum": `ln(sum x)`; "ReduceLogSumExp": `ln(sum e^x)`.

    Over no element, sums and norms are 0, products 1, "ReduceLogSum" -inf, the mean NaN (0 for
    integers), the maximum the lowest value of the type and the minimum the highest. With `keepdims`
    reduced dimensions stay, of extent 1. Integers wrap around; their quotients are truncated.

    Example:

    ```mlir
    %2 = "top.Reduce"(%0, %1) {axes = [2, 3], keepdims = true, mode = "ReduceMean"} :
             (tensor<1x8x4x4xf32>, none) -> tensor<1x8x1x1xf32> loc("y")
    ```
  }];
  let arguments = (ins AnyTensor:$input,
                       Top_OptionalTensor:$axes_tensor,
                       Top_AxisOf<OptionalAttr<I64ArrayAttr>, 0>:$axes,
                       Top_True:$keepdims,
                       StrAttr:$mode,
                       Top_False:$noop_with_empty_axes);
  let results = (outs AnyTensor:$output);
  let hasVerifier = 1;
}

def Top_ArgOp : Top_ComputeOp<"Arg"> {
  let summary = "Where the largest or smallest element along an axis is";
  let description = [{
    `indices[...] = i` (i64) and `values[...] = input[..., i, ...]` with `i` where `input` is largest
    along `axis` (`mode` "ArgMax") or smallest ("ArgMin"): the first of equal elements, the last with
    `select_last_index`. NaN counts as the largest and the smallest. With `keepdims` the dimension
    stays, of extent 1. `values` of type none is not computed.

    Example:

    ```mlir
    %1, %2 = "top.Arg"(%0) {axis = 1, keepdims = true, mode = "ArgMax"} :
             (tensor<2x10xf32>) -> (tensor<2x1xi64>, none) loc("y")
    ```
  }];
  let arguments = (ins AnyTensor:$input,
                       Top_AxisOf<I64Attr, 0>:$axis,
                       Top_True:$keepdims,
                       StrAttr:$mode,
                       Top_False:$select_last_index);
  let results = (outs AnyTensor:$indices, Top_OptionalTensor:$values);
  let hasVerifier = 1;
}

def Top_TopKOp : Top_ComputeOp<"TopK", [Top_MovesElements]> {
  let summary = "The k largest or smallest elements along an axis";
  let description = [{
    The first `k` (or `k_tensor`) elements along `axis` in descending order, or ascending unless
    `largest`, and where they were (i64). Equal elements come in the order of their indices; NaN is
    the largest. The order is the same whether `sorted` or not.

    Example:

    ```mlir
    %2, %3 = "top.TopK"(%0, %1) {axis = -1, k = 5, largest = true, sorted = true} :
             (tensor<2x10xf32>, none) -> (tensor<2x5xf32>, tensor<2x5xi64>) loc("y")
    ```
  }];
  let arguments = (ins AnyTensor:$input,
                       Top_OptionalTensor:$k_tensor,
                       Top_AxisOf<Top_DefaultI64<-1>, 0>:$axis,
                       Top_AtLeast<OptionalAttr<I64Attr>, 0, Top_MostExtent>:$k,
                       Top_True:$largest,
                       Top_True:$sorted);
  let results = (outs AnyTensor:$values, AnyTensor:$indices);
  let hasVerifier = 1;
}

def Top_CumSumOp : Top_ComputeOp<"CumSum"> {
  let summary = "Running sum along an axis";
  let description = [{
    `output[i] = input[0] + ... + input[i]` along `axis` (or `axis_tensor`); without the last term with
    `exclusive`, from the end with `reverse`. Integers wrap around.

    Example:

    ```mlir
    %2 = "top.CumSum"(%0, %1) {axis = 1, exclusive = false, reverse = false} :
             (tensor<2x3xf32>, none) -> tensor<2x3xf32> loc("y")
    ```
  }];
  let arguments = (ins AnyTensor:$input,
                       Top_OptionalTensor:$axis_tensor,
                       Top_AxisOf<OptionalAttr<I64Attr>, 0>:$axis,
                       Top_False:$exclusive,
                       Top_False:$reverse);
  let results = (outs AnyTensor:$output);
}

def Top_CumProdOp : Top_ComputeOp<"CumProd", [Top_ComputesInF32]> {
  let summary = "Running product along an axis";
  let description = [{
    `output[i] = input[0] * ... * input[i]` along `axis` (or `axis_tensor`); without the last factor
    with `exclusive`, from the end with `reverse`. Integers wrap around.

    Example:

    ```mlir
    %2 = "top.CumProd"(%0, %1) {axis = 1, exclusive = false, reverse = false} :
             (tensor<2x3xf32>, none) -> tensor<2x3xf32> loc("y")
    ```
  }];
  let arguments = (ins AnyTensor:$input,
                       Top_OptionalTensor:$axis_tensor,
                       Top_AxisOf<OptionalAttr<I64Attr>, 0>:$axis,
                       Top_False:$exclusive,
                       Top_False:$reverse);
  let results = (outs AnyTensor:$output);
}

def Top_NonZeroOp : Top_ComputeOp<"NonZero", [Top_ComputesInF32]> {
  let summary = "The coordinates of elements that are not zero";
  let description = [{
    `output[d, j]` is coordinate `d` of the `j`-th element that is not 0, in row-major order, as i64.

    Example:

    ```mlir
    %1 = "top.NonZero"(%0) : (tensor<2x3xf32>) -> tensor<2x?xi64> loc("y")
    ```
  }];
  let arguments = (ins AnyTensor:$input);
  let results = (outs AnyTensor:$output);
}

def Top_UniqueOp : Top_ComputeOp<"Unique", [Top_MovesElements, Top_ComputesInF32]> {
  let summary = "The distinct elements or slices";
  let description = [{
    The distinct elements of the flattened input, or its distinct slices along `axis`: in ascending
    (lexicographic) order, or in that of their first occurrence unless `sorted`. As i64: `indices`,
    where each occurs first; `inverse_indices`, which of them each element (slice) of the input is;
    `counts`, how often each occurs. Results of type none are not computed. NaNs are equal.

    Example:

    ```mlir
    %1, %2, %3, %4 = "top.Unique"(%0) {sorted = true} :
             (tensor<6xf32>) -> (tensor<?xf32>, none, tensor<6xi64>, none) loc("y")
    ```
  }];
  let arguments = (ins AnyTensor:$input,
                       Top_AxisOf<OptionalAttr<I64Attr>, 0>:$axis,
                       Top_True:$sorted);
  let results = (outs AnyTensor:$output, Top_OptionalTensor:$indices, Top_OptionalTensor:$inverse_indices, Top_OptionalTensor:$counts);
}

def Top_NmsOp : Top_ComputeOp<"Nms", [Top_ComputesInF32]> {
  let summary = "Boxes that are left after non-maximum suppression";
  let description = [{
    For each batch and class, boxes are taken in descending order of score, except those that overlap
    a box taken before by more than `iou_threshold` (0 if none): the area of the intersection divided
    by that of the union. Scores must be above `score_threshold`, if that is given; at most
    `max_output_size` boxes (0 if none) are taken. `output[j]` is a triple (batch, class, box) of i64.
    `boxes` is [batch, n, 4]: two corners (y1, x1, y2, x2), or (x, y, width, height) with
    `center_point_box` 1. `scores` is [batch, classes, n].

    Example:

    ```mlir
    %5 = "top.Nms"(%0, %1, %2, %3, %4) {center_point_box = 0} :
             (tensor<1x6x4xf32>, tensor<1x2x6xf32>, tensor<1xi64>, tensor<1xf32>, none) ->
             tensor<?x3xi64> loc("y")
    ```
  }];
  let arguments = (ins AnyTensor:$boxes,
                       AnyTensor:$scores,
                       Top_OptionalTensor:$max_output_size,
                       Top_OptionalTensor:$iou_threshold,
                       Top_OptionalTensor:$score_threshold,
                       Top_Between<Top_DefaultI64<0>, 0, 1>:$center_point_box);
  let results = (outs AnyTensor:$output);
}

#endif // TPUC_DIALECT_TOP_REDUCEOPS

//===- GroupOps.td - Layers that a device computes in its local memory -*- tablegen -*-
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DIALECT_TPU_GROUPOPS
#define TPUC_DIALECT_TPU_GROUPOPS

include "tpuc/Dialect/Tpu/TpuBase.td"

def Tpu_GroupOp : Tpu_Op<"Group", [RecursiveMemoryEffects, SingleBlock, NoRegionArguments,
                                   Tpu_SubNetInterface, Tpu_ScheduledInterface]> {
  let summary = "Layers that run one after the other in local memory";
  let description = [{
    The body computes whole tensors, as it would without the group: it loads what it reads from
    global memory, computes, stores what others read, and yields what it has stored. How a device
    does this in slices stands in the attribute `ginfo` of each op of the body (manual chapter 10,
    paper section 3.7). The slices are all combinations of the sections of the axes, the first axis of
    c, n, d, h, w outermost, or c innermost; each takes as many time steps as the group has layers.

    | entry of `ginfo` | meaning |
    | --- | --- |
    | `out_addr`, `out_size` | bytes in the local memory of each lane |
    | `buffers` | 2: slices lie at `out_addr` and `out_addr + out_size` in turn, so that one is moved while the other is used |
    | `buffer_addr`, `buffer_size` | room for what the op keeps in between |
    | `n_idx`, `n_slice`, the same for c, d, h, w | where each section of the axis begins in the op's result, and how much of it there is |
    | `id`, `stage` | the op's place in the group; 0 is loaded, 1 computed, 2 stored |
    | `step` | the time step, counted from the first layer's of the same slice: loads come before it, below 0 beside what runs earlier; stores behind it |
    | `first_step` | the time step of the first slice, which may be loaded before |
    | `eu_align` | whether channels begin at whole lines of a lane, 0 or 1 |
    | `resident` | 1: a constant that is loaded once for the whole network and stays; `out_addr` is its place |
    | `part_steps` | of some concatenations, for each part: the step behind which it is brought to its lanes; -1: when all are joined, or where it is made |
    | `c_inner` | there where c is the innermost axis |

    A slice that holds more than a reader needs is read in part: the rows of a halo, for one. What a
    concatenation joins lies in its result; it computes nothing. The attribute `time` of the group is
    the unit of time in which its last slice begins, on a line that has the groups and the ops between
    them one after the other, with one slice each. All loads, layers and stores of a group have
    `ginfo`, or none, and they have it where the group has `time`.

    Example:

    ```mlir
    func.func @main(%x: tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32> {
      %0 = "tpu.Group"(%x) ({
        %1 = "tpu.Load"(%x) : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
        %2 = "tpu.Relu"(%1) : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
        %3 = "tpu.Store"(%2) : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
        "tpu.Yield"(%3) : (tensor<1x8x4x4xf32>) -> ()
      }) : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
      return %0 : tensor<1x8x4x4xf32>
    }
    ```
  }];
  let arguments = !con((ins Variadic<AnyTensor>:$inputs), Tpu_SubNetFacts, Tpu_TimeFacts);
  let regions = (region SizedRegion<1>:$body);
  let results = (outs Variadic<AnyTensor>:$outputs);
  let hasVerifier = 1;
}

class Tpu_TransferOp<string mnemonic>
    : Tpu_Op<mnemonic, [Pure, SameOperandsAndResultShape, Tpu_TiledInterface]> {
  let arguments = !con((ins AnyTensor:$input), Tpu_TileFacts);
  let results = (outs AnyTensor:$output);
  let hasVerifier = 1;
}

def Tpu_LoadOp : Tpu_TransferOp<"Load"> {
  let summary = "Brings a tensor into local memory";
  let description = [{
    The tensor itself; part of the body of a `tpu.Group`.

    Example:

    ```mlir
    %1 = "tpu.Load"(%0) : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
    ```
  }];
}

def Tpu_StoreOp : Tpu_TransferOp<"Store"> {
  let summary = "Brings a tensor into global memory";
  let description = [{
    The tensor itself; part of the body of a `tpu.Group`.

    Example:

    ```mlir
    %1 = "tpu.Store"(%0) : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
    ```
  }];
}

def Tpu_UnpackOp : Tpu_Op<"Unpack", [Pure]> {
  let summary = "A weight, from the form in which a device keeps it";
  let description = [{
    A device keeps weights in blocks of channels and lanes. `--weight-reorder` lays them out once;
    this op says what the elements mean, and takes no time:

        output = crop(reshape(transpose(reshape(input, blocks), order), padded))

    `blocks` are the extents of the packed elements, `order` says which of these each dimension of
    the transposed tensor is, `padded` are the extents of the output rounded up to whole blocks, and
    `crop` keeps the first elements of each dimension. What stands behind all blocks are
    parameters that a kernel reads beside the elements.

    Example:

    ```mlir
    %1 = "tpu.Unpack"(%0) {blocks = [2, 3, 4], order = [0, 2, 1], padded = [2, 12]} : (tensor<2x12xf16>) -> tensor<2x10xf16>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input,
                       I64ArrayAttr:$blocks,
                       I64ArrayAttr:$order,
                       I64ArrayAttr:$padded);
  let results = (outs AnyRankedTensor:$output);
  let hasVerifier = 1;
}

def Tpu_PackRowsOp : Tpu_Op<"PackRows", !listconcat([Pure], Tpu_LayerInterfaces)> {
  let summary = "The rows under windows, as channels";
  let description = [{
    Of an input [N, C, H, W], for windows of `kernel` rows that begin at every `stride`-th row from
    `pad` rows in front of the first one on:

        output[n, k * C + c, h, w] = input[n, c, h * stride - pad + k, w]

    Of an input [N, C, D, H, W] it does so with planes, which become pictures of [N * D', ...]:

        output[n * D' + d, k * C + c, h, w] = input[n, c, d * stride - pad + k, h, w]

    Where there is no such row or plane, the output is `fill` (of quantized elements so much more
    than the zero point). For each number k of `marks` there is one channel more behind these:
    `fill` where row k of the window does not exist, else 0, and with k = -1 always 0. A filter's
    weights for such a channel say what stands outside of the input in its place. A convolution of
    few channels becomes one of many by it, with windows of one row.

    A device does not compute this: it loads the rows where its reader wants them. With
    `in_local_memory` it is a layer like others, of pictures without marks: the rows are brought
    from lane to lane, and may be computed in the same group.

    Example:

    ```mlir
    %1 = "tpu.PackRows"(%0) {kernel = 3 : i64, stride = 2 : i64, pad = 1 : i64} : (tensor<1x3x8x8xi8>) -> tensor<1x9x4x8xi8>
    ```
  }];
  let arguments = !con((ins AnyRankedTensor:$input,
                            I64Attr:$kernel,
                            I64Attr:$stride,
                            I64Attr:$pad,
                            DefaultValuedOptionalAttr<I64Attr, "0">:$fill,
                            OptionalAttr<I64ArrayAttr>:$marks,
                            UnitAttr:$in_local_memory), Tpu_LayerFacts);
  let results = (outs AnyRankedTensor:$output);
  let builders = [OpBuilder<(ins "::mlir::Type":$output, "::mlir::Value":$input, "int64_t":$kernel,
                                 "int64_t":$stride, "int64_t":$pad), [{
    $_state.addOperands(input);
    $_state.addTypes(output);
    $_state.addAttribute(getKernelAttrName($_state.name), $_builder.getI64IntegerAttr(kernel));
    $_state.addAttribute(getStrideAttrName($_state.name), $_builder.getI64IntegerAttr(stride));
    $_state.addAttribute(getPadAttrName($_state.name), $_builder.getI64IntegerAttr(pad));
  }]>];
  let hasVerifier = 1;
}

def Tpu_UnpackRowsOp : Tpu_Op<"UnpackRows", [Pure, Tpu_SubNetInterface]> {
  let summary = "Channels that are rows, below each other";
  let description = [{
    Of an input [N, rows * C, H, W]:

        output[n, c, h * rows + k, w] = input[n, k * C + c, h, w]

    The output may have up to `rows` - 1 rows less than that: the last of the input are left out.

    A device does not compute this: the layer in front, which says so by `stored_rows`, stores its
    result in this order. A convolution with few output channels computes several rows side by side,
    where it would leave most lanes idle.

    Example:

    ```mlir
    %1 = "tpu.UnpackRows"(%0) {rows = 2 : i64} : (tensor<1x48x8x16xf16>) -> tensor<1x24x16x16xf16>
    ```
  }];
  let arguments = !con((ins AnyRankedTensor:$input, I64Attr:$rows), Tpu_SubNetFacts);
  let results = (outs AnyRankedTensor:$output);
  let builders = [OpBuilder<(ins "::mlir::Type":$output, "::mlir::Value":$input, "int64_t":$rows), [{
    build($_builder, $_state, output, input, $_builder.getI64IntegerAttr(rows),
          /*subnet_id=*/nullptr, /*subnet_mode=*/nullptr, /*subnet_reason=*/nullptr);
  }]>];
  let hasVerifier = 1;
}

def Tpu_TransposeOp : Tpu_Op<"Transpose", !listconcat([Pure], Tpu_LayerInterfaces)> {
  let summary = "Rows as columns, in local memory";
  let description = [{
    Of an input [N, C, ...] whose dimensions behind the second have W elements:

        output[n, w, c] = input[n, c, w]

    Both may count w or c, what stands behind their second dimension, as the rows and columns of a
    picture. A `tpu.Permute` and the reshapes around it move data in global memory; this is a layer
    like others, and may be in one group with what makes the channels of pictures and what reads
    them as rows of pixels, or the other way round.

    Example:

    ```mlir
    %1 = "tpu.Transpose"(%0) : (tensor<1x8x4x4xf16>) -> tensor<1x16x8xf16>
    %2 = "tpu.Transpose"(%1) : (tensor<1x16x8xf16>) -> tensor<1x8x4x4xf16>
    ```
  }];
  let arguments = !con((ins AnyRankedTensor:$input), Tpu_LayerFacts);
  let results = (outs AnyRankedTensor:$output);
  let hasVerifier = 1;
}

#endif // TPUC_DIALECT_TPU_GROUPOPS

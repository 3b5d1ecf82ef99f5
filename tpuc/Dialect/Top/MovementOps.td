//===- MovementOps.td - Moving elements -*- tablegen -*-
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DIALECT_TOP_MOVEMENTOPS
#define TPUC_DIALECT_TOP_MOVEMENTOPS

include "tpuc/Dialect/Top/TopBase.td"

def Top_ConcatOp : Top_ComputeOp<"Concat"> {
  let summary = "Joins tensors along an axis";
  let arguments = (ins Variadic<AnyTensor>:$inputs,
                       I64Attr:$axis,
                       Top_False:$do_relu,
                       Top_ReluLimit:$relu_limit);
  let results = (outs AnyTensor:$output);
}

def Top_SplitOp : Top_ComputeOp<"Split"> {
  let summary = "Cuts a tensor along an axis";
  let arguments = (ins AnyTensor:$input,
                       Top_OptionalTensor:$split_tensor,
                       I64Attr:$axis,
                       OptionalAttr<I64ArrayAttr>:$split_size);
  let results = (outs Variadic<AnyTensor>:$outputs);
}

def Top_SliceOp : Top_ComputeOp<"Slice"> {
  let summary = "Every steps-th element from an offset to an end, in each dimension";
  let arguments = (ins AnyTensor:$input,
                       Top_OptionalTensor:$offset_tensor,
                       Top_OptionalTensor:$ends_tensor,
                       Top_OptionalTensor:$axes_tensor,
                       Top_OptionalTensor:$steps_tensor,
                       OptionalAttr<I64ArrayAttr>:$offset,
                       OptionalAttr<I64ArrayAttr>:$steps,
                       OptionalAttr<I64ArrayAttr>:$ends,
                       OptionalAttr<I64ArrayAttr>:$axes);
  let results = (outs AnyTensor:$output);
}

def Top_PermuteOp : Top_ComputeOp<"Permute"> {
  let summary = "Reorders dimensions";
  let arguments = (ins AnyTensor:$input,
                       I64ArrayAttr:$order);
  let results = (outs AnyTensor:$output);
}

def Top_ReshapeOp : Top_ComputeOp<"Reshape"> {
  let summary = "The same elements under another shape";
  let arguments = (ins AnyTensor:$input,
                       Top_OptionalTensor:$shape_tensor,
                       OptionalAttr<I64ArrayAttr>:$shape,
                       Top_False:$allowzero);
  let results = (outs AnyTensor:$output);
}

def Top_FlattenOp : Top_ComputeOp<"Flatten"> {
  let summary = "Joins dimensions from one to another into one";
  let arguments = (ins AnyTensor:$input,
                       Top_DefaultI64<0>:$start_dim,
                       Top_DefaultI64<-1>:$end_dim);
  let results = (outs AnyTensor:$output);
}

def Top_FlattenTo2DOp : Top_ComputeOp<"FlattenTo2D"> {
  let summary = "Joins the dimensions before an axis and those from it on";
  let arguments = (ins AnyTensor:$input,
                       Top_DefaultI64<1>:$axis);
  let results = (outs AnyTensor:$output);
}

def Top_SqueezeOp : Top_ComputeOp<"Squeeze"> {
  let summary = "Removes dimensions of extent 1";
  let arguments = (ins AnyTensor:$input,
                       Top_OptionalTensor:$axes_tensor,
                       OptionalAttr<I64ArrayAttr>:$axes);
  let results = (outs AnyTensor:$output);
}

def Top_UnsqueezeOp : Top_ComputeOp<"Unsqueeze"> {
  let summary = "Inserts dimensions of extent 1";
  let arguments = (ins AnyTensor:$input,
                       Top_OptionalTensor:$axes_tensor,
                       OptionalAttr<I64ArrayAttr>:$axes);
  let results = (outs AnyTensor:$output);
}

def Top_ExpandOp : Top_ComputeOp<"Expand"> {
  let summary = "Repeats dimensions of extent 1 to a shape";
  let arguments = (ins AnyTensor:$input,
                       Top_OptionalTensor:$shape_tensor,
                       OptionalAttr<I64ArrayAttr>:$shape);
  let results = (outs AnyTensor:$output);
}

def Top_TileOp : Top_ComputeOp<"Tile"> {
  let summary = "Repeats a tensor in each dimension";
  let arguments = (ins AnyTensor:$input,
                       Top_OptionalTensor:$tile_tensor,
                       OptionalAttr<I64ArrayAttr>:$tile);
  let results = (outs AnyTensor:$output);
}

def Top_PadOp : Top_ComputeOp<"Pad"> {
  let summary = "Adds elements around a tensor, or takes them away";
  let arguments = (ins AnyTensor:$input,
                       Top_OptionalTensor:$paddings_tensor,
                       Top_OptionalTensor:$val_tensor,
                       Top_OptionalTensor:$axes_tensor,
                       OptionalAttr<I64ArrayAttr>:$paddings,
                       Top_DefaultF64<"0.0">:$val,
                       DefaultValuedStrAttr<StrAttr, "constant">:$mode);
  let results = (outs AnyTensor:$output);
}

def Top_Depth2SpaceOp : Top_ComputeOp<"Depth2Space"> {
  let summary = "Moves blocks of channels into space, or back";
  let arguments = (ins AnyTensor:$input,
                       I64Attr:$block_h,
                       I64Attr:$block_w,
                       Top_False:$is_CRD,
                       Top_False:$is_inversed);
  let results = (outs AnyTensor:$output);
}

def Top_ReverseSequenceOp : Top_ComputeOp<"ReverseSequence"> {
  let summary = "Reverses the beginning of each sequence";
  let arguments = (ins AnyTensor:$input,
                       AnyTensor:$sequence_lens,
                       I64Attr:$batch_axis,
                       I64Attr:$time_axis);
  let results = (outs AnyTensor:$output);
}

def Top_TriluOp : Top_ComputeOp<"Trilu"> {
  let summary = "The upper or lower triangle";
  let arguments = (ins AnyTensor:$input,
                       Top_OptionalTensor:$diagonal_tensor,
                       OptionalAttr<I64Attr>:$diagonal,
                       Top_True:$upper);
  let results = (outs AnyTensor:$output);
}

def Top_CenterCropPadOp : Top_ComputeOp<"CenterCropPad"> {
  let summary = "Crops or pads around the centre to a shape";
  let arguments = (ins AnyTensor:$input,
                       Top_OptionalTensor:$shape_tensor,
                       OptionalAttr<I64ArrayAttr>:$shape,
                       OptionalAttr<I64ArrayAttr>:$axes);
  let results = (outs AnyTensor:$output);
}

#endif // TPUC_DIALECT_TOP_MOVEMENTOPS

//===- NormOps.td - Normalization -*- tablegen -*-
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DIALECT_TOP_NORMOPS
#define TPUC_DIALECT_TOP_NORMOPS

include "tpuc/Dialect/Top/TopBase.td"

def Top_BatchNormOp : Top_ComputeOp<"BatchNorm"> {
  let summary = "Normalizes each channel with known mean and variance";
  let arguments = (ins AnyTensor:$input,
                       AnyTensor:$mean,
                       AnyTensor:$variance,
                       Top_OptionalTensor:$gamma,
                       Top_OptionalTensor:$beta,
                       Top_DefaultF64<"1e-05">:$epsilon,
                       Top_False:$do_relu,
                       Top_ReluLimit:$relu_limit);
  let results = (outs AnyTensor:$output);
}

def Top_BatchNormTrainOp : Top_ComputeOp<"BatchNormTrain"> {
  let summary = "Normalizes each channel with the mean and variance of the batch";
  let arguments = (ins AnyTensor:$input,
                       AnyTensor:$mean,
                       AnyTensor:$variance,
                       Top_OptionalTensor:$gamma,
                       Top_OptionalTensor:$beta,
                       Top_DefaultF64<"1e-05">:$epsilon,
                       Top_DefaultF64<"0.9">:$momentum);
  let results = (outs AnyTensor:$output, AnyTensor:$mean_out, AnyTensor:$variance_out);
}

def Top_ScaleOp : Top_ComputeOp<"Scale"> {
  let summary = "Scales and shifts each channel";
  let arguments = (ins AnyTensor:$input,
                       AnyTensor:$scale,
                       AnyTensor:$bias,
                       Top_False:$do_relu,
                       Top_ReluLimit:$relu_limit);
  let results = (outs AnyTensor:$output);
}

def Top_LayerNormOp : Top_ComputeOp<"LayerNorm"> {
  let summary = "Normalizes over the dimensions from an axis on";
  let arguments = (ins AnyTensor:$input,
                       Top_OptionalTensor:$weight,
                       Top_OptionalTensor:$bias,
                       Top_DefaultI64<-1>:$axis,
                       Top_DefaultF64<"1e-05">:$eps);
  let results = (outs AnyTensor:$output, Top_OptionalTensor:$mean, Top_OptionalTensor:$rstd);
}

def Top_InstanceNormOp : Top_ComputeOp<"InstanceNorm"> {
  let summary = "Normalizes each channel of each sample";
  let arguments = (ins AnyTensor:$input,
                       Top_OptionalTensor:$weight,
                       Top_OptionalTensor:$bias,
                       Top_DefaultF64<"1e-05">:$eps);
  let results = (outs AnyTensor:$output);
}

def Top_GroupNormOp : Top_ComputeOp<"GroupNorm"> {
  let summary = "Normalizes groups of channels of each sample";
  let arguments = (ins AnyTensor:$input,
                       Top_OptionalTensor:$weight,
                       Top_OptionalTensor:$bias,
                       I64Attr:$num_groups,
                       Top_DefaultF64<"1e-05">:$eps);
  let results = (outs AnyTensor:$output);
  let hasVerifier = 1;
}

def Top_RMSNormOp : Top_ComputeOp<"RMSNorm"> {
  let summary = "Divides by the root of the mean square";
  let arguments = (ins AnyTensor:$input,
                       Top_OptionalTensor:$gamma,
                       Top_DefaultI64<-1>:$axis,
                       Top_DefaultF64<"1e-05">:$eps);
  let results = (outs AnyTensor:$output);
}

def Top_PixelNormOp : Top_ComputeOp<"PixelNorm"> {
  let summary = "Normalizes over the channels of each pixel";
  let arguments = (ins AnyTensor:$input,
                       Top_OptionalTensor:$weight,
                       Top_OptionalTensor:$bias,
                       Top_DefaultF64<"1e-05">:$eps);
  let results = (outs AnyTensor:$output);
}

def Top_NormalizeOp : Top_ComputeOp<"Normalize"> {
  let summary = "Divides by the p-norm along an axis";
  let arguments = (ins AnyTensor:$input,
                       Top_DefaultI64<-1>:$axis,
                       Top_DefaultI64<2>:$p);
  let results = (outs AnyTensor:$output);
  let hasVerifier = 1;
}

def Top_MeanVarianceNormOp : Top_ComputeOp<"MeanVarianceNorm"> {
  let summary = "Subtracts the mean and divides by the standard deviation over axes";
  let arguments = (ins AnyTensor:$input,
                       I64ArrayAttr:$axes,
                       Top_DefaultF64<"1e-09">:$eps);
  let results = (outs AnyTensor:$output);
}

def Top_LRNOp : Top_ComputeOp<"LRN"> {
  let summary = "Divides by a power of the sum of squares of neighbouring channels";
  let arguments = (ins AnyTensor:$input,
                       I64Attr:$size,
                       Top_DefaultF64<"0.0001">:$alpha,
                       Top_DefaultF64<"0.75">:$beta,
                       Top_DefaultF64<"1.0">:$bias);
  let results = (outs AnyTensor:$output);
  let hasVerifier = 1;
}

def Top_SoftmaxOp : Top_ComputeOp<"Softmax"> {
  let summary = "Exponentials divided by their sum along an axis";
  let arguments = (ins AnyTensor:$input,
                       I64Attr:$axis,
                       Top_DefaultF64<"1.0">:$beta,
                       Top_False:$log);
  let results = (outs AnyTensor:$output);
}

def Top_HardmaxOp : Top_ComputeOp<"Hardmax"> {
  let summary = "One at the first maximum along an axis, zero elsewhere";
  let arguments = (ins AnyTensor:$input,
                       I64Attr:$axis);
  let results = (outs AnyTensor:$output);
}

#endif // TPUC_DIALECT_TOP_NORMOPS

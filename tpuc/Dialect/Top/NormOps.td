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
  let description = [{
    gamma[c] * (x - mean[c]) / sqrt(variance[c] + epsilon) + beta[c] over the channels c, axis 1.
    With `do_relu` the result is max(result, 0), and at most `relu_limit` unless that is negative.

    Example:

    ```mlir
    %1 = "top.BatchNorm"(%0, %mean, %variance, %gamma, %beta) : (tensor<1x8x4x4xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<1x8x4x4xf32>
    ```
  }];
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

def Top_BatchNormTrainOp : Top_ComputeOp<"BatchNormTrain", [Top_ComputesInF32]> {
  let summary = "Normalizes each channel with the mean and variance of the batch";
  let description = [{
    As BatchNorm with the mean and the population variance of each channel over the whole batch.
    mean_out = momentum * mean + (1 - momentum) * that of the batch; variance_out is the same of the
    variance.

    Example:

    ```mlir
    %1, %2, %3 = "top.BatchNormTrain"(%0, %mean, %variance, %gamma, %beta) : (tensor<2x8x4xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<2x8x4xf32>, tensor<8xf32>, tensor<8xf32>)
    ```
  }];
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
  let description = [{
    x * scale[c] + bias[c] over the channels c, axis 1. With `do_relu` the result is max(result, 0),
    and at most `relu_limit` unless that is negative.

    Example:

    ```mlir
    %1 = "top.Scale"(%0, %scale, %bias) : (tensor<1x8x4x4xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<1x8x4x4xf32>
    ```
  }];
  let arguments = (ins AnyTensor:$input,
                       AnyTensor:$scale,
                       AnyTensor:$bias,
                       Top_False:$do_relu,
                       Top_ReluLimit:$relu_limit);
  let results = (outs AnyTensor:$output);
}

def Top_LayerNormOp : Top_ComputeOp<"LayerNorm"> {
  let summary = "Normalizes over the dimensions from an axis on";
  let description = [{
    weight * (x - mean) / sqrt(variance + eps) + bias, where mean and population variance run over
    the dimensions from `axis` on, to which weight and bias broadcast. `mean` and `rstd` (1 /
    sqrt(variance + eps)) are f32 with extents of 1 from `axis` on.

    Example:

    ```mlir
    %1, %2, %3 = "top.LayerNorm"(%0, %weight, %bias) {axis = 2 : i64} : (tensor<1x16x64xf32>, tensor<64xf32>, tensor<64xf32>) -> (tensor<1x16x64xf32>, none, none)
    ```
  }];
  let arguments = (ins AnyTensor:$input,
                       Top_OptionalTensor:$weight,
                       Top_OptionalTensor:$bias,
                       Top_AxisOf<Top_DefaultI64<-1>, 0>:$axis,
                       Top_DefaultF64<"1e-05">:$eps);
  let results = (outs AnyTensor:$output, Top_OptionalTensor:$mean, Top_OptionalTensor:$rstd);
}

def Top_InstanceNormOp : Top_ComputeOp<"InstanceNorm"> {
  let summary = "Normalizes each channel of each sample";
  let description = [{
    weight[c] * (x - mean) / sqrt(variance + eps) + bias[c], where mean and population variance are
    those of channel c of the sample.

    Example:

    ```mlir
    %1 = "top.InstanceNorm"(%0, %weight, %bias) : (tensor<2x8x4x4xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<2x8x4x4xf32>
    ```
  }];
  let arguments = (ins AnyTensor:$input,
                       Top_OptionalTensor:$weight,
                       Top_OptionalTensor:$bias,
                       Top_DefaultF64<"1e-05">:$eps);
  let results = (outs AnyTensor:$output);
}

def Top_GroupNormOp : Top_ComputeOp<"GroupNorm"> {
  let summary = "Normalizes groups of channels of each sample";
  let description = [{
    weight[c] * (x - mean) / sqrt(variance + eps) + bias[c], where mean and population variance run
    over one of `num_groups` groups of channels of the sample.

    Example:

    ```mlir
    %1 = "top.GroupNorm"(%0, %weight, %bias) {num_groups = 2 : i64} : (tensor<2x8x4x4xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<2x8x4x4xf32>
    ```
  }];
  let arguments = (ins AnyTensor:$input,
                       Top_OptionalTensor:$weight,
                       Top_OptionalTensor:$bias,
                       Top_AtLeast<I64Attr, 1>:$num_groups,
                       Top_DefaultF64<"1e-05">:$eps);
  let results = (outs AnyTensor:$output);
}

def Top_RMSNormOp : Top_ComputeOp<"RMSNorm"> {
  let summary = "Divides by the root of the mean square";
  let description = [{
    gamma * x / sqrt(mean of x^2 + eps), where the mean runs over the dimensions from `axis` on, to
    which gamma broadcasts. With `num_heads`, `axis` is the last dimension, and as many equal parts
    of it have a mean each.

    Example:

    ```mlir
    %1 = "top.RMSNorm"(%0, %gamma) {axis = -1 : i64} : (tensor<1x16x64xf32>, tensor<64xf32>) -> tensor<1x16x64xf32>
    ```
  }];
  let arguments = (ins AnyTensor:$input,
                       Top_OptionalTensor:$gamma,
                       Top_AxisOf<Top_DefaultI64<-1>, 0>:$axis,
                       Top_DefaultF64<"1e-05">:$eps,
                       Top_AtLeast<OptionalAttr<I64Attr>, 1>:$num_heads);
  let results = (outs AnyTensor:$output);
}

def Top_PixelNormOp : Top_ComputeOp<"PixelNorm"> {
  let summary = "Normalizes over the channels of each pixel";
  let description = [{
    weight[c] * (x - mean) / sqrt(variance + eps) + bias[c], where mean and population variance run
    over the channels, axis 1, at each position.

    Example:

    ```mlir
    %1 = "top.PixelNorm"(%0, %weight, %bias) : (tensor<2x8x4x4xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<2x8x4x4xf32>
    ```
  }];
  let arguments = (ins AnyTensor:$input,
                       Top_OptionalTensor:$weight,
                       Top_OptionalTensor:$bias,
                       Top_DefaultF64<"1e-05">:$eps);
  let results = (outs AnyTensor:$output);
}

def Top_NormalizeOp : Top_ComputeOp<"Normalize"> {
  let summary = "Divides by the p-norm along an axis";
  let description = [{
    x / (sum of |x|^p)^(1/p) along `axis`; `p` is 1 or 2. Where all are 0 the result is 0.

    Example:

    ```mlir
    %1 = "top.Normalize"(%0) {axis = 1 : i64, p = 2 : i64} : (tensor<2x8xf32>) -> tensor<2x8xf32>
    ```
  }];
  let arguments = (ins AnyTensor:$input,
                       Top_AxisOf<Top_DefaultI64<-1>, 0>:$axis,
                       Top_Between<Top_DefaultI64<2>, 1, 2>:$p);
  let results = (outs AnyTensor:$output);
}

def Top_MeanVarianceNormOp : Top_ComputeOp<"MeanVarianceNorm"> {
  let summary = "Subtracts the mean and divides by the standard deviation over axes";
  let description = [{
    (x - mean) / (sqrt(variance) + eps), where mean and population variance run over `axes`.

    Example:

    ```mlir
    %1 = "top.MeanVarianceNorm"(%0) {axes = [0, 2, 3]} : (tensor<2x8x4x4xf32>) -> tensor<2x8x4x4xf32>
    ```
  }];
  let arguments = (ins AnyTensor:$input,
                       Top_AxisOf<I64ArrayAttr, 0>:$axes,
                       Top_DefaultF64<"1e-09">:$eps);
  let results = (outs AnyTensor:$output);
}

def Top_LRNOp : Top_ComputeOp<"LRN"> {
  let summary = "Divides by a power of the sum of squares of neighbours";
  let description = [{
    x / (bias + alpha/size * s)^beta, where s is the sum of squares over the channels from
    c - floor((size-1)/2) to c + ceil((size-1)/2) of the same position.

    With `within_channel`, of [n, c, h, w]: x / (bias + alpha/size^2 * s)^beta, where s is the sum
    over the rows and columns of the same channel, which reach as far around the position.
    Elements outside count as 0.

    In 16 bits it is rounded once.

    Example:

    ```mlir
    %1 = "top.LRN"(%0) {size = 3 : i64} : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
    ```
  }];
  let arguments = (ins AnyTensor:$input,
                       Top_AtLeast<I64Attr, 1>:$size,
                       Top_DefaultF64<"0.0001">:$alpha,
                       Top_DefaultF64<"0.75">:$beta,
                       Top_DefaultF64<"1.0">:$bias,
                       Top_False:$within_channel);
  let results = (outs AnyTensor:$output);
}

def Top_SoftmaxOp : Top_ComputeOp<"Softmax"> {
  let summary = "Exponentials divided by their sum along an axis";
  let description = [{
    exp(beta * x) divided by the sum of these along `axis`; with `log` the natural logarithm of it.
    Without `log`, f16 and bf16 are rounded at each step, as where ops on tensors of that type take
    the difference from the largest, the exponential, the sum and the quotient.

    Example:

    ```mlir
    %1 = "top.Softmax"(%0) {axis = -1 : i64} : (tensor<1x1000xf32>) -> tensor<1x1000xf32>
    ```
  }];
  let arguments = (ins AnyTensor:$input,
                       Top_AxisOf<I64Attr, 0>:$axis,
                       Top_DefaultF64<"1.0">:$beta,
                       Top_False:$log);
  let results = (outs AnyTensor:$output);
}

def Top_HardmaxOp : Top_ComputeOp<"Hardmax"> {
  let summary = "One at the first maximum along an axis, zero elsewhere";
  let description = [{
    1 at the first maximum along `axis`, 0 elsewhere.

    Example:

    ```mlir
    %1 = "top.Hardmax"(%0) {axis = -1 : i64} : (tensor<1x10xf32>) -> tensor<1x10xf32>
    ```
  }];
  let arguments = (ins AnyTensor:$input,
                       Top_AxisOf<I64Attr, 0>:$axis);
  let results = (outs AnyTensor:$output);
}

#endif // TPUC_DIALECT_TOP_NORMOPS

//===- SignalOps.td - Spectra of signals -*- tablegen -*-
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DIALECT_TOP_SIGNALOPS
#define TPUC_DIALECT_TOP_SIGNALOPS

include "tpuc/Dialect/Top/TopBase.td"

def Top_DFTOp : Top_ComputeOp<"DFT", [Top_ComputesInF32]> {
  let summary = "Discrete Fourier transform along an axis";
  let description = [{
    The last dimension is a real number (extent 1), or a complex one (2). Along `axis` (or
    `axis_tensor`), which is not the last one, x is cut or filled with 0 to N elements and becomes

        X[k] = sum over n of x[n] * e^(-2 pi i k n / N)
        X[k] = 1/N * sum over n of x[n] * e^(2 pi i k n / N)     with `inverse`

    N is `length`, or the extent of the axis if that is left out. With `onesided` only k up to N/2
    are given, of an input that counts as real; with `inverse` as well the input is such a half,
    which stands for the whole of which the other half are the conjugates, the result is real, and N
    is 2 * (extent - 1) unless `length` is given.

    Example:

    ```mlir
    %1 = "top.DFT"(%0, %none, %none) {axis = 1 : i64, onesided = true} : (tensor<2x10x1xf32>, none, none) -> tensor<2x6x2xf32>
    ```
  }];
  let arguments = (ins AnyTensor:$input,
                       Top_OptionalTensor:$length,
                       Top_OptionalTensor:$axis_tensor,
                       Top_AxisOf<Top_DefaultI64<-2>, 0>:$axis,
                       Top_False:$inverse,
                       Top_False:$onesided);
  let results = (outs AnyTensor:$output);
  let hasVerifier = 1;
}

def Top_STFTOp : Top_ComputeOp<"STFT", [Top_ComputesInF32]> {
  let summary = "Discrete Fourier transforms of the frames of a signal";
  let description = [{
    `input` is [B, S, 1] (real) or [B, S, 2] (complex). Frame f is the L elements from f * `step` on,
    multiplied with `window` [L], and becomes its DFT: the output is [B, F, L, 2], or [B, F, L/2 + 1,
    2] with `onesided`, for F = (S - L) / step + 1 frames, rounded down. L is `length`, or that of the
    window, or S.

    Example:

    ```mlir
    %1 = "top.STFT"(%0, %step, %window, %none) : (tensor<1x128x1xf32>, tensor<i64>, tensor<16xf32>, none) -> tensor<1x?x9x2xf32>
    ```
  }];
  let arguments = (ins AnyTensor:$input,
                       AnyTensor:$step,
                       Top_OptionalTensor:$window,
                       Top_OptionalTensor:$length,
                       Top_True:$onesided);
  let results = (outs AnyTensor:$output);
  let hasVerifier = 1;
}

def Top_CosineWindowOp : Top_ComputeOp<"CosineWindow", [Top_ComputesInF32, Top_ReadsElementTypes]> {
  let summary = "A window that is a sum of cosines";
  let description = [{
    output[n] = sum over k of (-1)^k * coeff[k] * cos(2 pi k n / P), for n from 0 to `size` - 1; P
    is `size`, or size - 1 unless `periodic`. The type is `to`; a fraction is cut off for integers.

    Example:

    ```mlir
    %1 = "top.CosineWindow"(%size) {coeff = [0.5, 0.5], to = f32} : (tensor<i64>) -> tensor<?xf32>
    ```
  }];
  let arguments = (ins AnyTensor:$size,
                       F64ArrayAttr:$coeff,
                       TypeAttr:$to,
                       Top_True:$periodic);
  let results = (outs AnyTensor:$output);
  let hasVerifier = 1;
}

def Top_MelWeightMatrixOp : Top_ComputeOp<"MelWeightMatrix",
    [Top_ComputesInF32, Top_ReadsElementTypes]> {
  let summary = "Triangles that gather a spectrum in bands of the mel scale";
  let description = [{
    With mel(f) = 2595 * log10(1 + f / 700), `bins` + 2 points lie on the mel scale, the first at
    `lower`, each 1 / (bins + 2) of the way to `upper` after the one before. Point f Hertz is row
    floor((length + 1) * f / rate). Column b of the output [length / 2 + 1, bins] rises from 0 at
    point b to 1 at b + 1 and falls to 0 at b + 2. The type is `to`.

    Example:

    ```mlir
    %1 = "top.MelWeightMatrix"(%bins, %length, %rate, %lower, %upper) {to = f32} : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<f32>, tensor<f32>) -> tensor<?x?xf32>
    ```
  }];
  let arguments = (ins AnyTensor:$bins,
                       AnyTensor:$length,
                       AnyTensor:$rate,
                       AnyTensor:$lower,
                       AnyTensor:$upper,
                       TypeAttr:$to);
  let results = (outs AnyTensor:$output);
  let hasVerifier = 1;
}

#endif // TPUC_DIALECT_TOP_SIGNALOPS

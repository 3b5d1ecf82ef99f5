//===- PreprocessOps.td - Pictures as inputs -*- tablegen -*- ------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DIALECT_TOP_PREPROCESSOPS
#define TPUC_DIALECT_TOP_PREPROCESSOPS

include "tpuc/Dialect/Top/TopBase.td"

def Top_PreprocessOp : Top_ComputeOp<"Preprocess", [Top_ComputesInF32, Top_ComputesIntegers]> {
  let summary = "The bytes of a picture as the numbers that a network takes";
  let description = [{
    `input` holds pictures of unsigned bytes, ordered as `customization_format` says: RGB_PLANAR,
    BGR_PLANAR or RGBA_PLANAR [N, C, H, W], RGB_PACKED or BGR_PACKED [N, H, W, 3], GRAYSCALE
    [N, 1, H, W], and YUV420_PLANAR, YUV_NV12 or YUV_NV21 [N, 1, H * 3 / 2, W].

    With `frame` = [height, width, row alignment, plane alignment], the pictures lie in frame buffers,
    and the dimensions count bytes: GRAYSCALE and packed ones [N, 1, height, bytes of a row], planar
    ones [N, C, 1, bytes of a plane], YUV [N, 1, 1, bytes of a picture]. Rows begin at multiples of
    the row alignment, and planes at multiples of the plane alignment. Rows of Y in YUV420_PLANAR
    begin at multiples of twice the row alignment, those of U and V at multiples of it.

    The middle of the picture is taken, `crop_dims` (height, width) from row H / 2 - height / 2 and
    column W / 2 - width / 2, each quotient rounded down; without it all of it. The channels are
    ordered as `pixel_format` says (rgb, bgr, gray, rgbd). Of channel c the result is

        (x - mean[c]) * scale[c]

    in f32, the difference rounded, then the product; `mean` and `scale` left out are 0 and 1. The
    result is [N, C, height, width] with `channel_format` nchw, or [N, height, width, C] with nhwc.

    Bytes of YUV become bytes of red, green and blue by ITU-R BT.601 first: of video range (Y from 16
    to 235) with `video_range`, else of full range. The coefficients are multiples of 2^-13, the sums
    exact, and rounded to the nearest byte, halves up. Each U and V serves 2 by 2 pixels.

    Example:

    ```mlir
    %1 = "top.Preprocess"(%0) {customization_format = "BGR_PACKED", pixel_format = "rgb", mean = [127.5, 127.5, 127.5], scale = [0.0078, 0.0078, 0.0078]} : (tensor<1x8x8x3x!quant.uniform<u8:f32, 1.0>>) -> tensor<1x3x8x8xf32>
    ```
  }];
  let arguments = (ins AnyTensor:$input,
                       StrAttr:$customization_format,
                       DefaultValuedStrAttr<StrAttr, "bgr">:$pixel_format,
                       DefaultValuedStrAttr<StrAttr, "nchw">:$channel_format,
                       Top_AtLeast<OptionalAttr<I64ArrayAttr>, 1>:$crop_dims,
                       OptionalAttr<F64ArrayAttr>:$mean,
                       OptionalAttr<F64ArrayAttr>:$scale,
                       Top_False:$video_range,
                       Top_AtLeast<OptionalAttr<I64ArrayAttr>, 1>:$frame);
  let results = (outs AnyTensor:$output);
  let hasVerifier = 1;
}

#endif // TPUC_DIALECT_TOP_PREPROCESSOPS

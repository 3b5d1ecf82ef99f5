//===- DetectionOps.td - Boxes and regions of detectors -*- tablegen -*-
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DIALECT_TOP_DETECTIONOPS
#define TPUC_DIALECT_TOP_DETECTIONOPS

include "tpuc/Dialect/Top/TopBase.td"

def Top_DetectionOutputOp : Top_ComputeOp<"DetectionOutput", [Top_ComputesInF32]> {
  let summary = "The boxes that a detector of SSD's kind finds";
  let description = [{
    Moves prior boxes by what the network says of them, and keeps the best ones that do not overlap
    (SSD, Liu et al. 2016, 2.2 and 3.1). `location` has for each item N and prior box P four numbers
    (P * 4 of them, or P * `num_classes` * 4 without `share_location`), `confidence` has a score for
    each class (P * `num_classes`). `priors` is [1, 2, P * 4]: corners (x1, y1, x2, y2), and the
    variances that the numbers are multiplied by, but with `variance_encoded_in_target`.

    `code_type` CORNER adds the numbers to the corners, CORNER_SIZE adds them in units of the prior's
    width and height. CENTER_SIZE adds the first two, in these units, to the centre, and multiplies
    width and height by e to the power of the others.

    For each class but `background_label_id` (-1: none is background) the boxes are taken whose score
    is above `confidence_threshold`, the best `top_k` of them (-1: all) in descending order, equal
    ones as they come, without those that overlap a box taken before by more than `nms_threshold`:
    the area of the intersection divided by that of the union. With `eta` below 1, the threshold is
    multiplied by it after each box that is kept, as long as it is above 0.5. Of all classes together
    an item keeps the best `keep_top_k` (-1: all).

    `output` is [1, 1, rows, 7] with (item, class, score, x1, y1, x2, y2) by item, class and score.
    Its rows are as many as can be kept; those left over hold 0. Caffe has no such rows.

    Example:

    ```mlir
    %1 = "top.DetectionOutput"(%loc, %conf, %priors) {code_type = "CENTER_SIZE", keep_top_k = 2 : i64, num_classes = 3 : i64} : (tensor<1x16xf32>, tensor<1x12xf32>, tensor<1x2x16xf32>) -> tensor<1x1x2x7xf32>
    ```
  }];
  let arguments = (ins AnyTensor:$location,
                       AnyTensor:$confidence,
                       AnyTensor:$priors,
                       Top_AtLeast<I64Attr, 1>:$num_classes,
                       Top_AtLeast<Top_DefaultI64<0>, -1>:$background_label_id,
                       Top_True:$share_location,
                       Top_False:$variance_encoded_in_target,
                       DefaultValuedStrAttr<StrAttr, "CORNER">:$code_type,
                       Top_DefaultF64<"-3.4028234663852886e38">:$confidence_threshold,
                       Top_DefaultF64<"0.3">:$nms_threshold,
                       Top_DefaultF64<"1.0">:$eta,
                       Top_AtLeast<Top_DefaultI64<-1>, -1>:$top_k,
                       Top_AtLeast<Top_DefaultI64<-1>, -1>:$keep_top_k);
  let results = (outs AnyTensor:$output);
  let hasVerifier = 1;
}

def Top_RoiPoolOp : Top_ComputeOp<"RoiPool", [Top_ComputesInF32]> {
  let summary = "The largest elements of the bins of regions";
  let description = [{
    Divides each region of `rois` ([R, 5]: item, x1, y1, x2, y2) of `input` ([N, C, H, W]) into
    `output_height` by `output_width` bins of whole pixels and takes the maximum of each, 0 where it
    is empty (Fast R-CNN, Girshick 2015, 2.1). Corners are multiplied by `spatial_scale` and rounded,
    halves away from 0; both belong to the region. Bins begin at the pixel below and end at that
    above their borders.

    With `score_maps` (R-FCN, Dai et al. 2016, 2) every bin has channels of its own, the input has
    C = output channels * `output_height` * `output_width`, and the average is taken. The corners are
    rounded first, the second one is the beginning of the next pixel, and a region is at least 0.1
    wide and high.

    Example:

    ```mlir
    %1 = "top.RoiPool"(%0, %rois) {output_height = 2 : i64, output_width = 2 : i64, spatial_scale = 0.5 : f64} : (tensor<1x3x8x8xf32>, tensor<4x5xf32>) -> tensor<4x3x2x2xf32>
    ```
  }];
  let arguments = (ins AnyTensor:$input,
                       AnyTensor:$rois,
                       Top_AtLeast<Top_DefaultI64<1>, 1, 4096>:$output_height,
                       Top_AtLeast<Top_DefaultI64<1>, 1, 4096>:$output_width,
                       Top_DefaultF64<"1.0">:$spatial_scale,
                       Top_False:$score_maps);
  let results = (outs AnyTensor:$output);
}

#endif // TPUC_DIALECT_TOP_DETECTIONOPS

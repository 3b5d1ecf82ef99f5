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

def Top_ProposalOp : Top_ComputeOp<"Proposal", [Top_ComputesInF32]> {
  let summary = "The regions that a network proposes";
  let description = [{
    Moves anchors by what the network says of them, and keeps the best ones that do not overlap
    (Faster R-CNN, Ren et al. 2015, 3.1.2 and 3.3, as its authors' program computes it).

    Anchors: for each r of `ratios`, then s of `scales`, a box around (base_size - 1) / 2 in both
    directions. With w0 = rint(sqrt(base_size^2 / r)) it has w = s * w0 by h = s * rint(w0 * r)
    pixels, from the centre less (w - 1) / 2 to the centre and (w - 1) / 2. Each pixel (x, y) of the
    map has the A anchors, moved by x * `feat_stride` and y * `feat_stride`. `scores` is
    [N, 2 * A, H, W], where what speaks for an anchor stands in the second half of the channels.
    `deltas` is [N, 4 * A, H, W], with dx, dy, dw and dh for each anchor.

    An anchor of w = x2 - x1 + 1 by h pixels and the centre x1 + w / 2 becomes the box around
    dx * w + x1 + w / 2 of the width w * e^dw, the same for y. Boxes are clipped to
    [0, width - 1] and [0, height - 1] of the picture. Dropped are those with a score below
    `obj_threshold` and those that are less than `min_size` times the scale wide or high. The
    best `pre_nms_top_n` are taken in descending order (-1: all), equal ones by y, x and anchor,
    without those that overlap a box taken before by more than `nms_threshold`. Widths are counted
    in pixels, x2 - x1 + 1. At most `post_nms_top_n` are kept.

    `im_info` is [N or 1, 3]: height, width, scale of the picture. Without it these are
    `image_height`, `image_width` and 1.

    `rois` is [N * post_nms_top_n, 5]: item, x1, y1, x2, y2. `roi_scores` is [N * post_nms_top_n, 1].
    Rows that are left over have their item, a box of zeros and the score 0.

    Example:

    ```mlir
    %1, %2 = "top.Proposal"(%scores, %deltas, %info) {post_nms_top_n = 5 : i64, ratios = [1.0], scales = [8.0]} : (tensor<1x2x4x6xf32>, tensor<1x4x4x6xf32>, tensor<1x3xf32>) -> (tensor<5x5xf32>, tensor<5x1xf32>)
    ```
  }];
  let arguments = (ins AnyTensor:$scores,
                       AnyTensor:$deltas,
                       Top_OptionalTensor:$im_info,
                       Top_AtLeast<Top_DefaultI64<16>, 1, 65536>:$feat_stride,
                       Top_AtLeast<Top_DefaultI64<16>, 1, 65536>:$base_size,
                       F64ArrayAttr:$ratios,
                       F64ArrayAttr:$scales,
                       Top_DefaultF64<"16.0">:$min_size,
                       Top_AtLeast<Top_DefaultI64<6000>, -1>:$pre_nms_top_n,
                       Top_AtLeast<Top_DefaultI64<300>, 1, 1048576>:$post_nms_top_n,
                       Top_DefaultF64<"0.7">:$nms_threshold,
                       Top_DefaultF64<"-3.4028234663852886e38">:$obj_threshold,
                       Top_AtLeast<Top_DefaultI64<0>, 0, 1048576>:$image_height,
                       Top_AtLeast<Top_DefaultI64<0>, 0, 1048576>:$image_width);
  let results = (outs AnyTensor:$rois, Top_OptionalTensor:$roi_scores);
  let hasVerifier = 1;
}

def Top_YoloDetectionOp : Top_ComputeOp<"YoloDetection", [Top_ComputesInF32]> {
  let summary = "The boxes that a detector of YOLO's kind finds";
  let description = [{
    Each of `inputs` is a map [N, A * (5 + `class_num`), H, W] with the same A. For anchor a at the
    pixel (x, y) it holds tx, ty, tw, th, the confidence tc, and a number for each class (YOLOv2,
    Redmon and Farhadi 2016, 2; YOLOv3, 2018, 2.1). With s(t) = 1 / (1 + e^-t) the box has the centre
    (s(tx) + x) / W, (s(ty) + y) / H and the size pw * e^tw / net_input_w, ph * e^th / net_input_h.
    `anchors` has pw, ph for each map and anchor. Where `net_input_h` or `net_input_w` is 0, it is
    the H or W of the map: anchors in pixels of the map.

    The class is the likeliest of a softmax, and the score its share times s(tc). Kept are boxes with
    s(tc) and score of `obj_threshold` or more, in descending order of scores, equal ones by map, y,
    x and anchor. Left out are those that overlap a kept box of the same class, or of any class with
    `across_classes`, by more than `nms_threshold`: the area of the intersection divided by that of
    the union. An item keeps at most `keep_topk`.

    `output` is [N, 1, keep_topk, 6]: centre x, y, width, height, class, score. With `corners`, it
    has the shape [1, 1, N * keep_topk, 7]: item, class + 1, score, x1, y1, x2, y2. Rows that are
    left over hold 0.

    Example:

    ```mlir
    %1 = "top.YoloDetection"(%a) {anchors = [10.0, 13.0], class_num = 3 : i64, keep_topk = 4 : i64, net_input_h = 64 : i64, net_input_w = 64 : i64, obj_threshold = 0.1} : (tensor<1x8x2x2xf32>) -> tensor<1x1x4x6xf32>
    ```
  }];
  let arguments = (ins Variadic<AnyTensor>:$inputs,
                       Top_AtLeast<I64Attr, 1, 1048576>:$class_num,
                       F64ArrayAttr:$anchors,
                       Top_AtLeast<Top_DefaultI64<0>, 0, 1048576>:$net_input_h,
                       Top_AtLeast<Top_DefaultI64<0>, 0, 1048576>:$net_input_w,
                       Top_DefaultF64<"0.5">:$obj_threshold,
                       Top_DefaultF64<"0.5">:$nms_threshold,
                       Top_AtLeast<Top_DefaultI64<200>, 1, 1048576>:$keep_topk,
                       Top_False:$across_classes,
                       Top_False:$corners);
  let results = (outs AnyTensor:$output);
  let hasVerifier = 1;
}

def Top_RetinaFaceDetectionOp : Top_ComputeOp<"RetinaFaceDetection", [Top_ComputesInF32]> {
  let summary = "The faces that a detector of RetinaFace's kind finds";
  let description = [{
    `inputs` are nine maps: scores [N, 4, H, W], deltas [N, 8, H, W] and landmarks [N, 20, H, W] for
    the strides 8, 16 and 32 (RetinaFace, Deng et al. 2019, 3; the authors' two anchors for each
    pixel). Anchors are squares around 7.5 of 32 and 16 (stride 8), 128 and 64 (stride 16), 512 and
    256 (stride 32) pixels, moved by the pixel's place times the stride. A face's scores stand in
    the second half of the channels.

    An anchor of w = x2 - x1 + 1 pixels and the centre c = x1 + (w - 1) / 2 becomes the box around
    m = dx * w + c, from m - (w * e^dw - 1) / 2 to m + (w * e^dw - 1) / 2, the same for y. The five
    points of a face are l * w + c. Faces with a score of `confidence_threshold` or more are taken
    in descending order, equal ones by stride, anchor, y and x, without those that overlap one
    taken before by more than `nms_threshold`. Widths are counted in pixels, x2 - x1 + 1.

    `output` is [N, 1, keep_topk, 15]: x1, y1, x2, y2, score, and x, y of five points. Rows that are
    left over hold 0.

    Example:

    ```mlir
    %1 = "top.RetinaFaceDetection"(%s0, %b0, %l0, %s1, %b1, %l1, %s2, %b2, %l2) {keep_topk = 2 : i64} : (tensor<1x4x4x4xf32>, tensor<1x8x4x4xf32>, tensor<1x20x4x4xf32>, tensor<1x4x2x2xf32>, tensor<1x8x2x2xf32>, tensor<1x20x2x2xf32>, tensor<1x4x1x1xf32>, tensor<1x8x1x1xf32>, tensor<1x20x1x1xf32>) -> tensor<1x1x2x15xf32>
    ```
  }];
  let arguments = (ins Variadic<AnyTensor>:$inputs,
                       Top_DefaultF64<"0.5">:$confidence_threshold,
                       Top_DefaultF64<"0.4">:$nms_threshold,
                       Top_AtLeast<Top_DefaultI64<50>, 1, 1048576>:$keep_topk);
  let results = (outs AnyTensor:$output);
  let hasVerifier = 1;
}

def Top_FrcnDetectionOp : Top_ComputeOp<"FrcnDetection", [Top_ComputesInF32]> {
  let summary = "The boxes that Faster R-CNN finds in its regions";
  let description = [{
    Moves each of the R regions of `rois` ([N, 1, R, 5], or [R, 5] of one item: item, x1, y1, x2, y2) by
    `deltas` (N * R * `class_num` * 4 numbers dx, dy, dw, dh) for each class, as Proposal moves
    anchors (Faster R-CNN, Ren et al. 2015, 3.1.2). `scores` has N * R * `class_num` numbers.

    For each class but 0, the background, the boxes are taken whose score is above `obj_threshold`:
    in descending order, equal ones by region and class, without those that overlap a box of
    their class taken before by more than `nms_threshold`. The overlap is that of the peer's layer:
    the area of the intersection, divided by the areas of both with a pixel more in each direction,
    less the intersection. An item keeps at most `keep_topk`.

    `output` is [N, 1, keep_topk, 6]: x1, y1, x2, y2, class, score. Rows that are left over hold 0.

    Example:

    ```mlir
    %1 = "top.FrcnDetection"(%deltas, %scores, %rois) {class_num = 3 : i64, keep_topk = 2 : i64} : (tensor<4x12xf32>, tensor<4x3xf32>, tensor<4x5xf32>) -> tensor<1x1x2x6xf32>
    ```
  }];
  let arguments = (ins AnyTensor:$deltas,
                       AnyTensor:$scores,
                       AnyTensor:$rois,
                       Top_AtLeast<I64Attr, 2, 1048576>:$class_num,
                       Top_DefaultF64<"0.5">:$obj_threshold,
                       Top_DefaultF64<"0.3">:$nms_threshold,
                       Top_AtLeast<Top_DefaultI64<100>, 1, 1048576>:$keep_topk);
  let results = (outs AnyTensor:$output);
  let hasVerifier = 1;
}

def Top_ObjectDetectionOp : Top_ComputeOp<"ObjectDetection", [Top_ComputesInF32]> {
  let summary = "The objects that a detector finds, by what its heads give";
  let description = [{
    A record of F numbers stands for each place where an object may be. Its fields are the box, then
    with `objectness` one number, then `num_classes` scores, then `extra` numbers. The box has four
    fields, or 4 * `bins`. With `labelled`, a score and a class stand in place of the scores.

    `inputs` has the records of one level after the other, or of all levels in one tensor. A level
    has a tensor for each element of `part_fields`, which says how many fields stand there; without
    it, there is one. `grids` has height and width of each level, and `anchor_counts` how many
    anchors each pixel has (1). Without `grids` the boxes are decoded, and there is one level.
    `layout` says how a tensor is ordered, A being anchors and P pixels, under any shape: PLANES
    [N, A, F, P], ANCHORS [N, A, P, F], PIXELS [N, P, A, F]. All levels in one tensor are
    concatenated along their places, in PLANES with one anchor.

    `box_code` says what the fields a, b, c, d mean. At column x and row y of a level with strides u
    and v (the extents of the input divided by those of the grid), and an anchor of pw by ph pixels,
    with s(t) = 1 / (1 + e^-t), or t with `boxes_activated`, a box has

    | code | left, top, right, bottom, or centre and size | source |
    | --- | --- | --- |
    | CENTER | centre (a, b), size (c, d) | |
    | CORNERS | a, b, c, d | |
    | ANCHOR_EXP | centre ((k s(a) - (k - 1) / 2 + x) u, (... b ... + y) v), k = `scale_xy` of the level, or 1; size (pw e^c, ph e^d) | YOLOv3 (Redmon and Farhadi 2018, 2.1), YOLOv4 (Bochkovskiy et al. 2020, 3.4: k) |
    | ANCHOR_SQUARE | centre ((2 s(a) - 0.5 + x) u, (2 s(b) - 0.5 + y) v); size (pw (2 s(c))^2, ph (2 s(d))^2) | Scaled-YOLOv4 (Wang et al. 2021), YOLOv5, YOLOv7 |
    | GRID_EXP | centre ((a + x) u, (b + y) v); size (e^c u, e^d v) | YOLOX (Ge et al. 2021, 2.1) |
    | DISTANCES | from (x + 0.5, y + 0.5): a to the left, b up, c to the right, d down, times u and v; with `rotated` in the directions of the box, whose angle turns them around that point | FCOS (Tian et al. 2019), YOLOv6, v8 to v11 |
    | PRIOR | centre ((x + 0.5) u + a V0 pw, (y + 0.5) v + b V1 ph), size (pw e^(c V2), ph e^(d V3)), V = `variances` | SSD (Liu et al. 2016, 2.2) |

    With `swap_xy` the fields are b, a, d, c. With `bins` above 1, each of a to d is the mean of
    0 ... bins - 1 by a softmax over its fields (Generalized Focal Loss, Li et al. 2020, 3.2).
    `normalized` coordinates are multiplied by `input_width` and `input_height`.

    `score_code` says how objectness and scores become shares: NONE, SIGMOID, or SOFTMAX over the
    classes. The score is that of the class, times the objectness. `background` is no object. A place
    stands for its best class, the first of equal ones, or with `multi_label` for each of them.
    Taken are scores above `score_threshold`, of `classes` only where they are given; then for each
    class the best `top_k` (-1: all). Boxes are kept in descending order of scores, equal ones as
    they come in memory, those of PLANES by anchor, pixel, class. Left out are those that overlap a
    kept one of their class, or of any with `agnostic`, by more than `nms_threshold`: the area of
    the intersection divided by that of the union. An item keeps at most `keep_topk`. Boxes that are
    not finite are none. With `rotated`, the first of the `extra` numbers is the angle of the box around
    its centre, in radians from x to y, and boxes overlap by 1 less the Hellinger distance of their
    Gaussians (Llerena et al. 2021, 3.2), which have the variances w^2 / 12 and h^2 / 12.

    `output` is [1, 1, N * `keep_topk`, 7]: item, class, score, centre x, centre y, width, height,
    in pixels of the input. With `picture` (height, width), they are in pixels of the picture that
    became the input, and clipped to it unless they are rotated: stretched (`letterbox` NONE), or scaled by one factor and
    padded around (CENTER, half of the rest rounded down on the left and top) or below and on the
    right (NORMAL). Rows that are left over come last and hold 0.

    `extras` is [N * `keep_topk`, `extra`]: the other fields of these rows. With `key_points` above 0,
    they are that many points, each x, y, and the rest; they move to the picture as boxes do. Levels
    with a grid have ((2 x' + x) u, (2 y' + y) v) for a point and s(t) for the rest, and
    (s(t) - 0.25) pi for an angle (YOLOv8), unless these are in their last form (`extras_decoded`).

    With a `mask` of BOX or WHOLE, the last of `inputs` is [N, `extra`, H, W], and `extras` is
    [N * `keep_topk`, H, W] and holds s(t): t sums its planes, each times one of the `extra` numbers
    (YOLACT, Bolya et al. 2019, 3.2). Its pixels are those of the input, scaled. BOX leaves 0 where the
    pixel's number, counted from the left or top, is below the edge of the box there, or not below
    the opposite one.

    Example:

    ```mlir
    %1, %2 = "top.ObjectDetection"(%a) {box_code = "CENTER", input_height = 64 : i64, input_width = 64 : i64, keep_topk = 4 : i64, num_classes = 2 : i64} : (tensor<1x6x10xf32>) -> (tensor<1x1x4x7xf32>, none)
    ```
  }];
  let arguments = (ins Variadic<AnyTensor>:$inputs,
                       StrAttr:$box_code,
                       DefaultValuedStrAttr<StrAttr, "NONE">:$score_code,
                       DefaultValuedStrAttr<StrAttr, "PLANES">:$layout,
                       Top_AtLeast<I64Attr, 1, 1048576>:$num_classes,
                       Top_AtLeast<I64Attr, 1, 1048576>:$input_height,
                       Top_AtLeast<I64Attr, 1, 1048576>:$input_width,
                       Top_AtLeast<OptionalAttr<I64ArrayAttr>, 1, 1048576>:$part_fields,
                       Top_AtLeast<OptionalAttr<I64ArrayAttr>, 1, 1048576>:$grids,
                       Top_AtLeast<OptionalAttr<I64ArrayAttr>, 1, 4096>:$anchor_counts,
                       OptionalAttr<F64ArrayAttr>:$anchors,
                       OptionalAttr<F64ArrayAttr>:$variances,
                       Top_AtLeast<Top_DefaultI64<1>, 1, 4096>:$bins,
                       Top_AtLeast<Top_DefaultI64<0>, 0, 1048576>:$extra,
                       Top_AtLeast<Top_DefaultI64<0>, 0, 4096>:$key_points,
                       Top_False:$objectness,
                       Top_False:$labelled,
                       Top_False:$boxes_activated,
                       Top_False:$normalized,
                       Top_False:$swap_xy,
                       OptionalAttr<F64ArrayAttr>:$scale_xy,
                       Top_AtLeast<Top_DefaultI64<-1>, -1, 1048576>:$background,
                       Top_DefaultF64<"0.25">:$score_threshold,
                       Top_DefaultF64<"0.45">:$nms_threshold,
                       Top_AtLeast<Top_DefaultI64<-1>, -1>:$top_k,
                       Top_AtLeast<Top_DefaultI64<200>, 1, 1048576>:$keep_topk,
                       Top_False:$agnostic,
                       Top_False:$multi_label,
                       Top_False:$rotated,
                       Top_False:$extras_decoded,
                       DefaultValuedStrAttr<StrAttr, "NONE">:$mask,
                       Top_AtLeast<OptionalAttr<I64ArrayAttr>, 0, 1048576>:$classes,
                       Top_AtLeast<OptionalAttr<I64ArrayAttr>, 1, 1048576>:$picture,
                       DefaultValuedStrAttr<StrAttr, "NONE">:$letterbox);
  let results = (outs AnyTensor:$output, Top_OptionalTensor:$extras);
  let hasVerifier = 1;
}

#endif // TPUC_DIALECT_TOP_DETECTIONOPS

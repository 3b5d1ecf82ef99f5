// Maps of boxes and scores, and what else records have for all levels together: raw, or decoded.
// RUN: tpuc-opt %s --add-postprocess="type=yolov11_obb" 2>%t.remark | FileCheck %s --check-prefix=ANGLE
// RUN: FileCheck %s --check-prefix=REMARK < %t.remark
// RUN: not tpuc-opt %s --add-postprocess="type=yolov11_pose" 2>&1 | FileCheck %s --check-prefix=POSE
// RUN: not tpuc-opt %s --add-postprocess="type=yolov8_seg" 2>&1 | FileCheck %s --check-prefix=SEG
// RUN: not tpuc-opt %s --add-postprocess="type=yolov11_obb options=crop_masks=true" 2>&1 | FileCheck %s --check-prefix=CROP
// REMARK: yolov11_obb heads: raw maps, and decoded extras, of grids 4x8, 2x4 at 'm0', 'm1', 'e', 2 classes
// ANGLE: %[[E:.+]] = "top.MulConst"
// ANGLE: %[[E0:.+]] = "top.Slice"(%[[E]]
// ANGLE-SAME: ends = [1, 1, 32]
// ANGLE-SAME: -> tensor<1x1x32xf32>
// ANGLE: %[[E1:.+]] = "top.Slice"(%[[E]]
// ANGLE-SAME: offset = [0, 0, 32]
// ANGLE-SAME: -> tensor<1x1x8xf32>
// ANGLE: "top.ObjectDetection"(%{{.+}}, %[[E0]], %{{.+}}, %[[E1]])
// ANGLE-SAME: bins = 16
// ANGLE-SAME: extras_decoded = true
// ANGLE-SAME: part_fields = [66, 1]
// ANGLE-SAME: rotated = true
// ANGLE-SAME: score_code = "SIGMOID"
// One number is no point.
// POSE: --add_postprocess: no heads of yolov11_pose at the outputs 'm0' [1, 66, 4, 8], 'm1' [1, 66, 2, 4], 'e' [1, 1, 40]; expected maps {{.*}}, each with 3 or 2 numbers for each point, for an input of 64x128
// SEG: --add_postprocess: no heads of yolov8_seg at the outputs {{.*}}, and a map [N, coefficients, H, W] of a finer grid, for an input of 64x128
// CROP: --postprocess_options: crop_masks says nothing here: there are no masks
module @obb attributes {module.chip = "ALL", module.name = "n", module.platform = "ONNX", module.state = "TOP_F32"} {
  func.func @main(%arg0: tensor<1x3x64x128xf32>, %arg1: tensor<1x66x4x8xf32>, %arg2: tensor<1x66x2x4xf32>, %arg3: tensor<1x1x40xf32>) -> (tensor<1x66x4x8xf32>, tensor<1x66x2x4xf32>, tensor<1x1x40xf32>) {
    %x = "top.Input"(%arg0) : (tensor<1x3x64x128xf32>) -> tensor<1x3x64x128xf32> loc("x")
    %m0 = "top.Input"(%arg1) : (tensor<1x66x4x8xf32>) -> tensor<1x66x4x8xf32> loc("m0")
    %m1 = "top.Input"(%arg2) : (tensor<1x66x2x4xf32>) -> tensor<1x66x2x4xf32> loc("m1")
    %a = "top.Input"(%arg3) : (tensor<1x1x40xf32>) -> tensor<1x1x40xf32> loc("a")
    %e = "top.MulConst"(%a) {const_val = 3.0 : f64} : (tensor<1x1x40xf32>) -> tensor<1x1x40xf32> loc("e")
    return %m0, %m1, %e : tensor<1x66x4x8xf32>, tensor<1x66x2x4xf32>, tensor<1x1x40xf32>
  }
}

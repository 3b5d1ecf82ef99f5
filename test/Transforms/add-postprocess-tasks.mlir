// Raw maps of detectors that find more than boxes. Scores and distances are decoded on the chip, what
// comes behind them on the host, for the places that are kept.
// RUN: tpuc-opt %s --add-postprocess="type=yolov8_seg options=keep=5" 2>%t.remark | FileCheck %s --check-prefix=SEG
// RUN: FileCheck %s --check-prefix=REMARK < %t.remark
// RUN: tpuc-opt %s --add-postprocess="type=yolov8_seg options=crop_masks=false" 2>/dev/null | FileCheck %s --check-prefix=WHOLE
// REMARK: yolov8_seg heads: raw maps of grids 4x8, 2x4 at 'b0', 'c0', 'e0', 'b1', 'c1', 'e1', 'p', 2 classes
// SEG: %[[B0:.+]] = "top.Input"(%arg1)
// SEG: %[[C0:.+]] = "top.Input"(%arg2)
// SEG: %[[E0:.+]] = "top.Input"(%arg3)
// SEG: %[[P:.+]] = "top.Input"(%arg7)
// SEG: "top.Sigmoid"(%[[C0]])
// SEG: "top.ObjectDetection"(%{{.+}}, %{{.+}}, %[[E0]], %{{.+}}, %{{.+}}, %{{.+}}, %[[P]])
// SEG-SAME: bins = 1
// SEG-SAME: extra = 3
// SEG-SAME: mask = "BOX"
// SEG-SAME: part_fields = [4, 2, 3]
// SEG-SAME: -> (tensor<1x1x5x7xf32>, tensor<5x16x32xf32>)
// WHOLE: mask = "WHOLE"
module @seg attributes {module.chip = "ALL", module.name = "n", module.platform = "ONNX", module.state = "TOP_F32"} {
  func.func @main(%arg0: tensor<1x3x64x128xf32>, %arg1: tensor<1x64x4x8xf32>, %arg2: tensor<1x2x4x8xf32>, %arg3: tensor<1x3x4x8xf32>, %arg4: tensor<1x64x2x4xf32>, %arg5: tensor<1x2x2x4xf32>, %arg6: tensor<1x3x2x4xf32>, %arg7: tensor<1x3x16x32xf32>) -> (tensor<1x64x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x3x4x8xf32>, tensor<1x64x2x4xf32>, tensor<1x2x2x4xf32>, tensor<1x3x2x4xf32>, tensor<1x3x16x32xf32>) {
    %x = "top.Input"(%arg0) : (tensor<1x3x64x128xf32>) -> tensor<1x3x64x128xf32> loc("x")
    %b0 = "top.Input"(%arg1) : (tensor<1x64x4x8xf32>) -> tensor<1x64x4x8xf32> loc("b0")
    %c0 = "top.Input"(%arg2) : (tensor<1x2x4x8xf32>) -> tensor<1x2x4x8xf32> loc("c0")
    %e0 = "top.Input"(%arg3) : (tensor<1x3x4x8xf32>) -> tensor<1x3x4x8xf32> loc("e0")
    %b1 = "top.Input"(%arg4) : (tensor<1x64x2x4xf32>) -> tensor<1x64x2x4xf32> loc("b1")
    %c1 = "top.Input"(%arg5) : (tensor<1x2x2x4xf32>) -> tensor<1x2x2x4xf32> loc("c1")
    %e1 = "top.Input"(%arg6) : (tensor<1x3x2x4xf32>) -> tensor<1x3x2x4xf32> loc("e1")
    %p = "top.Input"(%arg7) : (tensor<1x3x16x32xf32>) -> tensor<1x3x16x32xf32> loc("p")
    return %b0, %c0, %e0, %b1, %c1, %e1, %p : tensor<1x64x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x3x4x8xf32>, tensor<1x64x2x4xf32>, tensor<1x2x2x4xf32>, tensor<1x3x2x4xf32>, tensor<1x3x16x32xf32>
  }
}

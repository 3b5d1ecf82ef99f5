// A detector of three anchors and one class with two levels. The maps stand behind permutations that
// nobody needs any more, and their sigmoids are ops of the chip.
// RUN: tpuc-opt %s --add-postprocess="type=yolov5 options=anchors=[[10,13,16,30,33,23],[30,61,62,45,59,119]],score_threshold=0.5" --extra-optimize 2>%t.remark | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t.remark
// RUN: tpuc-opt %s --add-postprocess="type=yolov3_tiny options={{\"decode\":\"host\",\"picture\":[90,160],\"letterbox\":\"center\"}}" | FileCheck %s --check-prefix=HOST
// REMARK: remark: yolov5 heads: raw maps of grids 4x8, 2x4 at 'p0', 'p1', 1 classes
// CHECK: %[[M0:.+]] = "top.Conv"
// CHECK: %[[M1:.+]] = "top.Conv"
// CHECK-NOT: Permute
// CHECK: %[[S0:.+]] = "top.Sigmoid"(%[[M0]])
// CHECK: %[[S1:.+]] = "top.Sigmoid"(%[[M1]])
// CHECK: %[[D:.+]], %{{.+}} = "top.ObjectDetection"(%[[S0]], %[[S1]])
// CHECK-SAME: anchor_counts = [3, 3]
// CHECK-SAME: box_code = "ANCHOR_SQUARE"
// CHECK-SAME: boxes_activated = true
// CHECK-SAME: grids = [4, 8, 2, 4]
// CHECK-SAME: score_code = "NONE"
// CHECK-SAME: score_threshold = 5.000000e-01
// CHECK-SAME: -> (tensor<1x1x200x7xf32>, none)
// CHECK: return %[[D]] : tensor<1x1x200x7xf32>
// HOST-NOT: Sigmoid
// HOST: "top.ObjectDetection"
// HOST-SAME: box_code = "ANCHOR_EXP"
// HOST-SAME: letterbox = "CENTER"
// HOST-SAME: picture = [90, 160]
// HOST-SAME: score_code = "SIGMOID"

// RUN: not tpuc-opt %s --add-postprocess=type=yolov2 2>&1 | FileCheck %s --check-prefix=NAME
// NAME: --add_postprocess: 'yolov2'; expected one of ssd, yolov3
// RUN: not tpuc-opt %s --add-postprocess=type=yolov8_seg 2>&1 | FileCheck %s --check-prefix=HEADS
// HEADS: --add_postprocess: no heads of yolov8_seg at the outputs 'p0' [1, 3, 4, 8, 6], 'p1' [1, 3, 2, 4, 6]; expected maps {{.*}} for an input of 64x128
// RUN: not tpuc-opt %s --add-postprocess=type=yolov5 2>&1 | FileCheck %s --check-prefix=ANCHORS
// ANCHORS: --postprocess_options: no anchors of yolov5 are known for 2 levels; expected anchors
// RUN: not tpuc-opt %s --add-postprocess="type=yolov3_tiny options=nms_threshold=-0.1" 2>&1 | FileCheck %s --check-prefix=RANGE
// RANGE: --postprocess_options: nms_threshold is -0.1; expected a number from 0 to 1
// RUN: not tpuc-opt %s --add-postprocess="type=yolov3_tiny options=nms=0.1" 2>&1 | FileCheck %s --check-prefix=KEY
// KEY: --postprocess_options: 'nms'; expected one of agnostic, anchors
// RUN: not tpuc-opt %s --add-postprocess="type=yolov3_tiny options=keep" 2>&1 | FileCheck %s --check-prefix=PAIR
// PAIR: --postprocess_options: 'keep'; expected key=value, or a JSON object
// RUN: not tpuc-opt %s --add-postprocess="type=yolov3_tiny options=num_classes=80" 2>&1 | FileCheck %s --check-prefix=CLASSES
// CLASSES: --postprocess_options: num_classes is 80; expected the 1 classes of the yolov3_tiny heads
// RUN: not tpuc-opt %s --add-postprocess="type=yolov3_tiny options=classes=[1]" 2>&1 | FileCheck %s --check-prefix=CLASS
// CLASS: --postprocess_options: classes has 1; expected classes below 1
// RUN: not tpuc-opt %s --add-postprocess="type=yolov3_tiny options=boxes=corners" 2>&1 | FileCheck %s --check-prefix=NOTHING
// NOTHING: --postprocess_options: boxes says nothing here: the boxes are not decoded yet
// RUN: not tpuc-opt %s --add-postprocess="type=yolov3_tiny options=letterbox=center" 2>&1 | FileCheck %s --check-prefix=PICTURE
// PICTURE: --postprocess_options: letterbox without picture; expected the picture's height and width
// RUN: not tpuc-opt %s --add-postprocess="type=yolov3_tiny options=keep=2,keep=3" 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: --postprocess_options: keep is given twice
// RUN: not tpuc-opt %s --add-postprocess="type=yolov3_tiny options=classes=[]" 2>&1 | FileCheck %s --check-prefix=NOCLASS
// NOCLASS: --postprocess_options: classes is []; expected a list of classes, counted from 0
// RUN: not tpuc-opt %s --add-postprocess="type=yolov3_tiny options=background=1" 2>&1 | FileCheck %s --check-prefix=GROUND
// GROUND: --postprocess_options: background is 1; expected a class below 1, or -1
// RUN: not tpuc-opt %s --add-postprocess="type=yolov3_tiny options=background=0,classes=[0]" 2>&1 | FileCheck %s --check-prefix=BOTH
// BOTH: --postprocess_options: classes has 0; expected classes below 1 but 0, the background
// RUN: not tpuc-opt %s --add-postprocess="type=yolov3_tiny options=bins=4" 2>&1 | FileCheck %s --check-prefix=BINS
// BINS: --postprocess_options: bins says nothing here: the boxes are no distances
// RUN: not tpuc-opt %s --add-postprocess="type=yolov3_tiny options=grids=[4,8]" 2>&1 | FileCheck %s --check-prefix=GRIDS
// GRIDS: --postprocess_options: 'grids'; expected one of agnostic
// RUN: not tpuc-opt %s --add-postprocess="type=yolov3_tiny options=keep=0" 2>&1 | FileCheck %s --check-prefix=KEEP
// KEEP: --postprocess_options: keep is 0; expected an integer from 1 to 1048576
// RUN: not tpuc-opt %s --add-postprocess="type=yolov3_tiny options=score_threshold=1.5" 2>&1 | FileCheck %s --check-prefix=SCORE
// SCORE: --postprocess_options: score_threshold is 1.5; expected a number from 0 to 1
module @tiny attributes {module.chip = "ALL", module.name = "n", module.platform = "ONNX", module.state = "TOP_F32"} {
  func.func @main(%arg0: tensor<1x3x64x128xf32>, %arg1: tensor<18x3x16x16xf32>, %arg2: tensor<18x3x32x32xf32>) -> (tensor<1x3x4x8x6xf32>, tensor<1x3x2x4x6xf32>) {
    %none = "top.None"() : () -> none
    %x = "top.Input"(%arg0) : (tensor<1x3x64x128xf32>) -> tensor<1x3x64x128xf32> loc("x")
    %f0 = "top.Input"(%arg1) : (tensor<18x3x16x16xf32>) -> tensor<18x3x16x16xf32> loc("f0")
    %f1 = "top.Input"(%arg2) : (tensor<18x3x32x32xf32>) -> tensor<18x3x32x32xf32> loc("f1")
    %m0 = "top.Conv"(%x, %f0, %none) {kernel_shape = [16, 16], strides = [16, 16], pads = [0, 0, 0, 0]} : (tensor<1x3x64x128xf32>, tensor<18x3x16x16xf32>, none) -> tensor<1x18x4x8xf32> loc("m0")
    %m1 = "top.Conv"(%x, %f1, %none) {kernel_shape = [32, 32], strides = [32, 32], pads = [0, 0, 0, 0]} : (tensor<1x3x64x128xf32>, tensor<18x3x32x32xf32>, none) -> tensor<1x18x2x4xf32> loc("m1")
    %r0 = "top.Reshape"(%m0, %none) {shape = [1, 3, 6, 4, 8]} : (tensor<1x18x4x8xf32>, none) -> tensor<1x3x6x4x8xf32> loc("r0")
    %r1 = "top.Reshape"(%m1, %none) {shape = [1, 3, 6, 2, 4]} : (tensor<1x18x2x4xf32>, none) -> tensor<1x3x6x2x4xf32> loc("r1")
    %p0 = "top.Permute"(%r0) {order = [0, 1, 3, 4, 2]} : (tensor<1x3x6x4x8xf32>) -> tensor<1x3x4x8x6xf32> loc("p0")
    %p1 = "top.Permute"(%r1) {order = [0, 1, 3, 4, 2]} : (tensor<1x3x6x2x4xf32>) -> tensor<1x3x2x4x6xf32> loc("p1")
    return %p0, %p1 : tensor<1x3x4x8x6xf32>, tensor<1x3x2x4x6xf32>
  }
}

// The examples of the manual's chapters 13 and 16, as they are or with what is wrong in them put
// right. Throughout, an operand that is left out is the result of a top.None, as in the manual's
// definition of Conv (figure 5.3), where its examples sometimes leave out the operand itself.
// RUN: tpuc-opt %s --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s
// RUN: tpuc-opt %s --shape-infer | FileCheck %s --check-prefix=SHAPES

// CHECK-LABEL: func.func @arithmetic
func.func @arithmetic(%0: tensor<1x3x27x27xf32>, %1: tensor<1x3x27x27xf32>) {
  // CHECK: "top.Add"{{.*}}do_relu = false{{.*}} loc("add")
  %2 = "top.Add"(%0, %1) {do_relu = false} : (tensor<1x3x27x27xf32>, tensor<1x3x27x27xf32>) -> tensor<1x3x27x27xf32> loc("add")
  // Printed without types of the attributes.
  // CHECK: "top.Div"{{.*}}multiplier = 1{{.*}}rshift = 0
  %3 = "top.Div"(%0, %1) {do_relu = false, relu_limit = -1.0 : f64, multiplier = 1 : i64, rshift = 0 : i64} : (tensor<1x3x27x27xf32>, tensor<1x3x27x27xf32>) -> tensor<1x3x27x27xf32> loc("div")
  // CHECK: "top.Mul"{{.*}} loc("mul")
  %4 = "top.Mul"(%0, %1) {do_relu = false, relu_limit = -1.0 : f64, multiplier = 1 : i64, rshift = 0 : i64} : (tensor<1x3x27x27xf32>, tensor<1x3x27x27xf32>) -> tensor<1x3x27x27xf32> loc("mul")
  // Printed with a second operand, %1, in the list of types, and without the constant.
  // CHECK: "top.MulConst"{{.*}}const_val = 2.{{.*}}tensor<1x3x27x27xf64>
  %c = "top.Cast"(%0) {to = f64} : (tensor<1x3x27x27xf32>) -> tensor<1x3x27x27xf64>
  %5 = "top.MulConst"(%c) {const_val = 2.0 : f64, do_relu = false, relu_limit = -1.0 : f64} : (tensor<1x3x27x27xf64>) -> tensor<1x3x27x27xf64> loc("mulconst")
  // CHECK: "top.Concat"{{.*}}axis = 1
  // SHAPES: "top.Concat"{{.*}} -> tensor<1x6x27x27xf32>
  %6 = "top.Concat"(%0, %1) {axis = 1, do_relu = false} : (tensor<1x3x27x27xf32>, tensor<1x3x27x27xf32>) -> tensor<1x6x27x27xf32> loc("Concat")
  return
}

// CHECK-LABEL: func.func @elementwise
func.func @elementwise(%0: tensor<1x3x32x32xf32>, %1: tensor<1x16x64x64xf32>, %2: tensor<1x32x100x100xf32>) {
  // Printed as {max = 1%: f64,min = 2%: f64}: no numbers, and the least above the greatest.
  // CHECK: "top.Clip"{{.*}}max = 2.{{.*}}min = 1.
  %3 = "top.Clip"(%0) {max = 2.0 : f64, min = 1.0 : f64} : (tensor<1x3x32x32xf32>) -> tensor<1x3x32x32xf32> loc("Clip")
  // CHECK: "top.LeakyRelu"{{.*}}alpha = 0.67000001668930054
  %4 = "top.LeakyRelu"(%2) {alpha = 0.67000001668930054 : f64} : (tensor<1x32x100x100xf32>) -> tensor<1x32x100x100xf32> loc("LeakyRelu")
  // CHECK: "top.Log"
  %5 = "top.Log"(%0) : (tensor<1x3x32x32xf32>) -> tensor<1x3x32x32xf32> loc("Log")
  // CHECK: "top.Relu"{{.*}}relu_limit = 6.000000e+00 : f64
  %6 = "top.Relu"(%0) {relu_limit = 6.000000e+00 : f64} : (tensor<1x3x32x32xf32>) -> tensor<1x3x32x32xf32> loc("Relu")
  // CHECK: "top.Sigmoid"{{.*}}bias = 0.{{.*}}scale = 1.
  %7 = "top.Sigmoid"(%1) {bias = 0.000000e+00 : f64, scale = 1.000000e+00 : f64} : (tensor<1x16x64x64xf32>) -> tensor<1x16x64x64xf32> loc("output_Sigmoid")
  // CHECK: "top.SiLU"
  %8 = "top.SiLU"(%1) : (tensor<1x16x64x64xf32>) -> tensor<1x16x64x64xf32> loc("output_Mul")
  return
}

// CHECK-LABEL: func.func @networks
func.func @networks(%0: tensor<1x256x20x20xf32>, %1: tensor<20x16x50x100xf32>, %2: tensor<3x4xf32>, %3: tensor<4x5xf32>) {
  %none = "top.None"() : () -> none
  // CHECK: "top.AvgPool"{{.*}}kernel_shape = [5, 5], {{.*}}pads = [2, 2, 2, 2]
  // SHAPES: "top.AvgPool"{{.*}} -> tensor<1x256x20x20xf32>
  %4 = "top.AvgPool"(%0) {do_relu = false, kernel_shape = [5, 5], pads = [2, 2, 2, 2], strides = [1, 1]} : (tensor<1x256x20x20xf32>) -> tensor<1x256x20x20xf32> loc("resnetv22_pool1_fwd_GlobalAveragePool")
  // SHAPES: "top.MaxPool"{{.*}} -> tensor<1x256x20x20xf32>
  %5 = "top.MaxPool"(%0) {do_relu = false, kernel_shape = [5, 5], pads = [2, 2, 2, 2], strides = [1, 1]} : (tensor<1x256x20x20xf32>) -> tensor<1x256x20x20xf32> loc("resnetv22_pool0_fwd_MaxPool")
  %weight = "top.Weight"() : () -> tensor<33x16x3x5xf32> loc("filter")
  // Printed with two pads for four sides, a filter without input channels, and 28x49 for what
  // those pads on both sides make.
  // CHECK: "top.Conv"{{.*}}kernel_shape = [3, 5]
  // SHAPES: "top.Conv"{{.*}} -> tensor<20x33x28x100xf32>
  %6 = "top.Conv"(%1, %weight, %none) {kernel_shape = [3, 5], strides = [2, 1], pads = [4, 2, 4, 2]} : (tensor<20x16x50x100xf32>, tensor<33x16x3x5xf32>, none) -> tensor<20x33x28x100xf32> loc("Conv")
  %deconvolution = "top.Weight"() : () -> tensor<16x33x3x5xf32> loc("filter2")
  // Printed with round brackets, too.
  // SHAPES: "top.Deconv"{{.*}} -> tensor<20x33x93x100xf32>
  %7 = "top.Deconv"(%1, %deconvolution, %none) {kernel_shape = [3, 5], strides = [2, 1], pads = [4, 2, 4, 2]} : (tensor<20x16x50x100xf32>, tensor<16x33x3x5xf32>, none) -> tensor<20x33x93x100xf32> loc("Deconv")
  // SHAPES: "top.MatMul"{{.*}} -> tensor<3x5xf32>
  %8 = "top.MatMul"(%2, %3, %none) {do_relu = false, relu_limit = -1.0 : f64} : (tensor<3x4xf32>, tensor<4x5xf32>, none) -> tensor<3x5xf32> loc("matmul")
  return
}

// CHECK-LABEL: func.func @norms
func.func @norms(%0: tensor<1x3x27x27xf32>, %1: tensor<3xf32>, %2: tensor<1x1000x1x1xf32>) {
  // Printed with the epsilon 1e-05, which is no number of MLIR: it wants a point.
  // CHECK: "top.BatchNorm"{{.*}}epsilon = 1.000000e-05
  %5 = "top.BatchNorm"(%0, %1, %1, %1, %1) {epsilon = 1.0e-05 : f64, do_relu = false} : (tensor<1x3x27x27xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<1x3x27x27xf32> loc("BatchNorm")
  %s = "top.Weight"() : () -> tensor<1x3x1x1xf32> loc("s")
  // CHECK: "top.Scale"
  %6 = "top.Scale"(%0, %s, %s) {do_relu = false} : (tensor<1x3x27x27xf32>, tensor<1x3x1x1xf32>, tensor<1x3x1x1xf32>) -> tensor<1x3x27x27xf32> loc("Scale")
  // CHECK: "top.Softmax"{{.*}}axis = 1 : i64
  %7 = "top.Softmax"(%2) {axis = 1 : i64} : (tensor<1x1000x1x1xf32>) -> tensor<1x1000x1x1xf32> loc("output_Softmax")
  return
}

// CHECK-LABEL: func.func @movement
func.func @movement(%0: tensor<4x3x85x20x20xf32>, %1: tensor<1x255x20x20xf32>, %2: tensor<5x116x64x64xf32>, %3: tensor<1x128x40x40xf32>, %4: tensor<1x8x2x3xf32>, %5: tensor<1x255x20x1xf32>) {
  %none = "top.None"() : () -> none
  // SHAPES: "top.Permute"{{.*}} -> tensor<4x3x20x20x85xf32>
  %6 = "top.Permute"(%0) {order = [0, 1, 3, 4, 2]} : (tensor<4x3x85x20x20xf32>) -> tensor<4x3x20x20x85xf32> loc("output_Transpose")
  // Printed without the shape: it is that of the result.
  // CHECK: "top.Reshape"
  %7 = "top.Reshape"(%1, %none) {shape = [1, 3, 85, 20, 20]} : (tensor<1x255x20x20xf32>, none) -> tensor<1x3x85x20x20xf32> loc("resnetv22_flatten0_reshape0_Reshape")
  // Printed without the ends: they follow from the result alone.
  // SHAPES: "top.Slice"{{.*}} -> tensor<3x16x16x8xf32>
  %8 = "top.Slice"(%2, %none, %none, %none, %none) {offset = [2, 10, 10, 12], steps = [1, 2, 2, 3], ends = [5, 42, 42, 36]} : (tensor<5x116x64x64xf32>, none, none, none, none) -> tensor<3x16x16x8xf32> loc("output_Slice")
  // Printed with an extent of 20 that is squeezed away.
  // SHAPES: "top.Squeeze"{{.*}} -> tensor<1x255x20xf32>
  %9 = "top.Squeeze"(%5, %none) {axes = [-1]} : (tensor<1x255x20x1xf32>, none) -> tensor<1x255x20xf32>
  // SHAPES: "top.Upsample"{{.*}} -> tensor<1x128x80x80xf32>
  %10 = "top.Upsample"(%3) {scale_h = 2 : i64, scale_w = 2 : i64} : (tensor<1x128x40x40xf32>) -> tensor<1x128x80x80xf32> loc("268_Resize")
  // SHAPES: "top.Depth2Space"{{.*}} -> tensor<1x2x4x6xf32>
  %11 = "top.Depth2Space"(%4) {block_h = 2 : i64, block_w = 2 : i64, is_CRD = true, is_inversed = false} : (tensor<1x8x2x3xf32>) -> tensor<1x2x4x6xf32> loc("add")
  return
}

// CHECK-LABEL: func.func @lstm
func.func @lstm(%0: tensor<75x2x128xf32>, %1: tensor<2x256x128xf32>, %2: tensor<2x256x64xf32>, %3: tensor<2x512xf32>, %4: tensor<2x2x64xf32>) {
  %none = "top.None"() : () -> none
  // Printed without the operands and results that are left out, with its size in the types alone,
  // and with the batch before the directions. `direction` also has the value "reverse", for which
  // the manual's `bidirectional` has no word.
  // CHECK: "top.LSTM"{{.*}}direction = "bidirectional"
  %5, %6, %7 = "top.LSTM"(%0, %1, %2, %3, %none, %4, %4, %none) {batch_first = false, direction = "bidirectional", hidden_size = 64 : i64} : (tensor<75x2x128xf32>, tensor<2x256x128xf32>, tensor<2x256x64xf32>, tensor<2x512xf32>, none, tensor<2x2x64xf32>, tensor<2x2x64xf32>, none) -> (tensor<75x2x2x64xf32>, none, none) loc("LSTM")
  return
}

// Figure 16.5: 109,428,480 operations are 370,944 outputs of 2·3·7·7 and the bias; the figure has a
// filter for one input channel, a closing bracket of another kind, and the pads in the order top,
// bottom, left, right: only so do they make 84x69.
// RUN: tpuc-opt %s --extra-optimize | FileCheck %s --check-prefix=FLOPS
// FLOPS: module.FLOPs = 109428480 : i64
// CHECK-LABEL: func.func @main
func.func @main(%arg0: tensor<1x3x173x141xf32>) -> tensor<1x64x84x69xf32> {
  %0 = "top.Input"(%arg0) : (tensor<1x3x173x141xf32>) -> tensor<1x3x173x141xf32> loc("BMTensor0")
  %1 = "top.Weight"() : () -> tensor<64x3x7x7xf32> loc("BMTensor1")
  %2 = "top.Weight"() : () -> tensor<64xf32> loc("BMTensor2")
  // CHECK: "top.Conv"{{.*}}relu_limit = -1.000000e+00 : f64
  %3 = "top.Conv"(%0, %1, %2) {dilations = [1, 1], do_relu = false, group = 1 : i64, kernel_shape = [7, 7], pads = [0, 1, 0, 1], relu_limit = -1.00000e+00 : f64, strides = [2, 2]} : (tensor<1x3x173x141xf32>, tensor<64x3x7x7xf32>, tensor<64xf32>) -> tensor<1x64x84x69xf32> loc("BMTensor3")
  return %3 : tensor<1x64x84x69xf32>
}

// Filters of integers have input channels in fours; biases have 16 bits, lane after lane.
// RUN: tpuc-opt %s --shape-infer --chip-assign=chip=bm1684 --convert-top-to-tpu=mode=INT8 --weight-reorder --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s

// Two rows of 9 taps for each of 64 lanes.
// CHECK-DAG: "tpu.Unpack"(%{{.*}}) {blocks = [64, 2, 3, 3, 1], order = [1, 0, 4, 2, 3], padded = [128, 1, 3, 3]} : (tensor<64x18xi8>) -> tensor<80x1x3x3xi8>
// CHECK-DAG: "tpu.Unpack"(%{{.*}}) {blocks = [64, 2], order = [1, 0], padded = [128]} : (tensor<64x2xi16>) -> tensor<80xi16>
// 42 input channels are 44.
// CHECK-DAG: "tpu.Unpack"(%{{.*}}) {blocks = [8, 1, 1, 1, 44], order = [1, 0, 4, 2, 3], padded = [8, 44, 1, 1]} : (tensor<8x44xi8>) -> tensor<8x42x1x1xi8>
// Matrices stay as they are, but for their biases.
// CHECK-DAG: "top.Weight"() : () -> tensor<16x5xi8>
// CHECK-DAG: "tpu.Unpack"(%{{.*}}) {blocks = [5], order = [0], padded = [5]} : (tensor<5xi16>) -> tensor<5xi16>
// Behind the biases of a product of rows stand their parts, each a row of bytes.
// CHECK-DAG: "tpu.Unpack"(%{{.*}}) {blocks = [24], order = [0], padded = [24]} : (tensor<24xi16>) -> tensor<8xi16>
module attributes {module.name = "net", module.state = "TOP_CALIBRATED"} {
  func.func @main(%arg0: tensor<1x80x8x8x!quant.calibrated<f32<-1.0:1.0>>>, %arg1: tensor<1x42x8x8x!quant.calibrated<f32<-1.0:1.0>>>, %arg2: tensor<4x16x!quant.calibrated<f32<-1.0:1.0>>>, %arg3: tensor<70x16x!quant.calibrated<f32<-1.0:1.0>>>) -> (tensor<1x80x8x8x!quant.calibrated<f32<-4.0:4.0>>>, tensor<1x8x8x8x!quant.calibrated<f32<-4.0:4.0>>>, tensor<4x5x!quant.calibrated<f32<-4.0:4.0>>>, tensor<70x8x!quant.calibrated<f32<-4.0:4.0>>>) {
    %none = "top.None"() : () -> none
    %x = "top.Input"(%arg0) : (tensor<1x80x8x8x!quant.calibrated<f32<-1.0:1.0>>>) -> tensor<1x80x8x8x!quant.calibrated<f32<-1.0:1.0>>> loc("x")
    %y = "top.Input"(%arg1) : (tensor<1x42x8x8x!quant.calibrated<f32<-1.0:1.0>>>) -> tensor<1x42x8x8x!quant.calibrated<f32<-1.0:1.0>>> loc("y")
    %z = "top.Input"(%arg2) : (tensor<4x16x!quant.calibrated<f32<-1.0:1.0>>>) -> tensor<4x16x!quant.calibrated<f32<-1.0:1.0>>> loc("z")
    %q = "top.Input"(%arg3) : (tensor<70x16x!quant.calibrated<f32<-1.0:1.0>>>) -> tensor<70x16x!quant.calibrated<f32<-1.0:1.0>>> loc("q")
    %d = "top.ConstantFill"(%none) {shape = [80, 1, 3, 3], value = 0.5 : f32} : (none) -> tensor<80x1x3x3xf32> loc("d")
    %e = "top.ConstantFill"(%none) {shape = [80], value = 0.25 : f32} : (none) -> tensor<80xf32> loc("e")
    %v = "top.ConstantFill"(%none) {shape = [8, 42, 1, 1], value = 0.5 : f32} : (none) -> tensor<8x42x1x1xf32> loc("v")
    %w = "top.ConstantFill"(%none) {shape = [16, 5], value = 0.5 : f32} : (none) -> tensor<16x5xf32> loc("w")
    %f = "top.ConstantFill"(%none) {shape = [5], value = 0.25 : f32} : (none) -> tensor<5xf32> loc("f")
    %t = "top.ConstantFill"(%none) {shape = [16, 8], value = 0.5 : f32} : (none) -> tensor<16x8xf32> loc("t")
    %g = "top.ConstantFill"(%none) {shape = [8], value = 0.25 : f32} : (none) -> tensor<8xf32> loc("g")
    %0 = "top.Conv"(%x, %d, %e) {kernel_shape = [3, 3], pads = [1, 1, 1, 1], group = 80} : (tensor<1x80x8x8x!quant.calibrated<f32<-1.0:1.0>>>, tensor<80x1x3x3xf32>, tensor<80xf32>) -> tensor<1x80x8x8x!quant.calibrated<f32<-4.0:4.0>>> loc("0")
    %1 = "top.Conv"(%y, %v, %none) {kernel_shape = [1, 1]} : (tensor<1x42x8x8x!quant.calibrated<f32<-1.0:1.0>>>, tensor<8x42x1x1xf32>, none) -> tensor<1x8x8x8x!quant.calibrated<f32<-4.0:4.0>>> loc("1")
    %2 = "top.MatMul"(%z, %w, %f) : (tensor<4x16x!quant.calibrated<f32<-1.0:1.0>>>, tensor<16x5xf32>, tensor<5xf32>) -> tensor<4x5x!quant.calibrated<f32<-4.0:4.0>>> loc("2")
    %3 = "top.MatMul"(%q, %t, %g) : (tensor<70x16x!quant.calibrated<f32<-1.0:1.0>>>, tensor<16x8xf32>, tensor<8xf32>) -> tensor<70x8x!quant.calibrated<f32<-4.0:4.0>>> loc("3")
    return %0, %1, %2, %3 : tensor<1x80x8x8x!quant.calibrated<f32<-4.0:4.0>>>, tensor<1x8x8x8x!quant.calibrated<f32<-4.0:4.0>>>, tensor<4x5x!quant.calibrated<f32<-4.0:4.0>>>, tensor<70x8x!quant.calibrated<f32<-4.0:4.0>>>
  }
}

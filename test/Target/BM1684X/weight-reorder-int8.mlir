// Filters of integers carry the parameters of their channels, constant matrices those of their
// columns; what tpu.Unpack gives is the constant alone.
// RUN: tpuc-opt %s --shape-infer --chip-assign=chip=bm1684x --convert-top-to-tpu=mode=INT8 --weight-reorder --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s

// A depthwise filter of 80 channels: two rows of 9 bytes and two of words from byte 64 on, for each
// of 64 lanes.
// CHECK-DAG: %[[D:.*]] = "top.Weight"() : () -> tensor<64x198xi8> loc("0_filter_i8_packed")
// CHECK-DAG: "tpu.Unpack"(%[[D]]) {blocks = [64, 22, 1, 3, 3, 1], order = [1, 0, 2, 5, 3, 4], padded = [1408, 1, 3, 3]} : (tensor<64x198xi8>) -> tensor<80x1x3x3xi8>
// 8 channels of one block of 64 bytes: words are a row more.
// CHECK-DAG: "tpu.Unpack"(%{{.*}}) {blocks = [8, 2, 1, 1, 1, 64], order = [1, 0, 2, 5, 3, 4], padded = [16, 64, 1, 1]} : (tensor<8x128xi8>) -> tensor<8x40x1x1xi8>
// 16 rows of 5 columns, and 3 rows of 5 words: 12 rows more.
// CHECK-DAG: "tpu.Unpack"(%{{.*}}) {blocks = [28, 5], order = [0, 1], padded = [28, 5]} : (tensor<28x5xi8>) -> tensor<16x5xi8>
// 128 rows of 24 columns, by the lane that holds them, and 3 rows of 24 words behind them.
// CHECK-DAG: "tpu.Unpack"(%{{.*}}) {blocks = [64, 2, 24], order = [1, 0, 2], padded = [128, 24]} : (tensor<140x24xi8>) -> tensor<128x24xi8>
// Biases stay as they are.
// CHECK-DAG: "top.Weight"() : () -> tensor<80xi32>
module attributes {module.name = "net", module.state = "TOP_CALIBRATED"} {
  func.func @main(%arg0: tensor<1x80x8x8x!quant.calibrated<f32<-1.0:1.0>>>, %arg1: tensor<1x40x8x8x!quant.calibrated<f32<-1.0:1.0>>>, %arg2: tensor<4x16x!quant.calibrated<f32<-1.0:1.0>>>, %arg3: tensor<4x128x!quant.calibrated<f32<-1.0:1.0>>>) -> (tensor<1x80x8x8x!quant.calibrated<f32<-4.0:4.0>>>, tensor<1x8x8x8x!quant.calibrated<f32<-4.0:4.0>>>, tensor<4x5x!quant.calibrated<f32<-4.0:4.0>>>, tensor<4x24x!quant.calibrated<f32<-4.0:4.0>>>) {
    %none = "top.None"() : () -> none
    %x = "top.Input"(%arg0) : (tensor<1x80x8x8x!quant.calibrated<f32<-1.0:1.0>>>) -> tensor<1x80x8x8x!quant.calibrated<f32<-1.0:1.0>>> loc("x")
    %y = "top.Input"(%arg1) : (tensor<1x40x8x8x!quant.calibrated<f32<-1.0:1.0>>>) -> tensor<1x40x8x8x!quant.calibrated<f32<-1.0:1.0>>> loc("y")
    %z = "top.Input"(%arg2) : (tensor<4x16x!quant.calibrated<f32<-1.0:1.0>>>) -> tensor<4x16x!quant.calibrated<f32<-1.0:1.0>>> loc("z")
    %t = "top.Input"(%arg3) : (tensor<4x128x!quant.calibrated<f32<-1.0:1.0>>>) -> tensor<4x128x!quant.calibrated<f32<-1.0:1.0>>> loc("t")
    %d = "top.ConstantFill"(%none) {shape = [80, 1, 3, 3], value = 0.5 : f32} : (none) -> tensor<80x1x3x3xf32> loc("d")
    %e = "top.ConstantFill"(%none) {shape = [80], value = 0.25 : f32} : (none) -> tensor<80xf32> loc("e")
    %v = "top.ConstantFill"(%none) {shape = [8, 40, 1, 1], value = 0.5 : f32} : (none) -> tensor<8x40x1x1xf32> loc("v")
    %w = "top.ConstantFill"(%none) {shape = [16, 5], value = 0.5 : f32} : (none) -> tensor<16x5xf32> loc("w")
    %u = "top.ConstantFill"(%none) {shape = [128, 24], value = 0.5 : f32} : (none) -> tensor<128x24xf32> loc("u")
    %0 = "top.Conv"(%x, %d, %e) {kernel_shape = [3, 3], pads = [1, 1, 1, 1], group = 80} : (tensor<1x80x8x8x!quant.calibrated<f32<-1.0:1.0>>>, tensor<80x1x3x3xf32>, tensor<80xf32>) -> tensor<1x80x8x8x!quant.calibrated<f32<-4.0:4.0>>> loc("0")
    %1 = "top.Conv"(%y, %v, %none) {kernel_shape = [1, 1]} : (tensor<1x40x8x8x!quant.calibrated<f32<-1.0:1.0>>>, tensor<8x40x1x1xf32>, none) -> tensor<1x8x8x8x!quant.calibrated<f32<-4.0:4.0>>> loc("1")
    %2 = "top.MatMul"(%z, %w, %none) : (tensor<4x16x!quant.calibrated<f32<-1.0:1.0>>>, tensor<16x5xf32>, none) -> tensor<4x5x!quant.calibrated<f32<-4.0:4.0>>> loc("2")
    %3 = "top.MatMul"(%t, %u, %none) : (tensor<4x128x!quant.calibrated<f32<-1.0:1.0>>>, tensor<128x24xf32>, none) -> tensor<4x24x!quant.calibrated<f32<-4.0:4.0>>> loc("3")
    return %0, %1, %2, %3 : tensor<1x80x8x8x!quant.calibrated<f32<-4.0:4.0>>>, tensor<1x8x8x8x!quant.calibrated<f32<-4.0:4.0>>>, tensor<4x5x!quant.calibrated<f32<-4.0:4.0>>>, tensor<4x24x!quant.calibrated<f32<-4.0:4.0>>>
  }
}

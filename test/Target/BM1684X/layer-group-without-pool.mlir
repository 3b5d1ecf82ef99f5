// The cell leaves too little local memory for the short constants of the other layers to stay: they
// are loaded for each layer, and nothing goes to the host.
// RUN: tpuc-opt %s --shape-infer=max-folded=10000000 --chip-assign=chip=bm1684x --convert-top-to-tpu=mode=F32 --decompose --subnet-divide --weight-reorder --layer-group | FileCheck %s --implicit-check-not=subnet_reason --implicit-check-not=module.pool_pieces --implicit-check-not="resident = 1"
// CHECK: "tpu.LSTM"
module attributes {module.name = "net"} {
  func.func @main(%arg0: tensor<32x1x8xf32>, %arg1: tensor<1x448x8x8xf32>) -> (tensor<32x1x1x960xf32>, tensor<1x448x8x8xf32>) {
    %n = "top.None"() : () -> none
    %x = "top.Input"(%arg0) : (tensor<32x1x8xf32>) -> tensor<32x1x8xf32> loc("x")
    %c0 = "top.Input"(%arg1) : (tensor<1x448x8x8xf32>) -> tensor<1x448x8x8xf32> loc("c")
    %w = "top.ConstantFill"(%n) {shape = [1, 3840, 8], value = 0.125 : f32} : (none) -> tensor<1x3840x8xf32> loc("w")
    %u = "top.ConstantFill"(%n) {shape = [1, 3840, 960], value = 0.001 : f32} : (none) -> tensor<1x3840x960xf32> loc("u")
    %f0 = "top.ConstantFill"(%n) {shape = [448, 1, 3, 3], value = 0.1 : f32} : (none) -> tensor<448x1x3x3xf32> loc("f0")
    %c1 = "top.Conv"(%c0, %f0, %n) {kernel_shape = [3, 3], pads = [1, 1, 1, 1], group = 448 : i64} : (tensor<1x448x8x8xf32>, tensor<448x1x3x3xf32>, none) -> tensor<1x448x8x8xf32> loc("c1")
    %f1 = "top.ConstantFill"(%n) {shape = [448, 1, 3, 3], value = 0.2 : f32} : (none) -> tensor<448x1x3x3xf32> loc("f1")
    %c2 = "top.Conv"(%c1, %f1, %n) {kernel_shape = [3, 3], pads = [1, 1, 1, 1], group = 448 : i64} : (tensor<1x448x8x8xf32>, tensor<448x1x3x3xf32>, none) -> tensor<1x448x8x8xf32> loc("c2")
    %f2 = "top.ConstantFill"(%n) {shape = [448, 1, 3, 3], value = 0.3 : f32} : (none) -> tensor<448x1x3x3xf32> loc("f2")
    %c3 = "top.Conv"(%c2, %f2, %n) {kernel_shape = [3, 3], pads = [1, 1, 1, 1], group = 448 : i64} : (tensor<1x448x8x8xf32>, tensor<448x1x3x3xf32>, none) -> tensor<1x448x8x8xf32> loc("c3")
    %f3 = "top.ConstantFill"(%n) {shape = [448, 1, 3, 3], value = 0.4 : f32} : (none) -> tensor<448x1x3x3xf32> loc("f3")
    %c4 = "top.Conv"(%c3, %f3, %n) {kernel_shape = [3, 3], pads = [1, 1, 1, 1], group = 448 : i64} : (tensor<1x448x8x8xf32>, tensor<448x1x3x3xf32>, none) -> tensor<1x448x8x8xf32> loc("c4")
    %f4 = "top.ConstantFill"(%n) {shape = [448, 1, 3, 3], value = 0.5 : f32} : (none) -> tensor<448x1x3x3xf32> loc("f4")
    %c5 = "top.Conv"(%c4, %f4, %n) {kernel_shape = [3, 3], pads = [1, 1, 1, 1], group = 448 : i64} : (tensor<1x448x8x8xf32>, tensor<448x1x3x3xf32>, none) -> tensor<1x448x8x8xf32> loc("c5")
    %f5 = "top.ConstantFill"(%n) {shape = [448, 1, 3, 3], value = 0.6 : f32} : (none) -> tensor<448x1x3x3xf32> loc("f5")
    %c6 = "top.Conv"(%c5, %f5, %n) {kernel_shape = [3, 3], pads = [1, 1, 1, 1], group = 448 : i64} : (tensor<1x448x8x8xf32>, tensor<448x1x3x3xf32>, none) -> tensor<1x448x8x8xf32> loc("c6")
    %f6 = "top.ConstantFill"(%n) {shape = [448, 1, 3, 3], value = 0.7 : f32} : (none) -> tensor<448x1x3x3xf32> loc("f6")
    %c7 = "top.Conv"(%c6, %f6, %n) {kernel_shape = [3, 3], pads = [1, 1, 1, 1], group = 448 : i64} : (tensor<1x448x8x8xf32>, tensor<448x1x3x3xf32>, none) -> tensor<1x448x8x8xf32> loc("c7")
    %f7 = "top.ConstantFill"(%n) {shape = [448, 1, 3, 3], value = 0.8 : f32} : (none) -> tensor<448x1x3x3xf32> loc("f7")
    %c8 = "top.Conv"(%c7, %f7, %n) {kernel_shape = [3, 3], pads = [1, 1, 1, 1], group = 448 : i64} : (tensor<1x448x8x8xf32>, tensor<448x1x3x3xf32>, none) -> tensor<1x448x8x8xf32> loc("c8")
    %f8 = "top.ConstantFill"(%n) {shape = [448, 1, 3, 3], value = 0.9 : f32} : (none) -> tensor<448x1x3x3xf32> loc("f8")
    %c9 = "top.Conv"(%c8, %f8, %n) {kernel_shape = [3, 3], pads = [1, 1, 1, 1], group = 448 : i64} : (tensor<1x448x8x8xf32>, tensor<448x1x3x3xf32>, none) -> tensor<1x448x8x8xf32> loc("c9")
    %f9 = "top.ConstantFill"(%n) {shape = [448, 1, 3, 3], value = 0.10 : f32} : (none) -> tensor<448x1x3x3xf32> loc("f9")
    %c10 = "top.Conv"(%c9, %f9, %n) {kernel_shape = [3, 3], pads = [1, 1, 1, 1], group = 448 : i64} : (tensor<1x448x8x8xf32>, tensor<448x1x3x3xf32>, none) -> tensor<1x448x8x8xf32> loc("c10")
    %f10 = "top.ConstantFill"(%n) {shape = [448, 1, 3, 3], value = 0.11 : f32} : (none) -> tensor<448x1x3x3xf32> loc("f10")
    %c11 = "top.Conv"(%c10, %f10, %n) {kernel_shape = [3, 3], pads = [1, 1, 1, 1], group = 448 : i64} : (tensor<1x448x8x8xf32>, tensor<448x1x3x3xf32>, none) -> tensor<1x448x8x8xf32> loc("c11")
    %f11 = "top.ConstantFill"(%n) {shape = [448, 1, 3, 3], value = 0.12 : f32} : (none) -> tensor<448x1x3x3xf32> loc("f11")
    %c12 = "top.Conv"(%c11, %f11, %n) {kernel_shape = [3, 3], pads = [1, 1, 1, 1], group = 448 : i64} : (tensor<1x448x8x8xf32>, tensor<448x1x3x3xf32>, none) -> tensor<1x448x8x8xf32> loc("c12")
    %s:3 = "top.LSTM"(%x, %w, %u, %n, %n, %n, %n, %n) {hidden_size = 960 : i64} : (tensor<32x1x8xf32>, tensor<1x3840x8xf32>, tensor<1x3840x960xf32>, none, none, none, none, none) -> (tensor<32x1x1x960xf32>, none, none) loc("s")
    return %s#0, %c12 : tensor<32x1x1x960xf32>, tensor<1x448x8x8xf32>
  }
}

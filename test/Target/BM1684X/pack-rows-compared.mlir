// Which packings of rows are compared, and how transfers count for them.
// DEFINE: %{lower} = tpuc-opt %s --split-input-file --shape-infer --chip-assign=chip=bm1684x --convert-top-to-tpu=mode=F16 --mlir-print-debuginfo --mlir-print-local-scope
// RUN: %{lower} --pack-rows | FileCheck %s

// Many ways to have rows of results as channels compute faster, but their results need an order. The
// packing of the windows alone is compared, too.
// CHECK-LABEL: module.name = "first_layer"
// CHECK: "tpu.PackRows"(%{{.*}}) {kernel = 3 : i64, pad = 1 : i64, stride = 2 : i64} : (tensor<1x3x48x192xf32>) -> tensor<1x9x24x192xf32>
// CHECK: "tpu.Conv"{{.*}}kernel_shape = [1, 3]{{.*}} -> tensor<1x8x24x96xf16> loc("c0")
// CHECK-NOT: tpu.UnpackRows
module attributes {module.name = "first_layer"} {
  func.func @main(%arg0: tensor<1x3x48x192xf32>) -> tensor<1x8x24x96xf32> {
    %none = "top.None"() : () -> none
    %x = "top.Input"(%arg0) : (tensor<1x3x48x192xf32>) -> tensor<1x3x48x192xf32> loc("x")
    %w = "top.ConstantFill"(%none) {shape = [8, 3, 3, 3], value = 0.5 : f32} : (none) -> tensor<8x3x3x3xf32> loc("w")
    %u = "top.ConstantFill"(%none) {shape = [8, 8, 1, 1], value = 0.25 : f32} : (none) -> tensor<8x8x1x1xf32> loc("u")
    %d = "top.ConstantFill"(%none) {shape = [8, 1, 3, 3], value = 0.25 : f32} : (none) -> tensor<8x1x3x3xf32> loc("d")
    %0 = "top.Conv"(%x, %w, %none) {kernel_shape = [3, 3], pads = [1, 1, 1, 1], strides = [2, 2]} : (tensor<1x3x48x192xf32>, tensor<8x3x3x3xf32>, none) -> tensor<1x8x24x96xf32> loc("c0")
    %1 = "top.HardSwish"(%0) : (tensor<1x8x24x96xf32>) -> tensor<1x8x24x96xf32> loc("h0")
    %2 = "top.Conv"(%1, %u, %none) {kernel_shape = [1, 1]} : (tensor<1x8x24x96xf32>, tensor<8x8x1x1xf32>, none) -> tensor<1x8x24x96xf32> loc("c1")
    %3 = "top.Conv"(%2, %d, %none) {kernel_shape = [3, 3], pads = [1, 1, 1, 1], group = 8} : (tensor<1x8x24x96xf32>, tensor<8x1x3x3xf32>, none) -> tensor<1x8x24x96xf32> loc("c2")
    return %3 : tensor<1x8x24x96xf32>
  }
}

// -----

// Weights are loaded for longer than the convolutions take, but not than all layers do: transfers
// are hidden behind those.
// CHECK-LABEL: module.name = "other_layers"
// CHECK: "tpu.PackRows"(%{{.*}}) {kernel = 3 : i64, pad = 1 : i64, stride = 2 : i64} : (tensor<1x3x48x320xf16>) -> tensor<1x9x24x320xf16>
module attributes {module.name = "other_layers"} {
  func.func @main(%arg0: tensor<1x3x48x320xf32>, %arg1: tensor<1x256x512xf32>) -> (tensor<1x16x24x160xf32>, tensor<1x256x512xf32>) {
    %none = "top.None"() : () -> none
    %x = "top.Input"(%arg0) : (tensor<1x3x48x320xf32>) -> tensor<1x3x48x320xf32> loc("x")
    %y = "top.Input"(%arg1) : (tensor<1x256x512xf32>) -> tensor<1x256x512xf32> loc("y")
    %w = "top.ConstantFill"(%none) {shape = [16, 3, 3, 3], value = 0.5 : f32} : (none) -> tensor<16x3x3x3xf32> loc("w")
    %d = "top.ConstantFill"(%none) {shape = [16, 1, 3, 3], value = 0.25 : f32} : (none) -> tensor<16x1x3x3xf32> loc("d")
    %m = "top.ConstantFill"(%none) {shape = [512, 512], value = 0.25 : f32} : (none) -> tensor<512x512xf32> loc("m")
    %0 = "top.Conv"(%x, %w, %none) {kernel_shape = [3, 3], pads = [1, 1, 1, 1], strides = [2, 2]} : (tensor<1x3x48x320xf32>, tensor<16x3x3x3xf32>, none) -> tensor<1x16x24x160xf32> loc("c0")
    %1 = "top.HardSwish"(%0) : (tensor<1x16x24x160xf32>) -> tensor<1x16x24x160xf32> loc("h0")
    %2 = "top.Conv"(%1, %d, %none) {kernel_shape = [3, 3], pads = [1, 1, 1, 1], group = 16} : (tensor<1x16x24x160xf32>, tensor<16x1x3x3xf32>, none) -> tensor<1x16x24x160xf32> loc("c1")
    %3 = "top.HardSwish"(%2) : (tensor<1x16x24x160xf32>) -> tensor<1x16x24x160xf32> loc("h1")
    %4 = "top.Conv"(%3, %d, %none) {kernel_shape = [3, 3], pads = [1, 1, 1, 1], group = 16} : (tensor<1x16x24x160xf32>, tensor<16x1x3x3xf32>, none) -> tensor<1x16x24x160xf32> loc("c2")
    %5 = "top.HardSwish"(%4) : (tensor<1x16x24x160xf32>) -> tensor<1x16x24x160xf32> loc("h2")
    %6 = "top.MatMul"(%y, %m, %none) : (tensor<1x256x512xf32>, tensor<512x512xf32>, none) -> tensor<1x256x512xf32> loc("p")
    return %5, %6 : tensor<1x16x24x160xf32>, tensor<1x256x512xf32>
  }
}

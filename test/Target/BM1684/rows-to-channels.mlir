// The rows under the windows of a first convolution of few channels become its channels: in front
// of the cast of the input where they are few, else behind it, where they are bytes. What has
// channels enough, or reads what another op makes, stays.
// DEFINE: %{lower} = tpuc-opt %s --shape-infer --chip-assign=chip=bm1684 --convert-top-to-tpu=mode=INT8 --rows-to-channels
// RUN: %{lower} --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s
// RUN: not tpuc-opt %s --shape-infer --chip-assign=chip=bm1684x --convert-top-to-tpu=mode=INT8 --rows-to-channels 2>&1 | FileCheck %s --check-prefix=CHIP

// CHECK: %[[C:.*]] = "tpu.Cast"(%{{.*}}) {{.*}} loc("x_i8")
// CHECK: %[[R:.*]] = "tpu.PackRows"(%[[C]]) {kernel = 7 : i64, pad = 3 : i64, stride = 2 : i64} : (tensor<1x3x32x32x!quant{{.*}}>) -> tensor<1x21x16x32x!quant{{.*}}> loc("first_windows")
// CHECK: %[[W:.*]] = "top.Weight"() : () -> tensor<16x21x1x7xi8>
// CHECK: "tpu.Conv"(%[[R]], %[[W]], %{{.*}}kernel_shape = [1, 7]{{.*}}pads = [0, 3, 0, 3]{{.*}}strides = [1, 2]{{.*}} loc("first
// CHECK: %[[Q:.*]] = "tpu.PackRows"(%{{.*}}) {kernel = 3 : i64, pad = 1 : i64, stride = 2 : i64} : (tensor<1x3x32x32xf32>) -> tensor<1x9x16x32xf32> loc("few_i8_windows")
// CHECK: %[[D:.*]] = "tpu.Cast"(%[[Q]]) {{.*}} loc("z_i8_windows")
// CHECK: "tpu.Conv"(%[[D]], {{.*}}loc("few
// CHECK-NOT: tpu.PackRows
// CHECK: "tpu.Conv"(%{{.*}}kernel_shape = [3, 3]{{.*}} loc("second
// CHECK: "tpu.Conv"(%{{.*}}kernel_shape = [3, 3]{{.*}} loc("many
// CHIP: error: --rows-to-channels: module.chip bm1684x; expected bm1684
!x = tensor<1x3x32x32x!quant.calibrated<f32<-1.0:1.0>>>
!y = tensor<1x5x32x32x!quant.calibrated<f32<-1.0:1.0>>>
!a = tensor<1x16x16x16x!quant.calibrated<f32<-4.0:4.0>>>
!b = tensor<1x4x14x14x!quant.calibrated<f32<-4.0:4.0>>>
!d = tensor<1x4x16x16x!quant.calibrated<f32<-4.0:4.0>>>
!c = tensor<1x4x30x30x!quant.calibrated<f32<-4.0:4.0>>>
module attributes {module.name = "net", module.state = "TOP_CALIBRATED"} {
  func.func @main(%arg0: !x, %arg1: !x, %arg2: !y) -> (!d, !b, !c) {
    %none = "top.None"() : () -> none
    %x = "top.Input"(%arg0) : (!x) -> !x loc("x")
    %z = "top.Input"(%arg1) : (!x) -> !x loc("z")
    %y = "top.Input"(%arg2) : (!y) -> !y loc("y")
    %t = "top.ConstantFill"(%none) {shape = [4, 3, 3, 3], value = 0.5 : f32} : (none) -> tensor<4x3x3x3xf32> loc("t")
    %u = "top.ConstantFill"(%none) {shape = [16, 3, 7, 7], value = 0.5 : f32} : (none) -> tensor<16x3x7x7xf32> loc("u")
    %v = "top.ConstantFill"(%none) {shape = [4, 16, 3, 3], value = 0.5 : f32} : (none) -> tensor<4x16x3x3xf32> loc("v")
    %w = "top.ConstantFill"(%none) {shape = [4, 5, 3, 3], value = 0.5 : f32} : (none) -> tensor<4x5x3x3xf32> loc("w")
    %0 = "top.Conv"(%x, %u, %none) {kernel_shape = [7, 7], pads = [3, 3, 3, 3], strides = [2, 2]} : (!x, tensor<16x3x7x7xf32>, none) -> !a loc("first")
    %3 = "top.Conv"(%z, %t, %none) {kernel_shape = [3, 3], pads = [1, 1, 1, 1], strides = [2, 2]} : (!x, tensor<4x3x3x3xf32>, none) -> !d loc("few")
    %1 = "top.Conv"(%0, %v, %none) {kernel_shape = [3, 3]} : (!a, tensor<4x16x3x3xf32>, none) -> !b loc("second")
    %2 = "top.Conv"(%y, %w, %none) {kernel_shape = [3, 3]} : (!y, tensor<4x5x3x3xf32>, none) -> !c loc("many")
    return %3, %1, %2 : !d, !b, !c
  }
}

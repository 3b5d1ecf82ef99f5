// Depths of volumes become channels of pictures, all of them where these are few: what follows, and
// what stands in front, computes on the same pictures, and only the network's own tensors are
// reshaped. Of many depths, blocks become channels.
// DEFINE: %{lower} = tpuc-opt %s --shape-infer --chip-assign=chip=bm1684x --convert-top-to-tpu=mode=F16
// DEFINE: %{print} = --mlir-print-debuginfo --mlir-print-local-scope
// RUN: %{lower} --decompose %{print} | FileCheck %s
// RUN: %{lower} --decompose=without=fold-depths %{print} | FileCheck %s --check-prefix=APART

// CHECK: "tpu.Reshape"{{.*}} -> tensor<2x12x16x16xf32>
// CHECK-NEXT: "tpu.Cast"{{.*}} -> tensor<2x12x16x16xf16>
// CHECK-NOT: "tpu.Reshape"
// CHECK: "tpu.Conv"{{.*}}kernel_shape = [3, 3]{{.*}}tensor<32x12x3x3xf16>{{.*}} -> tensor<2x32x16x16xf16> loc("planes_of_folds")
// CHECK-NOT: "tpu.Reshape"
// CHECK: "tpu.Conv"{{.*}}kernel_shape = [1, 1]{{.*}}tensor<16x32x1x1xf16>{{.*}} -> tensor<2x16x16x16xf16> loc("depths_of_folds")
// CHECK-NEXT: "tpu.LeakyRelu"{{.*}} -> tensor<2x16x16x16xf16>
// CHECK-NEXT: "tpu.MaxPool"{{.*}} -> tensor<2x16x8x8xf16>

// CHECK: "tpu.PackRows"{{.*}}kernel = [[TAPS:[0-9]+]] {{.*}}stride = [[BLOCK:[0-9]+]] {{.*}}loc("many_f16_planes")
// CHECK: "tpu.Conv"{{.*}} loc("many_f16_of_blocks")
// What the network gives is converted where it is made.
// CHECK: "tpu.Cast"{{.*}} -> tensor<2x16x8x8xf32> loc("pool_of_source")

// APART-NOT: _of_folds
// APART-NOT: _of_blocks
!x = tensor<2x3x4x16x16xf32>
!y = tensor<1x16x24x32x40xf32>
module attributes {module.name = "net"} {
  func.func @main(%arg0: !x, %arg1: !y) -> (tensor<*xf32>, tensor<*xf32>) {
    %none = "top.None"() : () -> none
    %x = "top.Input"(%arg0) : (!x) -> !x loc("x")
    %y = "top.Input"(%arg1) : (!y) -> !y loc("y")
    %f = "top.ConstantFill"(%none) {shape = [8, 3, 1, 3, 3], value = 0.5 : f32} : (none) -> tensor<8x3x1x3x3xf32> loc("f")
    %0 = "top.Conv"(%x, %f, %none) {kernel_shape = [1, 3, 3], pads = [0, 1, 1, 0, 1, 1], do_relu = true} : (!x, tensor<8x3x1x3x3xf32>, none) -> tensor<*xf32> loc("planes")
    %g = "top.ConstantFill"(%none) {shape = [8, 8, 3, 1, 1], value = -0.5 : f32} : (none) -> tensor<8x8x3x1x1xf32> loc("g")
    %1 = "top.Conv"(%0, %g, %none) {kernel_shape = [3, 1, 1], pads = [1, 0, 0, 1, 0, 0], strides = [2, 1, 1]} : (tensor<*xf32>, tensor<8x8x3x1x1xf32>, none) -> tensor<*xf32> loc("depths")
    %2 = "top.LeakyRelu"(%1) {alpha = 0.25 : f64} : (tensor<*xf32>) -> tensor<*xf32> loc("leaky")
    %3 = "top.MaxPool"(%2) {kernel_shape = [1, 2, 2], strides = [1, 2, 2]} : (tensor<*xf32>) -> tensor<*xf32> loc("pool")
    %h = "top.ConstantFill"(%none) {shape = [8, 16, 3, 3, 3], value = 0.125 : f32} : (none) -> tensor<8x16x3x3x3xf32> loc("h")
    %4 = "top.Conv"(%y, %h, %none) {kernel_shape = [3, 3, 3], pads = [1, 1, 1, 1, 1, 1]} : (!y, tensor<8x16x3x3x3xf32>, none) -> tensor<*xf32> loc("many")
    return %3, %4 : tensor<*xf32>, tensor<*xf32>
  }
}

// A pool of planes stands in the group of the convolution over planes in front. Rows side by side
// would be stored and loaded again: each group counts once where packings are compared.
// RUN: tpuc-opt %s --shape-infer --chip-assign=chip=bm1684x --convert-top-to-tpu=mode=F16 --decompose=without=fold-depths --pack-rows | FileCheck %s
// CHECK: "tpu.Conv"{{.*}} -> tensor<8x16x48x48xf16>
// CHECK-NEXT: "tpu.MaxPool"{{.*}} -> tensor<8x16x24x24xf16>
// CHECK-NOT: tpu.UnpackRows
!x = tensor<1x3x8x48x48xf32>
module attributes {module.name = "net"} {
  func.func @main(%arg0: !x) -> tensor<*xf32> {
    %none = "top.None"() : () -> none
    %x = "top.Input"(%arg0) : (!x) -> !x loc("x")
    %f = "top.ConstantFill"(%none) {shape = [16, 3, 3, 3, 3], value = 0.5 : f32} : (none) -> tensor<16x3x3x3x3xf32> loc("f")
    %0 = "top.Conv"(%x, %f, %none) {kernel_shape = [3, 3, 3], pads = [1, 1, 1, 1, 1, 1], do_relu = true} : (!x, tensor<16x3x3x3x3xf32>, none) -> tensor<*xf32> loc("c")
    %1 = "top.MaxPool"(%0) {kernel_shape = [1, 2, 2], strides = [1, 2, 2]} : (tensor<*xf32>) -> tensor<*xf32> loc("p")
    return %1 : tensor<*xf32>
  }
}

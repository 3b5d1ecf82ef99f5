// Planes of few channels become pictures in memory, whose rows are channels of the convolution; those
// of more channels are loaded as pictures.
// RUN: tpuc-opt %s --shape-infer --chip-assign=chip=bm1684x --convert-top-to-tpu=mode=F16 --decompose=without=fold-depths --pack-rows --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s
// CHECK: "tpu.Permute"{{.*}}order = [0, 2, 1, 3, 4]{{.*}} loc("few_planes")
// CHECK: "tpu.PackRows"{{.*}}kernel = 3 {{.*}} -> tensor<16x9x48x64xf16> loc("few_of_planes_windows")
// CHECK: "tpu.Conv"{{.*}}kernel_shape = [1, 3]{{.*}} -> tensor<16x16x48x64xf16>
// CHECK: "tpu.PackRows"{{.*}}kernel = 1 {{.*}} loc("many_f16_planes")
!x = tensor<2x3x8x48x64xf32>
module attributes {module.name = "net"} {
  func.func @main(%arg0: !x) -> tensor<*xf32> {
    %none = "top.None"() : () -> none
    %x = "top.Input"(%arg0) : (!x) -> !x loc("x")
    %f = "top.ConstantFill"(%none) {shape = [16, 3, 1, 3, 3], value = 0.5 : f32} : (none) -> tensor<16x3x1x3x3xf32> loc("f")
    %0 = "top.Conv"(%x, %f, %none) {kernel_shape = [1, 3, 3], pads = [0, 1, 1, 0, 1, 1], do_relu = true} : (!x, tensor<16x3x1x3x3xf32>, none) -> tensor<*xf32> loc("few")
    %g = "top.ConstantFill"(%none) {shape = [16, 16, 1, 3, 3], value = 0.5 : f32} : (none) -> tensor<16x16x1x3x3xf32> loc("g")
    %1 = "top.Conv"(%0, %g, %none) {kernel_shape = [1, 3, 3], pads = [0, 1, 1, 0, 1, 1], do_relu = true} : (tensor<*xf32>, tensor<16x16x1x3x3xf32>, none) -> tensor<*xf32> loc("many")
    return %1 : tensor<*xf32>
  }
}

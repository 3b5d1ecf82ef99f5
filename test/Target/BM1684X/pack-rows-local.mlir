// Rows under the windows of a convolution become channels in local memory where what is read is
// computed in the same group.
// DEFINE: %{lower} = tpuc-opt %s --shape-infer --chip-assign=chip=bm1684x --convert-top-to-tpu=mode=F16 --canonicalize --chip-tpu-optimize --mlir-print-debuginfo --mlir-print-local-scope
// RUN: %{lower} --pack-rows | FileCheck %s
// RUN: %{lower} --pack-rows --subnet-divide --weight-reorder --layer-group=opt=1 --address-assign | FileCheck %s --check-prefix=PLACED
// CHECK: %[[R:.*]] = "tpu.PackRows"(%{{.*}}) {in_local_memory, kernel = 4 : i64, pad = 1 : i64, stride = 2 : i64} : (tensor<1x8x128x160xf16>) -> tensor<1x32x64x160xf16> loc("{{.*}}_windows")
// CHECK: "tpu.Conv"(%[[R]], {{.*}}kernel_shape = [1, 3]
// PLACED: "tpu.Group"
// PLACED: "tpu.PackRows"
// PLACED-NEXT: "tpu.Conv"
!x = tensor<1x64x128x160xf32>
!f = tensor<1x8x128x160xf32>
!r = tensor<1x16x128x160xf32>
module attributes {module.name = "net"} {
  func.func @main(%arg0: !x) -> !r {
    %n = "top.None"() : () -> none
    %x = "top.Input"(%arg0) : (!x) -> !x loc("x")
    %u = "top.ConstantFill"(%n) {shape = [8, 64, 1, 1], value = 0.25 : f32} : (none) -> tensor<8x64x1x1xf32> loc("u")
    %w = "top.ConstantFill"(%n) {shape = [16, 8, 3, 3], value = 0.25 : f32} : (none) -> tensor<16x8x3x3xf32> loc("w")
    %0 = "top.Conv"(%x, %u, %n) {kernel_shape = [1, 1]} : (!x, tensor<8x64x1x1xf32>, none) -> !f loc("few")
    %1 = "top.LeakyRelu"(%0) {alpha = 0.1} : (!f) -> !f loc("leaky")
    %2 = "top.Conv"(%1, %w, %n) {kernel_shape = [3, 3], pads = [1, 1, 1, 1]} : (!f, tensor<16x8x3x3xf32>, none) -> !r loc("more")
    return %2 : !r
  }
}

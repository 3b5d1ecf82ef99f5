// Convolutions over volumes are computed over planes, as pictures. The transfer that stores the
// result puts each plane behind those of its channel; a transposed one has several planes side by
// side as channels.
// DEFINE: %{lower} = tpuc-opt %s --shape-infer --chip-assign=chip=bm1684x --convert-top-to-tpu=mode=F16 --decompose=without=fold-depths --mlir-print-debuginfo --mlir-print-local-scope
// RUN: %{lower} --fold-transpose-into-store | FileCheck %s
// RUN: %{lower} --fold-transpose-into-store --subnet-divide --weight-reorder --layer-group=opt=1 --address-assign | FileCheck %s --check-prefix=PLACED

// CHECK: "tpu.Conv"{{.*}}stored_turned = 1 {{.*}} -> tensor<10x6x4x4xf16>
// CHECK: "tpu.Reshape"{{.*}}stored_turned = 1 {{.*}} -> tensor<2x5x6x4x4xf16>
// CHECK: "tpu.Permute"{{.*}}order = [0, 2, 1, 3, 4], {{.*}}stored_turned = 1 {{.*}} -> tensor<2x6x5x4x4xf16>
// CHECK: "tpu.Deconv"{{.*}}stored_turned = 2 {{.*}} -> tensor<10x8x8x8xf16>
// CHECK: "tpu.Reshape"{{.*}}stored_turned = 2 {{.*}} -> tensor<2x10x4x8x8xf16>
// CHECK: "tpu.Permute"{{.*}}stored_turned = 2 {{.*}} -> tensor<2x4x10x8x8xf16>
// Planes in another order.
// CHECK: "tpu.Permute"
// CHECK-NOT: stored_turned

// PLACED: "tpu.Permute"{{.*}}stored_turned = 1 {{.*}}tensor<2x5x6x4x4xf16, [[AT:[0-9]+]] : i64>) -> tensor<2x6x5x4x4xf16, [[AT]] : i64>
// PLACED: "tpu.Permute"{{.*}}stored_turned = 2 {{.*}}tensor<2x10x4x8x8xf16, [[THERE:[0-9]+]] : i64>) -> tensor<2x4x10x8x8xf16, [[THERE]] : i64>
!x = tensor<2x4x5x4x4xf32>
module attributes {module.name = "net"} {
  func.func @main(%arg0: !x) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) {
    %none = "top.None"() : () -> none
    %x = "top.Input"(%arg0) : (!x) -> !x loc("x")
    %f = "top.ConstantFill"(%none) {shape = [6, 4, 3, 3, 3], value = 0.5 : f32} : (none) -> tensor<6x4x3x3x3xf32> loc("f")
    %0 = "top.Conv"(%x, %f, %none) {kernel_shape = [3, 3, 3], pads = [1, 1, 1, 1, 1, 1]} : (!x, tensor<6x4x3x3x3xf32>, none) -> tensor<*xf32> loc("over")
    %d = "top.ConstantFill"(%none) {shape = [4, 4, 2, 2, 2], value = 0.5 : f32} : (none) -> tensor<4x4x2x2x2xf32> loc("d")
    %1 = "top.Deconv"(%x, %d, %none) {kernel_shape = [2, 2, 2], strides = [2, 2, 2]} : (!x, tensor<4x4x2x2x2xf32>, none) -> tensor<*xf32> loc("up")
    %t = "top.Reshape"(%x, %none) {shape = [10, 4, 4, 4]} : (!x, none) -> tensor<*xf32> loc("pictures")
    %w = "top.ConstantFill"(%none) {shape = [6, 4, 1, 1], value = 0.5 : f32} : (none) -> tensor<6x4x1x1xf32> loc("w")
    %c = "top.Conv"(%t, %w, %none) {kernel_shape = [1, 1]} : (tensor<*xf32>, tensor<6x4x1x1xf32>, none) -> tensor<*xf32> loc("c")
    %r = "top.Reshape"(%c, %none) {shape = [2, 5, 6, 4, 4]} : (tensor<*xf32>, none) -> tensor<*xf32> loc("planes")
    %2 = "top.Permute"(%r) {order = [2, 0, 1, 3, 4]} : (tensor<*xf32>) -> tensor<*xf32> loc("others")
    return %0, %1, %2 : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>
  }
}

// A convolution of few channels reads the rows under its windows as channels; the filter follows.
// With many channels, and in F32, nothing changes.
// DEFINE: %{mode} = F16
// DEFINE: %{lower} = tpuc-opt %s --shape-infer --chip-assign=chip=bm1684x --convert-top-to-tpu=mode=%{mode} --mlir-print-debuginfo --mlir-print-local-scope
// RUN: %{lower} --stack-rows | FileCheck %s
// REDEFINE: %{mode} = F32
// RUN: %{lower} --stack-rows | FileCheck %s --check-prefix=F32

// CHECK: %[[W:.*]] = "top.Weight"() : () -> tensor<16x21x1x7xf16> loc("w_f16_stacked")
// CHECK: %[[R:.*]] = "tpu.StackRows"(%{{.*}}) {kernel = 7 : i64, pad = 3 : i64, stride = 2 : i64} : (tensor<1x3x128x128xf16>) -> tensor<1x21x64x128xf16> loc("wide_rows")
// CHECK: "tpu.Conv"(%[[R]], %[[W]], %{{.*}}kernel_shape = [1, 7]{{.*}}pads = [0, 3, 0, 3]{{.*}}strides = [1, 2]{{.*}} -> tensor<1x16x64x64xf16> loc("wide")
// CHECK: "tpu.Conv"(%{{.*}}kernel_shape = [3, 3]{{.*}} loc("many
// What the chip has no kernel for, the host computes on the rows as they are.
// CHECK: "tpu.Conv"(%{{.*}}kernel_shape = [7, 7]{{.*}} loc("strides
// F32-NOT: tpu.StackRows
module attributes {module.name = "net"} {
  func.func @main(%arg0: tensor<1x3x128x128xf32>) -> (tensor<1x16x62x62xf32>, tensor<1x640x122x8xf32>) {
    %none = "top.None"() : () -> none
    %x = "top.Input"(%arg0) : (tensor<1x3x128x128xf32>) -> tensor<1x3x128x128xf32> loc("x")
    %w = "top.ConstantFill"(%none) {shape = [16, 3, 7, 7], value = 0.5 : f32} : (none) -> tensor<16x3x7x7xf32> loc("w")
    %u = "top.ConstantFill"(%none) {shape = [16, 16, 3, 3], value = 0.25 : f32} : (none) -> tensor<16x16x3x3xf32> loc("u")
    %0 = "top.Conv"(%x, %w, %none) {kernel_shape = [7, 7], pads = [3, 3, 3, 3], strides = [2, 2]} : (tensor<1x3x128x128xf32>, tensor<16x3x7x7xf32>, none) -> tensor<1x16x64x64xf32> loc("wide")
    %1 = "top.Conv"(%0, %u, %none) {kernel_shape = [3, 3]} : (tensor<1x16x64x64xf32>, tensor<16x16x3x3xf32>, none) -> tensor<1x16x62x62xf32> loc("many")
    %v = "top.ConstantFill"(%none) {shape = [640, 3, 7, 7], value = 0.5 : f32} : (none) -> tensor<640x3x7x7xf32> loc("v")
    %2 = "top.Conv"(%x, %v, %none) {kernel_shape = [7, 7], pads = [0, 3, 0, 3], strides = [1, 17]} : (tensor<1x3x128x128xf32>, tensor<640x3x7x7xf32>, none) -> tensor<1x640x122x8xf32> loc("strides")
    return %1, %2 : tensor<1x16x62x62xf32>, tensor<1x640x122x8xf32>
  }
}

// Convolutions of few channels. The rows under windows become channels of the input, and rows of
// results channels of the result, through what is computed element by element; the convolution
// behind reads them as they lie, and its result is stored one row below the other.
// DEFINE: %{mode} = F16
// DEFINE: %{lower} = tpuc-opt %s --shape-infer --chip-assign=chip=bm1684x --convert-top-to-tpu=mode=%{mode} --mlir-print-debuginfo --mlir-print-local-scope
// RUN: %{lower} --pack-rows | FileCheck %s
// RUN: %{lower} --pack-rows --subnet-divide --weight-reorder --layer-group=opt=1 --address-assign | FileCheck %s --check-prefix=PLACED
// REDEFINE: %{mode} = F32
// RUN: %{lower} --pack-rows | FileCheck %s --check-prefix=F32

// CHECK: %[[R:.*]] = "tpu.PackRows"(%{{.*}}) {in_local_memory, kernel = 9 : i64, pad = 3 : i64, stride = 4 : i64} : (tensor<1x3x128x128xf16>) -> tensor<1x27x32x128xf16> loc("wide_windows")
// CHECK: %[[W:.*]] = "top.Weight"() : () -> tensor<32x27x1x7xf16> loc("w_f16_rows")
// CHECK: %[[C:.*]] = "tpu.Conv"(%[[R]], %[[W]], %{{.*}}kernel_shape = [1, 7]{{.*}}pads = [0, 3, 0, 3]{{.*}}strides = [1, 2]{{.*}} -> tensor<1x32x32x64xf16> loc("wide_rows")
// CHECK: %[[U:.*]] = "top.Weight"() : () -> tensor<32x32x2x3xf16> loc("u_f16_rows")
// CHECK: %[[D:.*]] = "tpu.Conv"(%[[C]], %[[U]], %{{.*}}kernel_shape = [2, 3]{{.*}}strides = [1, 1]{{.*}} -> tensor<1x32x31x62xf16> loc("many_f16_rows")
// What the chip has no kernel for, the host computes on the rows as they are.
// CHECK: "tpu.Conv"(%{{.*}}kernel_shape = [7, 7]{{.*}} loc("strides
// CHECK: %[[E:.*]] = "tpu.Cast"(%[[D]]) {stored_rows = 2 : i64} {{.*}} loc("many_rows")
// CHECK: "tpu.UnpackRows"(%[[E]]) {rows = 2 : i64} : (tensor<1x32x31x62xf32>) -> tensor<1x16x62x62xf32> loc("many")

// The group says the same of its layers.
// PLACED: "tpu.Cast"{{.*}}ginfo = {{.*}}stored_rows = 2 : i64{{.*}} loc("many_rows")
// PLACED: "tpu.UnpackRows"

// In F32 a multiplier has one input channel, so that windows are no channels.
// F32-NOT: tpu.PackRows
// F32: "tpu.UnpackRows"
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

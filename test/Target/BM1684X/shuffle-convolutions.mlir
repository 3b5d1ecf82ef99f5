// Channels of a convolution's result that are interleaved are those of other filters. Groups whose
// channels do not stay together are computed as one, with zeros in the filter, where that takes less
// than the move. What others read stays.
// RUN: tpuc-opt %s --shape-infer --chip-assign=chip=bm1684x --convert-top-to-tpu=mode=F16 --decompose --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s
// CHECK-NOT: tpu.Permute
// CHECK: "tpu.Conv"{{.*}}group = 1 : i64{{.*}}tensor<12x24x1x1xf16>, tensor<12xf32>{{.*}} -> tensor<2x12x16x20xf16> loc("plain_f16")
// CHECK: "tpu.Conv"{{.*}}group = 1 : i64{{.*}}tensor<30x24x1x1xf16>, none{{.*}} -> tensor<2x30x16x20xf16> loc("grouped_f16")
// CHECK: "tpu.Conv"{{.*}}loc("read_f16")
// CHECK: "tpu.Permute"{{.*}}loc("stays_f16_swapped")
!x = tensor<2x24x16x20xf32>
module attributes {module.name = "net"} {
  func.func @main(%arg0: !x) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) {
    %none = "top.None"() : () -> none
    %x = "top.Input"(%arg0) : (!x) -> !x loc("x")
    %f = "top.ConstantFill"(%none) {shape = [12, 24, 1, 1], value = 0.5 : f32} : (none) -> tensor<12x24x1x1xf32> loc("f")
    %b = "top.ConstantFill"(%none) {shape = [12], value = 0.5 : f32} : (none) -> tensor<12xf32> loc("b")
    %0 = "top.Conv"(%x, %f, %b) {kernel_shape = [1, 1], do_relu = true} : (!x, tensor<12x24x1x1xf32>, tensor<12xf32>) -> tensor<*xf32> loc("0")
    %1 = "top.ShuffleChannel"(%0) {group = 3 : i64} : (tensor<*xf32>) -> tensor<*xf32> loc("plain")
    %g = "top.ConstantFill"(%none) {shape = [30, 8, 1, 1], value = 0.5 : f32} : (none) -> tensor<30x8x1x1xf32> loc("g")
    %2 = "top.Conv"(%x, %g, %none) {kernel_shape = [1, 1], group = 3 : i64} : (!x, tensor<30x8x1x1xf32>, none) -> tensor<*xf32> loc("2")
    %3 = "top.ShuffleChannel"(%2) {group = 3 : i64} : (tensor<*xf32>) -> tensor<*xf32> loc("grouped")
    %4 = "top.Conv"(%x, %f, %b) {kernel_shape = [1, 1]} : (!x, tensor<12x24x1x1xf32>, tensor<12xf32>) -> tensor<*xf32> loc("read")
    %5 = "top.ShuffleChannel"(%4) {group = 3 : i64} : (tensor<*xf32>) -> tensor<*xf32> loc("stays")
    return %1, %3, %4, %5 : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>
  }
}

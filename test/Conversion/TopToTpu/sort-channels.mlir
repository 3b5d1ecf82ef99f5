// On a chip with one shift for as many channels as it has lanes, channels that need coarse filters
// stand together: between convolutions without groups, with depthwise ones between.
// DEFINE: %{chip} = bm1684
// DEFINE: %{lower} = tpuc-opt %s --shape-infer --chip-assign=chip=%{chip} --convert-top-to-tpu=mode=INT8 --canonicalize --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s
// RUN: %{lower}
// REDEFINE: %{chip} = bm1684x
// RUN: %{lower} --check-prefix=OTHER

// The channels of the first filter have 2 and 1/2 by turns. Sorted, the first 64 of them shift by
// two more.
// CHECK: "tpu.Conv"
// CHECK-SAME: quant_mode = "OnlyShift"
// CHECK-SAME: rshift = [{{(7, ){64}(5, ){63}5]}}
// CHECK-SAME: loc("first_sorted")
// CHECK: "tpu.Conv"
// CHECK-SAME: group = 128
// CHECK-SAME: rshift = [8]
// CHECK-SAME: loc("depthwise_sorted")
// CHECK: loc("last_i8")
// Another chip has a scale for each channel.
// OTHER-NOT: sorted
!x = tensor<1x4x4x4x!quant.calibrated<f32<-8.0:8.0>>>
!y = tensor<1x128x4x4x!quant.calibrated<f32<-8.0:8.0>>>
!z = tensor<1x4x4x4x!quant.calibrated<f32<-8.0:8.0>>>
module {
  func.func @main(%arg0: !x) -> !z {
    %none = "top.None"() : () -> none
    %x = "top.Input"(%arg0) : (!x) -> !x loc("x")
    %a = "top.ConstantFill"(%none) {shape = [64, 1, 4, 1, 1], value = 0.5 : f32} : (none) -> tensor<64x1x4x1x1xf32> loc("a")
    %b = "top.ConstantFill"(%none) {shape = [64, 1, 4, 1, 1], value = 2.0 : f32} : (none) -> tensor<64x1x4x1x1xf32> loc("b")
    %ab = "top.Concat"(%b, %a) {axis = 1 : i64} : (tensor<64x1x4x1x1xf32>, tensor<64x1x4x1x1xf32>) -> tensor<64x2x4x1x1xf32> loc("ab")
    %w = "top.Reshape"(%ab, %none) {shape = [128, 4, 1, 1]} : (tensor<64x2x4x1x1xf32>, none) -> tensor<128x4x1x1xf32> loc("w")
    %v = "top.ConstantFill"(%none) {shape = [128, 1, 3, 3], value = 0.25 : f32} : (none) -> tensor<128x1x3x3xf32> loc("v")
    %u = "top.ConstantFill"(%none) {shape = [4, 128, 1, 1], value = 0.25 : f32} : (none) -> tensor<4x128x1x1xf32> loc("u")
    %first = "top.Conv"(%x, %w, %none) {kernel_shape = [1, 1]} : (!x, tensor<128x4x1x1xf32>, none) -> !y loc("first")
    %depthwise = "top.Conv"(%first, %v, %none) {kernel_shape = [3, 3], pads = [1, 1, 1, 1], group = 128 : i64} : (!y, tensor<128x1x3x3xf32>, none) -> !y loc("depthwise")
    %last = "top.Conv"(%depthwise, %u, %none) {kernel_shape = [1, 1]} : (!y, tensor<4x128x1x1xf32>, none) -> !z loc("last")
    return %last : !z
  }
}

// In a network of integers attention is F16 where the ranges of queries and keys keep the scores
// small, and F32 elsewhere. Its softmax stays F32. What gives masks infinities stays on floats.
// RUN: tpuc-opt %s "--convert-top-to-tpu=mode=INT8" --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s
// RUN: tpuc-opt %s --chip-assign=chip=cv183x "--convert-top-to-tpu=mode=INT8" --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s --check-prefix=BF16

// CHECK: "tpu.ScaleDotProductAttention"{{.*}}softmax_type = f32, storage_reason = "top.ScaleDotProductAttention has no form on integers"{{.*}} -> (tensor<1x2x5x16xf16>, none, none, none) loc(fused["small_f16", "small_1", "small_2", "small_3"])
// CHECK: "tpu.ScaleDotProductAttention"{{.*}} -> (tensor<1x2x5x16xf32>, none, none, none) loc("large")
// CHECK: "tpu.Pad"{{.*}}storage_reason = "it makes a mask, whose infinities are no integers"{{.*}} loc("padded"
// CHECK: "tpu.Add"{{.*}}storage_reason = "it makes a mask, whose infinities are no integers"{{.*}} loc("mask"
// CHECK: "tpu.ScaleDotProductAttention"{{.*}} loc({{.*}}masked
// A maximum of saturated numbers is right.
// CHECK: "tpu.Pad"{{.*}}!quant.uniform<i8{{.*}} loc("border")
// BF16: "tpu.ScaleDotProductAttention"{{.*}} -> (tensor<1x2x5x16xbf16>, none, none, none) loc(fused["small_bf16", "small_1", "small_2", "small_3"])
!x = tensor<1x2x5x16x!quant.calibrated<f32<-8.0:8.0>>>
!y = tensor<1x2x5x16x!quant.calibrated<f32<-40.0:20.0>>>
!m = tensor<1x1x5x3x!quant.calibrated<f32<-8.0:8.0>>>
!s = tensor<1x1x5x5x!quant.calibrated<f32<-8.0:8.0>>>
!p = tensor<1x2x5x18x!quant.calibrated<f32<-8.0:8.0>>>
module attributes {module.chip = "bm1684x"} {
  func.func @main(%arg0: !x, %arg1: !y, %arg2: !m, %arg3: !s) -> (!x, !x, !x, !x) {
    %n = "top.None"() : () -> none
    %x = "top.Input"(%arg0) : (!x) -> !x loc("x")
    %y = "top.Input"(%arg1) : (!y) -> !y loc("y")
    %0:4 = "top.ScaleDotProductAttention"(%x, %x, %x, %n, %n, %n, %n) {scale = 0.25 : f64} : (!x, !x, !x, none, none, none, none) -> (!x, none, none, none) loc("small")
    %1:4 = "top.ScaleDotProductAttention"(%y, %y, %x, %n, %n, %n, %n) {scale = 0.25 : f64} : (!y, !y, !x, none, none, none, none) -> (!x, none, none, none) loc("large")
    %m = "top.Input"(%arg2) : (!m) -> !m loc("m")
    %s = "top.Input"(%arg3) : (!s) -> !s loc("s")
    %2 = "top.Pad"(%m, %n, %n, %n) {mode = "constant", paddings = [0, 0, 0, 0, 0, 0, 0, 2], val = 0xFFF0000000000000 : f64} : (!m, none, none, none) -> !s loc("padded")
    %3 = "top.Add"(%2, %s) : (!s, !s) -> !s loc("mask")
    %4:4 = "top.ScaleDotProductAttention"(%x, %x, %x, %3, %n, %n, %n) {scale = 0.25 : f64} : (!x, !x, !x, !s, none, none, none) -> (!x, none, none, none) loc("masked")
    %q = "top.Add"(%x, %x) : (!x, !x) -> !x loc("twice")
    %5 = "top.Pad"(%q, %n, %n, %n) {mode = "constant", paddings = [0, 0, 0, 1, 0, 0, 0, 1], val = 0xFFF0000000000000 : f64} : (!x, none, none, none) -> !p loc("border")
    %6 = "top.MaxPool"(%5) {kernel_shape = [1, 3], strides = [1, 1], pads = [0, 0, 0, 0]} : (!p) -> !x loc("most")
    return %0#0, %1#0, %4#0, %6 : !x, !x, !x, !x
  }
}

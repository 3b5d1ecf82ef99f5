// In a network of integers attention is F16 where the ranges of queries and keys keep the scores
// small, and F32 elsewhere. Its softmax stays F32.
// RUN: tpuc-opt %s "--convert-top-to-tpu=mode=INT8" --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s
// RUN: tpuc-opt %s --chip-assign=chip=cv183x "--convert-top-to-tpu=mode=INT8" --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s --check-prefix=BF16

// CHECK: "tpu.ScaleDotProductAttention"{{.*}}softmax_type = f32, storage_reason = "top.ScaleDotProductAttention has no form on integers"{{.*}} -> (tensor<1x2x5x16xf16>, none, none, none) loc(fused["small_f16", "small_1", "small_2", "small_3"])
// CHECK: "tpu.ScaleDotProductAttention"{{.*}} -> (tensor<1x2x5x16xf32>, none, none, none) loc("large")
// BF16: "tpu.ScaleDotProductAttention"{{.*}} -> (tensor<1x2x5x16xbf16>, none, none, none) loc(fused["small_bf16", "small_1", "small_2", "small_3"])
!x = tensor<1x2x5x16x!quant.calibrated<f32<-8.0:8.0>>>
!y = tensor<1x2x5x16x!quant.calibrated<f32<-40.0:20.0>>>
module attributes {module.chip = "bm1684x"} {
  func.func @main(%arg0: !x, %arg1: !y) -> (!x, !x) {
    %n = "top.None"() : () -> none
    %x = "top.Input"(%arg0) : (!x) -> !x loc("x")
    %y = "top.Input"(%arg1) : (!y) -> !y loc("y")
    %0:4 = "top.ScaleDotProductAttention"(%x, %x, %x, %n, %n, %n, %n) {scale = 0.25 : f64} : (!x, !x, !x, none, none, none, none) -> (!x, none, none, none) loc("small")
    %1:4 = "top.ScaleDotProductAttention"(%y, %y, %x, %n, %n, %n, %n) {scale = 0.25 : f64} : (!y, !y, !x, none, none, none, none) -> (!x, none, none, none) loc("large")
    return %0#0, %1#0 : !x, !x
  }
}

// What has no form on integers is in F16 beside them if it rounds once and its ranges are far from
// both ends of F16: not large ones, not tiny ones, and not what is moved of computed elements.
// RUN: tpuc-opt %s "--convert-top-to-tpu=mode=INT8" --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s

// CHECK: "tpu.RMSNorm"{{.*}} -> tensor<2x8xf16> loc("near
// CHECK: "tpu.RMSNorm"{{.*}} -> tensor<2x8xf32> loc("large
// CHECK: "tpu.RMSNorm"{{.*}} -> tensor<2x8xf32> loc("tiny
!x = tensor<2x8x!quant.calibrated<f32<-8.0:8.0>>>
!l = tensor<2x8x!quant.calibrated<f32<-8000.0:8000.0>>>
!t = tensor<2x8x!quant.calibrated<f32<-0.0001:0.0001>>>
module attributes {module.chip = "bm1684x"} {
  func.func @main(%arg0: !x, %arg1: !l, %arg2: !t) -> (!x, !x, !x) {
    %x = "top.Input"(%arg0) : (!x) -> !x loc("x")
    %l = "top.Input"(%arg1) : (!l) -> !l loc("l")
    %t = "top.Input"(%arg2) : (!t) -> !t loc("t")
    %g = "top.Weight"() : () -> tensor<8xf32> loc("g")
    %0 = "top.RMSNorm"(%x, %g) {axis = -1 : i64, eps = 1.0e-5 : f64} : (!x, tensor<8xf32>) -> !x loc("near")
    %1 = "top.RMSNorm"(%l, %g) {axis = -1 : i64, eps = 1.0e-5 : f64} : (!l, tensor<8xf32>) -> !x loc("large")
    %2 = "top.RMSNorm"(%t, %g) {axis = -1 : i64, eps = 1.0e-5 : f64} : (!t, tensor<8xf32>) -> !x loc("tiny")
    return %0, %1, %2 : !x, !x, !x
  }
}

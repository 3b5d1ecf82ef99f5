// Bodies of branches and loops keep the types of the source; what they read from outside is cast
// there, once.
// RUN: tpuc-opt %s --convert-top-to-tpu=mode=F32 --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s --check-prefixes=CHECK,F32
// RUN: tpuc-opt %s --convert-top-to-tpu=mode=F16 --canonicalize --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s --check-prefixes=CHECK,F16
// RUN: tpuc-opt %s --convert-top-to-tpu=mode=INT8 --canonicalize --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s --check-prefixes=CHECK,INT8

// F32-NOT: tpu.Cast
// F16: "tpu.Relu"{{.*}} -> tensor<1x4xf16> loc("relu")
// INT8: "tpu.Lut"{{.*}} -> tensor<1x4x!quant.uniform<u8:f32, {{.*}}>> loc("relu")
// F16: %[[R:.*]] = "tpu.Cast"{{.*}} -> tensor<1x4xf32> loc("relu_f32")
// INT8: %[[R:.*]] = "tpu.Cast"{{.*}} -> tensor<1x4xf32> loc("relu_f32")
// F32: %[[R:.*]] = "tpu.Relu"{{.*}} loc("relu")
// CHECK: "tpu.If"(%{{.*}}) ({
// CHECK-NEXT: "tpu.Neg"(%[[R]]) : (tensor<1x4xf32>) -> tensor<1x4xf32> loc("neg")
// CHECK-NEXT: "tpu.Yield"
// CHECK: "tpu.Loop"(
// CHECK: ^bb0(%{{.*}}: tensor<i64>{{.*}}, %[[GO:.*]]: tensor<i1>{{.*}}, %[[S:.*]]: tensor<1x4xf32>{{.*}}):
// CHECK: "tpu.If"(%[[GO]]) ({
// CHECK: "tpu.Add"(%[[S]], %[[R]]) {{.*}} : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x4xf32> loc("deep")
// CHECK: "tpu.Yield"
// CHECK: "tpu.Yield"(%[[GO]], %{{.*}}) : (tensor<i1>, tensor<1x4xf32>) -> ()
// F16: storage_reason = "its bodies are computed in f32"
// INT8: storage_reason = "top.Loop has no form on integers"
// F16: "tpu.Cast"{{.*}} : (tensor<1x4xf32>) -> tensor<1x4xf16> loc("loop_f16")
// INT8: "tpu.Cast"{{.*}} : (tensor<1x4xf32>) -> tensor<1x4x!quant.uniform<i8:f32, 1.562500e-02>> loc("loop_i8")
// CHECK-NOT: "top.{{[^W]}}
!x = tensor<1x4x!quant.calibrated<f32<-2.0:2.0>>>
module attributes {module.chip = "bm1684x"} {
  func.func @main(%arg0: !x, %arg1: tensor<i1>, %n: tensor<i64>) -> (!x, !x) {
    %0 = "top.Input"(%arg0) : (!x) -> !x loc("x")
    %1 = "top.Relu"(%0) : (!x) -> !x loc("relu")
    %2 = "top.If"(%arg1) ({
      %3 = "top.Neg"(%1) : (!x) -> tensor<1x4xf32> loc("neg")
      "top.Yield"(%3) : (tensor<1x4xf32>) -> ()
    }, {
      "top.Yield"(%1) : (!x) -> ()
    }) : (tensor<i1>) -> !x loc("if")
    %4 = "top.Loop"(%n, %arg1, %2) ({
    ^bb0(%i: tensor<i64>, %go: tensor<i1>, %s: tensor<1x4xf32>):
      %5 = "top.If"(%go) ({
        %6 = "top.Add"(%s, %1) : (tensor<1x4xf32>, !x) -> tensor<1x4xf32> loc("deep")
        "top.Yield"(%6) : (tensor<1x4xf32>) -> ()
      }, {
        "top.Yield"(%s) : (tensor<1x4xf32>) -> ()
      }) : (tensor<i1>) -> tensor<1x4xf32> loc("inner")
      "top.Yield"(%go, %5) : (tensor<i1>, tensor<1x4xf32>) -> ()
    }) : (tensor<i64>, tensor<i1>, !x) -> !x loc("loop")
    %7 = "top.Abs"(%4) : (!x) -> !x loc("abs")
    return %2, %7 : !x, !x
  }
}

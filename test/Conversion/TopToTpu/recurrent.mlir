// In a network of integers recurrent cells are F16 where their inputs and the number of steps, which
// bounds the state, are far from the end of F16, and F32 elsewhere: for activations without bounds, and
// for first states that are large, too.
// RUN: tpuc-opt %s "--convert-top-to-tpu=mode=INT8" --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s

// CHECK: "tpu.LSTM"{{.*}}storage_reason = "top.LSTM has no form on integers"{{.*}} -> (tensor<5x1x1x4xf16>, none, none) loc({{.*}}"small
// CHECK: "tpu.LSTM"{{.*}} -> (tensor<5x1x1x4xf32>, none, none) loc("large")
// CHECK: "tpu.LSTM"{{.*}} -> (tensor<5x1x1x4xf32>, none, none) loc("unbounded")
// CHECK: "tpu.LSTM"{{.*}} -> (tensor<5x1x1x4xf32>, none, none) loc("far")
!x = tensor<5x1x3x!quant.calibrated<f32<-8.0:8.0>>>
!l = tensor<5x1x3x!quant.calibrated<f32<-8000.0:8000.0>>>
!y = tensor<5x1x1x4x!quant.calibrated<f32<-1.0:1.0>>>
module attributes {module.chip = "bm1684x"} {
  func.func @main(%arg0: !x, %arg1: !l) -> (!y, !y, !y, !y) {
    %n = "top.None"() : () -> none
    %x = "top.Input"(%arg0) : (!x) -> !x loc("x")
    %l = "top.Input"(%arg1) : (!l) -> !l loc("l")
    %w = "top.ConstantFill"(%n) {shape = [1, 16, 3], value = 0.5 : f32} : (none) -> tensor<1x16x3xf32> loc("w")
    %r = "top.ConstantFill"(%n) {shape = [1, 16, 4], value = 0.5 : f32} : (none) -> tensor<1x16x4xf32> loc("r")
    %0:3 = "top.LSTM"(%x, %w, %r, %n, %n, %n, %n, %n) {hidden_size = 4 : i64} : (!x, tensor<1x16x3xf32>, tensor<1x16x4xf32>, none, none, none, none, none) -> (!y, none, none) loc("small")
    %1:3 = "top.LSTM"(%l, %w, %r, %n, %n, %n, %n, %n) {hidden_size = 4 : i64} : (!l, tensor<1x16x3xf32>, tensor<1x16x4xf32>, none, none, none, none, none) -> (!y, none, none) loc("large")
    %2:3 = "top.LSTM"(%x, %w, %r, %n, %n, %n, %n, %n) {activations = ["Sigmoid", "Relu", "Tanh"], hidden_size = 4 : i64} : (!x, tensor<1x16x3xf32>, tensor<1x16x4xf32>, none, none, none, none, none) -> (!y, none, none) loc("unbounded")
    %c = "top.ConstantFill"(%n) {shape = [1, 1, 4], value = -8000.0 : f32} : (none) -> tensor<1x1x4xf32> loc("c")
    %3:3 = "top.LSTM"(%x, %w, %r, %n, %n, %n, %c, %n) {hidden_size = 4 : i64} : (!x, tensor<1x16x3xf32>, tensor<1x16x4xf32>, none, none, none, tensor<1x1x4xf32>, none) -> (!y, none, none) loc("far")
    return %0#0, %1#0, %2#0, %3#0 : !y, !y, !y, !y
  }
}

// Ops that move integers read the lowered indices, not those of the source.
// RUN: tpuc-opt %s --chip-assign=chip=bm1684x --convert-top-to-tpu=mode=INT8 --mlir-print-local-scope | FileCheck %s

// CHECK-NOT: "top.Unsqueeze"
// CHECK: %[[ROWS:.*]] = "tpu.Unsqueeze"(%{{.*}}) {axes = [1]} : (tensor<3x2xi64>, none) -> tensor<3x1x2xi64>
// CHECK: "tpu.GatherElements"(%{{.*}}, %[[ROWS]]) {{.*}} : (tensor<3x5x2x!quant.uniform<i8:f32, {{.*}}>>, tensor<3x1x2xi64>) -> tensor<3x1x2x!quant.uniform
!calibrated = !quant.calibrated<f32<-1.0:1.0>>
module attributes {module.state = "TOP_CALIBRATED"} {
  func.func @main(%arg0: tensor<3x5x2x!calibrated>, %arg1: tensor<3x2xi64>) -> tensor<3x1x2x!calibrated> {
    %none = "top.None"() : () -> none
    %x = "top.Input"(%arg0) : (tensor<3x5x2x!calibrated>) -> tensor<3x5x2x!calibrated> loc("x")
    %target = "top.Input"(%arg1) : (tensor<3x2xi64>) -> tensor<3x2xi64> loc("target")
    %before = "top.Tanh"(%x) : (tensor<3x5x2x!calibrated>) -> tensor<3x5x2x!calibrated> loc("before")
    %rows = "top.Unsqueeze"(%target, %none) {axes = [1]} : (tensor<3x2xi64>, none) -> tensor<3x1x2xi64> loc("rows")
    %picked = "top.GatherElements"(%before, %rows) {axis = 1 : i64} : (tensor<3x5x2x!calibrated>, tensor<3x1x2xi64>) -> tensor<3x1x2x!calibrated> loc("picked")
    %behind = "top.Tanh"(%picked) : (tensor<3x1x2x!calibrated>) -> tensor<3x1x2x!calibrated> loc("behind")
    return %behind : tensor<3x1x2x!calibrated>
  } loc("main")
}

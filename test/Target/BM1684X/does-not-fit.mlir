// What fits local memory in no slice, the host computes, and says why.
// RUN: tpuc-opt %s --shape-infer=max-folded=10000000 --chip-assign=chip=bm1684x --convert-top-to-tpu=mode=F32 --decompose --subnet-divide | FileCheck %s
// CHECK: "tpu.LSTM"{{.*}}subnet_mode = "CPU", subnet_reason = "no slice fits the 262144 bytes of local memory"
// CHECK: "tpu.Add"{{.*}}subnet_mode = "CPU", subnet_reason = "a tensor of 5 dimensions; expected at most 4"
module attributes {module.name = "net"} {
  func.func @main(%arg0: tensor<3x1x8xf32>, %arg1: tensor<2x3x4x5x6xf32>, %arg2: tensor<3x1x5x1xf32>) -> (tensor<3x1x1x1024xf32>, tensor<2x3x4x5x6xf32>) {
    %n = "top.None"() : () -> none
    %x = "top.Input"(%arg0) : (tensor<3x1x8xf32>) -> tensor<3x1x8xf32> loc("x")
    %p = "top.Input"(%arg1) : (tensor<2x3x4x5x6xf32>) -> tensor<2x3x4x5x6xf32> loc("p")
    %l = "top.Input"(%arg2) : (tensor<3x1x5x1xf32>) -> tensor<3x1x5x1xf32> loc("l")
    %w = "top.ConstantFill"(%n) {shape = [1, 4096, 8], value = 0.125 : f32} : (none) -> tensor<1x4096x8xf32> loc("w")
    %u = "top.ConstantFill"(%n) {shape = [1, 4096, 1024], value = 0.001 : f32} : (none) -> tensor<1x4096x1024xf32> loc("u")
    %s:3 = "top.LSTM"(%x, %w, %u, %n, %n, %n, %n, %n) {hidden_size = 1024 : i64} : (tensor<3x1x8xf32>, tensor<1x4096x8xf32>, tensor<1x4096x1024xf32>, none, none, none, none, none) -> (tensor<3x1x1x1024xf32>, none, none) loc("s")
    %q = "top.Add"(%p, %l) : (tensor<2x3x4x5x6xf32>, tensor<3x1x5x1xf32>) -> tensor<2x3x4x5x6xf32> loc("q")
    return %s#0, %q : tensor<3x1x1x1024xf32>, tensor<2x3x4x5x6xf32>
  }
}

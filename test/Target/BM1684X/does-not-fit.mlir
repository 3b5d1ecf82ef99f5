// What fits local memory in no slice, the host computes, and says why. Of a cell of which only one direction fits, one
// follows the other.
// RUN: tpuc-opt %s --shape-infer=max-folded=10000000 --chip-assign=chip=bm1684x --convert-top-to-tpu=mode=F32 --decompose --subnet-divide | FileCheck %s
// CHECK: "tpu.RNN"{{.*}}direction = "forward"{{.*}}subnet_mode = "TPU"
// CHECK: "tpu.RNN"{{.*}}direction = "reverse"{{.*}}subnet_mode = "TPU"
// CHECK: "tpu.LSTM"{{.*}}subnet_mode = "CPU", subnet_reason = "no slice fits the 262144 bytes of local memory"
// CHECK: "tpu.Add"{{.*}}subnet_mode = "CPU", subnet_reason = "a tensor of 5 dimensions; expected at most 4"
module attributes {module.name = "net"} {
  func.func @main(%arg0: tensor<3x1x8xf32>, %arg1: tensor<2x3x4x5x6xf32>, %arg2: tensor<3x1x5x1xf32>, %arg3: tensor<16000x1x8xf32>) -> (tensor<3x1x1x1024xf32>, tensor<2x3x4x5x6xf32>, tensor<16000x2x1x64xf32>) {
    %n = "top.None"() : () -> none
    %x = "top.Input"(%arg0) : (tensor<3x1x8xf32>) -> tensor<3x1x8xf32> loc("x")
    %p = "top.Input"(%arg1) : (tensor<2x3x4x5x6xf32>) -> tensor<2x3x4x5x6xf32> loc("p")
    %l = "top.Input"(%arg2) : (tensor<3x1x5x1xf32>) -> tensor<3x1x5x1xf32> loc("l")
    %w = "top.ConstantFill"(%n) {shape = [1, 4096, 8], value = 0.125 : f32} : (none) -> tensor<1x4096x8xf32> loc("w")
    %u = "top.ConstantFill"(%n) {shape = [1, 4096, 1024], value = 0.001 : f32} : (none) -> tensor<1x4096x1024xf32> loc("u")
    %s:3 = "top.LSTM"(%x, %w, %u, %n, %n, %n, %n, %n) {hidden_size = 1024 : i64} : (tensor<3x1x8xf32>, tensor<1x4096x8xf32>, tensor<1x4096x1024xf32>, none, none, none, none, none) -> (tensor<3x1x1x1024xf32>, none, none) loc("s")
    %t = "top.Input"(%arg3) : (tensor<16000x1x8xf32>) -> tensor<16000x1x8xf32> loc("t")
    %rw = "top.ConstantFill"(%n) {shape = [2, 64, 8], value = 0.125 : f32} : (none) -> tensor<2x64x8xf32> loc("rw")
    %ru = "top.ConstantFill"(%n) {shape = [2, 64, 64], value = 0.001 : f32} : (none) -> tensor<2x64x64xf32> loc("ru")
    %r:2 = "top.RNN"(%t, %rw, %ru, %n, %n, %n) {direction = "bidirectional", hidden_size = 64 : i64} : (tensor<16000x1x8xf32>, tensor<2x64x8xf32>, tensor<2x64x64xf32>, none, none, none) -> (tensor<16000x2x1x64xf32>, none) loc("r")
    %q = "top.Add"(%p, %l) : (tensor<2x3x4x5x6xf32>, tensor<3x1x5x1xf32>) -> tensor<2x3x4x5x6xf32> loc("q")
    return %s#0, %q, %r#0 : tensor<3x1x1x1024xf32>, tensor<2x3x4x5x6xf32>, tensor<16000x2x1x64xf32>
  }
}

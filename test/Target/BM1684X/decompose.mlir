// Recurrent cells have whole lines of units, and both directions stay one cell.
// RUN: tpuc-opt %s --shape-infer --chip-assign=chip=bm1684x --convert-top-to-tpu=mode=F32 --decompose --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s

// CHECK: %[[W:.*]] = "top.Weight"() : () -> tensor<2x192x3xf32> loc("y_both_filter")
// CHECK: %[[U:.*]] = "top.Weight"() : () -> tensor<2x192x64xf32> loc("y_both_recurrence")
// CHECK: %[[B:.*]] = "top.Weight"() : () -> tensor<2x384xf32> loc("y_both_bias")
// CHECK: "tpu.GRU"(%{{.*}}, %[[W]], %[[U]], %[[B]], {{.*}}direction = "bidirectional", hidden_size = 64 : i64{{.*}} -> (tensor<5x2x2x64xf32>, none) loc("y_both")
// CHECK: "tpu.Slice"{{.*}} -> tensor<5x2x2x4xf32> loc("y")
// CHECK: "tpu.Concat"{{.*}} -> tensor<2x2x4xf32> loc("last")
// What an LSTM keeps in its cell is a cell of its own.
// CHECK: "tpu.LSTM"{{.*}} -> (none, none, tensor<1x2x64xf32>) loc("s_forward_cell")
// CHECK: "tpu.Slice"{{.*}} -> tensor<1x2x4xf32>
// CHECK: "tpu.Copy"{{.*}} loc("kept")
// States that nobody reads are not computed.
// CHECK: "tpu.LSTM"{{.*}} -> (tensor<5x1x2x64xf32>, none, none) loc("a_forward")
// CHECK-NOT: "tpu.LSTM"
// Other functions stay, and are refused later.
// CHECK: "tpu.RNN"{{.*}}activations = ["Relu"]
module attributes {module.name = "net"} {
  func.func @main(%arg0: tensor<5x2x3xf32>) -> (tensor<5x2x2x4xf32>, tensor<2x2x4xf32>, tensor<1x2x4xf32>, tensor<5x1x2x4xf32>, tensor<5x1x2x4xf32>) {
    %none = "top.None"() : () -> none
    %x = "top.Input"(%arg0) : (tensor<5x2x3xf32>) -> tensor<5x2x3xf32> loc("x")
    %w = "top.ConstantFill"(%none) {shape = [2, 12, 3], value = 0.5 : f32} : (none) -> tensor<2x12x3xf32> loc("w")
    %u = "top.ConstantFill"(%none) {shape = [2, 12, 4], value = 0.25 : f32} : (none) -> tensor<2x12x4xf32> loc("u")
    %b = "top.ConstantFill"(%none) {shape = [2, 24], value = 0.25 : f32} : (none) -> tensor<2x24xf32> loc("b")
    %v = "top.ConstantFill"(%none) {shape = [1, 4, 3], value = 0.5 : f32} : (none) -> tensor<1x4x3xf32> loc("v")
    %t = "top.ConstantFill"(%none) {shape = [1, 4, 4], value = 0.5 : f32} : (none) -> tensor<1x4x4xf32> loc("t")
    %y, %last = "top.GRU"(%x, %w, %u, %b, %none, %none) {hidden_size = 4 : i64, direction = "bidirectional"} : (tensor<5x2x3xf32>, tensor<2x12x3xf32>, tensor<2x12x4xf32>, tensor<2x24xf32>, none, none) -> (tensor<5x2x2x4xf32>, tensor<2x2x4xf32>) loc(fused["y", "last"])
    %p = "top.ConstantFill"(%none) {shape = [1, 16, 3], value = 0.5 : f32} : (none) -> tensor<1x16x3xf32> loc("p")
    %q = "top.ConstantFill"(%none) {shape = [1, 16, 4], value = 0.5 : f32} : (none) -> tensor<1x16x4xf32> loc("q")
    %s:3 = "top.LSTM"(%x, %p, %q, %none, %none, %none, %none, %none) {hidden_size = 4 : i64} : (tensor<5x2x3xf32>, tensor<1x16x3xf32>, tensor<1x16x4xf32>, none, none, none, none, none) -> (none, none, tensor<1x2x4xf32>) loc(fused["s", "t", "kept"])
    %a:3 = "top.LSTM"(%x, %p, %q, %none, %none, %none, %none, %none) {hidden_size = 4 : i64} : (tensor<5x2x3xf32>, tensor<1x16x3xf32>, tensor<1x16x4xf32>, none, none, none, none, none) -> (tensor<5x1x2x4xf32>, tensor<1x2x4xf32>, tensor<1x2x4xf32>) loc(fused["a", "a_last", "a_kept"])
    %z, %z_last = "top.RNN"(%x, %v, %t, %none, %none, %none) {hidden_size = 4 : i64, activations = ["Relu"]} : (tensor<5x2x3xf32>, tensor<1x4x3xf32>, tensor<1x4x4xf32>, none, none, none) -> (tensor<5x1x2x4xf32>, none) loc("z")
    return %y, %last, %s#2, %a#0, %z : tensor<5x2x2x4xf32>, tensor<2x2x4xf32>, tensor<1x2x4xf32>, tensor<5x1x2x4xf32>, tensor<5x1x2x4xf32>
  }
}

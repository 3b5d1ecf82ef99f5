// What heads or samples share: weights of attention with a constant, and keys and values of linear
// attention. Networks compute the same with all rewritings.
// RUN: rm -rf %t.dir && mkdir -p %t.dir
// RUN: %python %tpuc_src/test/Codegen/Inputs/ramp.py %t.dir/net.npz given=1,1,5,5
// RUN: %python %tpuc_src/test/Codegen/Inputs/ramp.py %t.dir/in.npz s=1,1,5,5 v=1,3,5,4 q=2,2,6,4 k=1,2,6,4 w=1,2,6,4
// RUN: cp %s %t.dir/net.mlir
// RUN: tpuc-opt %t.dir/net.mlir --shape-infer --top-fuse --mlir-print-debuginfo -o %t.dir/fused.mlir
// RUN: FileCheck %s < %t.dir/fused.mlir
// CHECK: "top.Softmax"
// CHECK: "top.MatMul"({{.*}} -> tensor<1x2x4x4xf32>
// CHECK-NOT: "top.Pad"
// RUN: model_runner --model %t.dir/net.mlir --input %t.dir/in.npz --output %t.dir/written.npz
// RUN: model_runner --model %t.dir/fused.mlir --input %t.dir/in.npz --output %t.dir/fused.npz
// RUN: npz_tool compare %t.dir/fused.npz %t.dir/written.npz --tolerance 0.999999,0.9999
!k = tensor<1x2x6x4xf32>
module attributes {module.name = "net", module.chip = "ALL", module.state = "TOP_F32", module.weight_file = "net.npz"} {
  func.func @main(%arg0: tensor<1x1x5x5xf32>, %arg1: tensor<1x3x5x4xf32>, %arg2: tensor<2x2x6x4xf32>, %arg3: !k, %arg4: !k) -> (tensor<1x3x5x4xf32>, tensor<2x2x6x4xf32>) {
    %n = "top.None"() : () -> none
    %s = "top.Input"(%arg0) : (tensor<1x1x5x5xf32>) -> tensor<1x1x5x5xf32> loc("s")
    %v = "top.Input"(%arg1) : (tensor<1x3x5x4xf32>) -> tensor<1x3x5x4xf32> loc("v")
    %q = "top.Input"(%arg2) : (tensor<2x2x6x4xf32>) -> tensor<2x2x6x4xf32> loc("q")
    %k = "top.Input"(%arg3) : (!k) -> !k loc("k")
    %w = "top.Input"(%arg4) : (!k) -> !k loc("w")
    %given = "top.Weight"() : () -> tensor<1x1x5x5xf32> loc("given")
    %0 = "top.Softmax"(%s) {axis = 3 : i64} : (tensor<1x1x5x5xf32>) -> tensor<1x1x5x5xf32> loc("0")
    %1 = "top.MulConst"(%0) {const_val = 0.75 : f64} : (tensor<1x1x5x5xf32>) -> tensor<1x1x5x5xf32> loc("1")
    %2 = "top.Add"(%1, %given) : (tensor<1x1x5x5xf32>, tensor<1x1x5x5xf32>) -> tensor<1x1x5x5xf32> loc("2")
    %shared = "top.MatMul"(%2, %v, %n) : (tensor<1x1x5x5xf32>, tensor<1x3x5x4xf32>, none) -> tensor<1x3x5x4xf32> loc("shared")

    %k1 = "top.Abs"(%k) : (!k) -> !k loc("k1")
    %q1 = "top.Abs"(%q) : (tensor<2x2x6x4xf32>) -> tensor<2x2x6x4xf32> loc("q1")
    %3 = "top.Pad"(%w, %n, %n, %n) {paddings = [0, 0, 0, 0, 0, 0, 0, 1], val = 1.0 : f64} : (!k, none, none, none) -> tensor<1x2x6x5xf32> loc("3")
    %4 = "top.MatMul"(%k1, %3, %n) {left_transpose = true} : (!k, tensor<1x2x6x5xf32>, none) -> tensor<1x2x4x5xf32> loc("4")
    %5 = "top.MatMul"(%q1, %4, %n) : (tensor<2x2x6x4xf32>, tensor<1x2x4x5xf32>, none) -> tensor<2x2x6x5xf32> loc("5")
    %6 = "top.Slice"(%5, %n, %n, %n, %n) {axes = [3], offset = [0], ends = [-1], steps = [1]} : (tensor<2x2x6x5xf32>, none, none, none, none) -> tensor<2x2x6x4xf32> loc("6")
    %7 = "top.Slice"(%5, %n, %n, %n, %n) {axes = [3], offset = [-1], ends = [5], steps = [1]} : (tensor<2x2x6x5xf32>, none, none, none, none) -> tensor<2x2x6x1xf32> loc("7")
    %linear = "top.Div"(%6, %7) : (tensor<2x2x6x4xf32>, tensor<2x2x6x1xf32>) -> tensor<2x2x6x4xf32> loc("linear")
    return %shared, %linear : tensor<1x3x5x4xf32>, tensor<2x2x6x4xf32>
  }
}

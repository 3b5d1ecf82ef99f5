// Heads that networks mix, weights that constants are added to, and blocks whose pixels attend to
// each other: all of it is attention of rows.
// RUN: rm -rf %t.dir && mkdir -p %t.dir
// RUN: cp %s %t.dir/net.mlir
// RUN: %python %tpuc_src/test/Codegen/Inputs/ramp.py %t.dir/in.npz x=2,5,36 y=1,2,5,36
// RUN: %python %tpuc_src/test/Codegen/Inputs/ramp.py %t.dir/net.npz l=3,3 m=3,3 b=3 gate=1,3,1,1 given=1,3,5,5 w=12,4
// RUN: tpuc-opt %t.dir/net.mlir --shape-infer --top-fuse --mlir-print-debuginfo --mlir-print-local-scope -o %t.dir/fused.mlir
// RUN: FileCheck %s < %t.dir/fused.mlir
// RUN: tpuc-opt %t.dir/net.mlir --shape-infer --top-fuse=disable=to-attention,mixed-heads,constant-weights,heads-in-order | FileCheck %s --check-prefix=OFF
// RUN: model_runner --model %t.dir/net.mlir --input %t.dir/in.npz --output %t.dir/written.npz
// RUN: tpuc-opt %t.dir/net.mlir --shape-infer --top-fuse --chip-assign=chip=bm1684x --convert-top-to-tpu=mode=F32 --fold-head-reshapes --decompose-attention --decompose --subnet-divide --weight-reorder --layer-group --address-assign --codegen=model=%t.dir/fused.bmodel -o %t.dir/none.mlir
// RUN: model_runner --model %t.dir/fused.bmodel --input %t.dir/in.npz --output %t.dir/fused.npz
// RUN: npz_tool compare %t.dir/fused.npz %t.dir/written.npz --tolerance 0.999999,0.99999

// OFF-NOT: "top.ScaleDotProductAttention"
// OFF: order = [0, 2, 3, 4, 1]

// CHECK-LABEL: func.func @main
// Talking heads: a head of all columns for each that is mixed, and the values' sums for what is added
// to weights.
// CHECK-COUNT-3: "top.ScaleDotProductAttention"({{.*}} -> (tensor<2x1x5x12xf32>
// CHECK: mode = "ReduceSum"{{.*}} -> tensor<2x1x12xf32>
// Gated ones: a head for each, and products of constants and all values.
// CHECK: "top.ScaleDotProductAttention"({{.*}} -> (tensor<2x3x5x4xf32>
// CHECK-COUNT-3: "top.MatMul"({{.*}}(tensor<2x5x5xf32>, tensor<2x5x12xf32>, none) -> tensor<2x5x12xf32>
// CHECK: loc("gated")
// Divided by the sums of the weights, what is attended to has a factor for each query.
// CHECK: "top.ScaleDotProductAttention"({{.*}} -> (tensor<2x3x5x4xf32>
// CHECK-NOT: "top.Div"
// CHECK: "top.Mul"({{.*}}(tensor<2x3x5x4xf32>, tensor<1x3x5x1xf32>)
// CHECK: loc("divided")
// Blocks are samples. The filter has its rows in the order of the heads.
// CHECK: "top.ScaleDotProductAttention"({{.*}} -> (tensor<2x3x5x4xf32>
// CHECK-NOT: order = [0, 2, 3, 4, 1]
// CHECK: "top.MatMul"({{.*}} loc("blocks")
module attributes {module.name = "net", module.chip = "ALL", module.state = "TOP_F32", module.weight_file = "net.npz"} {
  func.func @main(%arg0: tensor<2x5x36xf32>, %arg1: tensor<1x2x5x36xf32>) -> (tensor<2x5x12xf32>, tensor<2x3x5x4xf32>, tensor<2x3x5x4xf32>, tensor<1x2x5x4xf32>) {
    %n = "top.None"() : () -> none
    %x = "top.Input"(%arg0) : (tensor<2x5x36xf32>) -> tensor<2x5x36xf32> loc("x")
    %y = "top.Input"(%arg1) : (tensor<1x2x5x36xf32>) -> tensor<1x2x5x36xf32> loc("y")
    %l = "top.Weight"() : () -> tensor<3x3xf32> loc("l")
    %m = "top.Weight"() : () -> tensor<3x3xf32> loc("m")
    %b = "top.Weight"() : () -> tensor<3xf32> loc("b")
    %gate = "top.Weight"() : () -> tensor<1x3x1x1xf32> loc("gate")
    %given = "top.Weight"() : () -> tensor<1x3x5x5xf32> loc("given")
    %w = "top.Weight"() : () -> tensor<12x4xf32> loc("w")
    %i0 = "top.ConstantFill"(%n) {shape = [], value = 0 : i64} : (none) -> tensor<i64>
    %i1 = "top.ConstantFill"(%n) {shape = [], value = 1 : i64} : (none) -> tensor<i64>
    %i2 = "top.ConstantFill"(%n) {shape = [], value = 2 : i64} : (none) -> tensor<i64>
    %r = "top.Reshape"(%x, %n) {shape = [2, 5, 3, 3, 4]} : (tensor<2x5x36xf32>, none) -> tensor<2x5x3x3x4xf32> loc("r")
    %p = "top.Permute"(%r) {order = [2, 0, 3, 1, 4]} : (tensor<2x5x3x3x4xf32>) -> tensor<3x2x3x5x4xf32> loc("p")
    %q = "top.Gather"(%p, %i0) {axis = 0 : i64} : (tensor<3x2x3x5x4xf32>, tensor<i64>) -> tensor<2x3x5x4xf32> loc("q")
    %k = "top.Gather"(%p, %i1) {axis = 0 : i64} : (tensor<3x2x3x5x4xf32>, tensor<i64>) -> tensor<2x3x5x4xf32> loc("k")
    %v = "top.Gather"(%p, %i2) {axis = 0 : i64} : (tensor<3x2x3x5x4xf32>, tensor<i64>) -> tensor<2x3x5x4xf32> loc("v")

    %s = "top.MatMul"(%q, %k, %n) {right_transpose = true} : (tensor<2x3x5x4xf32>, tensor<2x3x5x4xf32>, none) -> tensor<2x3x5x5xf32> loc("s")
    %1 = "top.Permute"(%s) {order = [0, 2, 3, 1]} : (tensor<2x3x5x5xf32>) -> tensor<2x5x5x3xf32> loc("1")
    %2 = "top.MatMul"(%1, %l, %n) : (tensor<2x5x5x3xf32>, tensor<3x3xf32>, none) -> tensor<2x5x5x3xf32> loc("2")
    %3 = "top.Permute"(%2) {order = [0, 3, 1, 2]} : (tensor<2x5x5x3xf32>) -> tensor<2x3x5x5xf32> loc("3")
    %4 = "top.Softmax"(%3) {axis = -1 : i64} : (tensor<2x3x5x5xf32>) -> tensor<2x3x5x5xf32> loc("4")
    %5 = "top.Permute"(%4) {order = [0, 2, 3, 1]} : (tensor<2x3x5x5xf32>) -> tensor<2x5x5x3xf32> loc("5")
    %6 = "top.MatMul"(%5, %m, %b) {right_transpose = true} : (tensor<2x5x5x3xf32>, tensor<3x3xf32>, tensor<3xf32>) -> tensor<2x5x5x3xf32> loc("6")
    %7 = "top.Permute"(%6) {order = [0, 3, 1, 2]} : (tensor<2x5x5x3xf32>) -> tensor<2x3x5x5xf32> loc("7")
    %8 = "top.MatMul"(%7, %v, %n) : (tensor<2x3x5x5xf32>, tensor<2x3x5x4xf32>, none) -> tensor<2x3x5x4xf32> loc("8")
    %9 = "top.Permute"(%8) {order = [0, 2, 1, 3]} : (tensor<2x3x5x4xf32>) -> tensor<2x5x3x4xf32> loc("9")
    %talking = "top.Reshape"(%9, %n) {shape = [2, 5, 12]} : (tensor<2x5x3x4xf32>, none) -> tensor<2x5x12xf32> loc("talking")

    %g1 = "top.MatMul"(%q, %k, %n) {right_transpose = true} : (tensor<2x3x5x4xf32>, tensor<2x3x5x4xf32>, none) -> tensor<2x3x5x5xf32> loc("g1")
    %g2 = "top.Softmax"(%g1) {axis = 3 : i64, beta = 0.5 : f64} : (tensor<2x3x5x5xf32>) -> tensor<2x3x5x5xf32> loc("g2")
    %g3 = "top.Mul"(%gate, %g2) : (tensor<1x3x1x1xf32>, tensor<2x3x5x5xf32>) -> tensor<2x3x5x5xf32> loc("g3")
    %g4 = "top.Add"(%given, %g3) : (tensor<1x3x5x5xf32>, tensor<2x3x5x5xf32>) -> tensor<2x3x5x5xf32> loc("g4")
    %h1 = "top.MatMul"(%k, %q, %n) {right_transpose = true} : (tensor<2x3x5x4xf32>, tensor<2x3x5x4xf32>, none) -> tensor<2x3x5x5xf32> loc("h1")
    %h2 = "top.Softmax"(%h1) {axis = 3 : i64} : (tensor<2x3x5x5xf32>) -> tensor<2x3x5x5xf32> loc("h2")
    %h4 = "top.Add"(%h2, %given) : (tensor<2x3x5x5xf32>, tensor<1x3x5x5xf32>) -> tensor<2x3x5x5xf32> loc("h4")
    %g6 = "top.Reduce"(%h4, %n) {axes = [-1], keepdims = false, mode = "ReduceSum"} : (tensor<2x3x5x5xf32>, none) -> tensor<2x3x5xf32> loc("g6")
    %g7 = "top.Unsqueeze"(%g6, %n) {axes = [-1]} : (tensor<2x3x5xf32>, none) -> tensor<2x3x5x1xf32> loc("g7")
    %g8 = "top.Div"(%h4, %g7) : (tensor<2x3x5x5xf32>, tensor<2x3x5x1xf32>) -> tensor<2x3x5x5xf32> loc("g8")
    %g5 = "top.MatMul"(%g4, %v, %n) : (tensor<2x3x5x5xf32>, tensor<2x3x5x4xf32>, none) -> tensor<2x3x5x4xf32> loc("gated")
    %g9 = "top.MatMul"(%g8, %v, %n) : (tensor<2x3x5x5xf32>, tensor<2x3x5x4xf32>, none) -> tensor<2x3x5x4xf32> loc("divided")

    %b0 = "top.Reshape"(%y, %n) {shape = [1, 2, 5, 3, 3, 4]} : (tensor<1x2x5x36xf32>, none) -> tensor<1x2x5x3x3x4xf32> loc("b0")
    %b1 = "top.Permute"(%b0) {order = [3, 0, 4, 1, 2, 5]} : (tensor<1x2x5x3x3x4xf32>) -> tensor<3x1x3x2x5x4xf32> loc("b1")
    %b2, %b3, %b4 = "top.Split"(%b1, %n) {axis = 0 : i64, split_size = [1, 1, 1]} : (tensor<3x1x3x2x5x4xf32>, none) -> (tensor<1x1x3x2x5x4xf32>, tensor<1x1x3x2x5x4xf32>, tensor<1x1x3x2x5x4xf32>) loc(fused["b2", "b3", "b4"])
    %b5 = "top.Squeeze"(%b2, %n) {axes = [0]} : (tensor<1x1x3x2x5x4xf32>, none) -> tensor<1x3x2x5x4xf32> loc("b5")
    %b6 = "top.Squeeze"(%b3, %n) {axes = [0]} : (tensor<1x1x3x2x5x4xf32>, none) -> tensor<1x3x2x5x4xf32> loc("b6")
    %b7 = "top.Squeeze"(%b4, %n) {axes = [0]} : (tensor<1x1x3x2x5x4xf32>, none) -> tensor<1x3x2x5x4xf32> loc("b7")
    %b8 = "top.MulConst"(%b5) {const_val = 0.5 : f64} : (tensor<1x3x2x5x4xf32>) -> tensor<1x3x2x5x4xf32> loc("b8")
    %b9 = "top.MatMul"(%b8, %b6, %n) {right_transpose = true} : (tensor<1x3x2x5x4xf32>, tensor<1x3x2x5x4xf32>, none) -> tensor<1x3x2x5x5xf32> loc("b9")
    %b10 = "top.Softmax"(%b9) {axis = -1 : i64} : (tensor<1x3x2x5x5xf32>) -> tensor<1x3x2x5x5xf32> loc("b10")
    %b11 = "top.MatMul"(%b10, %b7, %n) : (tensor<1x3x2x5x5xf32>, tensor<1x3x2x5x4xf32>, none) -> tensor<1x3x2x5x4xf32> loc("b11")
    %b12 = "top.Permute"(%b11) {order = [0, 2, 3, 4, 1]} : (tensor<1x3x2x5x4xf32>) -> tensor<1x2x5x4x3xf32> loc("b12")
    %b13 = "top.Reshape"(%b12, %n) {shape = [1, 2, 5, 12]} : (tensor<1x2x5x4x3xf32>, none) -> tensor<1x2x5x12xf32> loc("b13")
    %blocks = "top.MatMul"(%b13, %w, %n) : (tensor<1x2x5x12xf32>, tensor<12x4xf32>, none) -> tensor<1x2x5x4xf32> loc("blocks")
    return %talking, %g5, %g9, %blocks : tensor<2x5x12xf32>, tensor<2x3x5x4xf32>, tensor<2x3x5x4xf32>, tensor<1x2x5x4xf32>
  }
}

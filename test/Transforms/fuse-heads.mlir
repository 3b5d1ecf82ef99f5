// RUN: tpuc-opt %s --split-input-file --shape-infer --top-fuse --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s

// Parts of each head, in any order: the columns of all heads stand together for each of them, and what
// nothing reads stays between.
// CHECK-LABEL: func.func @parts
// CHECK: %[[M:.*]] = "top.MatMul"(%arg0, {{.*}} -> tensor<2x5x16xf32> loc("m_by_part")
// CHECK: %[[B:.*]] = "top.Slice"(%[[M]], {{.*}}offset = [10]{{.*}} -> tensor<2x5x6xf32> loc("b_columns")
// CHECK: "top.Reshape"(%[[B]], {{.*}} -> tensor<2x5x2x3xf32> loc("b")
// CHECK-NOT: tensor<2x5x2x8xf32>
func.func @parts(%x: tensor<2x5x4xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %none = "top.None"() : () -> none
  %w = "top.ConstantFill"(%none) {shape = [4, 16], value = 0.5 : f32} : (none) -> tensor<4x16xf32>
  %m = "top.MatMul"(%x, %w, %none) : (tensor<2x5x4xf32>, tensor<4x16xf32>, none) -> tensor<*xf32> loc("m")
  %h = "top.Reshape"(%m, %none) {shape = [2, 5, 2, 8]} : (tensor<*xf32>, none) -> tensor<*xf32> loc("h")
  %b = "top.Slice"(%h, %none, %none, %none, %none) {axes = [-1], offset = [5], ends = [8], steps = [1]} : (tensor<*xf32>, none, none, none, none) -> tensor<*xf32> loc("b")
  %a = "top.Slice"(%h, %none, %none, %none, %none) {axes = [3], offset = [1], ends = [3], steps = [1]} : (tensor<*xf32>, none, none, none, none) -> tensor<*xf32> loc("a")
  %p = "top.Permute"(%a) {order = [0, 2, 1, 3]} : (tensor<*xf32>) -> tensor<*xf32> loc("p")
  return %b, %p : tensor<*xf32>, tensor<*xf32>
}

// -----

// Heads are in front of the rows before they are divided.
// CHECK-LABEL: func.func @permuted
// CHECK: %[[M:.*]] = "top.MatMul"(%arg0, {{.*}} -> tensor<2x5x16xf32> loc("m_by_part")
// CHECK: %[[A:.*]] = "top.Reshape"({{.*}} -> tensor<2x5x2x3xf32> loc("a_heads")
// CHECK: "top.Permute"(%[[A]]) {order = [0, 2, 1, 3]} : {{.*}} -> tensor<2x2x5x3xf32> loc("a")
func.func @permuted(%x: tensor<2x5x4xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %none = "top.None"() : () -> none
  %w = "top.ConstantFill"(%none) {shape = [4, 16], value = 0.5 : f32} : (none) -> tensor<4x16xf32>
  %m = "top.MatMul"(%x, %w, %none) : (tensor<2x5x4xf32>, tensor<4x16xf32>, none) -> tensor<*xf32> loc("m")
  %h = "top.Reshape"(%m, %none) {shape = [2, 5, 2, 8]} : (tensor<*xf32>, none) -> tensor<*xf32> loc("h")
  %p = "top.Permute"(%h) {order = [0, 2, 1, 3]} : (tensor<*xf32>) -> tensor<*xf32> loc("p")
  %a, %b = "top.Split"(%p, %none) {axis = 3 : i64, split_size = [3, 5]} : (tensor<*xf32>, none) -> (tensor<*xf32>, tensor<*xf32>) loc(fused["a", "b"])
  return %a, %b : tensor<*xf32>, tensor<*xf32>
}

// -----

// Something else reads the heads; nothing goes in front of the rows.
// CHECK-LABEL: func.func @stays
// CHECK-NOT: by_part
func.func @stays(%x: tensor<2x5x4xf32>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) {
  %none = "top.None"() : () -> none
  %w = "top.ConstantFill"(%none) {shape = [4, 16], value = 0.5 : f32} : (none) -> tensor<4x16xf32>
  %m = "top.MatMul"(%x, %w, %none) : (tensor<2x5x4xf32>, tensor<4x16xf32>, none) -> tensor<*xf32>
  %h = "top.Reshape"(%m, %none) {shape = [2, 5, 2, 8]} : (tensor<*xf32>, none) -> tensor<*xf32>
  %a, %b = "top.Split"(%h, %none) {axis = 3 : i64, split_size = [3, 5]} : (tensor<*xf32>, none) -> (tensor<*xf32>, tensor<*xf32>)
  %n = "top.MatMul"(%x, %w, %none) {do_relu = true} : (tensor<2x5x4xf32>, tensor<4x16xf32>, none) -> tensor<*xf32>
  %i = "top.Reshape"(%n, %none) {shape = [2, 5, 2, 8]} : (tensor<*xf32>, none) -> tensor<*xf32>
  %c, %d = "top.Split"(%i, %none) {axis = 3 : i64, split_size = [3, 5]} : (tensor<*xf32>, none) -> (tensor<*xf32>, tensor<*xf32>)
  %p = "top.Permute"(%c) {order = [0, 2, 1, 3]} : (tensor<*xf32>) -> tensor<*xf32>
  %r = "top.Relu"(%i) : (tensor<*xf32>) -> tensor<*xf32>
  %q = "top.Concat"(%a, %b) {axis = 3 : i64} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  return %q, %p, %r : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>
}

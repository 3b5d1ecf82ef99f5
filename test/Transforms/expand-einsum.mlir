// RUN: tpuc-opt %s --shape-infer --top-fuse --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s
// RUN: tpuc-opt %s --shape-infer --top-fuse=disable=einsum-to-products | FileCheck %s --check-prefix=OFF

// OFF-COUNT-14: "top.Einsum"

// A batch of products, whose right operands are transposed.
// CHECK-LABEL: func.func @scores
// CHECK: %[[Y:.*]] = "top.MatMul"(%arg0, %arg1, {{.*}}right_transpose = true{{.*}} -> tensor<2x3x5x6xf32> loc("y")
// CHECK-NEXT: return %[[Y]]
func.func @scores(%a: tensor<2x3x5x4xf32>, %b: tensor<2x3x6x4xf32>) -> tensor<2x3x5x6xf32> {
  %y = "top.Einsum"(%a, %b) {mode = "bhqd, bhkd -> bhqk"} : (tensor<2x3x5x4xf32>, tensor<2x3x6x4xf32>) -> tensor<2x3x5x6xf32> loc("y")
  return %y : tensor<2x3x5x6xf32>
}

// Heads behind the rows: they go in front of them, and attention is found.
// CHECK-LABEL: func.func @attention
// CHECK-DAG: %[[Q:.*]] = "top.Permute"(%arg0) {order = [0, 2, 1, 3]}
// CHECK-DAG: %[[K:.*]] = "top.Permute"(%arg1) {order = [0, 2, 1, 3]}
// CHECK-DAG: %[[V:.*]] = "top.Permute"(%arg2) {order = [0, 2, 1, 3]}
// CHECK: %[[A:.*]], %{{.*}}, %{{.*}}, %{{.*}} = "top.ScaleDotProductAttention"(%[[Q]], %[[K]], %[[V]]
// CHECK: "top.Permute"(%[[A]]) {order = [0, 2, 1, 3]} {{.*}} loc("y")
func.func @attention(%q: tensor<1x8x3x4xf32>, %k: tensor<1x6x3x4xf32>, %v: tensor<1x6x3x4xf32>) -> tensor<1x8x3x4xf32> {
  %0 = "top.Einsum"(%q, %k) {mode = "bqhd,bkhd->bhqk"} : (tensor<1x8x3x4xf32>, tensor<1x6x3x4xf32>) -> tensor<1x3x8x6xf32>
  %1 = "top.Softmax"(%0) {axis = -1 : i64} : (tensor<1x3x8x6xf32>) -> tensor<1x3x8x6xf32>
  %y = "top.Einsum"(%1, %v) {mode = "bhqk,bkhd->bqhd"} : (tensor<1x3x8x6xf32>, tensor<1x6x3x4xf32>) -> tensor<1x8x3x4xf32> loc("y")
  return %y : tensor<1x8x3x4xf32>
}

// One constant matrix for all rows, which stay what they are.
// CHECK-LABEL: func.func @rows
// CHECK: "top.MatMul"(%arg0, {{.*}} : (tensor<2x3x5x4xf32>, tensor<4x6xf32>, none) -> tensor<2x3x5x6xf32> loc("y")
func.func @rows(%a: tensor<2x3x5x4xf32>) -> tensor<2x3x5x6xf32> {
  %none = "top.None"() : () -> none
  %w = "top.ConstantFill"(%none) {shape = [4, 6], value = 2.0 : f32} : (none) -> tensor<4x6xf32>
  %y = "top.Einsum"(%a, %w) {mode = "...c,cd->...d"} : (tensor<2x3x5x4xf32>, tensor<4x6xf32>) -> tensor<2x3x5x6xf32> loc("y")
  return %y : tensor<2x3x5x6xf32>
}

// A constant is permuted here. Two labels of rows in front of the batch are one dimension.
// CHECK-LABEL: func.func @positions
// CHECK: %[[X:.*]] = "top.Permute"(%arg0) {order = [3, 0, 1, 2, 4]}
// CHECK: %[[L:.*]] = "top.Reshape"(%[[X]]{{.*}} -> tensor<5x12x8xf32>
// CHECK: %[[W:.*]] = "top.Weight"{{.*}} loc("y_right
// CHECK: %[[P:.*]] = "top.MatMul"(%[[L]], %[[W]]
// CHECK: %[[R:.*]] = "top.Reshape"(%[[P]]{{.*}} -> tensor<5x1x3x4x7xf32>
// CHECK: "top.Permute"(%[[R]]) {order = [1, 2, 3, 0, 4]} {{.*}} loc("y")
func.func @positions(%q: tensor<1x3x4x5x8xf32>) -> tensor<1x3x4x5x7xf32> {
  %none = "top.None"() : () -> none
  %w = "top.ConstantFill"(%none) {shape = [7, 5, 8], value = 2.0 : f32} : (none) -> tensor<7x5x8xf32>
  %y = "top.Einsum"(%q, %w) {mode = "byhwc,kwc->byhwk"} : (tensor<1x3x4x5x8xf32>, tensor<7x5x8xf32>) -> tensor<1x3x4x5x7xf32> loc("y")
  return %y : tensor<1x3x4x5x7xf32>
}

// Of one sample, a matrix on the left is one on the right of the transposed one.
// CHECK-LABEL: func.func @mixed_tokens
// CHECK-NOT: "top.Permute"
// CHECK: "top.MatMul"
// CHECK-NOT: "top.Permute"
// CHECK: return
func.func @mixed_tokens(%w: tensor<6x4xf32>, %x: tensor<1x4x8xf32>) -> tensor<1x6x8xf32> {
  %y = "top.Einsum"(%w, %x) {mode = "ts,bsc->btc"} : (tensor<6x4xf32>, tensor<1x4x8xf32>) -> tensor<1x6x8xf32>
  return %y : tensor<1x6x8xf32>
}

// Nothing is summed: products of elements.
// CHECK-LABEL: func.func @outer
// CHECK-DAG: %[[A:.*]] = "top.Reshape"(%arg0{{.*}} -> tensor<2x4x1xf32>
// CHECK-DAG: %[[B:.*]] = "top.Reshape"(%arg1{{.*}} -> tensor<2x1x5xf32>
// CHECK: "top.Mul"(%[[A]], %[[B]]){{.*}} -> tensor<2x4x5xf32> loc("y")
func.func @outer(%a: tensor<2x4xf32>, %b: tensor<2x5xf32>) -> tensor<2x4x5xf32> {
  %y = "top.Einsum"(%a, %b) {mode = "bi,bj->bij"} : (tensor<2x4xf32>, tensor<2x5xf32>) -> tensor<2x4x5xf32> loc("y")
  return %y : tensor<2x4x5xf32>
}

// Many dimensions that alternate between the factors: they stand together in the product.
// CHECK-LABEL: func.func @kronecker
// CHECK: "top.Mul"{{.*}} -> tensor<120x30xf32>
// CHECK: "top.Permute"
func.func @kronecker(%a: tensor<2x3x4x5xf32>, %b: tensor<6x5xf32>) -> tensor<2x6x3x5x4x5xf32> {
  %y = "top.Einsum"(%a, %b) {mode = "abcd,ef->aebfcd"} : (tensor<2x3x4x5xf32>, tensor<6x5xf32>) -> tensor<2x6x3x5x4x5xf32>
  return %y : tensor<2x6x3x5x4x5xf32>
}

// Single rows are multiplied element by element.
// CHECK-LABEL: func.func @dots
// CHECK: %[[P:.*]] = "top.Mul"(%arg0, %arg1)
// CHECK: "top.Reduce"(%[[P]]{{.*}}axes = [2]{{.*}}mode = "ReduceSum"{{.*}} -> tensor<2x3xf32> loc("y")
func.func @dots(%a: tensor<2x3x8xf32>, %b: tensor<2x3x8xf32>) -> tensor<2x3xf32> {
  %y = "top.Einsum"(%a, %b) {mode = "bhd,bhd->bh"} : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3xf32> loc("y")
  return %y : tensor<2x3xf32>
}

// Sums over what one operand has alone come first. An extent of 1 stands for any.
// CHECK-LABEL: func.func @own_sums
// CHECK: %[[S:.*]] = "top.Reduce"(%arg0{{.*}}axes = [2]
// CHECK: "top.MatMul"(%[[S]]
func.func @own_sums(%a: tensor<2x3x8xf32>, %b: tensor<1x3x4xf32>) -> tensor<2x4xf32> {
  %y = "top.Einsum"(%a, %b) {mode = "bij,bik->bk"} : (tensor<2x3x8xf32>, tensor<1x3x4xf32>) -> tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}

// The diagonal is every sixth element; its sum is the trace.
// CHECK-LABEL: func.func @trace
// CHECK: %[[F:.*]] = "top.Reshape"(%arg0{{.*}} -> tensor<2x25xf32>
// CHECK: %[[D:.*]] = "top.Slice"(%[[F]]{{.*}}axes = [1], ends = [25], offset = [0], steps = [6]{{.*}} -> tensor<2x5xf32>
// CHECK: "top.Reduce"(%[[D]]{{.*}} loc("y")
func.func @trace(%a: tensor<2x5x5xf32>) -> tensor<2xf32> {
  %y = "top.Einsum"(%a) {mode = "bii->b"} : (tensor<2x5x5xf32>) -> tensor<2xf32> loc("y")
  return %y : tensor<2xf32>
}

// The product of the two small matrices first.
// CHECK-LABEL: func.func @chain
// CHECK: %[[P:.*]] = "top.MatMul"(%arg1, %arg2
// CHECK: "top.MatMul"(%arg0, %[[P]]{{.*}} loc("y")
func.func @chain(%a: tensor<64x4xf32>, %b: tensor<4x4xf32>, %c: tensor<4x4xf32>) -> tensor<64x4xf32> {
  %y = "top.Einsum"(%a, %b, %c) {mode = "ij,jk,kl->il"} : (tensor<64x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<64x4xf32> loc("y")
  return %y : tensor<64x4xf32>
}

// What changes nothing keeps its name.
// CHECK-LABEL: func.func @same
// CHECK: "top.Copy"(%arg0) {{.*}} loc("y")
func.func @same(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %y = "top.Einsum"(%a) {mode = "ij->ij"} : (tensor<2x3xf32>) -> tensor<2x3xf32> loc("y")
  return %y : tensor<2x3xf32>
}

// Integers and open extents stay.
// CHECK-LABEL: func.func @integers
// CHECK: "top.Einsum"
func.func @integers(%a: tensor<2x3xi64>) -> tensor<3x2xi64> {
  %y = "top.Einsum"(%a) {mode = "ij->ji"} : (tensor<2x3xi64>) -> tensor<3x2xi64>
  return %y : tensor<3x2xi64>
}

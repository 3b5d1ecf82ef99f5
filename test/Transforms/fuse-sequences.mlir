// RUN: tpuc-opt %s --shape-infer --top-fuse --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s
// RUN: tpuc-opt %s --shape-infer --top-fuse=disable=heads-of-rows | FileCheck %s --check-prefix=OFF

// OFF: "top.ScaleDotProductAttention"({{.*}} -> (tensor<6x1x7x4xf32>

// Steps before samples, as torch's multi-head attention has them: heads are parts of rows, and the
// rows of what reads and makes them are exchanged no more.
// CHECK-LABEL: func.func @self
// CHECK-NOT: order = [1, 0, 2]
// CHECK: %[[ALL:.*]] = "top.MatMul"(%arg0, {{.*}} -> tensor<2x7x36xf32> loc("all_rows")
// CHECK: %[[Q:.*]] = "top.Slice"(%[[ALL]], {{.*}} -> tensor<2x7x12xf32> loc("q_rows")
// CHECK: %[[SPLIT:.*]] = "top.Reshape"(%[[Q]], {{.*}} -> tensor<2x7x3x4xf32> loc("y_queries_apart")
// CHECK: %[[HEADS:.*]] = "top.Permute"(%[[SPLIT]]) {order = [0, 2, 1, 3]} : {{.*}} -> tensor<2x3x7x4xf32> loc("y_queries")
// CHECK: "top.ScaleDotProductAttention"(%[[HEADS]], {{.*}}scale = 5.000000e-01 : f64{{.*}} -> (tensor<2x3x7x4xf32>
// CHECK: "top.Permute"({{.*}} {order = [0, 2, 1, 3]} : {{.*}} -> tensor<2x7x3x4xf32> loc("y_apart")
// CHECK-NOT: "top.Permute"
// CHECK: "top.MatMul"({{.*}} -> tensor<14x12xf32> loc("g_rows")
// CHECK: "top.Reshape"({{.*}} -> tensor<2x7x12xf32> loc("z")
// CHECK-NEXT: return
func.func @self(%x: tensor<2x7x12xf32>) -> tensor<2x7x12xf32> {
  %none = "top.None"() : () -> none
  %w = "top.ConstantFill"(%none) {shape = [12, 36], value = 0.5 : f32} : (none) -> tensor<12x36xf32>
  %u = "top.ConstantFill"(%none) {shape = [12, 12], value = 0.5 : f32} : (none) -> tensor<12x12xf32>
  %steps = "top.Permute"(%x) {order = [1, 0, 2]} : (tensor<2x7x12xf32>) -> tensor<7x2x12xf32> loc("steps")
  %all = "top.MatMul"(%steps, %w, %none) : (tensor<7x2x12xf32>, tensor<12x36xf32>, none) -> tensor<7x2x36xf32> loc("all")
  %q = "top.Slice"(%all, %none, %none, %none, %none) {axes = [-1], offset = [0], ends = [12]} : (tensor<7x2x36xf32>, none, none, none, none) -> tensor<7x2x12xf32> loc("q")
  %k = "top.Slice"(%all, %none, %none, %none, %none) {axes = [-1], offset = [12], ends = [24]} : (tensor<7x2x36xf32>, none, none, none, none) -> tensor<7x2x12xf32> loc("k")
  %v = "top.Slice"(%all, %none, %none, %none, %none) {axes = [-1], offset = [24], ends = [36]} : (tensor<7x2x36xf32>, none, none, none, none) -> tensor<7x2x12xf32> loc("v")
  %qs = "top.Reshape"(%q, %none) {shape = [7, 6, 4]} : (tensor<7x2x12xf32>, none) -> tensor<7x6x4xf32>
  %ks = "top.Reshape"(%k, %none) {shape = [7, 6, 4]} : (tensor<7x2x12xf32>, none) -> tensor<7x6x4xf32>
  %vs = "top.Reshape"(%v, %none) {shape = [7, 6, 4]} : (tensor<7x2x12xf32>, none) -> tensor<7x6x4xf32>
  %qh = "top.Permute"(%qs) {order = [1, 0, 2]} : (tensor<7x6x4xf32>) -> tensor<6x7x4xf32>
  %kh = "top.Permute"(%ks) {order = [1, 0, 2]} : (tensor<7x6x4xf32>) -> tensor<6x7x4xf32>
  %vh = "top.Permute"(%vs) {order = [1, 0, 2]} : (tensor<7x6x4xf32>) -> tensor<6x7x4xf32>
  %q4 = "top.Unsqueeze"(%qh, %none) {axes = [1]} : (tensor<6x7x4xf32>, none) -> tensor<6x1x7x4xf32>
  %k4 = "top.Unsqueeze"(%kh, %none) {axes = [1]} : (tensor<6x7x4xf32>, none) -> tensor<6x1x7x4xf32>
  %v4 = "top.Unsqueeze"(%vh, %none) {axes = [1]} : (tensor<6x7x4xf32>, none) -> tensor<6x1x7x4xf32>
  %y:4 = "top.ScaleDotProductAttention"(%q4, %k4, %v4, %none, %none, %none, %none) {scale = 0.5 : f64} : (tensor<6x1x7x4xf32>, tensor<6x1x7x4xf32>, tensor<6x1x7x4xf32>, none, none, none, none) -> (tensor<6x1x7x4xf32>, none, none, none) loc("y")
  %s = "top.Squeeze"(%y#0, %none) {axes = [1]} : (tensor<6x1x7x4xf32>, none) -> tensor<6x7x4xf32>
  %b = "top.Permute"(%s) {order = [1, 0, 2]} : (tensor<6x7x4xf32>) -> tensor<7x6x4xf32> loc("b")
  %r = "top.Reshape"(%b, %none) {shape = [14, 12]} : (tensor<7x6x4xf32>, none) -> tensor<14x12xf32>
  %g = "top.MatMul"(%r, %u, %none) : (tensor<14x12xf32>, tensor<12x12xf32>, none) -> tensor<14x12xf32> loc("g")
  %t = "top.Reshape"(%g, %none) {shape = [7, 2, 12]} : (tensor<14x12xf32>, none) -> tensor<7x2x12xf32>
  %z = "top.Permute"(%t) {order = [1, 0, 2]} : (tensor<7x2x12xf32>) -> tensor<2x7x12xf32> loc("z")
  return %z : tensor<2x7x12xf32>
}

// What else reads the rows of the product needs them as they are; a mask for each sample stays with
// its heads.
// CHECK-LABEL: func.func @kept
// CHECK: "top.Permute"(%arg0) {order = [1, 0, 2]}
// CHECK: "top.ScaleDotProductAttention"({{.*}} -> (tensor<6x1x7x4xf32>
func.func @kept(%x: tensor<2x7x12xf32>, %m: tensor<6x1x7x7xf32>) -> (tensor<7x2x12xf32>, tensor<7x6x4xf32>) {
  %none = "top.None"() : () -> none
  %w = "top.ConstantFill"(%none) {shape = [12, 12], value = 0.5 : f32} : (none) -> tensor<12x12xf32>
  %steps = "top.Permute"(%x) {order = [1, 0, 2]} : (tensor<2x7x12xf32>) -> tensor<7x2x12xf32>
  %q = "top.MatMul"(%steps, %w, %none) : (tensor<7x2x12xf32>, tensor<12x12xf32>, none) -> tensor<7x2x12xf32> loc("q")
  %qs = "top.Reshape"(%q, %none) {shape = [7, 6, 4]} : (tensor<7x2x12xf32>, none) -> tensor<7x6x4xf32>
  %qh = "top.Permute"(%qs) {order = [1, 0, 2]} : (tensor<7x6x4xf32>) -> tensor<6x7x4xf32>
  %q4 = "top.Unsqueeze"(%qh, %none) {axes = [1]} : (tensor<6x7x4xf32>, none) -> tensor<6x1x7x4xf32>
  %y:4 = "top.ScaleDotProductAttention"(%q4, %q4, %q4, %m, %none, %none, %none) : (tensor<6x1x7x4xf32>, tensor<6x1x7x4xf32>, tensor<6x1x7x4xf32>, tensor<6x1x7x7xf32>, none, none, none) -> (tensor<6x1x7x4xf32>, none, none, none) loc("y")
  %s = "top.Squeeze"(%y#0, %none) {axes = [1]} : (tensor<6x1x7x4xf32>, none) -> tensor<6x7x4xf32>
  %b = "top.Permute"(%s) {order = [1, 0, 2]} : (tensor<6x7x4xf32>) -> tensor<7x6x4xf32> loc("b")
  return %q, %b : tensor<7x2x12xf32>, tensor<7x6x4xf32>
}

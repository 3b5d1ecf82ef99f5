// RUN: tpuc-opt %s --shape-infer --top-fuse --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s
// RUN: tpuc-opt %s --shape-infer --top-fuse=disable=to-attention | FileCheck %s --check-prefix=OFF

// OFF-NOT: "top.ScaleDotProductAttention"

// The scale is a quotient behind the product, which becomes a factor of the softmax.
// CHECK-LABEL: func.func @vit
// CHECK-NEXT: %[[NONE:.*]] = "top.None"
// CHECK-NEXT: "top.ScaleDotProductAttention"(%arg0, %arg1, %arg2, %[[NONE]], {{.*}}scale = 1.250000e-01 : f64{{.*}} loc("y")
// CHECK-NEXT: return
func.func @vit(%q: tensor<2x3x10x64xf32>, %k: tensor<2x3x12x64xf32>, %v: tensor<2x3x12x32xf32>) -> tensor<2x3x10x32xf32> {
  %none = "top.None"() : () -> none
  %c = "top.ConstantFill"(%none) {shape = [], value = 8.0 : f32} : (none) -> tensor<f32>
  %t = "top.Permute"(%k) {order = [0, 1, 3, 2]} : (tensor<2x3x12x64xf32>) -> tensor<2x3x64x12xf32>
  %s = "top.MatMul"(%q, %t, %none) : (tensor<2x3x10x64xf32>, tensor<2x3x64x12xf32>, none) -> tensor<2x3x10x12xf32>
  %d = "top.Div"(%s, %c) : (tensor<2x3x10x12xf32>, tensor<f32>) -> tensor<2x3x10x12xf32>
  %p = "top.Softmax"(%d) {axis = -1 : i64} : (tensor<2x3x10x12xf32>) -> tensor<2x3x10x12xf32>
  %y = "top.MatMul"(%p, %v, %none) : (tensor<2x3x10x12xf32>, tensor<2x3x12x32xf32>, none) -> tensor<2x3x10x32xf32> loc("y")
  return %y : tensor<2x3x10x32xf32>
}

// Queries and keys are each scaled by the root; keys come from [B, K, H, D] by one permutation.
// CHECK-LABEL: func.func @split_scale
// CHECK: %[[K:.*]] = "top.Permute"(%arg1) {order = [0, 2, 1, 3]} : {{.*}} loc("y_key")
// CHECK-NEXT: "top.ScaleDotProductAttention"(%arg0, %[[K]], %arg2, %arg3, {{.*}}scale = 2.500000e-01 : f64{{.*}} loc("y")
// CHECK-NEXT: return
func.func @split_scale(%q: tensor<2x3x10x16xf32>, %k: tensor<2x12x3x16xf32>, %v: tensor<2x3x12x16xf32>, %m: tensor<2x1x1x12xf32>) -> tensor<2x3x10x16xf32> {
  %none = "top.None"() : () -> none
  %c = "top.ConstantFill"(%none) {shape = [], value = 0.5 : f32} : (none) -> tensor<f32>
  %a = "top.Mul"(%q, %c) : (tensor<2x3x10x16xf32>, tensor<f32>) -> tensor<2x3x10x16xf32>
  %t = "top.Permute"(%k) {order = [0, 2, 3, 1]} : (tensor<2x12x3x16xf32>) -> tensor<2x3x16x12xf32>
  %b = "top.Mul"(%t, %c) : (tensor<2x3x16x12xf32>, tensor<f32>) -> tensor<2x3x16x12xf32>
  %s = "top.MatMul"(%a, %b, %none) : (tensor<2x3x10x16xf32>, tensor<2x3x16x12xf32>, none) -> tensor<2x3x10x12xf32>
  %d = "top.Add"(%s, %m) : (tensor<2x3x10x12xf32>, tensor<2x1x1x12xf32>) -> tensor<2x3x10x12xf32>
  %p = "top.Softmax"(%d) {axis = 3 : i64} : (tensor<2x3x10x12xf32>) -> tensor<2x3x10x12xf32>
  %y = "top.MatMul"(%p, %v, %none) : (tensor<2x3x10x12xf32>, tensor<2x3x12x16xf32>, none) -> tensor<2x3x10x16xf32> loc("y")
  return %y : tensor<2x3x10x16xf32>
}

// Batches of one head. The mask has one plane for each of them.
// CHECK-LABEL: func.func @three_dimensions
// CHECK-DAG: %[[Q:.*]] = "top.Unsqueeze"(%arg0, {{.*}}-> tensor<6x1x10x16xf32>
// CHECK-DAG: %[[K:.*]] = "top.Unsqueeze"(%arg1, {{.*}}-> tensor<6x1x12x16xf32>
// CHECK-DAG: %[[V:.*]] = "top.Unsqueeze"(%arg2, {{.*}}-> tensor<6x1x12x16xf32>
// CHECK-DAG: %[[M:.*]] = "top.Unsqueeze"(%arg3, {{.*}}-> tensor<6x1x10x12xf32>
// CHECK: %[[A:[^,]*]], {{.*}} = "top.ScaleDotProductAttention"(%[[Q]], %[[K]], %[[V]], %[[M]], {{.*}}scale = 1.000000e+00 : f64{{.*}} loc("y_4d")
// CHECK-NEXT: "top.Squeeze"(%[[A]], {{.*}}-> tensor<6x10x16xf32> loc("y")
func.func @three_dimensions(%q: tensor<6x10x16xf32>, %k: tensor<6x12x16xf32>, %v: tensor<6x12x16xf32>, %m: tensor<6x10x12xf32>) -> tensor<6x10x16xf32> {
  %none = "top.None"() : () -> none
  %s = "top.MatMul"(%q, %k, %none) {right_transpose = true} : (tensor<6x10x16xf32>, tensor<6x12x16xf32>, none) -> tensor<6x10x12xf32>
  %d = "top.Add"(%m, %s) : (tensor<6x10x12xf32>, tensor<6x10x12xf32>) -> tensor<6x10x12xf32>
  %p = "top.Softmax"(%d) {axis = -1 : i64} : (tensor<6x10x12xf32>) -> tensor<6x10x12xf32>
  %y = "top.MatMul"(%p, %v, %none) : (tensor<6x10x12xf32>, tensor<6x12x16xf32>, none) -> tensor<6x10x16xf32> loc("y")
  return %y : tensor<6x10x16xf32>
}

// The samples and the rows may be open.
// CHECK-LABEL: func.func @open
// CHECK: "top.ScaleDotProductAttention"(%arg0, %arg1, %arg1, {{.*}}-> (tensor<?x3x?x16xf32>
func.func @open(%q: tensor<?x3x?x16xf32>, %k: tensor<?x3x?x16xf32>) -> tensor<?x3x?x16xf32> {
  %none = "top.None"() : () -> none
  %s = "top.MatMul"(%q, %k, %none) {right_transpose = true} : (tensor<?x3x?x16xf32>, tensor<?x3x?x16xf32>, none) -> tensor<?x3x?x?xf32>
  %p = "top.Softmax"(%s) {axis = -1 : i64} : (tensor<?x3x?x?xf32>) -> tensor<?x3x?x?xf32>
  %y = "top.MatMul"(%p, %k, %none) : (tensor<?x3x?x?xf32>, tensor<?x3x?x16xf32>, none) -> tensor<?x3x?x16xf32> loc("y")
  return %y : tensor<?x3x?x16xf32>
}

// A constant condition hides keys, but none from all queries.
// CHECK-LABEL: func.func @causal
// CHECK: %[[M:.*]] = "top.Weight"() : () -> tensor<2x2xf32> loc("y_mask")
// CHECK: "top.ScaleDotProductAttention"(%arg0, %arg0, %arg0, %[[M]],
func.func @causal(%q: tensor<1x3x2x16xf32>) -> tensor<1x3x2x16xf32> {
  %none = "top.None"() : () -> none
  %one = "top.ConstantFill"(%none) {shape = [2, 2], value = 1.0 : f32} : (none) -> tensor<2x2xf32>
  %tri = "top.Trilu"(%one, %none) {upper = false, diagonal = 0 : i64} : (tensor<2x2xf32>, none) -> tensor<2x2xf32>
  %c = "top.Cast"(%tri) {to = i1} : (tensor<2x2xf32>) -> tensor<2x2xi1>
  %low = "top.ConstantFill"(%none) {shape = [], value = -1.0e9 : f32} : (none) -> tensor<f32>
  %s = "top.MatMul"(%q, %q, %none) {right_transpose = true} : (tensor<1x3x2x16xf32>, tensor<1x3x2x16xf32>, none) -> tensor<1x3x2x2xf32>
  %d = "top.Where"(%c, %s, %low) : (tensor<2x2xi1>, tensor<1x3x2x2xf32>, tensor<f32>) -> tensor<1x3x2x2xf32>
  %p = "top.Softmax"(%d) {axis = -1 : i64} : (tensor<1x3x2x2xf32>) -> tensor<1x3x2x2xf32>
  %y = "top.MatMul"(%p, %q, %none) : (tensor<1x3x2x2xf32>, tensor<1x3x2x16xf32>, none) -> tensor<1x3x2x16xf32> loc("y")
  return %y : tensor<1x3x2x16xf32>
}

// Inverted, the same condition hides both keys from the second query, whose weights are equal then.
// CHECK-LABEL: func.func @hides_all
// CHECK-NOT: "top.ScaleDotProductAttention"
// CHECK: return
func.func @hides_all(%q: tensor<1x3x2x16xf32>) -> tensor<1x3x2x16xf32> {
  %none = "top.None"() : () -> none
  %one = "top.ConstantFill"(%none) {shape = [2, 2], value = 1.0 : f32} : (none) -> tensor<2x2xf32>
  %tri = "top.Trilu"(%one, %none) {upper = false, diagonal = 0 : i64} : (tensor<2x2xf32>, none) -> tensor<2x2xf32>
  %c = "top.Cast"(%tri) {to = i1} : (tensor<2x2xf32>) -> tensor<2x2xi1>
  %low = "top.ConstantFill"(%none) {shape = [], value = -1.0e9 : f32} : (none) -> tensor<f32>
  %s = "top.MatMul"(%q, %q, %none) {right_transpose = true} : (tensor<1x3x2x16xf32>, tensor<1x3x2x16xf32>, none) -> tensor<1x3x2x2xf32>
  %d = "top.Where"(%c, %low, %s) : (tensor<2x2xi1>, tensor<f32>, tensor<1x3x2x2xf32>) -> tensor<1x3x2x2xf32>
  %p = "top.Softmax"(%d) {axis = -1 : i64} : (tensor<1x3x2x2xf32>) -> tensor<1x3x2x2xf32>
  %y = "top.MatMul"(%p, %q, %none) : (tensor<1x3x2x2xf32>, tensor<1x3x2x16xf32>, none) -> tensor<1x3x2x16xf32> loc("y")
  return %y : tensor<1x3x2x16xf32>
}

// -1 hides nothing.
// CHECK-LABEL: func.func @moderate_mask
// CHECK-NOT: "top.ScaleDotProductAttention"
// CHECK: return
func.func @moderate_mask(%q: tensor<1x3x2x16xf32>) -> tensor<1x3x2x16xf32> {
  %none = "top.None"() : () -> none
  %one = "top.ConstantFill"(%none) {shape = [2, 2], value = 1.0 : f32} : (none) -> tensor<2x2xf32>
  %tri = "top.Trilu"(%one, %none) {upper = false, diagonal = 0 : i64} : (tensor<2x2xf32>, none) -> tensor<2x2xf32>
  %c = "top.Cast"(%tri) {to = i1} : (tensor<2x2xf32>) -> tensor<2x2xi1>
  %low = "top.ConstantFill"(%none) {shape = [], value = -1.0 : f32} : (none) -> tensor<f32>
  %s = "top.MatMul"(%q, %q, %none) {right_transpose = true} : (tensor<1x3x2x16xf32>, tensor<1x3x2x16xf32>, none) -> tensor<1x3x2x2xf32>
  %d = "top.Where"(%c, %s, %low) : (tensor<2x2xi1>, tensor<1x3x2x2xf32>, tensor<f32>) -> tensor<1x3x2x2xf32>
  %p = "top.Softmax"(%d) {axis = -1 : i64} : (tensor<1x3x2x2xf32>) -> tensor<1x3x2x2xf32>
  %y = "top.MatMul"(%p, %q, %none) : (tensor<1x3x2x2xf32>, tensor<1x3x2x16xf32>, none) -> tensor<1x3x2x16xf32> loc("y")
  return %y : tensor<1x3x2x16xf32>
}

// The weights are an output.
// CHECK-LABEL: func.func @weights_read_twice
// CHECK-NOT: "top.ScaleDotProductAttention"
// CHECK: return
func.func @weights_read_twice(%q: tensor<1x3x2x16xf32>) -> (tensor<1x3x2x16xf32>, tensor<1x3x2x2xf32>) {
  %none = "top.None"() : () -> none
  %s = "top.MatMul"(%q, %q, %none) {right_transpose = true} : (tensor<1x3x2x16xf32>, tensor<1x3x2x16xf32>, none) -> tensor<1x3x2x2xf32>
  %p = "top.Softmax"(%s) {axis = -1 : i64} : (tensor<1x3x2x2xf32>) -> tensor<1x3x2x2xf32>
  %y = "top.MatMul"(%p, %q, %none) : (tensor<1x3x2x2xf32>, tensor<1x3x2x16xf32>, none) -> tensor<1x3x2x16xf32>
  return %y, %p : tensor<1x3x2x16xf32>, tensor<1x3x2x2xf32>
}

// The softmax is over the queries.
// CHECK-LABEL: func.func @other_axis
// CHECK-NOT: "top.ScaleDotProductAttention"
// CHECK: return
func.func @other_axis(%q: tensor<1x3x2x16xf32>) -> tensor<1x3x2x16xf32> {
  %none = "top.None"() : () -> none
  %s = "top.MatMul"(%q, %q, %none) {right_transpose = true} : (tensor<1x3x2x16xf32>, tensor<1x3x2x16xf32>, none) -> tensor<1x3x2x2xf32>
  %p = "top.Softmax"(%s) {axis = 2 : i64} : (tensor<1x3x2x2xf32>) -> tensor<1x3x2x2xf32>
  %y = "top.MatMul"(%p, %q, %none) : (tensor<1x3x2x2xf32>, tensor<1x3x2x16xf32>, none) -> tensor<1x3x2x16xf32>
  return %y : tensor<1x3x2x16xf32>
}

// The mask is scaled too.
// CHECK-LABEL: func.func @scale_behind_mask
// CHECK-NOT: "top.ScaleDotProductAttention"
// CHECK: return
func.func @scale_behind_mask(%q: tensor<1x3x2x16xf32>, %m: tensor<2x2xf32>) -> tensor<1x3x2x16xf32> {
  %none = "top.None"() : () -> none
  %s = "top.MatMul"(%q, %q, %none) {right_transpose = true} : (tensor<1x3x2x16xf32>, tensor<1x3x2x16xf32>, none) -> tensor<1x3x2x2xf32>
  %d = "top.Add"(%s, %m) : (tensor<1x3x2x2xf32>, tensor<2x2xf32>) -> tensor<1x3x2x2xf32>
  %p = "top.Softmax"(%d) {axis = -1 : i64, beta = 0.25 : f64} : (tensor<1x3x2x2xf32>) -> tensor<1x3x2x2xf32>
  %y = "top.MatMul"(%p, %q, %none) : (tensor<1x3x2x2xf32>, tensor<1x3x2x16xf32>, none) -> tensor<1x3x2x16xf32>
  return %y : tensor<1x3x2x16xf32>
}

// One number for all keys of a query; the op would hide all but the first.
// CHECK-LABEL: func.func @mask_per_query
// CHECK-NOT: "top.ScaleDotProductAttention"
// CHECK: return
func.func @mask_per_query(%q: tensor<1x3x2x16xf32>, %m: tensor<2x1xf32>) -> tensor<1x3x2x16xf32> {
  %none = "top.None"() : () -> none
  %s = "top.MatMul"(%q, %q, %none) {right_transpose = true} : (tensor<1x3x2x16xf32>, tensor<1x3x2x16xf32>, none) -> tensor<1x3x2x2xf32>
  %d = "top.Add"(%s, %m) : (tensor<1x3x2x2xf32>, tensor<2x1xf32>) -> tensor<1x3x2x2xf32>
  %p = "top.Softmax"(%d) {axis = -1 : i64} : (tensor<1x3x2x2xf32>) -> tensor<1x3x2x2xf32>
  %y = "top.MatMul"(%p, %q, %none) : (tensor<1x3x2x2xf32>, tensor<1x3x2x16xf32>, none) -> tensor<1x3x2x16xf32>
  return %y : tensor<1x3x2x16xf32>
}

// One sample of keys for two of queries: the op has no such thing, only heads that share keys.
// CHECK-LABEL: func.func @shared_samples
// CHECK-NOT: "top.ScaleDotProductAttention"
// CHECK: return
func.func @shared_samples(%q: tensor<2x3x2x16xf32>, %k: tensor<1x3x2x16xf32>) -> tensor<2x3x2x16xf32> {
  %none = "top.None"() : () -> none
  %s = "top.MatMul"(%q, %k, %none) {right_transpose = true} : (tensor<2x3x2x16xf32>, tensor<1x3x2x16xf32>, none) -> tensor<2x3x2x2xf32>
  %p = "top.Softmax"(%s) {axis = -1 : i64} : (tensor<2x3x2x2xf32>) -> tensor<2x3x2x2xf32>
  %y = "top.MatMul"(%p, %k, %none) : (tensor<2x3x2x2xf32>, tensor<1x3x2x16xf32>, none) -> tensor<2x3x2x16xf32>
  return %y : tensor<2x3x2x16xf32>
}

// CHECK-LABEL: func.func @shared_heads
// CHECK: "top.ScaleDotProductAttention"
func.func @shared_heads(%q: tensor<2x3x2x16xf32>, %k: tensor<2x1x2x16xf32>) -> tensor<2x3x2x16xf32> {
  %none = "top.None"() : () -> none
  %s = "top.MatMul"(%q, %k, %none) {right_transpose = true} : (tensor<2x3x2x16xf32>, tensor<2x1x2x16xf32>, none) -> tensor<2x3x2x2xf32>
  %p = "top.Softmax"(%s) {axis = -1 : i64} : (tensor<2x3x2x2xf32>) -> tensor<2x3x2x2xf32>
  %y = "top.MatMul"(%p, %k, %none) : (tensor<2x3x2x2xf32>, tensor<2x1x2x16xf32>, none) -> tensor<2x3x2x16xf32>
  return %y : tensor<2x3x2x16xf32>
}

// Keys that come as [D, K] from nowhere would have to be copied.
// CHECK-LABEL: func.func @transposed_keys
// CHECK-NOT: "top.ScaleDotProductAttention"
// CHECK: return
func.func @transposed_keys(%q: tensor<2x3x2x16xf32>, %k: tensor<2x3x16x2xf32>) -> tensor<2x3x2x16xf32> {
  %none = "top.None"() : () -> none
  %s = "top.MatMul"(%q, %k, %none) : (tensor<2x3x2x16xf32>, tensor<2x3x16x2xf32>, none) -> tensor<2x3x2x2xf32>
  %p = "top.Softmax"(%s) {axis = -1 : i64} : (tensor<2x3x2x2xf32>) -> tensor<2x3x2x2xf32>
  %y = "top.MatMul"(%p, %q, %none) : (tensor<2x3x2x2xf32>, tensor<2x3x2x16xf32>, none) -> tensor<2x3x2x16xf32>
  return %y : tensor<2x3x2x16xf32>
}

// CHECK-LABEL: func.func @product_with_bias
// CHECK-NOT: "top.ScaleDotProductAttention"
// CHECK: return
func.func @product_with_bias(%q: tensor<2x3x2x16xf32>, %b: tensor<2xf32>) -> tensor<2x3x2x16xf32> {
  %none = "top.None"() : () -> none
  %s = "top.MatMul"(%q, %q, %b) {right_transpose = true} : (tensor<2x3x2x16xf32>, tensor<2x3x2x16xf32>, tensor<2xf32>) -> tensor<2x3x2x2xf32>
  %p = "top.Softmax"(%s) {axis = -1 : i64} : (tensor<2x3x2x2xf32>) -> tensor<2x3x2x2xf32>
  %y = "top.MatMul"(%p, %q, %none) : (tensor<2x3x2x2xf32>, tensor<2x3x2x16xf32>, none) -> tensor<2x3x2x16xf32>
  return %y : tensor<2x3x2x16xf32>
}

// As ONNX defines it: the weights are 0 where the mask hides all keys.
// CHECK-LABEL: func.func @hidden_rows
// CHECK-NEXT: %[[NONE:.*]] = "top.None"
// CHECK-NEXT: "top.ScaleDotProductAttention"(%arg0, %arg0, %arg0, %arg1, {{.*}} loc("y")
// CHECK-NEXT: return
func.func @hidden_rows(%q: tensor<2x3x2x16xf32>, %m: tensor<2x2xf32>) -> tensor<2x3x2x16xf32> {
  %none = "top.None"() : () -> none
  %zero = "top.ConstantFill"(%none) {shape = [], value = 0.0 : f32} : (none) -> tensor<f32>
  %low = "top.ConstantFill"(%none) {shape = [], value = 0xFF800000 : f32} : (none) -> tensor<f32>
  %s = "top.MatMul"(%q, %q, %none) {right_transpose = true} : (tensor<2x3x2x16xf32>, tensor<2x3x2x16xf32>, none) -> tensor<2x3x2x2xf32>
  %d = "top.Add"(%s, %m) : (tensor<2x3x2x2xf32>, tensor<2x2xf32>) -> tensor<2x3x2x2xf32>
  %p = "top.Softmax"(%d) {axis = -1 : i64} : (tensor<2x3x2x2xf32>) -> tensor<2x3x2x2xf32>
  %r = "top.Reduce"(%m, %none) {axes = [-1], keepdims = true, mode = "ReduceMax"} : (tensor<2x2xf32>, none) -> tensor<2x1xf32>
  %c = "top.Compare"(%r, %low) {mode = "Equal"} : (tensor<2x1xf32>, tensor<f32>) -> tensor<2x1xi1>
  %w = "top.Where"(%c, %zero, %p) : (tensor<2x1xi1>, tensor<f32>, tensor<2x3x2x2xf32>) -> tensor<2x3x2x2xf32>
  %y = "top.MatMul"(%w, %q, %none) : (tensor<2x3x2x2xf32>, tensor<2x3x2x16xf32>, none) -> tensor<2x3x2x16xf32> loc("y")
  return %y : tensor<2x3x2x16xf32>
}

// The rows of another mask.
// CHECK-LABEL: func.func @hidden_by_another
// CHECK-NOT: "top.ScaleDotProductAttention"
// CHECK: return
func.func @hidden_by_another(%q: tensor<2x3x2x16xf32>, %m: tensor<2x2xf32>, %n: tensor<2x2xf32>) -> tensor<2x3x2x16xf32> {
  %none = "top.None"() : () -> none
  %zero = "top.ConstantFill"(%none) {shape = [], value = 0.0 : f32} : (none) -> tensor<f32>
  %low = "top.ConstantFill"(%none) {shape = [], value = 0xFF800000 : f32} : (none) -> tensor<f32>
  %s = "top.MatMul"(%q, %q, %none) {right_transpose = true} : (tensor<2x3x2x16xf32>, tensor<2x3x2x16xf32>, none) -> tensor<2x3x2x2xf32>
  %d = "top.Add"(%s, %m) : (tensor<2x3x2x2xf32>, tensor<2x2xf32>) -> tensor<2x3x2x2xf32>
  %p = "top.Softmax"(%d) {axis = -1 : i64} : (tensor<2x3x2x2xf32>) -> tensor<2x3x2x2xf32>
  %r = "top.Reduce"(%n, %none) {axes = [-1], keepdims = true, mode = "ReduceMax"} : (tensor<2x2xf32>, none) -> tensor<2x1xf32>
  %c = "top.Compare"(%r, %low) {mode = "Equal"} : (tensor<2x1xf32>, tensor<f32>) -> tensor<2x1xi1>
  %w = "top.Where"(%c, %zero, %p) : (tensor<2x1xi1>, tensor<f32>, tensor<2x3x2x2xf32>) -> tensor<2x3x2x2xf32>
  %y = "top.MatMul"(%w, %q, %none) : (tensor<2x3x2x2xf32>, tensor<2x3x2x16xf32>, none) -> tensor<2x3x2x16xf32> loc("y")
  return %y : tensor<2x3x2x16xf32>
}

// Each head of keys and values serves two of queries.
// CHECK-LABEL: func.func @repeated_heads
// CHECK: "top.ScaleDotProductAttention"(%arg0, %arg1, %arg2, {{.*}}(tensor<2x6x5x16xf32>, tensor<2x3x4x16xf32>, tensor<2x3x4x16xf32>, none
// CHECK-NEXT: return
func.func @repeated_heads(%q: tensor<2x6x5x16xf32>, %k: tensor<2x3x4x16xf32>, %v: tensor<2x3x4x16xf32>) -> tensor<2x6x5x16xf32> {
  %none = "top.None"() : () -> none
  %k5 = "top.Unsqueeze"(%k, %none) {axes = [2]} : (tensor<2x3x4x16xf32>, none) -> tensor<2x3x1x4x16xf32>
  %ke = "top.Expand"(%k5, %none) {shape = [2, 3, 2, 4, 16]} : (tensor<2x3x1x4x16xf32>, none) -> tensor<2x3x2x4x16xf32>
  %kr = "top.Reshape"(%ke, %none) {shape = [2, 6, 4, 16]} : (tensor<2x3x2x4x16xf32>, none) -> tensor<2x6x4x16xf32>
  %v5 = "top.Unsqueeze"(%v, %none) {axes = [2]} : (tensor<2x3x4x16xf32>, none) -> tensor<2x3x1x4x16xf32>
  %ve = "top.Expand"(%v5, %none) {shape = [2, 3, 2, 4, 16]} : (tensor<2x3x1x4x16xf32>, none) -> tensor<2x3x2x4x16xf32>
  %vr = "top.Reshape"(%ve, %none) {shape = [2, 6, 4, 16]} : (tensor<2x3x2x4x16xf32>, none) -> tensor<2x6x4x16xf32>
  %t = "top.Permute"(%kr) {order = [0, 1, 3, 2]} : (tensor<2x6x4x16xf32>) -> tensor<2x6x16x4xf32>
  %s = "top.MatMul"(%q, %t, %none) : (tensor<2x6x5x16xf32>, tensor<2x6x16x4xf32>, none) -> tensor<2x6x5x4xf32>
  %p = "top.Softmax"(%s) {axis = -1 : i64} : (tensor<2x6x5x4xf32>) -> tensor<2x6x5x4xf32>
  %y = "top.MatMul"(%p, %vr, %none) : (tensor<2x6x5x4xf32>, tensor<2x6x4x16xf32>, none) -> tensor<2x6x5x16xf32> loc("y")
  return %y : tensor<2x6x5x16xf32>
}

// Keys are repeated as a whole, not head by head: heads 0 to 2 come back as 3 to 5.
// CHECK-LABEL: func.func @other_repeat
// CHECK: "top.ScaleDotProductAttention"({{.*}}(tensor<2x6x5x16xf32>, tensor<2x6x4x16xf32>, tensor<2x6x4x16xf32>, none
func.func @other_repeat(%q: tensor<2x6x5x16xf32>, %k: tensor<2x3x4x16xf32>) -> tensor<2x6x5x16xf32> {
  %none = "top.None"() : () -> none
  %k5 = "top.Unsqueeze"(%k, %none) {axes = [1]} : (tensor<2x3x4x16xf32>, none) -> tensor<2x1x3x4x16xf32>
  %ke = "top.Expand"(%k5, %none) {shape = [2, 2, 3, 4, 16]} : (tensor<2x1x3x4x16xf32>, none) -> tensor<2x2x3x4x16xf32>
  %kr = "top.Reshape"(%ke, %none) {shape = [2, 6, 4, 16]} : (tensor<2x2x3x4x16xf32>, none) -> tensor<2x6x4x16xf32>
  %s = "top.MatMul"(%q, %kr, %none) {right_transpose = true} : (tensor<2x6x5x16xf32>, tensor<2x6x4x16xf32>, none) -> tensor<2x6x5x4xf32>
  %p = "top.Softmax"(%s) {axis = -1 : i64} : (tensor<2x6x5x4xf32>) -> tensor<2x6x5x4xf32>
  %y = "top.MatMul"(%p, %kr, %none) : (tensor<2x6x5x4xf32>, tensor<2x6x4x16xf32>, none) -> tensor<2x6x5x16xf32> loc("y")
  return %y : tensor<2x6x5x16xf32>
}

// Cosines have a factor for each head, which queries are multiplied with; one for each key stays.
// CHECK-LABEL: func.func @factor_of_heads
// CHECK: %[[C:.*]] = "top.Weight"() {{.*}}-> tensor<3x1x1xf32>
// CHECK: %[[Q:.*]] = "top.Mul"(%arg0, %[[C]]) {{.*}} -> tensor<2x3x5x16xf32> loc("y_query_scaled")
// CHECK: "top.ScaleDotProductAttention"(%[[Q]], %arg1, %arg2, %arg3, {{.*}}scale = 1.000000e+00 : f64{{.*}} loc("y")
// CHECK-LABEL: func.func @factor_of_keys
// CHECK-NOT: "top.ScaleDotProductAttention"
// CHECK: return
func.func @factor_of_heads(%q: tensor<2x3x5x16xf32>, %k: tensor<2x3x4x16xf32>, %v: tensor<2x3x4x16xf32>, %m: tensor<1x3x5x4xf32>) -> tensor<2x3x5x16xf32> {
  %none = "top.None"() : () -> none
  %c = "top.ConstantFill"(%none) {shape = [3, 1, 1], value = 4.0 : f32} : (none) -> tensor<3x1x1xf32> loc("c")
  %s = "top.MatMul"(%q, %k, %none) {right_transpose = true} : (tensor<2x3x5x16xf32>, tensor<2x3x4x16xf32>, none) -> tensor<2x3x5x4xf32>
  %f = "top.Mul"(%s, %c) : (tensor<2x3x5x4xf32>, tensor<3x1x1xf32>) -> tensor<2x3x5x4xf32>
  %d = "top.Add"(%f, %m) : (tensor<2x3x5x4xf32>, tensor<1x3x5x4xf32>) -> tensor<2x3x5x4xf32>
  %p = "top.Softmax"(%d) {axis = -1 : i64} : (tensor<2x3x5x4xf32>) -> tensor<2x3x5x4xf32>
  %y = "top.MatMul"(%p, %v, %none) : (tensor<2x3x5x4xf32>, tensor<2x3x4x16xf32>, none) -> tensor<2x3x5x16xf32> loc("y")
  return %y : tensor<2x3x5x16xf32>
}
func.func @factor_of_keys(%q: tensor<2x3x5x16xf32>, %k: tensor<2x3x4x16xf32>, %v: tensor<2x3x4x16xf32>) -> tensor<2x3x5x16xf32> {
  %none = "top.None"() : () -> none
  %c = "top.ConstantFill"(%none) {shape = [1, 4], value = 4.0 : f32} : (none) -> tensor<1x4xf32> loc("c")
  %s = "top.MatMul"(%q, %k, %none) {right_transpose = true} : (tensor<2x3x5x16xf32>, tensor<2x3x4x16xf32>, none) -> tensor<2x3x5x4xf32>
  %f = "top.Mul"(%s, %c) : (tensor<2x3x5x4xf32>, tensor<1x4xf32>) -> tensor<2x3x5x4xf32>
  %p = "top.Softmax"(%f) {axis = -1 : i64} : (tensor<2x3x5x4xf32>) -> tensor<2x3x5x4xf32>
  %y = "top.MatMul"(%p, %v, %none) : (tensor<2x3x5x4xf32>, tensor<2x3x4x16xf32>, none) -> tensor<2x3x5x16xf32> loc("y")
  return %y : tensor<2x3x5x16xf32>
}

// RUN: tpuc-opt %s --shape-infer --top-fuse --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s
// RUN: tpuc-opt %s --shape-infer --top-fuse=disable=to-rope | FileCheck %s --check-prefix=OFF

// OFF-NOT: "top.Rope"

// Cosines and sines for all elements stem from angles that are joined with themselves.
// CHECK-LABEL: func.func @halves
// CHECK-DAG: %[[C:.*]] = "top.Slice"(%{{.*}}ends = [4], offset = [0]{{.*}} loc("y_cos_half")
// CHECK-DAG: %[[C3:.*]] = "top.Reshape"(%[[C]], {{.*}}-> tensor<1x3x4xf32> loc("y_cos")
// CHECK-DAG: %[[S:.*]] = "top.Slice"(%{{.*}}ends = [4], offset = [0]{{.*}} loc("y_sin_half")
// CHECK-DAG: %[[S3:.*]] = "top.Reshape"(%[[S]], {{.*}}-> tensor<1x3x4xf32> loc("y_sin")
// CHECK: "top.Rope"(%arg0, %[[C3]], %[[S3]], {{.*}}interleaved = false, num_heads = 0 : i64, rotary_dim = 0 : i64{{.*}} loc("y")
// CHECK-NEXT: return
func.func @halves(%x: tensor<2x5x3x8xf32>, %f: tensor<3x4xf32>) -> tensor<2x5x3x8xf32> {
  %none = "top.None"() : () -> none
  %a = "top.Concat"(%f, %f) {axis = 1 : i64} : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x8xf32>
  %cos = "top.Cos"(%a) : (tensor<3x8xf32>) -> tensor<3x8xf32>
  %sin = "top.Sin"(%a) : (tensor<3x8xf32>) -> tensor<3x8xf32>
  %c = "top.Unsqueeze"(%cos, %none) {axes = [0, 1]} : (tensor<3x8xf32>, none) -> tensor<1x1x3x8xf32>
  %s = "top.Unsqueeze"(%sin, %none) {axes = [0, 1]} : (tensor<3x8xf32>, none) -> tensor<1x1x3x8xf32>
  %p = "top.Mul"(%x, %c) : (tensor<2x5x3x8xf32>, tensor<1x1x3x8xf32>) -> tensor<2x5x3x8xf32>
  %x1 = "top.Slice"(%x, %none, %none, %none, %none) {offset = [0], ends = [4], axes = [3], steps = [1]} : (tensor<2x5x3x8xf32>, none, none, none, none) -> tensor<2x5x3x4xf32>
  %x2 = "top.Slice"(%x, %none, %none, %none, %none) {offset = [4], ends = [9223372036854775807], axes = [-1], steps = [1]} : (tensor<2x5x3x8xf32>, none, none, none, none) -> tensor<2x5x3x4xf32>
  %n = "top.Neg"(%x2) : (tensor<2x5x3x4xf32>) -> tensor<2x5x3x4xf32>
  %r = "top.Concat"(%n, %x1) {axis = -1 : i64} : (tensor<2x5x3x4xf32>, tensor<2x5x3x4xf32>) -> tensor<2x5x3x8xf32>
  %q = "top.Mul"(%r, %s) : (tensor<2x5x3x8xf32>, tensor<1x1x3x8xf32>) -> tensor<2x5x3x8xf32>
  %y = "top.Add"(%p, %q) : (tensor<2x5x3x8xf32>, tensor<2x5x3x8xf32>) -> tensor<2x5x3x8xf32> loc("y")
  return %y : tensor<2x5x3x8xf32>
}

// The halves of the angles are two tensors.
// CHECK-LABEL: func.func @other_halves
// CHECK-NOT: "top.Rope"
// CHECK: return
func.func @other_halves(%x: tensor<2x5x3x8xf32>, %f: tensor<3x4xf32>, %g: tensor<3x4xf32>) -> tensor<2x5x3x8xf32> {
  %none = "top.None"() : () -> none
  %a = "top.Concat"(%f, %g) {axis = 1 : i64} : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x8xf32>
  %c = "top.Cos"(%a) : (tensor<3x8xf32>) -> tensor<3x8xf32>
  %s = "top.Sin"(%a) : (tensor<3x8xf32>) -> tensor<3x8xf32>
  %p = "top.Mul"(%x, %c) : (tensor<2x5x3x8xf32>, tensor<3x8xf32>) -> tensor<2x5x3x8xf32>
  %h:2 = "top.Split"(%x, %none) {axis = 3 : i64, split_size = [4, 4]} : (tensor<2x5x3x8xf32>, none) -> (tensor<2x5x3x4xf32>, tensor<2x5x3x4xf32>)
  %n = "top.Neg"(%h#1) : (tensor<2x5x3x4xf32>) -> tensor<2x5x3x4xf32>
  %r = "top.Concat"(%n, %h#0) {axis = -1 : i64} : (tensor<2x5x3x4xf32>, tensor<2x5x3x4xf32>) -> tensor<2x5x3x8xf32>
  %q = "top.Mul"(%r, %s) : (tensor<2x5x3x8xf32>, tensor<3x8xf32>) -> tensor<2x5x3x8xf32>
  %y = "top.Add"(%p, %q) : (tensor<2x5x3x8xf32>, tensor<2x5x3x8xf32>) -> tensor<2x5x3x8xf32> loc("y")
  return %y : tensor<2x5x3x8xf32>
}

// The wrong half is negative.
// CHECK-LABEL: func.func @turned_back
// CHECK-NOT: "top.Rope"
// CHECK: return
func.func @turned_back(%x: tensor<2x5x3x8xf32>, %f: tensor<3x4xf32>) -> tensor<2x5x3x8xf32> {
  %none = "top.None"() : () -> none
  %a = "top.Concat"(%f, %f) {axis = 1 : i64} : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x8xf32>
  %c = "top.Cos"(%a) : (tensor<3x8xf32>) -> tensor<3x8xf32>
  %s = "top.Sin"(%a) : (tensor<3x8xf32>) -> tensor<3x8xf32>
  %p = "top.Mul"(%x, %c) : (tensor<2x5x3x8xf32>, tensor<3x8xf32>) -> tensor<2x5x3x8xf32>
  %h:2 = "top.Split"(%x, %none) {axis = 3 : i64, split_size = [4, 4]} : (tensor<2x5x3x8xf32>, none) -> (tensor<2x5x3x4xf32>, tensor<2x5x3x4xf32>)
  %n = "top.Neg"(%h#0) : (tensor<2x5x3x4xf32>) -> tensor<2x5x3x4xf32>
  %r = "top.Concat"(%h#1, %n) {axis = -1 : i64} : (tensor<2x5x3x4xf32>, tensor<2x5x3x4xf32>) -> tensor<2x5x3x8xf32>
  %q = "top.Mul"(%r, %s) : (tensor<2x5x3x8xf32>, tensor<3x8xf32>) -> tensor<2x5x3x8xf32>
  %y = "top.Add"(%p, %q) : (tensor<2x5x3x8xf32>, tensor<2x5x3x8xf32>) -> tensor<2x5x3x8xf32> loc("y")
  return %y : tensor<2x5x3x8xf32>
}

// Heads behind the positions, one angle for each pair, of the first four elements only.
// CHECK-LABEL: func.func @partial
// CHECK: %[[X:.*]] = "top.Reshape"(%arg0, {{.*}}-> tensor<2x3x40xf32> loc("y_input")
// CHECK-DAG: %[[C:.*]] = "top.Reshape"(%arg1, {{.*}}-> tensor<2x3x2xf32> loc("y_cos")
// CHECK-DAG: %[[S:.*]] = "top.Reshape"(%arg2, {{.*}}-> tensor<2x3x2xf32> loc("y_sin")
// CHECK: %[[R:.*]] = "top.Rope"(%[[X]], %[[C]], %[[S]], {{.*}}interleaved = false, num_heads = 5 : i64, rotary_dim = 4 : i64{{.*}} loc("y_rope")
// CHECK: "top.Reshape"(%[[R]], {{.*}} loc("y")
// CHECK-NEXT: return
func.func @partial(%x: tensor<2x3x5x8xf32>, %c: tensor<2x3x1x2xf32>, %s: tensor<2x3x1x2xf32>) -> tensor<2x3x5x8xf32> {
  %none = "top.None"() : () -> none
  %w:2 = "top.Split"(%x, %none) {axis = 3 : i64, split_size = [4, 4]} : (tensor<2x3x5x8xf32>, none) -> (tensor<2x3x5x4xf32>, tensor<2x3x5x4xf32>)
  %h:2 = "top.Split"(%w#0, %none) {axis = 3 : i64, split_size = [2, 2]} : (tensor<2x3x5x4xf32>, none) -> (tensor<2x3x5x2xf32>, tensor<2x3x5x2xf32>)
  %a = "top.Mul"(%c, %h#0) : (tensor<2x3x1x2xf32>, tensor<2x3x5x2xf32>) -> tensor<2x3x5x2xf32>
  %b = "top.Mul"(%s, %h#1) : (tensor<2x3x1x2xf32>, tensor<2x3x5x2xf32>) -> tensor<2x3x5x2xf32>
  %real = "top.Sub"(%a, %b) : (tensor<2x3x5x2xf32>, tensor<2x3x5x2xf32>) -> tensor<2x3x5x2xf32>
  %d = "top.Mul"(%s, %h#0) : (tensor<2x3x1x2xf32>, tensor<2x3x5x2xf32>) -> tensor<2x3x5x2xf32>
  %e = "top.Mul"(%c, %h#1) : (tensor<2x3x1x2xf32>, tensor<2x3x5x2xf32>) -> tensor<2x3x5x2xf32>
  %imaginary = "top.Add"(%d, %e) : (tensor<2x3x5x2xf32>, tensor<2x3x5x2xf32>) -> tensor<2x3x5x2xf32>
  %r = "top.Concat"(%real, %imaginary) {axis = -1 : i64} : (tensor<2x3x5x2xf32>, tensor<2x3x5x2xf32>) -> tensor<2x3x5x4xf32>
  %y = "top.Concat"(%r, %w#1) {axis = -1 : i64} : (tensor<2x3x5x4xf32>, tensor<2x3x5x4xf32>) -> tensor<2x3x5x8xf32> loc("y")
  return %y : tensor<2x3x5x8xf32>
}

// sin and cos have changed places in one of the sums.
// CHECK-LABEL: func.func @no_rotation
// CHECK-NOT: "top.Rope"
// CHECK: return
func.func @no_rotation(%x: tensor<2x3x5x4xf32>, %c: tensor<2x3x1x2xf32>, %s: tensor<2x3x1x2xf32>) -> tensor<2x3x5x4xf32> {
  %none = "top.None"() : () -> none
  %h:2 = "top.Split"(%x, %none) {axis = 3 : i64, split_size = [2, 2]} : (tensor<2x3x5x4xf32>, none) -> (tensor<2x3x5x2xf32>, tensor<2x3x5x2xf32>)
  %a = "top.Mul"(%c, %h#0) : (tensor<2x3x1x2xf32>, tensor<2x3x5x2xf32>) -> tensor<2x3x5x2xf32>
  %b = "top.Mul"(%s, %h#1) : (tensor<2x3x1x2xf32>, tensor<2x3x5x2xf32>) -> tensor<2x3x5x2xf32>
  %real = "top.Sub"(%a, %b) : (tensor<2x3x5x2xf32>, tensor<2x3x5x2xf32>) -> tensor<2x3x5x2xf32>
  %d = "top.Mul"(%c, %h#0) : (tensor<2x3x1x2xf32>, tensor<2x3x5x2xf32>) -> tensor<2x3x5x2xf32>
  %e = "top.Mul"(%s, %h#1) : (tensor<2x3x1x2xf32>, tensor<2x3x5x2xf32>) -> tensor<2x3x5x2xf32>
  %imaginary = "top.Add"(%d, %e) : (tensor<2x3x5x2xf32>, tensor<2x3x5x2xf32>) -> tensor<2x3x5x2xf32>
  %r = "top.Concat"(%real, %imaginary) {axis = -1 : i64} : (tensor<2x3x5x2xf32>, tensor<2x3x5x2xf32>) -> tensor<2x3x5x4xf32>
  return %r : tensor<2x3x5x4xf32>
}

// Even and odd elements, taken with steps; the cosines are constants, each twice.
// CHECK-LABEL: func.func @interleaved
// CHECK: "top.Rope"(%arg0, {{.*}}interleaved = true{{.*}}(tensor<1x5x3x4xf32>, tensor<1x3x2xf32>, tensor<1x3x2xf32>, none){{.*}} loc("y")
// CHECK-NEXT: return
func.func @interleaved(%x: tensor<1x5x3x4xf32>) -> tensor<1x5x3x4xf32> {
  %none = "top.None"() : () -> none
  %c = "top.ConstantFill"(%none) {shape = [3, 4], value = 0.5 : f32} : (none) -> tensor<3x4xf32>
  %p = "top.Mul"(%x, %c) : (tensor<1x5x3x4xf32>, tensor<3x4xf32>) -> tensor<1x5x3x4xf32>
  %x1 = "top.Slice"(%x, %none, %none, %none, %none) {offset = [0], ends = [4], axes = [3], steps = [2]} : (tensor<1x5x3x4xf32>, none, none, none, none) -> tensor<1x5x3x2xf32>
  %x2 = "top.Slice"(%x, %none, %none, %none, %none) {offset = [1], ends = [4], axes = [3], steps = [2]} : (tensor<1x5x3x4xf32>, none, none, none, none) -> tensor<1x5x3x2xf32>
  %n = "top.Neg"(%x2) : (tensor<1x5x3x2xf32>) -> tensor<1x5x3x2xf32>
  %u2 = "top.Unsqueeze"(%n, %none) {axes = [4]} : (tensor<1x5x3x2xf32>, none) -> tensor<1x5x3x2x1xf32>
  %u1 = "top.Unsqueeze"(%x1, %none) {axes = [4]} : (tensor<1x5x3x2xf32>, none) -> tensor<1x5x3x2x1xf32>
  %j = "top.Concat"(%u2, %u1) {axis = -1 : i64} : (tensor<1x5x3x2x1xf32>, tensor<1x5x3x2x1xf32>) -> tensor<1x5x3x2x2xf32>
  %r = "top.Reshape"(%j, %none) {shape = [1, 5, 3, 4]} : (tensor<1x5x3x2x2xf32>, none) -> tensor<1x5x3x4xf32>
  %q = "top.Mul"(%r, %c) : (tensor<1x5x3x4xf32>, tensor<3x4xf32>) -> tensor<1x5x3x4xf32>
  %y = "top.Add"(%q, %p) : (tensor<1x5x3x4xf32>, tensor<1x5x3x4xf32>) -> tensor<1x5x3x4xf32> loc("y")
  return %y : tensor<1x5x3x4xf32>
}

// Pairs that a reshape made, one element of them taken by an index.
// CHECK-LABEL: func.func @pairs
// CHECK: "top.Rope"(%arg0, {{.*}}interleaved = true{{.*}} loc("y")
// CHECK-NEXT: return
func.func @pairs(%x: tensor<2x5x3x4xf32>, %c: tensor<3x2xf32>, %s: tensor<3x2xf32>) -> tensor<2x5x3x4xf32> {
  %none = "top.None"() : () -> none
  %zero = "top.ConstantFill"(%none) {shape = [], value = 0 : i64} : (none) -> tensor<i64>
  %one = "top.ConstantFill"(%none) {shape = [], value = 1 : i64} : (none) -> tensor<i64>
  %p = "top.Reshape"(%x, %none) {shape = [2, 5, 3, 2, 2]} : (tensor<2x5x3x4xf32>, none) -> tensor<2x5x3x2x2xf32>
  %x1 = "top.Gather"(%p, %zero) {axis = 4 : i64} : (tensor<2x5x3x2x2xf32>, tensor<i64>) -> tensor<2x5x3x2xf32>
  %x2 = "top.Gather"(%p, %one) {axis = -1 : i64} : (tensor<2x5x3x2x2xf32>, tensor<i64>) -> tensor<2x5x3x2xf32>
  %a = "top.Mul"(%x1, %c) : (tensor<2x5x3x2xf32>, tensor<3x2xf32>) -> tensor<2x5x3x2xf32>
  %b = "top.Mul"(%x2, %s) : (tensor<2x5x3x2xf32>, tensor<3x2xf32>) -> tensor<2x5x3x2xf32>
  %real = "top.Sub"(%a, %b) : (tensor<2x5x3x2xf32>, tensor<2x5x3x2xf32>) -> tensor<2x5x3x2xf32>
  %d = "top.Mul"(%x2, %c) : (tensor<2x5x3x2xf32>, tensor<3x2xf32>) -> tensor<2x5x3x2xf32>
  %e = "top.Mul"(%x1, %s) : (tensor<2x5x3x2xf32>, tensor<3x2xf32>) -> tensor<2x5x3x2xf32>
  %imaginary = "top.Add"(%d, %e) : (tensor<2x5x3x2xf32>, tensor<2x5x3x2xf32>) -> tensor<2x5x3x2xf32>
  %u1 = "top.Unsqueeze"(%real, %none) {axes = [-1]} : (tensor<2x5x3x2xf32>, none) -> tensor<2x5x3x2x1xf32>
  %u2 = "top.Unsqueeze"(%imaginary, %none) {axes = [-1]} : (tensor<2x5x3x2xf32>, none) -> tensor<2x5x3x2x1xf32>
  %j = "top.Concat"(%u1, %u2) {axis = 4 : i64} : (tensor<2x5x3x2x1xf32>, tensor<2x5x3x2x1xf32>) -> tensor<2x5x3x2x2xf32>
  %y = "top.Reshape"(%j, %none) {shape = [2, 5, 3, 4]} : (tensor<2x5x3x2x2xf32>, none) -> tensor<2x5x3x4xf32> loc("y")
  return %y : tensor<2x5x3x4xf32>
}

// Each head is turned by angles of its own.
// CHECK-LABEL: func.func @angles_per_head
// CHECK-NOT: "top.Rope"
// CHECK: return
func.func @angles_per_head(%x: tensor<2x5x3x4xf32>, %c: tensor<5x3x2xf32>, %s: tensor<5x3x2xf32>) -> tensor<2x5x3x4xf32> {
  %none = "top.None"() : () -> none
  %h:2 = "top.Split"(%x, %none) {axis = 3 : i64, split_size = [2, 2]} : (tensor<2x5x3x4xf32>, none) -> (tensor<2x5x3x2xf32>, tensor<2x5x3x2xf32>)
  %a = "top.Mul"(%c, %h#0) : (tensor<5x3x2xf32>, tensor<2x5x3x2xf32>) -> tensor<2x5x3x2xf32>
  %b = "top.Mul"(%s, %h#1) : (tensor<5x3x2xf32>, tensor<2x5x3x2xf32>) -> tensor<2x5x3x2xf32>
  %real = "top.Sub"(%a, %b) : (tensor<2x5x3x2xf32>, tensor<2x5x3x2xf32>) -> tensor<2x5x3x2xf32>
  %d = "top.Mul"(%s, %h#0) : (tensor<5x3x2xf32>, tensor<2x5x3x2xf32>) -> tensor<2x5x3x2xf32>
  %e = "top.Mul"(%c, %h#1) : (tensor<5x3x2xf32>, tensor<2x5x3x2xf32>) -> tensor<2x5x3x2xf32>
  %imaginary = "top.Add"(%d, %e) : (tensor<2x5x3x2xf32>, tensor<2x5x3x2xf32>) -> tensor<2x5x3x2xf32>
  %r = "top.Concat"(%real, %imaginary) {axis = -1 : i64} : (tensor<2x5x3x2xf32>, tensor<2x5x3x2xf32>) -> tensor<2x5x3x4xf32>
  return %r : tensor<2x5x3x4xf32>
}

// A half of x is read elsewhere.
// CHECK-LABEL: func.func @half_read_twice
// CHECK-NOT: "top.Rope"
// CHECK: return
func.func @half_read_twice(%x: tensor<2x5x3x4xf32>, %c: tensor<3x2xf32>, %s: tensor<3x2xf32>) -> (tensor<2x5x3x4xf32>, tensor<2x5x3x2xf32>) {
  %none = "top.None"() : () -> none
  %h:2 = "top.Split"(%x, %none) {axis = 3 : i64, split_size = [2, 2]} : (tensor<2x5x3x4xf32>, none) -> (tensor<2x5x3x2xf32>, tensor<2x5x3x2xf32>)
  %a = "top.Mul"(%c, %h#0) : (tensor<3x2xf32>, tensor<2x5x3x2xf32>) -> tensor<2x5x3x2xf32>
  %b = "top.Mul"(%s, %h#1) : (tensor<3x2xf32>, tensor<2x5x3x2xf32>) -> tensor<2x5x3x2xf32>
  %real = "top.Sub"(%a, %b) : (tensor<2x5x3x2xf32>, tensor<2x5x3x2xf32>) -> tensor<2x5x3x2xf32>
  %d = "top.Mul"(%s, %h#0) : (tensor<3x2xf32>, tensor<2x5x3x2xf32>) -> tensor<2x5x3x2xf32>
  %e = "top.Mul"(%c, %h#1) : (tensor<3x2xf32>, tensor<2x5x3x2xf32>) -> tensor<2x5x3x2xf32>
  %imaginary = "top.Add"(%d, %e) : (tensor<2x5x3x2xf32>, tensor<2x5x3x2xf32>) -> tensor<2x5x3x2xf32>
  %r = "top.Concat"(%real, %imaginary) {axis = -1 : i64} : (tensor<2x5x3x2xf32>, tensor<2x5x3x2xf32>) -> tensor<2x5x3x4xf32>
  return %r, %h#0 : tensor<2x5x3x4xf32>, tensor<2x5x3x2xf32>
}

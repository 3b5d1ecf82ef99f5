// RUN: tpuc-opt %s --shape-infer --top-fuse --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s
// RUN: tpuc-opt %s --shape-infer --top-fuse=disable=to-depth2space,to-shufflechannel,slices-to-depth,sides-into-batch,bins-to-conv | FileCheck %s --check-prefix=OFF

// OFF-NOT: "top.{{Depth2Space|ShuffleChannel}}"
// OFF-NOT: -> tensor<4x16x1x64xf32>
// OFF-NOT: _means
// CHECK-LABEL: func.func @crd
// CHECK: "top.Depth2Space"(%arg0) {block_h = 2 : i64, block_w = 3 : i64, is_CRD = true, is_inversed = false} {{.*}} loc("y")
// CHECK-NEXT: return
func.func @crd(%x: tensor<2x24x5x7xf32>) -> tensor<2x4x10x21xf32> {
  %none = "top.None"() : () -> none
  %1 = "top.Reshape"(%x, %none) {shape = [2, 4, 2, 3, 5, 7]} : (tensor<2x24x5x7xf32>, none) -> tensor<2x4x2x3x5x7xf32>
  %2 = "top.Permute"(%1) {order = [0, 1, 4, 2, 5, 3]} : (tensor<2x4x2x3x5x7xf32>) -> tensor<2x4x5x2x7x3xf32>
  %y = "top.Reshape"(%2, %none) {shape = [2, 4, 10, 21]} : (tensor<2x4x5x2x7x3xf32>, none) -> tensor<2x4x10x21xf32> loc("y")
  return %y : tensor<2x4x10x21xf32>
}

// CHECK-LABEL: func.func @dcr
// CHECK: "top.Depth2Space"(%arg0) {block_h = 2 : i64, block_w = 3 : i64, is_CRD = false, is_inversed = false} {{.*}} loc("y")
// CHECK-NEXT: return
func.func @dcr(%x: tensor<2x24x5x7xf32>) -> tensor<2x4x10x21xf32> {
  %none = "top.None"() : () -> none
  %1 = "top.Reshape"(%x, %none) {shape = [2, 2, 3, 4, 5, 7]} : (tensor<2x24x5x7xf32>, none) -> tensor<2x2x3x4x5x7xf32>
  %2 = "top.Permute"(%1) {order = [0, 3, 4, 1, 5, 2]} : (tensor<2x2x3x4x5x7xf32>) -> tensor<2x4x5x2x7x3xf32>
  %y = "top.Reshape"(%2, %none) {shape = [2, 4, 10, 21]} : (tensor<2x4x5x2x7x3xf32>, none) -> tensor<2x4x10x21xf32> loc("y")
  return %y : tensor<2x4x10x21xf32>
}

// CHECK-LABEL: func.func @crd_inversed
// CHECK: "top.Depth2Space"(%arg0) {block_h = 2 : i64, block_w = 3 : i64, is_CRD = true, is_inversed = true} {{.*}} loc("y")
// CHECK-NEXT: return
func.func @crd_inversed(%x: tensor<2x4x10x21xf32>) -> tensor<2x24x5x7xf32> {
  %none = "top.None"() : () -> none
  %1 = "top.Reshape"(%x, %none) {shape = [2, 4, 5, 2, 7, 3]} : (tensor<2x4x10x21xf32>, none) -> tensor<2x4x5x2x7x3xf32>
  %2 = "top.Permute"(%1) {order = [0, 1, 3, 5, 2, 4]} : (tensor<2x4x5x2x7x3xf32>) -> tensor<2x4x2x3x5x7xf32>
  %y = "top.Reshape"(%2, %none) {shape = [2, 24, 5, 7]} : (tensor<2x4x2x3x5x7xf32>, none) -> tensor<2x24x5x7xf32> loc("y")
  return %y : tensor<2x24x5x7xf32>
}

// CHECK-LABEL: func.func @dcr_inversed
// CHECK: "top.Depth2Space"(%arg0) {block_h = 2 : i64, block_w = 3 : i64, is_CRD = false, is_inversed = true} {{.*}} loc("y")
// CHECK-NEXT: return
func.func @dcr_inversed(%x: tensor<2x4x10x21xf32>) -> tensor<2x24x5x7xf32> {
  %none = "top.None"() : () -> none
  %1 = "top.Reshape"(%x, %none) {shape = [2, 4, 5, 2, 7, 3]} : (tensor<2x4x10x21xf32>, none) -> tensor<2x4x5x2x7x3xf32>
  %2 = "top.Permute"(%1) {order = [0, 3, 5, 1, 2, 4]} : (tensor<2x4x5x2x7x3xf32>) -> tensor<2x2x3x4x5x7xf32>
  %y = "top.Reshape"(%2, %none) {shape = [2, 24, 5, 7]} : (tensor<2x2x3x4x5x7xf32>, none) -> tensor<2x24x5x7xf32> loc("y")
  return %y : tensor<2x24x5x7xf32>
}

// CHECK-LABEL: func.func @other_order
// CHECK-NOT: "top.Depth2Space"
// CHECK: return
func.func @other_order(%x: tensor<2x24x5x7xf32>) -> tensor<2x4x15x14xf32> {
  %none = "top.None"() : () -> none
  %1 = "top.Reshape"(%x, %none) {shape = [2, 4, 2, 3, 5, 7]} : (tensor<2x24x5x7xf32>, none) -> tensor<2x4x2x3x5x7xf32>
  %2 = "top.Permute"(%1) {order = [0, 1, 4, 3, 5, 2]} : (tensor<2x4x2x3x5x7xf32>) -> tensor<2x4x5x3x7x2xf32>
  %y = "top.Reshape"(%2, %none) {shape = [2, 4, 15, 14]} : (tensor<2x4x5x3x7x2xf32>, none) -> tensor<2x4x15x14xf32> loc("y")
  return %y : tensor<2x4x15x14xf32>
}

// CHECK-LABEL: func.func @other_shape
// CHECK-NOT: "top.Depth2Space"
// CHECK: return
func.func @other_shape(%x: tensor<2x24x5x7xf32>) -> tensor<2x4x21x10xf32> {
  %none = "top.None"() : () -> none
  %1 = "top.Reshape"(%x, %none) {shape = [2, 4, 2, 3, 5, 7]} : (tensor<2x24x5x7xf32>, none) -> tensor<2x4x2x3x5x7xf32>
  %2 = "top.Permute"(%1) {order = [0, 1, 4, 2, 5, 3]} : (tensor<2x4x2x3x5x7xf32>) -> tensor<2x4x5x2x7x3xf32>
  %y = "top.Reshape"(%2, %none) {shape = [2, 4, 21, 10]} : (tensor<2x4x5x2x7x3xf32>, none) -> tensor<2x4x21x10xf32> loc("y")
  return %y : tensor<2x4x21x10xf32>
}

// Every second row and every third column, from each of the first ones on.
// CHECK-LABEL: func.func @gathers
// CHECK: "top.Depth2Space"(%arg0) {block_h = 2 : i64, block_w = 3 : i64, is_CRD = true, is_inversed = true} {{.*}} -> tensor<2x24x3x2xf32> loc("y_blocks")
// CHECK: "top.Reshape"{{.*}} -> tensor<2x4x2x3x3x2xf32> loc("y")
// CHECK-NEXT: return
func.func @gathers(%x: tensor<2x4x6x6xf32>) -> tensor<2x4x2x3x3x2xf32> {
  %none = "top.None"() : () -> none
  %c0 = "top.ConstantFill"(%none) {shape = [], value = 0 : i64} : (none) -> tensor<i64>
  %c1 = "top.ConstantFill"(%none) {shape = [], value = 1 : i64} : (none) -> tensor<i64>
  %c6 = "top.ConstantFill"(%none) {shape = [], value = 6 : i64} : (none) -> tensor<i64>
  %i0 = "top.Range"(%c0, %c6, %c1) : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<6xi64>
  %i1 = "top.Reshape"(%i0, %none) {shape = [3, 2]} : (tensor<6xi64>, none) -> tensor<3x2xi64>
  %i = "top.Permute"(%i1) {order = [1, 0]} : (tensor<3x2xi64>) -> tensor<2x3xi64>
  %j0 = "top.Range"(%c0, %c6, %c1) : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<6xi64>
  %j1 = "top.Reshape"(%j0, %none) {shape = [2, 3]} : (tensor<6xi64>, none) -> tensor<2x3xi64>
  %j = "top.Permute"(%j1) {order = [1, 0]} : (tensor<2x3xi64>) -> tensor<3x2xi64>
  %1 = "top.Gather"(%x, %i) {axis = 2 : i64} : (tensor<2x4x6x6xf32>, tensor<2x3xi64>) -> tensor<2x4x2x3x6xf32>
  %2 = "top.Gather"(%1, %j) {axis = -1 : i64} : (tensor<2x4x2x3x6xf32>, tensor<3x2xi64>) -> tensor<2x4x2x3x3x2xf32>
  %y = "top.Permute"(%2) {order = [0, 1, 2, 4, 3, 5]} : (tensor<2x4x2x3x3x2xf32>) -> tensor<2x4x2x3x3x2xf32> loc("y")
  return %y : tensor<2x4x2x3x3x2xf32>
}

// The columns first.
// CHECK-LABEL: func.func @gathers_columns
// CHECK: "top.Depth2Space"(%arg0) {block_h = 2 : i64, block_w = 3 : i64, is_CRD = true, is_inversed = true} {{.*}} loc("y_blocks")
func.func @gathers_columns(%x: tensor<2x4x6x6xf32>) -> tensor<2x4x2x3x3x2xf32> {
  %none = "top.None"() : () -> none
  %c0 = "top.ConstantFill"(%none) {shape = [], value = 0 : i64} : (none) -> tensor<i64>
  %c1 = "top.ConstantFill"(%none) {shape = [], value = 1 : i64} : (none) -> tensor<i64>
  %c6 = "top.ConstantFill"(%none) {shape = [], value = 6 : i64} : (none) -> tensor<i64>
  %i0 = "top.Range"(%c0, %c6, %c1) : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<6xi64>
  %i1 = "top.Reshape"(%i0, %none) {shape = [3, 2]} : (tensor<6xi64>, none) -> tensor<3x2xi64>
  %i = "top.Permute"(%i1) {order = [1, 0]} : (tensor<3x2xi64>) -> tensor<2x3xi64>
  %j0 = "top.Range"(%c0, %c6, %c1) : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<6xi64>
  %j1 = "top.Reshape"(%j0, %none) {shape = [2, 3]} : (tensor<6xi64>, none) -> tensor<2x3xi64>
  %j = "top.Permute"(%j1) {order = [1, 0]} : (tensor<2x3xi64>) -> tensor<3x2xi64>
  %1 = "top.Gather"(%x, %j) {axis = 3 : i64} : (tensor<2x4x6x6xf32>, tensor<3x2xi64>) -> tensor<2x4x6x3x2xf32>
  %2 = "top.Gather"(%1, %i) {axis = 2 : i64} : (tensor<2x4x6x3x2xf32>, tensor<2x3xi64>) -> tensor<2x4x2x3x3x2xf32>
  %y = "top.Permute"(%2) {order = [0, 1, 2, 4, 3, 5]} : (tensor<2x4x2x3x3x2xf32>) -> tensor<2x4x2x3x3x2xf32> loc("y")
  return %y : tensor<2x4x2x3x3x2xf32>
}

// Some of the columns, and rows that follow each other.
// CHECK-LABEL: func.func @gathers_others
// CHECK-NOT: "top.Depth2Space"
// CHECK: return
func.func @gathers_others(%x: tensor<2x4x6x6xf32>) -> (tensor<2x4x2x2x3x2xf32>, tensor<2x4x3x3x2x2xf32>) {
  %none = "top.None"() : () -> none
  %c0 = "top.ConstantFill"(%none) {shape = [], value = 0 : i64} : (none) -> tensor<i64>
  %c1 = "top.ConstantFill"(%none) {shape = [], value = 1 : i64} : (none) -> tensor<i64>
  %c4 = "top.ConstantFill"(%none) {shape = [], value = 4 : i64} : (none) -> tensor<i64>
  %c6 = "top.ConstantFill"(%none) {shape = [], value = 6 : i64} : (none) -> tensor<i64>
  %i0 = "top.Range"(%c0, %c6, %c1) : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<6xi64>
  %i1 = "top.Reshape"(%i0, %none) {shape = [3, 2]} : (tensor<6xi64>, none) -> tensor<3x2xi64>
  %i = "top.Permute"(%i1) {order = [1, 0]} : (tensor<3x2xi64>) -> tensor<2x3xi64>
  %j0 = "top.Range"(%c0, %c6, %c1) : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<6xi64>
  %j1 = "top.Reshape"(%j0, %none) {shape = [2, 3]} : (tensor<6xi64>, none) -> tensor<2x3xi64>
  %j = "top.Permute"(%j1) {order = [1, 0]} : (tensor<2x3xi64>) -> tensor<3x2xi64>
  %k0 = "top.Range"(%c0, %c4, %c1) : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<4xi64>
  %k1 = "top.Reshape"(%k0, %none) {shape = [2, 2]} : (tensor<4xi64>, none) -> tensor<2x2xi64>
  %k = "top.Permute"(%k1) {order = [1, 0]} : (tensor<2x2xi64>) -> tensor<2x2xi64>
  %1 = "top.Gather"(%x, %i) {axis = 2 : i64} : (tensor<2x4x6x6xf32>, tensor<2x3xi64>) -> tensor<2x4x2x3x6xf32>
  %2 = "top.Gather"(%1, %k) {axis = 4 : i64} : (tensor<2x4x2x3x6xf32>, tensor<2x2xi64>) -> tensor<2x4x2x3x2x2xf32>
  %y = "top.Permute"(%2) {order = [0, 1, 2, 4, 3, 5]} : (tensor<2x4x2x3x2x2xf32>) -> tensor<2x4x2x2x3x2xf32> loc("y")
  %3 = "top.Gather"(%x, %i1) {axis = 2 : i64} : (tensor<2x4x6x6xf32>, tensor<3x2xi64>) -> tensor<2x4x3x2x6xf32>
  %4 = "top.Gather"(%3, %j) {axis = 4 : i64} : (tensor<2x4x3x2x6xf32>, tensor<3x2xi64>) -> tensor<2x4x3x2x3x2xf32>
  %z = "top.Permute"(%4) {order = [0, 1, 2, 4, 3, 5]} : (tensor<2x4x3x2x3x2xf32>) -> tensor<2x4x3x3x2x2xf32> loc("z")
  return %y, %z : tensor<2x4x2x2x3x2xf32>, tensor<2x4x3x3x2x2xf32>
}

// CHECK-LABEL: func.func @shuffle
// CHECK: "top.ShuffleChannel"(%arg0) {group = 3 : i64} {{.*}} loc("y")
// CHECK-NEXT: return
func.func @shuffle(%x: tensor<2x6x5x7xf32>) -> tensor<2x6x5x7xf32> {
  %none = "top.None"() : () -> none
  %1 = "top.Reshape"(%x, %none) {shape = [2, 3, 2, 5, 7]} : (tensor<2x6x5x7xf32>, none) -> tensor<2x3x2x5x7xf32>
  %2 = "top.Permute"(%1) {order = [0, 2, 1, 3, 4]} : (tensor<2x3x2x5x7xf32>) -> tensor<2x2x3x5x7xf32>
  %y = "top.Reshape"(%2, %none) {shape = [2, 6, 5, 7]} : (tensor<2x2x3x5x7xf32>, none) -> tensor<2x6x5x7xf32> loc("y")
  return %y : tensor<2x6x5x7xf32>
}

// Rows, not channels.
// CHECK-LABEL: func.func @no_shuffle
// CHECK-NOT: "top.ShuffleChannel"
// CHECK: return
func.func @no_shuffle(%x: tensor<2x6x4x7xf32>) -> tensor<2x6x4x7xf32> {
  %none = "top.None"() : () -> none
  %1 = "top.Reshape"(%x, %none) {shape = [2, 6, 2, 2, 7]} : (tensor<2x6x4x7xf32>, none) -> tensor<2x6x2x2x7xf32>
  %2 = "top.Permute"(%1) {order = [0, 1, 3, 2, 4]} : (tensor<2x6x2x2x7xf32>) -> tensor<2x6x2x2x7xf32>
  %y = "top.Reshape"(%2, %none) {shape = [2, 6, 4, 7]} : (tensor<2x6x2x2x7xf32>, none) -> tensor<2x6x4x7xf32> loc("y")
  return %y : tensor<2x6x4x7xf32>
}

// CHECK-LABEL: func.func @shuffle_read_within
// CHECK-NOT: "top.ShuffleChannel"
// CHECK: return
func.func @shuffle_read_within(%x: tensor<2x6x5x7xf32>) -> (tensor<2x6x5x7xf32>, tensor<2x2x3x5x7xf32>) {
  %none = "top.None"() : () -> none
  %1 = "top.Reshape"(%x, %none) {shape = [2, 3, 2, 5, 7]} : (tensor<2x6x5x7xf32>, none) -> tensor<2x3x2x5x7xf32>
  %2 = "top.Permute"(%1) {order = [0, 2, 1, 3, 4]} : (tensor<2x3x2x5x7xf32>) -> tensor<2x2x3x5x7xf32>
  %y = "top.Reshape"(%2, %none) {shape = [2, 6, 5, 7]} : (tensor<2x2x3x5x7xf32>, none) -> tensor<2x6x5x7xf32> loc("y")
  return %y, %2 : tensor<2x6x5x7xf32>, tensor<2x2x3x5x7xf32>
}

// CHECK-LABEL: func.func @slices_by_rows
// CHECK: "top.Depth2Space"(%arg0) {block_h = 2 : i64, block_w = 2 : i64, is_CRD = false, is_inversed = true} {{.*}} loc("c")
// CHECK-NEXT: return
func.func @slices_by_rows(%x: tensor<1x3x8x6xf32>) -> tensor<1x12x4x3xf32> {
  %none = "top.None"() : () -> none
  %s0 = "top.Slice"(%x, %none, %none, %none, %none) {offset = [0, 0], ends = [9999, 9999], axes = [-2, -1], steps = [2, 2]} : (tensor<1x3x8x6xf32>, none, none, none, none) -> tensor<1x3x4x3xf32>
  %s1 = "top.Slice"(%x, %none, %none, %none, %none) {offset = [0, 1], ends = [9999, 9999], axes = [-2, -1], steps = [2, 2]} : (tensor<1x3x8x6xf32>, none, none, none, none) -> tensor<1x3x4x3xf32>
  %s2 = "top.Slice"(%x, %none, %none, %none, %none) {offset = [1, 0], ends = [9999, 9999], axes = [-2, -1], steps = [2, 2]} : (tensor<1x3x8x6xf32>, none, none, none, none) -> tensor<1x3x4x3xf32>
  %s3 = "top.Slice"(%x, %none, %none, %none, %none) {offset = [1, 1], ends = [9999, 9999], axes = [-2, -1], steps = [2, 2]} : (tensor<1x3x8x6xf32>, none, none, none, none) -> tensor<1x3x4x3xf32>
  %c = "top.Concat"(%s0, %s1, %s2, %s3) {axis = 1 : i64} : (tensor<1x3x4x3xf32>, tensor<1x3x4x3xf32>, tensor<1x3x4x3xf32>, tensor<1x3x4x3xf32>) -> tensor<1x12x4x3xf32> loc("c")
  return %c : tensor<1x12x4x3xf32>
}

// CHECK-LABEL: func.func @slices_into_conv
// CHECK: "top.Depth2Space"(%arg0) {block_h = 2 : i64, block_w = 2 : i64, is_CRD = false, is_inversed = true} {{.*}} loc("c_blocks")
// CHECK: "top.Conv"({{.*}} loc("y")
func.func @slices_into_conv(%x: tensor<1x3x8x6xf32>) -> tensor<1x8x4x3xf32> {
  %none = "top.None"() : () -> none
  %h0 = "top.Slice"(%x, %none, %none, %none, %none) {offset = [0], ends = [9999], axes = [2], steps = [2]} : (tensor<1x3x8x6xf32>, none, none, none, none) -> tensor<1x3x4x6xf32>
  %h1 = "top.Slice"(%x, %none, %none, %none, %none) {offset = [1], ends = [9999], axes = [2], steps = [2]} : (tensor<1x3x8x6xf32>, none, none, none, none) -> tensor<1x3x4x6xf32>
  %s0 = "top.Slice"(%h0, %none, %none, %none, %none) {offset = [0], ends = [9999], axes = [3], steps = [2]} : (tensor<1x3x4x6xf32>, none, none, none, none) -> tensor<1x3x4x3xf32>
  %s1 = "top.Slice"(%h1, %none, %none, %none, %none) {offset = [0], ends = [9999], axes = [3], steps = [2]} : (tensor<1x3x4x6xf32>, none, none, none, none) -> tensor<1x3x4x3xf32>
  %s2 = "top.Slice"(%h0, %none, %none, %none, %none) {offset = [1], ends = [9999], axes = [3], steps = [2]} : (tensor<1x3x4x6xf32>, none, none, none, none) -> tensor<1x3x4x3xf32>
  %s3 = "top.Slice"(%h1, %none, %none, %none, %none) {offset = [1], ends = [9999], axes = [3], steps = [2]} : (tensor<1x3x4x6xf32>, none, none, none, none) -> tensor<1x3x4x3xf32>
  %c = "top.Concat"(%s0, %s1, %s2, %s3) {axis = 1 : i64} : (tensor<1x3x4x3xf32>, tensor<1x3x4x3xf32>, tensor<1x3x4x3xf32>, tensor<1x3x4x3xf32>) -> tensor<1x12x4x3xf32> loc("c")
  %f = "top.ConstantFill"(%none) {shape = [8, 12, 1, 1], value = 0.5 : f32} : (none) -> tensor<8x12x1x1xf32>
  %y = "top.Conv"(%c, %f, %none) {kernel_shape = [1, 1]} : (tensor<1x12x4x3xf32>, tensor<8x12x1x1xf32>, none) -> tensor<1x8x4x3xf32> loc("y")
  return %y : tensor<1x8x4x3xf32>
}

// Nobody puts the channels into order.
// CHECK-LABEL: func.func @slices_in_other_order
// CHECK-NOT: "top.Depth2Space"
// CHECK: return
func.func @slices_in_other_order(%x: tensor<1x3x8x6xf32>) -> tensor<1x12x4x3xf32> {
  %none = "top.None"() : () -> none
  %s0 = "top.Slice"(%x, %none, %none, %none, %none) {offset = [0, 0], ends = [9999, 9999], axes = [-2, -1], steps = [2, 2]} : (tensor<1x3x8x6xf32>, none, none, none, none) -> tensor<1x3x4x3xf32>
  %s1 = "top.Slice"(%x, %none, %none, %none, %none) {offset = [1, 0], ends = [9999, 9999], axes = [-2, -1], steps = [2, 2]} : (tensor<1x3x8x6xf32>, none, none, none, none) -> tensor<1x3x4x3xf32>
  %s2 = "top.Slice"(%x, %none, %none, %none, %none) {offset = [0, 1], ends = [9999, 9999], axes = [-2, -1], steps = [2, 2]} : (tensor<1x3x8x6xf32>, none, none, none, none) -> tensor<1x3x4x3xf32>
  %s3 = "top.Slice"(%x, %none, %none, %none, %none) {offset = [1, 1], ends = [9999, 9999], axes = [-2, -1], steps = [2, 2]} : (tensor<1x3x8x6xf32>, none, none, none, none) -> tensor<1x3x4x3xf32>
  %c = "top.Concat"(%s0, %s1, %s2, %s3) {axis = 1 : i64} : (tensor<1x3x4x3xf32>, tensor<1x3x4x3xf32>, tensor<1x3x4x3xf32>, tensor<1x3x4x3xf32>) -> tensor<1x12x4x3xf32> loc("c")
  return %c : tensor<1x12x4x3xf32>
}

// CHECK-LABEL: func.func @a_slice_twice
// CHECK-NOT: "top.Depth2Space"
// CHECK: return
func.func @a_slice_twice(%x: tensor<1x3x8x6xf32>) -> tensor<1x12x4x3xf32> {
  %none = "top.None"() : () -> none
  %s0 = "top.Slice"(%x, %none, %none, %none, %none) {offset = [0, 0], ends = [9999, 9999], axes = [-2, -1], steps = [2, 2]} : (tensor<1x3x8x6xf32>, none, none, none, none) -> tensor<1x3x4x3xf32>
  %s1 = "top.Slice"(%x, %none, %none, %none, %none) {offset = [0, 1], ends = [9999, 9999], axes = [-2, -1], steps = [2, 2]} : (tensor<1x3x8x6xf32>, none, none, none, none) -> tensor<1x3x4x3xf32>
  %s2 = "top.Slice"(%x, %none, %none, %none, %none) {offset = [0, 1], ends = [9999, 9999], axes = [-2, -1], steps = [2, 2]} : (tensor<1x3x8x6xf32>, none, none, none, none) -> tensor<1x3x4x3xf32>
  %s3 = "top.Slice"(%x, %none, %none, %none, %none) {offset = [1, 1], ends = [9999, 9999], axes = [-2, -1], steps = [2, 2]} : (tensor<1x3x8x6xf32>, none, none, none, none) -> tensor<1x3x4x3xf32>
  %c = "top.Concat"(%s0, %s1, %s2, %s3) {axis = 1 : i64} : (tensor<1x3x4x3xf32>, tensor<1x3x4x3xf32>, tensor<1x3x4x3xf32>, tensor<1x3x4x3xf32>) -> tensor<1x12x4x3xf32> loc("c")
  return %c : tensor<1x12x4x3xf32>
}

// Means of bins, as in the heads of detectors.
// CHECK-LABEL: func.func @sides
// CHECK: %[[X:.*]] = "top.Reshape"(%arg0, {{.*}}shape = [4, 16, 1, 64]{{.*}} loc("t_sides")
// CHECK: %[[S:.*]] = "top.Softmax"(%[[X]]) {axis = 1 {{.*}} -> tensor<4x16x1x64xf32> loc("s_sides")
// CHECK: %[[C:.*]] = "top.Conv"(%[[S]], {{.*}} -> tensor<4x1x1x64xf32> loc("c_sides")
// CHECK: "top.Reshape"(%[[C]], {{.*}} -> tensor<1x1x4x64xf32> loc("c")
// CHECK-NOT: "top.Permute"
// CHECK: return
func.func @sides(%x: tensor<1x4x16x64xf32>) -> tensor<1x1x4x64xf32> {
  %none = "top.None"() : () -> none
  %w = "top.Weight"() : () -> tensor<1x16x1x1xf32>
  %t = "top.Permute"(%x) {order = [0, 2, 1, 3]} : (tensor<1x4x16x64xf32>) -> tensor<1x16x4x64xf32> loc("t")
  %s = "top.Softmax"(%t) {axis = 1 : i64} : (tensor<1x16x4x64xf32>) -> tensor<1x16x4x64xf32> loc("s")
  %c = "top.Conv"(%s, %w, %none) {kernel_shape = [1, 1]} : (tensor<1x16x4x64xf32>, tensor<1x16x1x1xf32>, none) -> tensor<1x1x4x64xf32> loc("c")
  return %c : tensor<1x1x4x64xf32>
}

// CHECK-LABEL: func.func @short_rows
// CHECK: "top.Permute"
func.func @short_rows(%x: tensor<1x4x16x63xf32>) -> tensor<1x1x4x63xf32> {
  %none = "top.None"() : () -> none
  %w = "top.Weight"() : () -> tensor<1x16x1x1xf32>
  %t = "top.Permute"(%x) {order = [0, 2, 1, 3]} : (tensor<1x4x16x63xf32>) -> tensor<1x16x4x63xf32>
  %s = "top.Softmax"(%t) {axis = 1 : i64} : (tensor<1x16x4x63xf32>) -> tensor<1x16x4x63xf32>
  %c = "top.Conv"(%s, %w, %none) {kernel_shape = [1, 1]} : (tensor<1x16x4x63xf32>, tensor<1x16x1x1xf32>, none) -> tensor<1x1x4x63xf32>
  return %c : tensor<1x1x4x63xf32>
}

// A softmax over the sides, and windows of two of them.
// CHECK-LABEL: func.func @over_sides
// CHECK: "top.Permute"
func.func @over_sides(%x: tensor<1x4x16x64xf32>) -> tensor<1x1x4x64xf32> {
  %none = "top.None"() : () -> none
  %w = "top.Weight"() : () -> tensor<1x16x1x1xf32>
  %t = "top.Permute"(%x) {order = [0, 2, 1, 3]} : (tensor<1x4x16x64xf32>) -> tensor<1x16x4x64xf32>
  %s = "top.Softmax"(%t) {axis = 2 : i64} : (tensor<1x16x4x64xf32>) -> tensor<1x16x4x64xf32>
  %c = "top.Conv"(%s, %w, %none) {kernel_shape = [1, 1]} : (tensor<1x16x4x64xf32>, tensor<1x16x1x1xf32>, none) -> tensor<1x1x4x64xf32>
  return %c : tensor<1x1x4x64xf32>
}

// CHECK-LABEL: func.func @windows_of_sides
// CHECK: "top.Permute"
func.func @windows_of_sides(%x: tensor<1x4x16x64xf32>) -> tensor<1x1x4x64xf32> {
  %none = "top.None"() : () -> none
  %w = "top.Weight"() : () -> tensor<1x16x3x1xf32>
  %t = "top.Permute"(%x) {order = [0, 2, 1, 3]} : (tensor<1x4x16x64xf32>) -> tensor<1x16x4x64xf32>
  %s = "top.Softmax"(%t) {axis = 1 : i64} : (tensor<1x16x4x64xf32>) -> tensor<1x16x4x64xf32>
  %c = "top.Conv"(%s, %w, %none) {kernel_shape = [3, 1], pads = [1, 0, 1, 0]} : (tensor<1x16x4x64xf32>, tensor<1x16x3x1xf32>, none) -> tensor<1x1x4x64xf32>
  return %c : tensor<1x1x4x64xf32>
}

// The network gives the weights, too.
// CHECK-LABEL: func.func @weights_are_given
// CHECK: "top.Permute"
func.func @weights_are_given(%x: tensor<1x4x16x64xf32>) -> (tensor<1x16x4x64xf32>, tensor<1x1x4x64xf32>) {
  %none = "top.None"() : () -> none
  %w = "top.Weight"() : () -> tensor<1x16x1x1xf32>
  %t = "top.Permute"(%x) {order = [0, 2, 1, 3]} : (tensor<1x4x16x64xf32>) -> tensor<1x16x4x64xf32>
  %s = "top.Softmax"(%t) {axis = 1 : i64} : (tensor<1x16x4x64xf32>) -> tensor<1x16x4x64xf32>
  %c = "top.Conv"(%s, %w, %none) {kernel_shape = [1, 1]} : (tensor<1x16x4x64xf32>, tensor<1x16x1x1xf32>, none) -> tensor<1x1x4x64xf32>
  return %s, %c : tensor<1x16x4x64xf32>, tensor<1x1x4x64xf32>
}

// Another form of the same.
// CHECK-LABEL: func.func @sums_of_bins
// CHECK: %[[S:.*]] = "top.Softmax"(%arg0)
// CHECK: %[[W:.*]] = "top.Weight"() : () -> tensor<1x3x1x1xf32> loc("r_bins")
// CHECK: %[[C:.*]] = "top.Conv"(%[[S]], %[[W]], {{.*}}kernel_shape = [1, 1]{{.*}} -> tensor<2x1x5x7xf32> loc("r_means")
// CHECK: "top.Reshape"(%[[C]], {{.*}} -> tensor<2x5x7xf32> loc("r")
// CHECK-NOT: "top.Reduce"
// CHECK: return
func.func @sums_of_bins(%x: tensor<2x3x5x7xf32>) -> tensor<2x5x7xf32> {
  %none = "top.None"() : () -> none
  %w = "top.ConstantFill"(%none) {shape = [3, 1, 1], value = 2.0 : f32} : (none) -> tensor<3x1x1xf32>
  %s = "top.Softmax"(%x) {axis = 1 : i64} : (tensor<2x3x5x7xf32>) -> tensor<2x3x5x7xf32>
  %p = "top.Mul"(%w, %s) : (tensor<3x1x1xf32>, tensor<2x3x5x7xf32>) -> tensor<2x3x5x7xf32>
  %r = "top.Reduce"(%p, %none) {axes = [1], mode = "ReduceSum", keepdims = false} : (tensor<2x3x5x7xf32>, none) -> tensor<2x5x7xf32> loc("r")
  return %r : tensor<2x5x7xf32>
}

// Where the sums keep the axis, the convolution has their name.
// CHECK-LABEL: func.func @kept_sums_of_bins
// CHECK: "top.Conv"({{.*}} -> tensor<2x1x5x7xf32> loc("r")
// CHECK-NOT: "top.Reshape"
// CHECK: return
func.func @kept_sums_of_bins(%x: tensor<2x3x5x7xf32>) -> tensor<2x1x5x7xf32> {
  %none = "top.None"() : () -> none
  %w = "top.ConstantFill"(%none) {shape = [3, 1, 1], value = 2.0 : f32} : (none) -> tensor<3x1x1xf32>
  %s = "top.Softmax"(%x) {axis = 1 : i64} : (tensor<2x3x5x7xf32>) -> tensor<2x3x5x7xf32>
  %p = "top.Mul"(%w, %s) : (tensor<3x1x1xf32>, tensor<2x3x5x7xf32>) -> tensor<2x3x5x7xf32>
  %r = "top.Reduce"(%p, %none) {axes = [1], mode = "ReduceSum", keepdims = true} : (tensor<2x3x5x7xf32>, none) -> tensor<2x1x5x7xf32> loc("r")
  return %r : tensor<2x1x5x7xf32>
}

// A number for each row is no filter, and a mean of rows is none of channels.
// CHECK-LABEL: func.func @sums_of_rows
// CHECK: "top.Reduce"
// CHECK: "top.Reduce"
func.func @sums_of_rows(%x: tensor<2x3x5x7xf32>) -> (tensor<2x5x7xf32>, tensor<2x3x7xf32>) {
  %none = "top.None"() : () -> none
  %w = "top.Weight"() : () -> tensor<1x1x5x1xf32>
  %v = "top.Weight"() : () -> tensor<1x3x1x1xf32>
  %s = "top.Softmax"(%x) {axis = 1 : i64} : (tensor<2x3x5x7xf32>) -> tensor<2x3x5x7xf32>
  %p = "top.Mul"(%s, %w) : (tensor<2x3x5x7xf32>, tensor<1x1x5x1xf32>) -> tensor<2x3x5x7xf32>
  %r = "top.Reduce"(%p, %none) {axes = [1], mode = "ReduceSum", keepdims = false} : (tensor<2x3x5x7xf32>, none) -> tensor<2x5x7xf32>
  %t = "top.Softmax"(%p) {axis = 1 : i64} : (tensor<2x3x5x7xf32>) -> tensor<2x3x5x7xf32>
  %q = "top.Mul"(%t, %v) : (tensor<2x3x5x7xf32>, tensor<1x3x1x1xf32>) -> tensor<2x3x5x7xf32>
  %y = "top.Reduce"(%q, %none) {axes = [2], mode = "ReduceSum", keepdims = false} : (tensor<2x3x5x7xf32>, none) -> tensor<2x3x7xf32>
  return %r, %y : tensor<2x5x7xf32>, tensor<2x3x7xf32>
}

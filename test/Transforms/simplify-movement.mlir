// RUN: tpuc-opt %s --shape-infer --top-fuse --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s
// RUN: tpuc-opt %s --shape-infer --top-fuse=disable=remove-no-op,merge-permutes,merge-reshapes,permute-to-reshape | FileCheck %s --check-prefix=OFF

// CHECK-LABEL: func.func @no_ops
// CHECK: "top.Abs"(%arg0) : {{.*}} loc("n10")
// CHECK-NOT: top.
// CHECK: return
// OFF-LABEL: func.func @no_ops
// OFF: "top.Copy"
// OFF: "top.Concat"
func.func @no_ops(%x: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
  %none = "top.None"() : () -> none
  %1 = "top.Abs"(%x) : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32> loc("x")
  %2 = "top.Copy"(%1) : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32> loc("n0")
  %3 = "top.Cast"(%2) {to = f32} : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32> loc("n1")
  %4 = "top.Reshape"(%3, %none) {shape = [2, 3, 4]} : (tensor<2x3x4xf32>, none) -> tensor<2x3x4xf32> loc("n2")
  %5 = "top.Permute"(%4) {order = [0, 1, 2]} : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32> loc("n3")
  %6 = "top.Slice"(%5, %none, %none, %none, %none) {offset = [0], ends = [9]} : (tensor<2x3x4xf32>, none, none, none, none) -> tensor<2x3x4xf32> loc("n4")
  %7 = "top.Pad"(%6, %none, %none, %none) {paddings = [0, 0, 0, 0, 0, 0]} : (tensor<2x3x4xf32>, none, none, none) -> tensor<2x3x4xf32> loc("n5")
  %8 = "top.Concat"(%7) {axis = 1 : i64} : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32> loc("n6")
  %9 = "top.Tile"(%8, %none) {tile = [1, 1, 1]} : (tensor<2x3x4xf32>, none) -> tensor<2x3x4xf32> loc("n7")
  %10 = "top.Expand"(%9, %none) {shape = [1, 1, 4]} : (tensor<2x3x4xf32>, none) -> tensor<2x3x4xf32> loc("n8")
  %11 = "top.MulConst"(%10) {const_val = 1.0 : f64} : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32> loc("n9")
  %12 = "top.AddConst"(%11) {const_val = 0.0 : f64} : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32> loc("n10")
  return %12 : tensor<2x3x4xf32>
}

// CHECK-LABEL: func.func @split_into_one
// CHECK: "top.Abs"(%arg0) : {{.*}} loc("y")
// CHECK-NEXT: return
// OFF-LABEL: func.func @split_into_one
// OFF: "top.Split"
func.func @split_into_one(%x: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
  %none = "top.None"() : () -> none
  %1 = "top.Abs"(%x) : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32> loc("x")
  %2 = "top.Split"(%1, %none) {axis = 1 : i64, num = 1 : i64, split_size = [3]} : (tensor<2x3x4xf32>, none) -> tensor<2x3x4xf32> loc("y")
  return %2 : tensor<2x3x4xf32>
}

// CHECK-LABEL: func.func @upsample_by_one
// CHECK-NOT: "top.Upsample"
// CHECK: "top.Abs"(%arg0)
func.func @upsample_by_one(%x: tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32> {
  %none = "top.None"() : () -> none
  %1 = "top.Upsample"(%x) {scale_h = 1 : i64, scale_w = 1 : i64} : (tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32>
  %2 = "top.Abs"(%1) : (tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32>
  return %2 : tensor<1x2x3x4xf32>
}

// Backwards, with an activation, to another type.
// CHECK-LABEL: func.func @not_no_ops
// CHECK: "top.Slice"
// CHECK: "top.MulConst"
// CHECK: "top.Cast"
func.func @not_no_ops(%x: tensor<2x3x4xf32>) -> tensor<2x3x4xf16> {
  %none = "top.None"() : () -> none
  %1 = "top.Slice"(%x, %none, %none, %none, %none) {offset = [-1], ends = [-9], steps = [-1]} : (tensor<2x3x4xf32>, none, none, none, none) -> tensor<2x3x4xf32>
  %2 = "top.MulConst"(%1) {const_val = 1.0 : f64, do_relu = true} : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %3 = "top.Cast"(%2) {to = f16} : (tensor<2x3x4xf32>) -> tensor<2x3x4xf16>
  return %3 : tensor<2x3x4xf16>
}

// Inputs have their names, and so has an output that is another one too.
// CHECK-LABEL: func.func @outputs_keep_names
// CHECK: "top.Copy"(%arg0) : {{.*}} loc("a")
// CHECK: "top.Abs"(%arg0) : {{.*}} loc("b")
// CHECK: "top.Copy"({{.*}}) : {{.*}} loc("c")
func.func @outputs_keep_names(%x: tensor<2x3x4xf32>) -> (tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>) {
  %none = "top.None"() : () -> none
  %1 = "top.Copy"(%x) : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32> loc("a")
  %2 = "top.Abs"(%x) : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32> loc("b")
  %3 = "top.Copy"(%2) : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32> loc("c")
  return %1, %2, %3 : tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>
}

// CHECK-LABEL: func.func @merge_permutes
// CHECK: "top.Permute"(%arg0) {order = [2, 1, 0]} : {{.*}} loc("y")
// CHECK-NOT: "top.Permute"
// CHECK: return
// OFF-LABEL: func.func @merge_permutes
// OFF: order = [2, 0, 1]
// OFF: order = [0, 2, 1]
func.func @merge_permutes(%x: tensor<2x3x4xf32>) -> tensor<4x3x2xf32> {
  %none = "top.None"() : () -> none
  %1 = "top.Permute"(%x) {order = [2, 0, 1]} : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>
  %2 = "top.Permute"(%1) {order = [0, 2, 1]} : (tensor<4x2x3xf32>) -> tensor<4x3x2xf32> loc("y")
  return %2 : tensor<4x3x2xf32>
}

// CHECK-LABEL: func.func @permutes_cancel
// CHECK-NOT: "top.Permute"
// CHECK: "top.Abs"(%arg0)
func.func @permutes_cancel(%x: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
  %none = "top.None"() : () -> none
  %1 = "top.Permute"(%x) {order = [2, 0, 1]} : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>
  %2 = "top.Permute"(%1) {order = [1, 2, 0]} : (tensor<4x2x3xf32>) -> tensor<2x3x4xf32>
  %3 = "top.Abs"(%2) : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  return %3 : tensor<2x3x4xf32>
}

// CHECK-LABEL: func.func @permute_read_twice
// CHECK: "top.Permute"
// CHECK: "top.Permute"
func.func @permute_read_twice(%x: tensor<2x3x4xf32>) -> (tensor<4x2x3xf32>, tensor<2x3x4xf32>) {
  %none = "top.None"() : () -> none
  %1 = "top.Permute"(%x) {order = [2, 0, 1]} : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>
  %2 = "top.Permute"(%1) {order = [1, 2, 0]} : (tensor<4x2x3xf32>) -> tensor<2x3x4xf32>
  return %1, %2 : tensor<4x2x3xf32>, tensor<2x3x4xf32>
}

// CHECK-LABEL: func.func @merge_reshapes
// CHECK: "top.Reshape"(%arg0, {{.*}}shape = [1, 24]{{.*}} loc("y")
// CHECK-NEXT: return
// OFF-LABEL: func.func @merge_reshapes
// OFF: "top.Reshape"
// OFF: "top.Flatten"
// OFF: "top.Unsqueeze"
func.func @merge_reshapes(%x: tensor<2x3x4xf32>) -> tensor<1x24xf32> {
  %none = "top.None"() : () -> none
  %1 = "top.Reshape"(%x, %none) {shape = [6, 4]} : (tensor<2x3x4xf32>, none) -> tensor<6x4xf32>
  %2 = "top.Flatten"(%1) : (tensor<6x4xf32>) -> tensor<24xf32>
  %3 = "top.Unsqueeze"(%2, %none) {axes = [0]} : (tensor<24xf32>, none) -> tensor<1x24xf32> loc("y")
  return %3 : tensor<1x24xf32>
}

// CHECK-LABEL: func.func @merge_reshapes_dynamic
// CHECK: "top.Reshape"(%arg0, {{.*}}shape = [-1, 4, 3]
// CHECK-NEXT: return
func.func @merge_reshapes_dynamic(%x: tensor<?x3x4xf32>) -> tensor<?x4x3xf32> {
  %none = "top.None"() : () -> none
  %1 = "top.Reshape"(%x, %none) {shape = [-1]} : (tensor<?x3x4xf32>, none) -> tensor<?xf32>
  %2 = "top.Reshape"(%1, %none) {shape = [-1, 4, 3]} : (tensor<?xf32>, none) -> tensor<?x4x3xf32>
  return %2 : tensor<?x4x3xf32>
}

// The shape is known when the network runs.
// CHECK-LABEL: func.func @reshapes_of_two_dynamic
// CHECK: "top.Reshape"
// CHECK: "top.Reshape"
func.func @reshapes_of_two_dynamic(%x: tensor<?x?x4xf32>, %s: tensor<3xi64>) -> tensor<?x?x4xf32> {
  %none = "top.None"() : () -> none
  %1 = "top.Reshape"(%x, %none) {shape = [-1]} : (tensor<?x?x4xf32>, none) -> tensor<?xf32>
  %2 = "top.Reshape"(%1, %s) : (tensor<?xf32>, tensor<3xi64>) -> tensor<?x?x4xf32>
  return %2 : tensor<?x?x4xf32>
}

// CHECK-LABEL: func.func @permute_to_reshape
// CHECK: "top.Reshape"(%arg0, {{.*}}shape = [2, 4, 1]{{.*}} loc("y")
// OFF-LABEL: func.func @permute_to_reshape
// OFF: "top.Permute"
func.func @permute_to_reshape(%x: tensor<2x1x4xf32>) -> tensor<2x4x1xf32> {
  %none = "top.None"() : () -> none
  %1 = "top.Permute"(%x) {order = [0, 2, 1]} : (tensor<2x1x4xf32>) -> tensor<2x4x1xf32> loc("y")
  return %1 : tensor<2x4x1xf32>
}

// It may be more than one.
// CHECK-LABEL: func.func @permute_of_dynamic
// CHECK: "top.Permute"
func.func @permute_of_dynamic(%x: tensor<2x?x4xf32>) -> tensor<2x4x?xf32> {
  %none = "top.None"() : () -> none
  %1 = "top.Permute"(%x) {order = [0, 2, 1]} : (tensor<2x?x4xf32>) -> tensor<2x4x?xf32> loc("y")
  return %1 : tensor<2x4x?xf32>
}

// CHECK-LABEL: func.func @share_equal
// CHECK: "top.Exp"(%arg0) {{.*}} loc("a")
// CHECK-NEXT: %[[LOG:.*]] = "top.Log"
// CHECK-NEXT: "top.Add"(%[[LOG]], %[[LOG]])
func.func @share_equal(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %none = "top.None"() : () -> none
  %1 = "top.Exp"(%x) : (tensor<2x4xf32>) -> tensor<2x4xf32> loc("a")
  %2 = "top.Exp"(%x) : (tensor<2x4xf32>) -> tensor<2x4xf32> loc("b")
  %3 = "top.Log"(%1) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %4 = "top.Log"(%2) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %5 = "top.Add"(%3, %4) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  return %5 : tensor<2x4xf32>
}

// The output keeps its name.
// CHECK-LABEL: func.func @share_with_output
// CHECK: "top.Exp"(%arg0) {{.*}} loc("b")
// CHECK-NOT: "top.Exp"
// CHECK: return
func.func @share_with_output(%x: tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>) {
  %none = "top.None"() : () -> none
  %1 = "top.Exp"(%x) : (tensor<2x4xf32>) -> tensor<2x4xf32> loc("a")
  %2 = "top.Exp"(%x) : (tensor<2x4xf32>) -> tensor<2x4xf32> loc("b")
  %3 = "top.Log"(%1) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return %2, %3 : tensor<2x4xf32>, tensor<2x4xf32>
}

// Both have a name that somebody asks for.
// CHECK-LABEL: func.func @two_outputs_of_one_value
// CHECK: loc("a")
// CHECK: loc("b")
func.func @two_outputs_of_one_value(%x: tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>) {
  %none = "top.None"() : () -> none
  %1 = "top.Exp"(%x) : (tensor<2x4xf32>) -> tensor<2x4xf32> loc("a")
  %2 = "top.Exp"(%x) : (tensor<2x4xf32>) -> tensor<2x4xf32> loc("b")
  return %1, %2 : tensor<2x4xf32>, tensor<2x4xf32>
}

// CHECK-LABEL: func.func @not_equal
// CHECK: alpha = 1.0
// CHECK: alpha = 2.0
func.func @not_equal(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %none = "top.None"() : () -> none
  %1 = "top.LeakyRelu"(%x) {alpha = 0.1 : f64} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %2 = "top.LeakyRelu"(%x) {alpha = 0.2 : f64} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %3 = "top.Add"(%1, %2) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  return %3 : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @join_slices
// CHECK-NEXT: %[[NONE:.*]] = "top.None"
// CHECK-NEXT: "top.Reshape"(%arg0, %[[NONE]]) {{.*}}-> tensor<2x2x12xf32>
// CHECK-NEXT: return
func.func @join_slices(%x: tensor<4x3x4xf32>) -> tensor<2x2x12xf32> {
  %none = "top.None"() : () -> none
  %a = "top.Slice"(%x, %none, %none, %none, %none) {offset = [0], ends = [1], axes = [1], steps = [1]} : (tensor<4x3x4xf32>, none, none, none, none) -> tensor<4x1x4xf32>
  %b = "top.Slice"(%x, %none, %none, %none, %none) {offset = [1], ends = [3], axes = [1], steps = [1]} : (tensor<4x3x4xf32>, none, none, none, none) -> tensor<4x2x4xf32>
  %c = "top.Reshape"(%a, %none) {shape = [2, 2, 4]} : (tensor<4x1x4xf32>, none) -> tensor<2x2x4xf32>
  %d = "top.Reshape"(%b, %none) {shape = [2, 2, 8]} : (tensor<4x2x4xf32>, none) -> tensor<2x2x8xf32>
  %y = "top.Concat"(%c, %d) {axis = 2 : i64} : (tensor<2x2x4xf32>, tensor<2x2x8xf32>) -> tensor<2x2x12xf32> loc("y")
  return %y : tensor<2x2x12xf32>
}

// Along another dimension, the rows of the slices stand behind each other.
// CHECK-LABEL: func.func @slices_along_another
// CHECK: "top.Concat"
func.func @slices_along_another(%x: tensor<4x2xf32>) -> tensor<8x1xf32> {
  %none = "top.None"() : () -> none
  %a = "top.Slice"(%x, %none, %none, %none, %none) {offset = [0], ends = [1], axes = [1], steps = [1]} : (tensor<4x2xf32>, none, none, none, none) -> tensor<4x1xf32>
  %b = "top.Slice"(%x, %none, %none, %none, %none) {offset = [1], ends = [2], axes = [1], steps = [1]} : (tensor<4x2xf32>, none, none, none, none) -> tensor<4x1xf32>
  %y = "top.Concat"(%a, %b) {axis = 0 : i64} : (tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<8x1xf32>
  return %y : tensor<8x1xf32>
}

// CHECK-LABEL: func.func @swapped_slices
// CHECK: "top.Concat"
func.func @swapped_slices(%x: tensor<4x2xf32>) -> tensor<4x2xf32> {
  %none = "top.None"() : () -> none
  %a = "top.Slice"(%x, %none, %none, %none, %none) {offset = [0], ends = [1], axes = [1], steps = [1]} : (tensor<4x2xf32>, none, none, none, none) -> tensor<4x1xf32>
  %b = "top.Slice"(%x, %none, %none, %none, %none) {offset = [1], ends = [2], axes = [1], steps = [1]} : (tensor<4x2xf32>, none, none, none, none) -> tensor<4x1xf32>
  %y = "top.Concat"(%b, %a) {axis = 1 : i64} : (tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x2xf32>
  return %y : tensor<4x2xf32>
}

// CHECK-LABEL: func.func @slices_of_a_part
// CHECK: "top.Concat"
func.func @slices_of_a_part(%x: tensor<4x3xf32>) -> tensor<4x2xf32> {
  %none = "top.None"() : () -> none
  %a = "top.Slice"(%x, %none, %none, %none, %none) {offset = [0], ends = [1], axes = [1], steps = [1]} : (tensor<4x3xf32>, none, none, none, none) -> tensor<4x1xf32>
  %b = "top.Slice"(%x, %none, %none, %none, %none) {offset = [1], ends = [2], axes = [1], steps = [1]} : (tensor<4x3xf32>, none, none, none, none) -> tensor<4x1xf32>
  %y = "top.Concat"(%a, %b) {axis = 1 : i64} : (tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x2xf32>
  return %y : tensor<4x2xf32>
}

// CHECK-LABEL: func.func @where_of_a_constant
// CHECK: "top.Relu"(%arg0)
func.func @where_of_a_constant(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %none = "top.None"() : () -> none
  %c = "top.ConstantFill"(%none) {shape = [2, 1], value = 0.0 : f32} : (none) -> tensor<2x1xf32>
  %b = "top.Cast"(%c) {to = i1} : (tensor<2x1xf32>) -> tensor<2x1xi1>
  %z = "top.ConstantFill"(%none) {shape = [], value = 0.0 : f32} : (none) -> tensor<f32>
  %w = "top.Where"(%b, %z, %x) : (tensor<2x1xi1>, tensor<f32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %y = "top.Relu"(%w) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

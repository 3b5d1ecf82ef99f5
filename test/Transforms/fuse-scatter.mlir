// RUN: tpuc-opt %s --shape-infer=max-folded=1 --top-fuse --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s
// RUN: tpuc-opt %s --shape-infer=max-folded=1 --top-fuse=disable=scatter-to-concat | FileCheck %s --check-prefix=OFF

// OFF-COUNT-5: "top.ScatterND"

// x[:, 1:, :6] = y: what stands beside y and in front of it is x's.
// CHECK-LABEL: func.func @box
// CHECK-NOT: "top.Expand"
// CHECK: %[[B:.*]] = "top.Slice"(%arg0{{.*}}axes = [0, 1, 2], ends = [3, 8, 10], offset = [0, 1, 6], steps = [1, 1, 1]{{.*}} -> tensor<3x7x4xf32>
// CHECK: %[[J:.*]] = "top.Concat"(%arg1, %[[B]]) {axis = 2 : i64{{.*}} -> tensor<3x7x10xf32>
// CHECK: %[[F:.*]] = "top.Slice"(%arg0{{.*}}ends = [3, 1, 10], offset = [0, 0, 0]{{.*}} -> tensor<3x1x10xf32>
// CHECK: "top.Concat"(%[[F]], %[[J]]) {axis = 1 : i64{{.*}} loc("z")
func.func @box(%x: tensor<3x8x10xf32>, %y: tensor<3x7x6xf32>) -> tensor<3x8x10xf32> {
  %none = "top.None"() : () -> none
  %zero = "top.ConstantFill"(%none) {shape = [], value = 0 : i64} : (none) -> tensor<i64>
  %one = "top.ConstantFill"(%none) {shape = [], value = 1 : i64} : (none) -> tensor<i64>
  %three = "top.ConstantFill"(%none) {shape = [], value = 3 : i64} : (none) -> tensor<i64>
  %six = "top.ConstantFill"(%none) {shape = [], value = 6 : i64} : (none) -> tensor<i64>
  %eight = "top.ConstantFill"(%none) {shape = [], value = 8 : i64} : (none) -> tensor<i64>
  %0 = "top.Range"(%zero, %three, %one) : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<*xi64>
  %1 = "top.Range"(%one, %eight, %one) : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<*xi64>
  %2 = "top.Range"(%zero, %six, %one) : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<*xi64>
  %3 = "top.Unsqueeze"(%0, %none) {axes = [1, 2]} : (tensor<*xi64>, none) -> tensor<*xi64>
  %4 = "top.Unsqueeze"(%1, %none) {axes = [1]} : (tensor<*xi64>, none) -> tensor<*xi64>
  %5 = "top.Expand"(%3, %none) {shape = [3, 7, 6]} : (tensor<*xi64>, none) -> tensor<*xi64>
  %6 = "top.Expand"(%4, %none) {shape = [3, 7, 6]} : (tensor<*xi64>, none) -> tensor<*xi64>
  %7 = "top.Expand"(%2, %none) {shape = [3, 7, 6]} : (tensor<*xi64>, none) -> tensor<*xi64>
  %8 = "top.Unsqueeze"(%5, %none) {axes = [-1]} : (tensor<*xi64>, none) -> tensor<*xi64>
  %9 = "top.Unsqueeze"(%6, %none) {axes = [-1]} : (tensor<*xi64>, none) -> tensor<*xi64>
  %10 = "top.Unsqueeze"(%7, %none) {axes = [-1]} : (tensor<*xi64>, none) -> tensor<*xi64>
  %11 = "top.Concat"(%8, %9, %10) {axis = -1 : i64} : (tensor<*xi64>, tensor<*xi64>, tensor<*xi64>) -> tensor<*xi64>
  %z = "top.ScatterND"(%x, %11, %y) : (tensor<3x8x10xf32>, tensor<*xi64>, tensor<3x7x6xf32>) -> tensor<3x8x10xf32> loc("z")
  return %z : tensor<3x8x10xf32>
}

// All rows at once, whose places are one constant.
// CHECK-LABEL: func.func @all
// CHECK: "top.Copy"(%arg1) {{.*}} loc("z")
func.func @all(%x: tensor<3x8xf32>, %y: tensor<3x8xf32>) -> tensor<3x8xf32> {
  %none = "top.None"() : () -> none
  %zero = "top.ConstantFill"(%none) {shape = [], value = 0 : i64} : (none) -> tensor<i64>
  %one = "top.ConstantFill"(%none) {shape = [], value = 1 : i64} : (none) -> tensor<i64>
  %three = "top.ConstantFill"(%none) {shape = [], value = 3 : i64} : (none) -> tensor<i64>
  %0 = "top.Range"(%zero, %three, %one) : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<*xi64>
  %1 = "top.Unsqueeze"(%0, %none) {axes = [1]} : (tensor<*xi64>, none) -> tensor<*xi64>
  %z = "top.ScatterND"(%x, %1, %y) : (tensor<3x8xf32>, tensor<*xi64>, tensor<3x8xf32>) -> tensor<3x8xf32> loc("z")
  return %z : tensor<3x8xf32>
}

// Rows in another order, and sums, are no assignments.
// CHECK-LABEL: func.func @turned
// CHECK: "top.ScatterND"
func.func @turned(%x: tensor<3x8xf32>, %y: tensor<3x8xf32>) -> tensor<3x8xf32> {
  %none = "top.None"() : () -> none
  %two = "top.ConstantFill"(%none) {shape = [], value = 2 : i64} : (none) -> tensor<i64>
  %back = "top.ConstantFill"(%none) {shape = [], value = -1 : i64} : (none) -> tensor<i64>
  %0 = "top.Range"(%two, %back, %back) : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<*xi64>
  %1 = "top.Unsqueeze"(%0, %none) {axes = [1]} : (tensor<*xi64>, none) -> tensor<*xi64>
  %z = "top.ScatterND"(%x, %1, %y) : (tensor<3x8xf32>, tensor<*xi64>, tensor<3x8xf32>) -> tensor<3x8xf32> loc("z")
  return %z : tensor<3x8xf32>
}
// CHECK-LABEL: func.func @sums
// CHECK: "top.ScatterND"
func.func @sums(%x: tensor<3x8xf32>, %y: tensor<3x8xf32>) -> tensor<3x8xf32> {
  %none = "top.None"() : () -> none
  %zero = "top.ConstantFill"(%none) {shape = [], value = 0 : i64} : (none) -> tensor<i64>
  %one = "top.ConstantFill"(%none) {shape = [], value = 1 : i64} : (none) -> tensor<i64>
  %three = "top.ConstantFill"(%none) {shape = [], value = 3 : i64} : (none) -> tensor<i64>
  %0 = "top.Range"(%zero, %three, %one) : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<*xi64>
  %1 = "top.Unsqueeze"(%0, %none) {axes = [1]} : (tensor<*xi64>, none) -> tensor<*xi64>
  %z = "top.ScatterND"(%x, %1, %y) {reduction = "add"} : (tensor<3x8xf32>, tensor<*xi64>, tensor<3x8xf32>) -> tensor<3x8xf32> loc("z")
  return %z : tensor<3x8xf32>
}

// Rows that are spread are counted along the other axis: places come twice.
// CHECK-LABEL: func.func @spread
// CHECK: "top.ScatterND"
func.func @spread(%x: tensor<4x4xf32>, %y: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %none = "top.None"() : () -> none
  %zero = "top.ConstantFill"(%none) {shape = [], value = 0 : i64} : (none) -> tensor<i64>
  %one = "top.ConstantFill"(%none) {shape = [], value = 1 : i64} : (none) -> tensor<i64>
  %four = "top.ConstantFill"(%none) {shape = [], value = 4 : i64} : (none) -> tensor<i64>
  %0 = "top.Range"(%zero, %four, %one) : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<*xi64>
  %1 = "top.Unsqueeze"(%0, %none) {axes = [1]} : (tensor<*xi64>, none) -> tensor<*xi64>
  %2 = "top.Unsqueeze"(%0, %none) {axes = [0, 2]} : (tensor<*xi64>, none) -> tensor<*xi64>
  %3 = "top.Expand"(%1, %none) {shape = [4, 4, 1]} : (tensor<*xi64>, none) -> tensor<*xi64>
  %4 = "top.Expand"(%2, %none) {shape = [4, 4, 1]} : (tensor<*xi64>, none) -> tensor<*xi64>
  %5 = "top.Concat"(%3, %4) {axis = -1 : i64} : (tensor<*xi64>, tensor<*xi64>) -> tensor<*xi64>
  %z = "top.ScatterND"(%x, %5, %y) : (tensor<4x4xf32>, tensor<*xi64>, tensor<4x4xf32>) -> tensor<4x4xf32> loc("z")
  return %z : tensor<4x4xf32>
}

// RUN: tpuc-opt %s --shape-infer --top-fuse --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s
// RUN: tpuc-opt %s --shape-infer --top-fuse=disable=elements-to-rows | FileCheck %s --check-prefix=OFF

// OFF-COUNT-3: "top.GatherElements"

// The place of a box is repeated for its four numbers.
// CHECK-LABEL: func.func @boxes
// CHECK: %[[I:.*]] = "top.Reshape"(%arg1{{.*}} -> tensor<5xi64>
// CHECK: "top.Gather"(%arg0, %[[I]]) {axis = 1 : i64} : (tensor<1x20x4xf32>, tensor<5xi64>) -> tensor<1x5x4xf32> loc("y")
func.func @boxes(%x: tensor<1x20x4xf32>, %i: tensor<1x5xi64>) -> tensor<1x5x4xf32> {
  %none = "top.None"() : () -> none
  %0 = "top.Unsqueeze"(%i, %none) {axes = [-1]} : (tensor<1x5xi64>, none) -> tensor<1x5x1xi64>
  %1 = "top.Expand"(%0, %none) {shape = [1, 5, 4]} : (tensor<1x5x1xi64>, none) -> tensor<1x5x4xi64>
  %y = "top.GatherElements"(%x, %1) {axis = 1 : i64} : (tensor<1x20x4xf32>, tensor<1x5x4xi64>) -> tensor<1x5x4xf32> loc("y")
  return %y : tensor<1x5x4xf32>
}

// Each sample has places of its own.
// CHECK-LABEL: func.func @samples
// CHECK: "top.GatherElements"
func.func @samples(%x: tensor<2x20x4xf32>, %i: tensor<2x5x1xi64>) -> tensor<2x5x4xf32> {
  %none = "top.None"() : () -> none
  %0 = "top.Expand"(%i, %none) {shape = [2, 5, 4]} : (tensor<2x5x1xi64>, none) -> tensor<2x5x4xi64>
  %y = "top.GatherElements"(%x, %0) {axis = 1 : i64} : (tensor<2x20x4xf32>, tensor<2x5x4xi64>) -> tensor<2x5x4xf32>
  return %y : tensor<2x5x4xf32>
}

// Of each row, the first elements only.
// CHECK-LABEL: func.func @parts
// CHECK: "top.GatherElements"
func.func @parts(%x: tensor<1x20x4xf32>, %i: tensor<1x5x1xi64>) -> tensor<1x5x3xf32> {
  %none = "top.None"() : () -> none
  %0 = "top.Expand"(%i, %none) {shape = [1, 5, 3]} : (tensor<1x5x1xi64>, none) -> tensor<1x5x3xi64>
  %y = "top.GatherElements"(%x, %0) {axis = 1 : i64} : (tensor<1x20x4xf32>, tensor<1x5x3xi64>) -> tensor<1x5x3xf32>
  return %y : tensor<1x5x3xf32>
}

// RUN: tpuc-opt %s --shape-infer --top-fuse --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s
// RUN: tpuc-opt %s --shape-infer --top-fuse=disable=sum-of-parts | FileCheck %s --check-prefix=OFF

// Branches that are joined, weighed and added up, as selective kernels have them; their sum is wanted, too.
// CHECK-LABEL: func.func @branches
// CHECK-NOT: "top.Concat"
// CHECK: %[[S:.*]] = "top.Add"(%arg0, %arg1) {{.*}} loc("s")
// CHECK: %[[W0:.*]] = "top.Slice"(%arg2, {{.*}}offset = [0]
// CHECK: %[[V0:.*]] = "top.Reshape"(%[[W0]]
// CHECK: %[[A:.*]] = "top.Mul"(%arg0, %[[V0]]) {{.*}} : (tensor<2x8x6x6xf32>, tensor<2x8x1x1xf32>) -> tensor<2x8x6x6xf32>
// CHECK: %[[W1:.*]] = "top.Slice"(%arg2, {{.*}}offset = [1]
// CHECK: %[[V1:.*]] = "top.Reshape"(%[[W1]]
// CHECK: %[[B:.*]] = "top.Mul"(%arg1, %[[V1]])
// CHECK: %[[Y:.*]] = "top.Add"(%[[A]], %[[B]]) {{.*}} loc("y")
// CHECK: return %[[S]], %[[Y]]
// OFF-LABEL: func.func @branches
// OFF: "top.Concat"
func.func @branches(%a: tensor<2x8x6x6xf32>, %b: tensor<2x8x6x6xf32>, %w: tensor<2x2x8x1x1xf32>) -> (tensor<2x8x6x6xf32>, tensor<2x8x6x6xf32>) {
  %none = "top.None"() : () -> none
  %0 = "top.Unsqueeze"(%a, %none) {axes = [1]} : (tensor<2x8x6x6xf32>, none) -> tensor<2x1x8x6x6xf32>
  %1 = "top.Unsqueeze"(%b, %none) {axes = [1]} : (tensor<2x8x6x6xf32>, none) -> tensor<2x1x8x6x6xf32>
  %2 = "top.Concat"(%0, %1) {axis = 1 : i64} : (tensor<2x1x8x6x6xf32>, tensor<2x1x8x6x6xf32>) -> tensor<2x2x8x6x6xf32>
  %s = "top.Reduce"(%2, %none) {axes = [1], keepdims = false, mode = "ReduceSum"} : (tensor<2x2x8x6x6xf32>, none) -> tensor<2x8x6x6xf32> loc("s")
  %3 = "top.Mul"(%2, %w) : (tensor<2x2x8x6x6xf32>, tensor<2x2x8x1x1xf32>) -> tensor<2x2x8x6x6xf32>
  %y = "top.Reduce"(%3, %none) {axes = [1], keepdims = false, mode = "ReduceSum"} : (tensor<2x2x8x6x6xf32>, none) -> tensor<2x8x6x6xf32> loc("y")
  return %s, %y : tensor<2x8x6x6xf32>, tensor<2x8x6x6xf32>
}

// Channels of one image follow each other, as split attention has them.
// CHECK-LABEL: func.func @channels
// CHECK: "top.Slice"
// CHECK: "top.Mul"{{.*}} -> tensor<1x8x6x6xf32>
// CHECK: "top.Add"{{.*}} -> tensor<1x8x6x6xf32>
// CHECK: "top.Reshape"{{.*}} -> tensor<1x1x8x6x6xf32> loc("y")
func.func @channels(%a: tensor<1x16x6x6xf32>, %w: tensor<1x2x8x1x1xf32>) -> tensor<1x1x8x6x6xf32> {
  %none = "top.None"() : () -> none
  %0 = "top.Reshape"(%a, %none) {shape = [1, 2, 8, 6, 6]} : (tensor<1x16x6x6xf32>, none) -> tensor<1x2x8x6x6xf32>
  %1 = "top.Mul"(%0, %w) : (tensor<1x2x8x6x6xf32>, tensor<1x2x8x1x1xf32>) -> tensor<1x2x8x6x6xf32>
  %y = "top.Reduce"(%1, %none) {axes = [1], mode = "ReduceSum"} : (tensor<1x2x8x6x6xf32>, none) -> tensor<1x1x8x6x6xf32> loc("y")
  return %y : tensor<1x1x8x6x6xf32>
}

// Those of two images would be moved.
// CHECK-LABEL: func.func @two_images
// CHECK: "top.Reduce"
func.func @two_images(%a: tensor<2x16x6x6xf32>, %w: tensor<2x2x8x1x1xf32>) -> tensor<2x8x6x6xf32> {
  %none = "top.None"() : () -> none
  %0 = "top.Reshape"(%a, %none) {shape = [2, 2, 8, 6, 6]} : (tensor<2x16x6x6xf32>, none) -> tensor<2x2x8x6x6xf32>
  %1 = "top.Mul"(%0, %w) : (tensor<2x2x8x6x6xf32>, tensor<2x2x8x1x1xf32>) -> tensor<2x2x8x6x6xf32>
  %y = "top.Reduce"(%1, %none) {axes = [1], keepdims = false, mode = "ReduceSum"} : (tensor<2x2x8x6x6xf32>, none) -> tensor<2x8x6x6xf32>
  return %y : tensor<2x8x6x6xf32>
}

// What else reads the product needs it whole.
// CHECK-LABEL: func.func @product_is_read
// CHECK: "top.Reduce"
func.func @product_is_read(%a: tensor<1x16x6x6xf32>, %w: tensor<1x2x8x1x1xf32>) -> (tensor<1x8x6x6xf32>, tensor<1x2x8x6x6xf32>) {
  %none = "top.None"() : () -> none
  %0 = "top.Reshape"(%a, %none) {shape = [1, 2, 8, 6, 6]} : (tensor<1x16x6x6xf32>, none) -> tensor<1x2x8x6x6xf32>
  %1 = "top.Mul"(%0, %w) : (tensor<1x2x8x6x6xf32>, tensor<1x2x8x1x1xf32>) -> tensor<1x2x8x6x6xf32>
  %y = "top.Reduce"(%1, %none) {axes = [1], keepdims = false, mode = "ReduceSum"} : (tensor<1x2x8x6x6xf32>, none) -> tensor<1x8x6x6xf32>
  return %y, %1 : tensor<1x8x6x6xf32>, tensor<1x2x8x6x6xf32>
}

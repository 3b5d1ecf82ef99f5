// Sums over tensors that are stacked, or over products of those with weights, are sums of the tensors
// themselves: nothing is stacked, and nothing sliced but the weights.
// RUN: tpuc-opt %s --shape-infer --chip-assign=chip=%chip --convert-top-to-tpu=mode=F32 --decompose --mlir-print-debuginfo --mlir-print-local-scope -o %t.mlir
// RUN: FileCheck %s --input-file %t.mlir

// CHECK-NOT: "tpu.Concat"
// CHECK: %[[X:.*]] = "top.Input"{{.*}} loc("x")
// CHECK: %[[Y:.*]] = "top.Input"{{.*}} loc("y")
// CHECK-NOT: "tpu.Slice"
// CHECK: "tpu.Add"(%[[X]], %[[Y]]) {{.*}} loc("sum")
// CHECK: %[[S:.*]] = "tpu.Slice"{{.*}} -> tensor<2x1x6x1x1xf32>
// CHECK: %[[A:.*]] = "tpu.Reshape"(%[[S]], {{.*}} -> tensor<2x6x1x1xf32>
// CHECK: %[[P:.*]] = "tpu.Mul"(%[[X]], %[[A]]) {{.*}} -> tensor<2x6x8x9xf32>
// CHECK: %[[Q:.*]] = "tpu.Mul"(%[[Y]], %{{.*}} -> tensor<2x6x8x9xf32>
// CHECK: "tpu.Add"(%[[P]], %[[Q]]) {{.*}} loc("weighted")
// CHECK-NOT: "tpu.Concat"
module attributes {module.name = "net"} {
  func.func @main(%arg0: tensor<2x6x8x9xf32>, %arg1: tensor<2x6x8x9xf32>, %arg2: tensor<2x2x6x1x1xf32>) -> (tensor<2x6x8x9xf32>, tensor<2x6x8x9xf32>) {
    %none = "top.None"() : () -> none
    %x = "top.Input"(%arg0) : (tensor<2x6x8x9xf32>) -> tensor<2x6x8x9xf32> loc("x")
    %y = "top.Input"(%arg1) : (tensor<2x6x8x9xf32>) -> tensor<2x6x8x9xf32> loc("y")
    %w = "top.Input"(%arg2) : (tensor<2x2x6x1x1xf32>) -> tensor<2x2x6x1x1xf32> loc("w")
    %0 = "top.Unsqueeze"(%x, %none) {axes = [1]} : (tensor<2x6x8x9xf32>, none) -> tensor<2x1x6x8x9xf32> loc("x1")
    %1 = "top.Unsqueeze"(%y, %none) {axes = [1]} : (tensor<2x6x8x9xf32>, none) -> tensor<2x1x6x8x9xf32> loc("y1")
    %2 = "top.Concat"(%0, %1) {axis = 1} : (tensor<2x1x6x8x9xf32>, tensor<2x1x6x8x9xf32>) -> tensor<2x2x6x8x9xf32> loc("stack")
    %3 = "top.Reduce"(%2, %none) {axes = [1], mode = "ReduceSum", keepdims = false} : (tensor<2x2x6x8x9xf32>, none) -> tensor<2x6x8x9xf32> loc("sum")
    %4 = "top.Mul"(%2, %w) : (tensor<2x2x6x8x9xf32>, tensor<2x2x6x1x1xf32>) -> tensor<2x2x6x8x9xf32> loc("products")
    %5 = "top.Reduce"(%4, %none) {axes = [1], mode = "ReduceSum", keepdims = false} : (tensor<2x2x6x8x9xf32>, none) -> tensor<2x6x8x9xf32> loc("weighted")
    return %3, %5 : tensor<2x6x8x9xf32>, tensor<2x6x8x9xf32>
  }
}

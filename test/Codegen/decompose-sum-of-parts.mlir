// A sum along a dimension of a few elements is one of as many parts. Others are sums of rows: of more
// elements, of the last dimension, and other modes.
// RUN: tpuc-opt %s --shape-infer --chip-assign=chip=%chip --convert-top-to-tpu=mode=F32 --decompose --mlir-print-debuginfo --mlir-print-local-scope -o %t.mlir
// RUN: FileCheck %s --input-file %t.mlir

// CHECK: %[[A:.*]] = "tpu.Slice"{{.*}} -> tensor<2x1x6x5x7xf32> loc("two_part0")
// CHECK: %[[C:.*]] = "tpu.Reshape"(%[[A]]{{.*}} -> tensor<2x6x5x7xf32> loc("two_summand0")
// CHECK: %[[B:.*]] = "tpu.Slice"{{.*}} -> tensor<2x1x6x5x7xf32> loc("two_part1")
// CHECK: %[[D:.*]] = "tpu.Reshape"(%[[B]]{{.*}} -> tensor<2x6x5x7xf32> loc("two_summand1")
// CHECK: "tpu.Add"(%[[C]], %[[D]]){{.*}} -> tensor<2x6x5x7xf32> loc("two")
// CHECK-COUNT-3: "tpu.Slice"{{.*}} -> tensor<2x1x6x5x7xf32>
// CHECK-NOT: "tpu.Slice"
// CHECK: "tpu.Add"{{.*}} -> tensor<2x6x5x7xf32> loc("three")
// CHECK-NOT: "tpu.Slice"
!x = tensor<2x2x6x5x7xf32>
!y = tensor<2x3x6x5x7xf32>
!z = tensor<2x6x5x2xf32>
!v = tensor<2x9x6x5x7xf32>
module attributes {module.name = "net"} {
  func.func @main(%arg0: !x, %arg1: !y, %arg2: !z, %arg3: !v) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) {
    %none = "top.None"() : () -> none
    %x = "top.Input"(%arg0) : (!x) -> !x loc("x")
    %y = "top.Input"(%arg1) : (!y) -> !y loc("y")
    %z = "top.Input"(%arg2) : (!z) -> !z loc("z")
    %v = "top.Input"(%arg3) : (!v) -> !v loc("v")
    %0 = "top.Reduce"(%x, %none) {axes = [1], mode = "ReduceSum", keepdims = false} : (!x, none) -> tensor<*xf32> loc("two")
    %1 = "top.Reduce"(%y, %none) {axes = [1], mode = "ReduceSum", keepdims = false} : (!y, none) -> tensor<*xf32> loc("three")
    %2 = "top.Reduce"(%z, %none) {axes = [3], mode = "ReduceSum", keepdims = false} : (!z, none) -> tensor<*xf32> loc("last")
    %3 = "top.Reduce"(%x, %none) {axes = [1], mode = "ReduceMax", keepdims = false} : (!x, none) -> tensor<*xf32> loc("most")
    %4 = "top.Reduce"(%v, %none) {axes = [1], mode = "ReduceSum", keepdims = false} : (!v, none) -> tensor<*xf32> loc("nine")
    return %0, %1, %2, %3, %4 : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>
  }
}

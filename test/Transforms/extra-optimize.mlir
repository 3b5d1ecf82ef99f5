// RUN: tpuc-opt %s --extra-optimize | FileCheck %s

// CHECK: module attributes {module.FLOPs = 6 : i64}
// CHECK: "top.Add"
// CHECK-NOT: "top.Exp"
// CHECK: return
func.func @main(%0: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %1 = "top.Add"(%0, %0) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = "top.Exp"(%0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %3 = "top.Exp"(%2) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %1 : tensor<2x3xf32>
}

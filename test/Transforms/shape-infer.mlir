// RUN: tpuc-opt %s --shape-infer --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-LABEL: func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK: "top.Add"(%arg0, %arg0) {{.*}} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK: "top.Relu"({{.*}}) {{.*}} : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @main(%0: tensor<2x3xf32>) -> tensor<*xf32> {
  %1 = "top.Add"(%0, %0) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<*xf32>
  %2 = "top.Relu"(%1) : (tensor<*xf32>) -> tensor<*xf32>
  return %2 : tensor<*xf32>
}

// -----

// Extents that are not known stay open.
// CHECK-LABEL: func.func @dynamic
// CHECK-SAME: -> tensor<?x3xf32>
func.func @dynamic(%0: tensor<?x3xf32>) -> tensor<*xf32> {
  %1 = "top.Relu"(%0) : (tensor<?x3xf32>) -> tensor<*xf32>
  return %1 : tensor<*xf32>
}

// -----

func.func @wrong(%0: tensor<2x3xf32>, %1: tensor<2x2xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{cannot be broadcast}}
  %2 = "top.Add"(%0, %1) : (tensor<2x3xf32>, tensor<2x2xf32>) -> tensor<*xf32>
  return %2 : tensor<*xf32>
}

// -----

// A shape that is known, and what follows from it, is a constant.
// CHECK-LABEL: func.func @folded
// CHECK-SAME: -> tensor<6xf32>
// CHECK-NOT: top.Shape
// CHECK: "top.Reshape"{{.*}} -> tensor<6xf32>
func.func @folded(%0: tensor<2x3xf32>, %1: tensor<6xf32>) -> tensor<*xf32> {
  %2 = "top.Shape"(%1) : (tensor<6xf32>) -> tensor<*xi64> loc("s")
  %3 = "top.Reshape"(%0, %2) : (tensor<2x3xf32>, tensor<*xi64>) -> tensor<*xf32>
  return %3 : tensor<*xf32>
}

// -----

func.func @open_extents(%0: tensor<?x3xf32>) -> tensor<2x4xf32> {
  // expected-error @+1 {{result #0 has shape [2, 4]; expected [?, 3]}}
  %1 = "top.Relu"(%0) : (tensor<?x3xf32>) -> tensor<2x4xf32>
  return %1 : tensor<2x4xf32>
}

// -----

func.func @heads(%x: tensor<1x16x64xf32>) -> tensor<*xf32> {
  %none = "top.None"() : () -> none
  // expected-error @+1 {{normalizes 3 parts of [1, 16, 64] from axis -1 on; expected equal parts of the last dimension}}
  %y = "top.RMSNorm"(%x, %none) {num_heads = 3 : i64} : (tensor<1x16x64xf32>, none) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @shuffled_channels(%a: tensor<1x4x2x2xf32>) {
  // expected-error @+1 {{input has 4 channels; expected a multiple of the 3 groups}}
  %0 = "top.ShuffleChannel"(%a) {group = 3 : i64} : (tensor<1x4x2x2xf32>) -> tensor<*xf32>
  return
}

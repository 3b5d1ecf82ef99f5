// RUN: tpuc-opt %s --top-fuse --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s
// RUN: tpuc-opt %s --top-fuse=disable=relu-into-producer,mul-to-silu | FileCheck %s --check-prefix=OFF
// RUN: not tpuc-opt %s --top-fuse=disable=no-such 2>&1 | FileCheck %s --check-prefix=NAME
// NAME: there is no pattern 'no-such'; expected one of add-into-conv

// CHECK-LABEL: func.func @relu
// CHECK: "top.Add"({{.*}}) {do_relu = true, relu_limit = 6.000000e+00 : f64} : {{.*}} loc("y")
// CHECK-NOT: top.
// CHECK: return
// OFF-LABEL: func.func @relu
// OFF: "top.Relu"
func.func @relu(%0: tensor<4xf32>) -> tensor<4xf32> {
  %1 = "top.Add"(%0, %0) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> loc("x")
  %2 = "top.Relu"(%1) {relu_limit = 6.0 : f64} : (tensor<4xf32>) -> tensor<4xf32> loc("y")
  return %2 : tensor<4xf32>
}

// Both are read.
// CHECK-LABEL: func.func @relu_read_twice
// CHECK: "top.Add"
// CHECK: "top.Relu"
func.func @relu_read_twice(%0: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %1 = "top.Add"(%0, %0) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = "top.Relu"(%1) : (tensor<4xf32>) -> tensor<4xf32>
  return %1, %2 : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @clip
// CHECK: "top.Relu"(%arg0) {relu_limit = 6.000000e+00 : f64}
// CHECK: "top.Clip"
func.func @clip(%0: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %1 = "top.Clip"(%0) {min = 0.0 : f64, max = 6.0 : f64} : (tensor<4xf32>) -> tensor<4xf32>
  %2 = "top.Clip"(%0) {min = -1.0 : f64, max = 6.0 : f64} : (tensor<4xf32>) -> tensor<4xf32>
  return %1, %2 : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @silu
// CHECK-NOT: top.Sigmoid
// CHECK: "top.SiLU"(%arg0) {{.*}} loc("y")
// OFF-LABEL: func.func @silu
// OFF: "top.Mul"
func.func @silu(%0: tensor<4xf32>) -> tensor<4xf32> {
  %1 = "top.Sigmoid"(%0) : (tensor<4xf32>) -> tensor<4xf32> loc("x")
  %2 = "top.Mul"(%1, %0) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> loc("y")
  return %2 : tensor<4xf32>
}

// Of another tensor, of another scale.
// CHECK-LABEL: func.func @no_silu
// CHECK-NOT: "top.SiLU"
// CHECK: return
func.func @no_silu(%0: tensor<4xf32>, %1: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %2 = "top.Sigmoid"(%0) : (tensor<4xf32>) -> tensor<4xf32>
  %3 = "top.Mul"(%1, %2) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %4 = "top.Sigmoid"(%0) {scale = 2.0 : f64} : (tensor<4xf32>) -> tensor<4xf32>
  %5 = "top.Mul"(%0, %4) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %3, %5 : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @hard_swish
// CHECK-NOT: top.HardSigmoid
// CHECK: "top.HardSwish"(%arg0)
func.func @hard_swish(%0: tensor<4xf32>) -> tensor<4xf32> {
  %1 = "top.HardSigmoid"(%0) {alpha = 0.16666666666666666 : f64} : (tensor<4xf32>) -> tensor<4xf32>
  %2 = "top.Mul"(%0, %1) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

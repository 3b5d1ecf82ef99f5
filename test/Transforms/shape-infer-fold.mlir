// RUN: tpuc-opt %s --shape-infer=max-folded=4 | FileCheck %s

// A shape decides another one, behind which the next stands.
// CHECK-LABEL: func.func @chain(
// CHECK-SAME: -> tensor<3x2xf32>
// CHECK-NOT: "top.{{Shape|Gather|Concat|If}}"
// CHECK: "top.Reshape"{{.*}} -> tensor<6xf32>
// CHECK: "top.Reshape"{{.*}} -> tensor<3x2xf32>
func.func @chain(%x: tensor<2x3xf32>) -> tensor<*xf32> {
  %none = "top.None"() : () -> none
  %0 = "top.Size"(%x) : (tensor<2x3xf32>) -> tensor<*xi64>
  %1 = "top.Unsqueeze"(%0, %none) {axes = [0]} : (tensor<*xi64>, none) -> tensor<*xi64>
  %2 = "top.Reshape"(%x, %1) : (tensor<2x3xf32>, tensor<*xi64>) -> tensor<*xf32>
  %3 = "top.Size"(%2) : (tensor<*xf32>) -> tensor<*xi64>
  %4 = "top.DivConst"(%3) {const_val = 2.0 : f64} : (tensor<*xi64>) -> tensor<*xi64>
  %5 = "top.Unsqueeze"(%4, %none) {axes = [0]} : (tensor<*xi64>, none) -> tensor<*xi64>
  %6 = "top.ConstantFill"(%none) {shape = [1], value = -1 : i64} : (none) -> tensor<*xi64>
  %7 = "top.Concat"(%5, %6) {axis = 0 : i64} : (tensor<*xi64>, tensor<*xi64>) -> tensor<*xi64>
  %8 = "top.Reshape"(%2, %7) : (tensor<*xf32>, tensor<*xi64>) -> tensor<*xf32>
  return %8 : tensor<*xf32>
}

// The body of an op that comes later reads the shape of an earlier one.
// CHECK-LABEL: func.func @within(
// CHECK-SAME: -> tensor<6xf32>
// CHECK: "top.If"
// CHECK: "top.Reshape"{{.*}} -> tensor<6xf32>
func.func @within(%c: tensor<i1>, %x: tensor<2x3xf32>) -> tensor<*xf32> {
  %none = "top.None"() : () -> none
  %0 = "top.Size"(%x) : (tensor<2x3xf32>) -> tensor<*xi64>
  %1 = "top.Unsqueeze"(%0, %none) {axes = [0]} : (tensor<*xi64>, none) -> tensor<*xi64>
  %2 = "top.If"(%c) ({
    %3 = "top.Reshape"(%x, %1) : (tensor<2x3xf32>, tensor<*xi64>) -> tensor<*xf32>
    "top.Yield"(%3) : (tensor<*xf32>) -> ()
  }, {
    %4 = "top.Flatten"(%x) : (tensor<2x3xf32>) -> tensor<*xf32>
    "top.Yield"(%4) : (tensor<*xf32>) -> ()
  }) : (tensor<i1>) -> tensor<*xf32>
  return %2 : tensor<*xf32>
}

// What does not grow is computed whatever its size; the rest only if it is small.
// CHECK-LABEL: func.func @large(
// CHECK: "top.Weight"() : () -> tensor<8xf32>
// CHECK: "top.ConstantFill"{{.*}} -> tensor<5xf32>
// CHECK: "top.Expand"{{.*}} -> tensor<2x4xf32>
// CHECK-NOT: "top.Concat"
// CHECK: return
func.func @large() -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) {
  %none = "top.None"() : () -> none
  %0 = "top.ConstantFill"(%none) {shape = [4], value = 1.0 : f32} : (none) -> tensor<*xf32>
  %1 = "top.Concat"(%0, %0) {axis = 0 : i64} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  %2 = "top.ConstantFill"(%none) {shape = [5], value = 1.0 : f32} : (none) -> tensor<*xf32>
  %3 = "top.Expand"(%0, %none) {shape = [2, 4]} : (tensor<*xf32>, none) -> tensor<*xf32>
  return %1, %2, %3 : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>
}

// So may products be more than what is multiplied.
// CHECK-LABEL: func.func @positions(
// CHECK: "top.Weight"() : () -> tensor<4x4xf32>
// CHECK: "top.Weight"() : () -> tensor<4x3xf32>
// CHECK-NOT: "top.{{Einsum|MatMul}}"
// CHECK: return
func.func @positions() -> (tensor<*xf32>, tensor<*xf32>) {
  %none = "top.None"() : () -> none
  %0 = "top.ConstantFill"(%none) {shape = [4, 1], value = 2.0 : f32} : (none) -> tensor<*xf32>
  %1 = "top.ConstantFill"(%none) {shape = [1, 3], value = 3.0 : f32} : (none) -> tensor<*xf32>
  %2 = "top.Einsum"(%0, %0) {mode = "ij,kj->ik"} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  %3 = "top.MatMul"(%0, %1, %none) : (tensor<*xf32>, tensor<*xf32>, none) -> tensor<*xf32>
  return %2, %3 : tensor<*xf32>, tensor<*xf32>
}

// Rows of a table by constant indices may be more than the table, up to 64 times the limit.
// CHECK-LABEL: func.func @lookup(
// CHECK: "top.Weight"() : () -> tensor<64x4xf32>
// CHECK: "top.Gather"{{.*}} -> tensor<65x4xf32>
// CHECK-NOT: "top.Gather"
// CHECK: return
func.func @lookup() -> (tensor<*xf32>, tensor<*xf32>) {
  %none = "top.None"() : () -> none
  %0 = "top.ConstantFill"(%none) {shape = [1, 4], value = 1.0 : f32} : (none) -> tensor<*xf32>
  %1 = "top.Concat"(%0, %0) {axis = 0 : i64} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  %2 = "top.ConstantFill"(%none) {shape = [2, 2], value = 1 : i64} : (none) -> tensor<*xi64>
  %3 = "top.Concat"(%2, %2, %2, %2, %2, %2, %2, %2) {axis = 0 : i64} : (tensor<*xi64>, tensor<*xi64>, tensor<*xi64>, tensor<*xi64>, tensor<*xi64>, tensor<*xi64>, tensor<*xi64>, tensor<*xi64>) -> tensor<*xi64>
  %4 = "top.Concat"(%3, %3) {axis = 0 : i64} : (tensor<*xi64>, tensor<*xi64>) -> tensor<*xi64>
  %5 = "top.Reshape"(%4, %none) {shape = [64]} : (tensor<*xi64>, none) -> tensor<*xi64>
  %6 = "top.ConstantFill"(%none) {shape = [1], value = 1 : i64} : (none) -> tensor<*xi64>
  %7 = "top.Concat"(%5, %6) {axis = 0 : i64} : (tensor<*xi64>, tensor<*xi64>) -> tensor<*xi64>
  %8 = "top.Gather"(%1, %5) {axis = 0 : i64} : (tensor<*xf32>, tensor<*xi64>) -> tensor<*xf32>
  %9 = "top.Gather"(%1, %7) {axis = 0 : i64} : (tensor<*xf32>, tensor<*xi64>) -> tensor<*xf32>
  return %8, %9 : tensor<*xf32>, tensor<*xf32>
}

// So may what is computed element by element: a table of angles, say.
// CHECK-LABEL: func.func @angles(
// CHECK: "top.Mul"{{.*}} -> tensor<16x17xf32>
// CHECK: "top.Weight"() : () -> tensor<16x16xf32>
// CHECK-NOT: "top.Mul"
// CHECK-NOT: "top.Cos"
// CHECK: return
func.func @angles() -> (tensor<*xf32>, tensor<*xf32>) {
  %none = "top.None"() : () -> none
  %0 = "top.ConstantFill"(%none) {shape = [1, 4], value = 1.0 : f32} : (none) -> tensor<*xf32>
  %1 = "top.Concat"(%0, %0, %0, %0) {axis = 1 : i64} : (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  %2 = "top.ConstantFill"(%none) {shape = [1, 1], value = 1.0 : f32} : (none) -> tensor<*xf32>
  %3 = "top.Concat"(%1, %2) {axis = 1 : i64} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  %4 = "top.Reshape"(%1, %none) {shape = [16, 1]} : (tensor<*xf32>, none) -> tensor<*xf32>
  %5 = "top.Mul"(%4, %1) : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  %6 = "top.Mul"(%4, %3) : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  %7 = "top.Cos"(%5) : (tensor<*xf32>) -> tensor<*xf32>
  return %7, %6 : tensor<*xf32>, tensor<*xf32>
}

// So may integers of 64 bits, which are places.
// CHECK-LABEL: func.func @places(
// CHECK: "top.Weight"() : () -> tensor<4x4xi64>
// CHECK-NOT: "top.Expand"
// CHECK: return
func.func @places() -> tensor<*xi64> {
  %none = "top.None"() : () -> none
  %0 = "top.ConstantFill"(%none) {shape = [4], value = 1 : i64} : (none) -> tensor<*xi64>
  %1 = "top.Expand"(%0, %none) {shape = [4, 4]} : (tensor<*xi64>, none) -> tensor<*xi64>
  return %1 : tensor<*xi64>
}

// What grows is computed where all that is made of it is constant, and no larger in the end than
// what it is made of.
// CHECK-LABEL: func.func @between(
// CHECK: "top.Weight"() : () -> tensor<3xf32>
// CHECK: %[[GROWN:.*]] = "top.Expand"{{.*}} -> tensor<4x4xf32>
// CHECK: "top.Add"(%[[GROWN]], %{{.*}})
// CHECK-NOT: "top.Expand"
// CHECK: return
func.func @between(%x: tensor<4x4xf32>) -> (tensor<3xf32>, tensor<4x4xf32>) {
  %none = "top.None"() : () -> none
  %0 = "top.ConstantFill"(%none) {shape = [3, 1], value = 1.0 : f32} : (none) -> tensor<3x1xf32>
  %1 = "top.ConstantFill"(%none) {shape = [1, 4], value = 2.0 : f32} : (none) -> tensor<1x4xf32>
  %2 = "top.Expand"(%0, %none) {shape = [3, 4]} : (tensor<3x1xf32>, none) -> tensor<3x4xf32>
  %3 = "top.Relu"(%2) : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %4 = "top.Reduce"(%3, %none) {axes = [1], keepdims = false, mode = "ReduceSum"} : (tensor<3x4xf32>, none) -> tensor<3xf32>
  %6 = "top.Expand"(%1, %none) {shape = [4, 4]} : (tensor<1x4xf32>, none) -> tensor<4x4xf32>
  %7 = "top.Add"(%6, %x) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %4, %7 : tensor<3xf32>, tensor<4x4xf32>
}

// A product may have half as many elements again as what it is made of.
// CHECK-LABEL: func.func @product(
// CHECK-NOT: tensor<4x1xf32>
// CHECK: "top.Weight"() : () -> tensor<4x2xf32>
// CHECK: return
func.func @product() -> tensor<*xf32> {
  %none = "top.None"() : () -> none
  %0 = "top.ConstantFill"(%none) {shape = [4, 1], value = 1.0 : f32} : (none) -> tensor<4x1xf32>
  %1 = "top.ConstantFill"(%none) {shape = [1, 2], value = 2.0 : f32} : (none) -> tensor<1x2xf32>
  %2 = "top.MatMul"(%0, %1, %none) : (tensor<4x1xf32>, tensor<1x2xf32>, none) -> tensor<*xf32>
  return %2 : tensor<*xf32>
}

// What an op reads twice is asked once: a chain of doublings would take 2^n questions.
// CHECK-LABEL: func.func @doublings(
// CHECK: "top.Weight"() : () -> tensor<3xf32>
// CHECK-NOT: "top.Add"
// CHECK: return
func.func @doublings() -> tensor<3xf32> {
  %none = "top.None"() : () -> none
  %0 = "top.ConstantFill"(%none) {shape = [3, 1], value = 1.0 : f32} : (none) -> tensor<3x1xf32>
  %1 = "top.ConstantFill"(%none) {shape = [1, 4], value = 2.0 : f32} : (none) -> tensor<1x4xf32>
  %2 = "top.MatMul"(%0, %1, %none) : (tensor<3x1xf32>, tensor<1x4xf32>, none) -> tensor<3x4xf32>
  %3 = "top.Add"(%2, %2) : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %4 = "top.Add"(%3, %3) : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %5 = "top.Add"(%4, %4) : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %6 = "top.Add"(%5, %5) : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %7 = "top.Add"(%6, %6) : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %8 = "top.Add"(%7, %7) : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %9 = "top.Add"(%8, %8) : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %10 = "top.Add"(%9, %9) : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %11 = "top.Add"(%10, %10) : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %12 = "top.Add"(%11, %11) : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %13 = "top.Add"(%12, %12) : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %14 = "top.Add"(%13, %13) : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %15 = "top.Add"(%14, %14) : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %16 = "top.Add"(%15, %15) : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %17 = "top.Add"(%16, %16) : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %18 = "top.Add"(%17, %17) : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %19 = "top.Add"(%18, %18) : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %20 = "top.Add"(%19, %19) : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %21 = "top.Add"(%20, %20) : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %22 = "top.Add"(%21, %21) : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %23 = "top.Add"(%22, %22) : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %24 = "top.Add"(%23, %23) : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %25 = "top.Add"(%24, %24) : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %26 = "top.Add"(%25, %25) : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %27 = "top.Add"(%26, %26) : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %28 = "top.Add"(%27, %27) : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %29 = "top.Add"(%28, %28) : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %30 = "top.Add"(%29, %29) : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %31 = "top.Add"(%30, %30) : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %32 = "top.Add"(%31, %31) : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %33 = "top.Add"(%32, %32) : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %34 = "top.Add"(%33, %33) : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %35 = "top.Reduce"(%34, %none) {axes = [1], keepdims = false, mode = "ReduceSum"} : (tensor<3x4xf32>, none) -> tensor<3xf32>
  return %35 : tensor<3xf32>
}

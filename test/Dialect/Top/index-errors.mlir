// RUN: tpuc-opt %s --split-input-file --verify-diagnostics

func.func @float_indices(%a: tensor<2x3xf32>, %i: tensor<2xf32>) {
  // expected-error @+1 {{operand 'indices' has type 'tensor<2xf32>'; expected elements i32, ui32 or i64}}
  %0 = "top.Gather"(%a, %i) : (tensor<2x3xf32>, tensor<2xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @reduction(%a: tensor<4xf32>, %i: tensor<2xi64>, %u: tensor<2xf32>) {
  // expected-error @+1 {{attribute 'reduction' is 'sum'; expected none, add, mul, max, min}}
  %0 = "top.ScatterElements"(%a, %i, %u) {reduction = "sum"} : (tensor<4xf32>, tensor<2xi64>, tensor<2xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @update_type(%a: tensor<4xf32>, %i: tensor<2xi64>, %u: tensor<2xf16>) {
  // expected-error @+1 {{operands have element types 'f32' and 'f16'; expected one type}}
  %0 = "top.ScatterElements"(%a, %i, %u) : (tensor<4xf32>, tensor<2xi64>, tensor<2xf16>) -> tensor<4xf32>
  return
}

// -----

func.func @condition(%a: tensor<4xf32>, %c: tensor<4xi8>) {
  // expected-error @+1 {{condition has type 'tensor<4xi8>'; expected elements i1}}
  %0 = "top.Compress"(%a, %c) : (tensor<4xf32>, tensor<4xi8>) -> tensor<?xf32>
  return
}

// -----

func.func @run_mode(%a: tensor<2x4x3xf32>, %u: tensor<2x1x3xf32>, %none: none) {
  // expected-error @+1 {{attribute 'mode' is 'ring'; expected linear, circular}}
  %0 = "top.TensorScatter"(%a, %u, %none) {mode = "ring"} : (tensor<2x4x3xf32>, tensor<2x1x3xf32>, none) -> tensor<2x4x3xf32>
  return
}

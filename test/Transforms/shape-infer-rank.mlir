// RUN: tpuc-opt %s --shape-infer --split-input-file --verify-diagnostics

// A network may name more dimensions than tensors have: no room is made for them.
func.func @reshape(%a: tensor<2x3xf32>, %to: tensor<4294967297xi64>) -> tensor<*xf32> {
  // expected-error @+1 {{operand 'shape_tensor' has 4294967297 numbers; expected at most 8, one for each dimension}}
  %0 = "top.Reshape"(%a, %to) : (tensor<2x3xf32>, tensor<4294967297xi64>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// -----

func.func @unsqueeze(%a: tensor<2x3xf32>, %axes: tensor<4294967297xi64>) -> tensor<*xf32> {
  // expected-error @+1 {{operand 'axes_tensor' has 4294967297 numbers; expected at most 8, one for each dimension}}
  %0 = "top.Unsqueeze"(%a, %axes) : (tensor<2x3xf32>, tensor<4294967297xi64>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

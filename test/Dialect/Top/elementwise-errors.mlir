// What element-wise ops, reductions and ops of quantized networks refuse whatever their operands.
// RUN: tpuc-opt %s --split-input-file --verify-diagnostics

func.func @float_only(%x: tensor<2xi32>) {
  // expected-error @+1 {{operand #0 must be tensor of floating-point values, but got 'tensor<2xi32>'}}
  %0 = "top.Sqrt"(%x) : (tensor<2xi32>) -> tensor<2xi32>
  return
}

// -----

func.func @integers_only(%x: tensor<2xi1>) {
  // expected-error @+1 {{operand #0 must be tensor of integer values, but got 'tensor<2xi1>'}}
  %0 = "top.BitShift"(%x, %x) {direction = "LEFT"} : (tensor<2xi1>, tensor<2xi1>) -> tensor<2xi1>
  return
}

// -----

func.func @element_types(%x: tensor<2xf32>, %y: tensor<2xf16>) {
  // expected-error @+1 {{operands have element types 'f32' and 'f16'; expected one type}}
  %0 = "top.Mul"(%x, %y) : (tensor<2xf32>, tensor<2xf16>) -> tensor<2xf32>
  return
}

// -----

func.func @no_operand() {
  // expected-error @+1 {{has no operand; expected at least one}}
  %0 = "top.Max"() : () -> tensor<2xf32>
  return
}

// -----

func.func @integers_are_not_scaled(%x: tensor<2xi32>) {
  // expected-error @+1 {{scales integers by 3 / 2^1; expected multiplier 1 and rshift 0}}
  %0 = "top.Mul"(%x, %x) {multiplier = 3 : i64, rshift = 1 : i64} : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
  return
}

// -----

func.func @direction(%x: tensor<2xui8>) {
  // expected-error @+1 {{attribute 'direction' is 'UP'; expected LEFT, RIGHT}}
  %0 = "top.BitShift"(%x, %x) {direction = "UP"} : (tensor<2xui8>, tensor<2xui8>) -> tensor<2xui8>
  return
}

// -----

func.func @gelu(%x: tensor<2xf32>) {
  // expected-error @+1 {{attribute 'approx_mode' is 'fast'; expected none, tanh}}
  %0 = "top.GELU"(%x) {approx_mode = "fast"} : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @celu(%x: tensor<2xf32>) {
  // expected-error @+1 {{attribute 'alpha' is 0; expected another number}}
  %0 = "top.Celu"(%x) {alpha = 0.0 : f64} : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @axes_twice(%x: tensor<2xf32>, %axes: tensor<1xi64>) {
  // expected-error @+1 {{has axes as attribute and as operand; expected at most one}}
  %0 = "top.Reduce"(%x, %axes) {axes = [0], mode = "ReduceSum"} : (tensor<2xf32>, tensor<1xi64>) -> tensor<1xf32>
  return
}

// -----

func.func @negative_k(%x: tensor<2xf32>, %none: none) {
  // expected-error @+1 {{k is -1; expected at least 0}}
  %0:2 = "top.TopK"(%x, %none) {k = -1 : i64} : (tensor<2xf32>, none) -> (tensor<1xf32>, tensor<1xi64>)
  return
}

// -----

func.func @block_size(%x: tensor<2xf32>, %s: tensor<f32>, %none: none) {
  // expected-error @+1 {{block_size is -2; expected at least 0}}
  %0 = "top.QuantizeLinear"(%x, %s, %none) {block_size = -2 : i64} : (tensor<2xf32>, tensor<f32>, none) -> tensor<2xui8>
  return
}

// -----

func.func @no_storage(%x: tensor<2xf32>) {
  // expected-error @+1 {{attribute 'to' is 'i7'; expected an element type of tensors}}
  %0 = "top.Cast"(%x) {to = i7} : (tensor<2xf32>) -> tensor<2xi7>
  return
}

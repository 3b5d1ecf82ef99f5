// What ops of spectra refuse whatever their operands.
// RUN: tpuc-opt %s --split-input-file --verify-diagnostics

func.func @integers(%x: tensor<1x8x1xi32>, %none: none) {
  // expected-error @+1 {{input has elements 'i32'; expected floats}}
  %0 = "top.DFT"(%x, %none, %none) : (tensor<1x8x1xi32>, none, none) -> tensor<*xi32>
  return
}

// -----

func.func @length(%x: tensor<1x8x1xf32>, %n: tensor<f32>, %none: none) {
  // expected-error @+1 {{operand 'length' has type 'tensor<f32>'; expected elements i32, ui32 or i64}}
  %0 = "top.DFT"(%x, %n, %none) : (tensor<1x8x1xf32>, tensor<f32>, none) -> tensor<*xf32>
  return
}

// -----

func.func @step(%x: tensor<1x8x1xf32>, %n: tensor<f32>, %none: none) {
  // expected-error @+1 {{operand 'step' has type 'tensor<f32>'; expected elements i32, ui32 or i64}}
  %0 = "top.STFT"(%x, %n, %none, %none) : (tensor<1x8x1xf32>, tensor<f32>, none, none) -> tensor<*xf32>
  return
}

// -----

func.func @window(%n: tensor<i64>) {
  // expected-error @+1 {{attribute 'to' is 'complex<f32>'; expected an element type of tensors}}
  %0 = "top.CosineWindow"(%n) {coeff = [0.5, 0.5], to = complex<f32>} : (tensor<i64>) -> tensor<*xf32>
  return
}

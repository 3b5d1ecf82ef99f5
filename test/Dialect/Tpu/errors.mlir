// RUN: tpuc-opt %s --split-input-file --verify-diagnostics

func.func @cast_keeps_the_shape(%arg0: tensor<1x3xf32>) {
  // expected-error @+1 {{requires the same shape for all operands and results}}
  %0 = "tpu.Cast"(%arg0) : (tensor<1x3xf32>) -> tensor<3x1xf16>
  return
}

// -----

func.func @cast_takes_a_tensor(%arg0: f32) {
  // expected-error @+1 {{operand #0 must be tensor of any type values}}
  %0 = "tpu.Cast"(%arg0) : (f32) -> tensor<f16>
  return
}

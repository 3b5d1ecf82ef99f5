// RFC, "The quant dialect": every type and snippet of the section, accepted or rejected as it says.
// RUN: tpuc-opt %s --split-input-file --verify-diagnostics

func.func private @per_layer(!quant.uniform<i8:f32, 3.0>, !quant.uniform<u16<0:1023>:f32, 1.23:512>)
func.func private @per_channel(tensor<2x3x4x!quant.uniform<i8:f32:1, {3.0, 4.0, 5.0}>>,
                               tensor<?x?x!quant.uniform<u16:f32:0, {2.0:10, 3.0:20}>>)

// -----

// "Incorrect. Type !quant.uniform specifies per-channel quantization for a scalar type."
func.func @scalar(%input: f32) {
  // expected-error @+1 {{scalar type '!quant.uniform<i8:f32:0, {1.000000e+00, 2.000000e+00}>' has per-axis parameters}}
  %result = quant.qcast %input : f32 to !quant.uniform<i8:f32:0, {1.0, 2.0}>
  return
}

// -----

// "Correct. Type `!quant.uniform` with per-channel quantization is wrapped in a `tensor` type."
func.func @wrapped(%input: tensor<2xf32>) {
  %result = quant.qcast %input : tensor<2xf32> to tensor<2x!quant.uniform<i8:f32:0, {1.0, 2.0}>>
  return
}

// -----

// "Incorrect. The tensor rank (2) is not greater than the channel axis in the quantized type (3)."
func.func @rank(%input: tensor<1x2xf32>) {
  // expected-error @+1 {{channel axis 3 must be less than the rank 2 of}}
  %result = quant.qcast %input : tensor<1x2xf32> to tensor<1x2x!quant.uniform<i8:f32:3, {1.0, 2.0}>>
  return
}

// -----

// "Correct. The tensor rank (2) is now greater than the channel axis (1)"
func.func @rank(%input: tensor<1x2xf32>) {
  %result = quant.qcast %input : tensor<1x2xf32> to tensor<1x2x!quant.uniform<i8:f32:1, {1.0, 2.0}>>
  return
}

// -----

// "Incorrect. The channel axis is 1, and the size of dimension 1 in the containing tensor is 3. However,
// there are 4 scale values present in the quantized type."
func.func @size(%input: tensor<?x3xf32>) {
  // expected-error @+1 {{has 4 scales; expected as many as the size 3 of dimension 1 of}}
  %result = quant.qcast %input : tensor<?x3xf32> to tensor<?x3x!quant.uniform<i8:f32:1, {1.0, 2.0, 3.0, 4.0}>>
  return
}

// -----

// "Correct. The quantized type now includes 3 scale values"
func.func @size(%input: tensor<?x3xf32>) {
  %result = quant.qcast %input : tensor<?x3xf32> to tensor<?x3x!quant.uniform<i8:f32:1, {2.0, 3.0, 4.0}>>
  return
}

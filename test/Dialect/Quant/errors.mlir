// One case for every rule of the types and casts.
// RUN: tpuc-opt %s --split-input-file --verify-diagnostics

// Storage.

// expected-error @+1 {{storage type i33 has 33 bits; expected 1 to 32}}
func.func private @f(!quant.uniform<i33:f32, 1.0>)

// -----

// expected-error @+1 {{storage type u0 has 0 bits; expected 1 to 32}}
func.func private @f(!quant.uniform<u0:f32, 1.0>)

// -----

// expected-error @+1 {{expected a storage type, iN or uN}}
func.func private @f(!quant.uniform<w8:f32, 1.0>)

// -----

// expected-error @+1 {{expected a storage type, iN or uN}}
func.func private @f(!quant.uniform<uint8:f32, 1.0>)

// -----

// expected-error @+1 {{storage type 'si8'; expected iN or uN}}
func.func private @f(!quant.uniform<si8:f32, 1.0>)

// -----

// expected-error @+1 {{storage type 'f32'; expected iN or uN}}
func.func private @f(!quant.uniform<f32:f32, 1.0>)

// -----

// expected-error @+1 {{storage bounds -129:127 of storage type i8 do not fit; expected min < max within -128:127}}
func.func private @f(!quant.uniform<i8<-129:127>:f32, 1.0>)

// -----

// expected-error @+1 {{storage bounds 1:1 of storage type i8 do not fit; expected min < max within -128:127}}
func.func private @f(!quant.uniform<i8<1:1>:f32, 1.0>)

// -----

// expected-error @+1 {{storage bounds -1:3 of storage type u8 do not fit; expected min < max within 0:255}}
func.func private @f(!quant.any<u8<-1:3>>)

// -----

// expected-error @+1 {{storage bounds 4:3 of storage type i8 do not fit}}
func.func private @f(tensor<1x!quant.uniform<i8<4:3>:f32:0, {1.0}>>)

// -----

// Expressed type.

// expected-error @+1 {{expressed type 'f80'; expected f16, bf16, f32 or f64}}
func.func private @f(!quant.uniform<i8:f80, 1.0>)

// -----

// expected-error @+1 {{expressed type 'f8E4M3FN'; expected f16, bf16, f32 or f64}}
func.func private @f(tensor<1x!quant.uniform<i8:f8E4M3FN:0, {1.0}>>)

// -----

// expected-error @+1 {{expressed type 'tf32'; expected}}
func.func private @f(!quant.any<i8:tf32>)

// -----

// expected-error @+1 {{expressed type 'f128'; expected}}
func.func private @f(!quant.calibrated<f128<0.0:1.0>>)

// -----

// expected-error @+1 {{invalid kind of type specified}}
func.func private @f(!quant.uniform<i8:i8, 1.0>)

// -----

// Scale and zero point.

// expected-error @+1 {{expected floating point literal}}
func.func private @f(!quant.uniform<i8:f32, abc>)

// -----

// expected-error @+1 {{scale 0.000000e+00; expected a positive, finite number}}
func.func private @f(!quant.uniform<i8:f32, 0.0>)

// -----

// expected-error @+1 {{scale -1.000000e+00; expected a positive, finite number}}
func.func private @f(tensor<2x!quant.uniform<i8:f32:0, {1.0, -1.0}>>)

// -----

// expected-error @+1 {{scale 1.000000e-08 is out of the range of the expressed type 'f16'}}
func.func private @f(!quant.uniform<i8:f16, 1.0e-8>)

// -----

// expected-error @+1 {{scale 5.000000e-08 is out of the range of the expressed type 'f16'; expected 5.960464e-08 to 6.550400e+04}}
func.func private @f(tensor<2x!quant.uniform<i8:f16:0, {1.0, 5.0e-8}>>)

// -----

// expected-error @+1 {{scale 1.000000e+05 is out of the range of the expressed type 'f16'}}
func.func private @f(!quant.uniform<i8:f16, 1.0e5>)

// -----

// expected-error @+1 {{zero point 128 is out of the range of the storage type; expected -128 to 127}}
func.func private @f(!quant.uniform<i8<-8:7>:f32, 1.0:128>)

// -----

// expected-error @+1 {{zero point -1 is out of the range of the storage type; expected 0 to 255}}
func.func private @f(tensor<2x!quant.uniform<u8:f32:0, {1.0, 1.0:-1}>>)

// -----

// Per axis.

// expected-error @+1 {{channel axis -1; expected 0 or more}}
func.func private @f(tensor<2x!quant.uniform<i8:f32:-1, {1.0, 1.0}>>)

// -----

// expected-error @+1 {{no scales; expected one for each index along the channel axis}}
func.func private @f(tensor<2x!quant.uniform<i8:f32:0, {}>>)

// -----

// expected-error @+1 {{expected '>'}}
func.func private @f(!quant.uniform<i8:f32, 1.0, 2.0>)

// -----

// Calibrated, and the name of the type.

// expected-error @+1 {{range 1.000000e+00:-1.000000e+00; expected finite bounds, min <= max}}
func.func private @f(!quant.calibrated<f32<1.0:-1.0>>)

// -----

// expected-error @+1 {{unknown type !quant.unifrom; expected any, uniform or calibrated}}
func.func private @f(!quant.unifrom<i8:f32, 1.0>)

// -----

// dcast, rule by rule.

func.func @dcast_1(%arg0: f32) {
  // expected-error @+1 {{operand #0 must be a scalar or tensor of type !quant.uniform, but got 'f32'}}
  %0 = quant.dcast %arg0 : f32 to f32
  return
}

// -----

func.func @dcast_1_any(%arg0: !quant.any<i8:f32>) {
  // expected-error @+1 {{operand #0 must be a scalar or tensor of type !quant.uniform, but got '!quant.any<i8:f32>'}}
  %0 = quant.dcast %arg0 : !quant.any<i8:f32> to f32
  return
}

// -----

func.func @dcast_1_vector(%arg0: vector<4x!quant.uniform<i8:f32, 1.0>>) {
  // expected-error @-1 {{vector elements must be}}
  return
}

// -----

func.func @dcast_1_memref(%arg0: memref<4x!quant.uniform<i8:f32, 1.0>>) {
  // expected-error @-1 {{invalid memref element type}}
  return
}

// -----

func.func @dcast_2(%arg0: !quant.uniform<i8:f32, 1.0>) {
  // expected-error @+1 {{result #0 must be a floating-point scalar or tensor, but got 'i8'}}
  %0 = quant.dcast %arg0 : !quant.uniform<i8:f32, 1.0> to i8
  return
}

// -----

func.func @dcast_3(%arg0: !quant.uniform<i8:f32, 1.0>) {
  // expected-error @+1 {{expressed type 'f32' of '!quant.uniform<i8:f32, 1.000000e+00>' must match the floating-point type 'f64'}}
  %0 = quant.dcast %arg0 : !quant.uniform<i8:f32, 1.0> to f64
  return
}

// -----

func.func @dcast_4_scalar(%arg0: !quant.uniform<i8:f32, 1.0>) {
  // expected-error @+1 {{and result 'tensor<f32>' must be both scalars or both tensors}}
  %0 = quant.dcast %arg0 : !quant.uniform<i8:f32, 1.0> to tensor<f32>
  return
}

// -----

func.func @dcast_4_ranked(%arg0: tensor<2x!quant.uniform<i8:f32, 1.0>>) {
  // expected-error @+1 {{and result 'tensor<*xf32>' must be both ranked or both unranked}}
  %0 = quant.dcast %arg0 : tensor<2x!quant.uniform<i8:f32, 1.0>> to tensor<*xf32>
  return
}

// -----

func.func @dcast_4_rank(%arg0: tensor<2x!quant.uniform<i8:f32, 1.0>>) {
  // expected-error @+1 {{must have the same shape, with the same static and dynamic dimensions}}
  %0 = quant.dcast %arg0 : tensor<2x!quant.uniform<i8:f32, 1.0>> to tensor<2x1xf32>
  return
}

// -----

func.func @dcast_4_dynamic(%arg0: tensor<2x!quant.uniform<i8:f32, 1.0>>) {
  // expected-error @+1 {{must have the same shape, with the same static and dynamic dimensions}}
  %0 = quant.dcast %arg0 : tensor<2x!quant.uniform<i8:f32, 1.0>> to tensor<?xf32>
  return
}

// -----

func.func @dcast_5_scalar(%arg0: !quant.uniform<i8:f32:0, {1.0}>) {
  // expected-error @+1 {{has per-axis parameters; expected a tensor around it}}
  %0 = quant.dcast %arg0 : !quant.uniform<i8:f32:0, {1.0}> to f32
  return
}

// -----

func.func @dcast_5_axis(%arg0: tensor<2x3x!quant.uniform<i8:f32:2, {1.0}>>) {
  // expected-error @+1 {{channel axis 2 must be less than the rank 2 of}}
  %0 = quant.dcast %arg0 : tensor<2x3x!quant.uniform<i8:f32:2, {1.0}>> to tensor<2x3xf32>
  return
}

// -----

func.func @dcast_5_size(%arg0: tensor<?x3x!quant.uniform<i8:f32:1, {1.0}>>) {
  // expected-error @+1 {{has 1 scales; expected as many as the size 3 of dimension 1 of}}
  %0 = quant.dcast %arg0 : tensor<?x3x!quant.uniform<i8:f32:1, {1.0}>> to tensor<?x3xf32>
  return
}

// -----

// qcast, rule by rule.

func.func @qcast_1(%arg0: i8) {
  // expected-error @+1 {{operand #0 must be a floating-point scalar or tensor, but got 'i8'}}
  %0 = quant.qcast %arg0 : i8 to !quant.uniform<i8:f32, 1.0>
  return
}

// -----

func.func @qcast_1_vector(%arg0: vector<4xf32>) {
  // expected-error @+1 {{operand #0 must be a floating-point scalar or tensor, but got 'vector<4xf32>'}}
  %0 = quant.qcast %arg0 : vector<4xf32> to !quant.uniform<i8:f32, 1.0>
  return
}

// -----

func.func @qcast_2(%arg0: f32) {
  // expected-error @+1 {{result #0 must be a scalar or tensor of type !quant.uniform, but got '!quant.calibrated}}
  %0 = quant.qcast %arg0 : f32 to !quant.calibrated<f32<0.0:1.0>>
  return
}

// -----

func.func @qcast_3(%arg0: tensor<1xbf16>) {
  // expected-error @+1 {{expressed type 'f16' of '!quant.uniform<i8:f16, 1.000000e+00>' must match the floating-point type 'bf16'}}
  %0 = quant.qcast %arg0 : tensor<1xbf16> to tensor<1x!quant.uniform<i8:f16, 1.0>>
  return
}

// -----

func.func @qcast_4_scalar(%arg0: tensor<f32>) {
  // expected-error @+1 {{must be both scalars or both tensors}}
  %0 = quant.qcast %arg0 : tensor<f32> to !quant.uniform<i8:f32, 1.0>
  return
}

// -----

func.func @qcast_4_ranked(%arg0: tensor<*xf32>) {
  // expected-error @+1 {{must be both ranked or both unranked}}
  %0 = quant.qcast %arg0 : tensor<*xf32> to tensor<2x!quant.uniform<i8:f32, 1.0>>
  return
}

// -----

func.func @qcast_4_size(%arg0: tensor<?x3xf32>) {
  // expected-error @+1 {{must have the same shape, with the same static and dynamic dimensions}}
  %0 = quant.qcast %arg0 : tensor<?x3xf32> to tensor<?x4x!quant.uniform<i8:f32, 1.0>>
  return
}

// -----

func.func @qcast_5_size(%arg0: tensor<2xf32>) {
  // expected-error @+1 {{has 3 scales; expected as many as the size 2 of dimension 0 of}}
  %0 = quant.qcast %arg0 : tensor<2xf32> to tensor<2x!quant.uniform<i8:f32:0, {1.0, 2.0, 3.0}>>
  return
}

// -----

// scast, rule by rule.

func.func @scast_1(%arg0: f32) {
  // expected-error @+1 {{operand #0 must be a scalar or tensor of a signless integer or !quant.uniform type, but got 'f32'}}
  %0 = quant.scast %arg0 : f32 to !quant.uniform<i8:f32, 1.0>
  return
}

// -----

func.func @scast_1_unsigned(%arg0: !quant.uniform<u8:f32, 1.0>) {
  // expected-error @+1 {{result #0 must be a scalar or tensor of a signless integer or !quant.uniform type, but got 'ui8'}}
  %0 = quant.scast %arg0 : !quant.uniform<u8:f32, 1.0> to ui8
  return
}

// -----

func.func @scast_2_integers(%arg0: i8) {
  // expected-error @+1 {{must be one an integer and the other !quant.uniform}}
  %0 = quant.scast %arg0 : i8 to i8
  return
}

// -----

func.func @scast_2_quantized(%arg0: !quant.uniform<i8:f32, 1.0>) {
  // expected-error @+1 {{must be one an integer and the other !quant.uniform}}
  %0 = quant.scast %arg0 : !quant.uniform<i8:f32, 1.0> to !quant.uniform<i8:f32, 2.0>
  return
}

// -----

func.func @scast_3_scalar(%arg0: i8) {
  // expected-error @+1 {{must be both scalars or both tensors}}
  %0 = quant.scast %arg0 : i8 to tensor<1x!quant.uniform<i8:f32, 1.0>>
  return
}

// -----

func.func @scast_3_ranked(%arg0: tensor<*xi8>) {
  // expected-error @+1 {{must be both ranked or both unranked}}
  %0 = quant.scast %arg0 : tensor<*xi8> to tensor<1x!quant.uniform<i8:f32, 1.0>>
  return
}

// -----

func.func @scast_3_shape(%arg0: tensor<?xi8>) {
  // expected-error @+1 {{must have the same shape, with the same static and dynamic dimensions}}
  %0 = quant.scast %arg0 : tensor<?xi8> to tensor<1x!quant.uniform<i8:f32, 1.0>>
  return
}

// -----

func.func @scast_4(%arg0: !quant.uniform<i8<-8:7>:f32, 1.0>) {
  // expected-error @+1 {{storage type of '!quant.uniform<i8<-8:7>:f32, 1.000000e+00>' has 8 bits; expected the 4 of 'i4'}}
  %0 = quant.scast %arg0 : !quant.uniform<i8<-8:7>:f32, 1.0> to i4
  return
}

// -----

func.func @scast_5_scalar(%arg0: i8) {
  // expected-error @+1 {{has per-axis parameters; expected a tensor around it}}
  %0 = quant.scast %arg0 : i8 to !quant.uniform<i8:f32:0, {1.0}>
  return
}

// -----

func.func @scast_5_axis(%arg0: tensor<i8>) {
  // expected-error @+1 {{channel axis 0 must be less than the rank 0 of}}
  %0 = quant.scast %arg0 : tensor<i8> to tensor<!quant.uniform<i8:f32:0, {1.0}>>
  return
}

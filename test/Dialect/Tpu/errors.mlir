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

// -----

func.func @ranges_are_not_stored(%arg0: tensor<3x!quant.calibrated<f32<-1.0:1.0>>>) {
  // expected-error @+1 {{has a value of type 'tensor<3x!quant.calibrated<f32<-1.000000e+00:1.000000e+00>>>'; expected floats, integers or !quant.uniform ones of 8 bits}}
  %0 = "tpu.Cast"(%arg0) : (tensor<3x!quant.calibrated<f32<-1.0:1.0>>>) -> tensor<3xf16>
  return
}

// -----

func.func @twins_have_stored_types(%arg0: tensor<3x!quant.calibrated<f32<-1.0:1.0>>>) {
  // expected-error @+1 {{expected floats, integers or !quant.uniform ones of 8 bits}}
  %0 = "tpu.Relu"(%arg0) : (tensor<3x!quant.calibrated<f32<-1.0:1.0>>>) -> tensor<3xf32>
  return
}

// -----

func.func @one_scale_for_a_tensor(%arg0: tensor<2xf32>) {
  // expected-error @+1 {{expected floats, integers or !quant.uniform ones of 8 bits}}
  %0 = "tpu.Cast"(%arg0) : (tensor<2xf32>) -> tensor<2x!quant.uniform<i8:f32:0, {0.1, 0.2}>>
  return
}

// -----

func.func @eight_bits(%arg0: tensor<2xf32>) {
  // expected-error @+1 {{expected floats, integers or !quant.uniform ones of 8 bits}}
  %0 = "tpu.Cast"(%arg0) : (tensor<2xf32>) -> tensor<2x!quant.uniform<i4:f32, 0.1>>
  return
}

// -----

func.func @rounds_f32(%arg0: tensor<2xf16>) {
  // expected-error @+1 {{input type is 'tensor<2xf16>'; expected f32 elements}}
  %0 = "tpu.RoundTo"(%arg0) {type = f16} : (tensor<2xf16>) -> tensor<2xf16>
  return
}

// -----

func.func @rounds_to_sixteen_bits(%arg0: tensor<2xf32>) {
  // expected-error @+1 {{type is 'i8'; expected f16 or bf16}}
  %0 = "tpu.RoundTo"(%arg0) {type = i8} : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @requantizes_integers(%arg0: tensor<2xf32>) {
  // expected-error @+1 {{input type is 'tensor<2xf32>'; expected integers}}
  %0 = "tpu.RequantInt"(%arg0) {multiplier = [1], rshift = [0]} : (tensor<2xf32>) -> tensor<2x!quant.uniform<i8:f32, 0.1>>
  return
}

// -----

func.func @requantizes_by_a_factor(%arg0: tensor<2xi32>) {
  // expected-error @+1 {{has no multiplier and rshift}}
  %0 = "tpu.RequantInt"(%arg0) : (tensor<2xi32>) -> tensor<2x!quant.uniform<i8:f32, 0.1>>
  return
}

// -----

func.func @factors_have_two_parts(%arg0: tensor<2xi32>) {
  // expected-error @+1 {{has only one of multiplier and rshift; expected both or none}}
  %0 = "tpu.RequantInt"(%arg0) {multiplier = [1]} : (tensor<2xi32>) -> tensor<2x!quant.uniform<i8:f32, 0.1>>
  return
}

// -----

func.func @as_many_shifts(%arg0: tensor<2xi32>) {
  // expected-error @+1 {{has 2 multipliers and 1 shifts; expected equally many, at least 1}}
  %0 = "tpu.RequantInt"(%arg0) {multiplier = [1, 2], rshift = [0]} : (tensor<2xi32>) -> tensor<2x!quant.uniform<i8:f32, 0.1>>
  return
}

// -----

func.func @at_least_one(%arg0: tensor<2xi32>) {
  // expected-error @+1 {{has 0 multipliers and 0 shifts; expected equally many, at least 1}}
  %0 = "tpu.RequantInt"(%arg0) {multiplier = [], rshift = []} : (tensor<2xi32>) -> tensor<2x!quant.uniform<i8:f32, 0.1>>
  return
}

// -----

func.func @floats_are_not_requantized(%arg0: tensor<2x3xf32>) {
  // expected-error @+1 {{gives no quantized values; expected no multiplier and rshift}}
  %0 = "tpu.LeakyRelu"(%arg0) {alpha = 0.1 : f64, multiplier = [1, 1], rshift = [0, 0]} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @multipliers_have_32_bits(%arg0: tensor<2xi32>) {
  // expected-error @+1 {{multiplier holds 2147483648; expected -2147483648 to 2147483647}}
  %0 = "tpu.RequantInt"(%arg0) {multiplier = [2147483648], rshift = [0]} : (tensor<2xi32>) -> tensor<2x!quant.uniform<i8:f32, 0.1>>
  return
}

// -----

func.func @shifts_are_small(%arg0: tensor<2xi32>) {
  // expected-error @+1 {{rshift holds 64; expected -31 to 63}}
  %0 = "tpu.RequantInt"(%arg0) {multiplier = [1], rshift = [64]} : (tensor<2xi32>) -> tensor<2x!quant.uniform<i8:f32, 0.1>>
  return
}

// -----

func.func @qdm_shifts_right(%arg0: tensor<2xi32>) {
  // expected-error @+1 {{rshift holds -1; expected 0 to 63}}
  %0 = "tpu.RequantInt"(%arg0) {multiplier = [1], rshift = [-1], quant_mode = "QDM"} : (tensor<2xi32>) -> tensor<2x!quant.uniform<i8:f32, 0.1>>
  return
}

// -----

func.func @quant_modes(%arg0: tensor<2xi32>) {
  // expected-error @+1 {{quant_mode is 'Normal'; expected MultiplierShift, OnlyShift, TFLite, TFLite_LShift or QDM}}
  %0 = "tpu.RequantInt"(%arg0) {multiplier = [1], rshift = [0], quant_mode = "Normal"} : (tensor<2xi32>) -> tensor<2x!quant.uniform<i8:f32, 0.1>>
  return
}

// -----

func.func @round_modes(%arg0: tensor<2xi32>) {
  // expected-error @+1 {{round_mode is 'Nearest'; expected HalfToEven, HalfAwayFromZero, TowardsZero, Down, Up, HalfUp or HalfDown}}
  %0 = "tpu.RequantInt"(%arg0) {multiplier = [1], rshift = [0], round_mode = "Nearest"} : (tensor<2xi32>) -> tensor<2x!quant.uniform<i8:f32, 0.1>>
  return
}

// -----

func.func @a_multiplier_for_each_term(%arg0: tensor<2x!quant.uniform<i8:f32, 0.1>>) {
  // expected-error @+1 {{has 1 multipliers; expected 2, one for each operand}}
  %0 = "tpu.Add"(%arg0, %arg0) {multiplier = [1], rshift = 0 : i64} : (tensor<2x!quant.uniform<i8:f32, 0.1>>, tensor<2x!quant.uniform<i8:f32, 0.1>>) -> tensor<2x!quant.uniform<i8:f32, 0.1>>
  return
}

// -----

func.func @sums_have_shifts(%arg0: tensor<2x!quant.uniform<i8:f32, 0.1>>) {
  // expected-error @+1 {{has only one of multiplier and rshift; expected both or none}}
  %0 = "tpu.Sub"(%arg0, %arg0) {multiplier = [1, 1]} : (tensor<2x!quant.uniform<i8:f32, 0.1>>, tensor<2x!quant.uniform<i8:f32, 0.1>>) -> tensor<2x!quant.uniform<i8:f32, 0.1>>
  return
}

// -----

func.func @sums_have_factors_of_one_kind(%arg0: tensor<2x!quant.uniform<i8:f32, 0.1>>) {
  // expected-error @+1 {{has factors beside quant_mode; expected those of its types alone}}
  %0 = "tpu.Sub"(%arg0, %arg0) {multiplier = [1, 1], rshift = 0 : i64, quant_mode = "TFLite"} : (tensor<2x!quant.uniform<i8:f32, 0.1>>, tensor<2x!quant.uniform<i8:f32, 0.1>>) -> tensor<2x!quant.uniform<i8:f32, 0.1>>
  return
}

// -----

func.func @sums_round_once_or_twice(%arg0: tensor<2x!quant.uniform<i8:f32, 0.1>>) {
  // expected-error @+1 {{quant_mode is 'QDM'; expected TFLite, or none}}
  %0 = "tpu.Add"(%arg0, %arg0) {quant_mode = "QDM"} : (tensor<2x!quant.uniform<i8:f32, 0.1>>, tensor<2x!quant.uniform<i8:f32, 0.1>>) -> tensor<2x!quant.uniform<i8:f32, 0.1>>
  return
}

// -----

func.func @sums_by_types_are_quantized(%arg0: tensor<2x!quant.uniform<i8:f32, 0.1>>, %arg1: tensor<2xi8>) {
  // expected-error @+1 {{has quant_mode; expected two quantized operands and such a result}}
  %0 = "tpu.Add"(%arg0, %arg1) {quant_mode = "TFLite"} : (tensor<2x!quant.uniform<i8:f32, 0.1>>, tensor<2xi8>) -> tensor<2x!quant.uniform<i8:f32, 0.1>>
  return
}

// -----

func.func @sums_of_floats_have_no_multipliers(%arg0: tensor<2xf32>) {
  // expected-error @+1 {{gives no quantized values; expected no multiplier and rshift}}
  %0 = "tpu.Add"(%arg0, %arg0) {multiplier = [1, 1], rshift = 0 : i64} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @offsets_have_32_bits(%arg0: tensor<2x!quant.uniform<i8:f32, 0.1>>) {
  // expected-error @+1 {{offset holds 3000000000; expected -2147483648 to 2147483647}}
  %0 = "tpu.Add"(%arg0, %arg0) {multiplier = [1, 1], offset = 3000000000 : i64, rshift = 0 : i64} : (tensor<2x!quant.uniform<i8:f32, 0.1>>, tensor<2x!quant.uniform<i8:f32, 0.1>>) -> tensor<2x!quant.uniform<i8:f32, 0.1>>
  return
}

// -----

func.func @products_round(%arg0: tensor<2x!quant.uniform<i8:f32, 0.1>>) {
  // expected-error @+1 {{round_mode is 'half'}}
  %0 = "tpu.Mul"(%arg0, %arg0) {multiplier = 1 : i64, rshift = 0 : i64, round_mode = "half"} : (tensor<2x!quant.uniform<i8:f32, 0.1>>, tensor<2x!quant.uniform<i8:f32, 0.1>>) -> tensor<2x!quant.uniform<i8:f32, 0.1>>
  return
}

// -----

func.func @tables_are_for_integers(%arg0: tensor<2xf32>, %table: tensor<256xi8>) {
  // expected-error @+1 {{input type is 'tensor<2xf32>'; expected quantized values of 8 bits}}
  %0 = "tpu.Lut"(%arg0, %table) : (tensor<2xf32>, tensor<256xi8>) -> tensor<2x!quant.uniform<i8:f32, 0.1>>
  return
}

// -----

func.func @tables_have_256_entries(%arg0: tensor<2x!quant.uniform<i8:f32, 0.1>>, %table: tensor<255xi8>) {
  // expected-error @+1 {{table type is 'tensor<255xi8>'; expected 256 integers of 8 bits}}
  %0 = "tpu.Lut"(%arg0, %table) : (tensor<2x!quant.uniform<i8:f32, 0.1>>, tensor<255xi8>) -> tensor<2x!quant.uniform<i8:f32, 0.1>>
  return
}

// -----

func.func @tables_keep_the_shape(%arg0: tensor<2x!quant.uniform<i8:f32, 0.1>>, %table: tensor<256xi8>) {
  // expected-error @+1 {{result type is 'tensor<3x!quant.uniform<i8:f32, 1.000000e-01>>'; expected quantized values in the shape of the input}}
  %0 = "tpu.Lut"(%arg0, %table) : (tensor<2x!quant.uniform<i8:f32, 0.1>>, tensor<256xi8>) -> tensor<3x!quant.uniform<i8:f32, 0.1>>
  return
}

// -----

// As valid as the op of the top dialect.
func.func @twins_are_verified(%arg0: tensor<2x3xf32>) {
  // expected-error @+1 {{'top.Permute' op}}
  %0 = "tpu.Permute"(%arg0) {order = [0, 0]} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @twins_have_all_attributes(%arg0: tensor<2x3xf32>) {
  // expected-error @+1 {{'tpu.Permute' op requires attribute 'order'}}
  %0 = "tpu.Permute"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @sums_become_one_thing(%arg0: tensor<2x2x!quant.uniform<i8:f32, 0.1>>, %arg1: none) {
  // expected-error @+1 {{has both dequant_scale and multiplier; expected one of them}}
  %0 = "tpu.MatMul"(%arg0, %arg0, %arg1) {dequant_scale = [0.01], multiplier = [1], rshift = [1]} : (tensor<2x2x!quant.uniform<i8:f32, 0.1>>, tensor<2x2x!quant.uniform<i8:f32, 0.1>>, none) -> tensor<2x2xf32>
  return
}

// -----

func.func @floats_of_integers(%arg0: tensor<2x2xf32>, %arg1: none) {
  // expected-error @+1 {{has dequant_scale, but makes 'tensor<2x2xf32>' of 'tensor<2x2xf32>'; expected floats of quantized values}}
  %0 = "tpu.MatMul"(%arg0, %arg0, %arg1) {dequant_scale = [0.01]} : (tensor<2x2xf32>, tensor<2x2xf32>, none) -> tensor<2x2xf32>
  return
}

// -----

func.func @scales_are_there(%arg0: tensor<2x2x!quant.uniform<i8:f32, 0.1>>, %arg1: none) {
  // expected-error @+1 {{has no entry in dequant_scale; expected at least 1}}
  %0 = "tpu.MatMul"(%arg0, %arg0, %arg1) {dequant_scale = []} : (tensor<2x2x!quant.uniform<i8:f32, 0.1>>, tensor<2x2x!quant.uniform<i8:f32, 0.1>>, none) -> tensor<2x2xf32>
  return
}

// -----

func.func @scales_are_finite(%arg0: tensor<2x2x!quant.uniform<i8:f32, 0.1>>, %arg1: none) {
  // expected-error @+1 {{dequant_scale holds INF; expected finite numbers}}
  %0 = "tpu.MatMul"(%arg0, %arg0, %arg1) {dequant_scale = [0x7FF0000000000000 : f64]} : (tensor<2x2x!quant.uniform<i8:f32, 0.1>>, tensor<2x2x!quant.uniform<i8:f32, 0.1>>, none) -> tensor<2x2xf32>
  return
}

// -----

func.func @stacked_rows_are_as_many(%arg0: tensor<1x3x8x8xi8>) {
  // expected-error @+1 {{makes 'tensor<1x6x4x8xi8>' of 'tensor<1x3x8x8xi8>' with windows of 3 rows}}
  %0 = "tpu.PackRows"(%arg0) {kernel = 3 : i64, stride = 2 : i64, pad = 1 : i64} : (tensor<1x3x8x8xi8>) -> tensor<1x6x4x8xi8>
  return
}

// -----

func.func @windows_move_on(%arg0: tensor<1x3x8x8xi8>) {
  // expected-error @+1 {{kernel, stride and pad are 3, 0 and 1; expected at least 1, 1 and 0}}
  %0 = "tpu.PackRows"(%arg0) {kernel = 3 : i64, stride = 0 : i64, pad = 1 : i64} : (tensor<1x3x8x8xi8>) -> tensor<1x9x4x8xi8>
  return
}

// -----

func.func @marks_are_of_rows(%arg0: tensor<1x3x8x8xi8>) {
  // expected-error @+1 {{marks row 3; expected -1 or a row of windows of 3 rows}}
  %0 = "tpu.PackRows"(%arg0) {kernel = 3 : i64, stride = 2 : i64, pad = 1 : i64, marks = [3]} : (tensor<1x3x8x8xi8>) -> tensor<1x10x4x8xi8>
  return
}

// -----

func.func @fill_is_stored(%arg0: tensor<1x3x8x8x!quant.uniform<u8:f32, 1.0>>) {
  // expected-error @+1 {{fill is 256; expected what}}
  %0 = "tpu.PackRows"(%arg0) {kernel = 3 : i64, stride = 2 : i64, pad = 1 : i64, fill = 256 : i64} : (tensor<1x3x8x8x!quant.uniform<u8:f32, 1.0>>) -> tensor<1x9x4x8x!quant.uniform<u8:f32, 1.0>>
  return
}

// -----

func.func @planes_of_no_picture(%arg0: tensor<0x3x4x5x6xf32>) {
  // expected-error@+1 {{makes 'tensor<0x3x5x6xf32>' of 'tensor<0x3x4x5x6xf32>' with windows of 1 rows}}
  %0 = "tpu.PackRows"(%arg0) {kernel = 1 : i64, stride = 1 : i64, pad = 0 : i64} : (tensor<0x3x4x5x6xf32>) -> tensor<0x3x5x6xf32>
  return
}

// -----

func.func @fill_beyond_integers(%arg0: tensor<1x3x8x8x!quant.uniform<u8:f32, 1.0:3>>) {
  // expected-error@+1 {{fill is 9223372036854775807; expected what}}
  %0 = "tpu.PackRows"(%arg0) {kernel = 3 : i64, stride = 2 : i64, pad = 1 : i64, fill = 9223372036854775807 : i64} : (tensor<1x3x8x8x!quant.uniform<u8:f32, 1.0:3>>) -> tensor<1x9x4x8x!quant.uniform<u8:f32, 1.0:3>>
  return
}

// -----

func.func @unstacked_rows_are_as_many(%arg0: tensor<1x12x8x8xi8>) {
  // expected-error @+1 {{makes 'tensor<1x3x16x8xi8>' of 'tensor<1x12x8x8xi8>' with 4 rows side by side}}
  %0 = "tpu.UnpackRows"(%arg0) {rows = 4 : i64} : (tensor<1x12x8x8xi8>) -> tensor<1x3x16x8xi8>
  return
}

// -----

func.func @transposed_rows_are_columns(%arg0: tensor<1x8x3x4xf16>) {
  // expected-error @+1 {{makes 'tensor<1x8x12xf16>' of 'tensor<1x8x3x4xf16>'; expected its rows as columns, in 3 or 4 dimensions}}
  %0 = "tpu.Transpose"(%arg0) : (tensor<1x8x3x4xf16>) -> tensor<1x8x12xf16>
  return
}

// -----

func.func @unstacked_rows_leave_out_a_whole_row(%arg0: tensor<1x12x8x8xi8>) {
  // expected-error @+1 {{makes 'tensor<1x3x28x8xi8>' of 'tensor<1x12x8x8xi8>' with 4 rows side by side}}
  %0 = "tpu.UnpackRows"(%arg0) {rows = 4 : i64} : (tensor<1x12x8x8xi8>) -> tensor<1x3x28x8xi8>
  return
}

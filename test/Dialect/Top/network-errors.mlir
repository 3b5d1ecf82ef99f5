// What the heavy ops of networks refuse whatever their operands.
// RUN: tpuc-opt %s --split-input-file --verify-diagnostics

func.func @conv_kernel(%x: tensor<1x3x4xf32>, %w: tensor<2x3x1xf32>, %none: none) {
  // expected-error @+1 {{kernel_shape has 4 entries; expected 1 to 3}}
  %0 = "top.Conv"(%x, %w, %none) {kernel_shape = [1, 1, 1, 1]} : (tensor<1x3x4xf32>, tensor<2x3x1xf32>, none) -> tensor<*xf32>
  return
}

// -----

func.func @conv_strides(%x: tensor<1x3x4xf32>, %w: tensor<2x3x1xf32>, %none: none) {
  // expected-error @+1 {{strides has an entry 0; expected at least 1}}
  %0 = "top.Conv"(%x, %w, %none) {kernel_shape = [1], strides = [0]} : (tensor<1x3x4xf32>, tensor<2x3x1xf32>, none) -> tensor<*xf32>
  return
}

// -----

func.func @conv_pads(%x: tensor<1x3x4xf32>, %w: tensor<2x3x1xf32>, %none: none) {
  // expected-error @+1 {{pads has 1 entries; expected 2}}
  %0 = "top.Conv"(%x, %w, %none) {kernel_shape = [1], pads = [0]} : (tensor<1x3x4xf32>, tensor<2x3x1xf32>, none) -> tensor<*xf32>
  return
}

// -----

func.func @conv_pad_values(%x: tensor<1x3x4x4xf32>, %w: tensor<2x3x3x3xf32>, %none: none) {
  // expected-error @+1 {{pad_values has 2 numbers; expected one for each of the 3 channels of the input}}
  %0 = "top.Conv"(%x, %w, %none) {kernel_shape = [3, 3], pads = [1, 1, 1, 1], pad_values = [1.0, 2.0]} : (tensor<1x3x4x4xf32>, tensor<2x3x3x3xf32>, none) -> tensor<*xf32>
  return
}

// -----

func.func @conv_pad_value_twice(%x: tensor<1x3x4x4xf32>, %w: tensor<2x3x3x3xf32>, %none: none) {
  // expected-error @+1 {{has pad_value and pad_values; expected one of them}}
  %0 = "top.Conv"(%x, %w, %none) {kernel_shape = [3, 3], pads = [1, 1, 1, 1], pad_value = 1.0 : f64, pad_values = [1.0, 2.0, 3.0]} : (tensor<1x3x4x4xf32>, tensor<2x3x3x3xf32>, none) -> tensor<*xf32>
  return
}

// -----

func.func @conv_group(%x: tensor<1x3x4xf32>, %w: tensor<2x3x1xf32>, %none: none) {
  // expected-error @+1 {{group is -1; expected at least 1}}
  %0 = "top.Conv"(%x, %w, %none) {kernel_shape = [1], group = -1 : i64} : (tensor<1x3x4xf32>, tensor<2x3x1xf32>, none) -> tensor<*xf32>
  return
}

// -----

func.func @deconv_output_shape(%x: tensor<1x3x4xf32>, %w: tensor<3x2x1xf32>, %none: none) {
  // expected-error @+1 {{output_shape has 2 entries; expected 1}}
  %0 = "top.Deconv"(%x, %w, %none) {kernel_shape = [1], output_shape = [4, 4]} : (tensor<1x3x4xf32>, tensor<3x2x1xf32>, none) -> tensor<*xf32>
  return
}

// -----

func.func @pool_auto_pad(%x: tensor<1x3x4xf32>) {
  // expected-error @+1 {{auto_pad is 'SAME'; expected NOTSET, SAME_UPPER, SAME_LOWER or VALID}}
  %0 = "top.MaxPool"(%x) {kernel_shape = [1], auto_pad = "SAME"} : (tensor<1x3x4xf32>) -> tensor<*xf32>
  return
}

// -----

func.func @roi_mode(%x: tensor<1x3x4x4xf32>, %r: tensor<1x4xf32>, %b: tensor<1xi64>) {
  // expected-error @+1 {{mode is 'avg'; expected Avg or Max}}
  %0 = "top.RoiAlign"(%x, %r, %b) {mode = "avg"} : (tensor<1x3x4x4xf32>, tensor<1x4xf32>, tensor<1xi64>) -> tensor<*xf32>
  return
}

// -----

func.func @group_norm(%x: tensor<1x3x4xf32>, %none: none) {
  // expected-error @+1 {{num_groups is 0; expected at least 1}}
  %0 = "top.GroupNorm"(%x, %none, %none) {num_groups = 0 : i64} : (tensor<1x3x4xf32>, none, none) -> tensor<*xf32>
  return
}

// -----

func.func @normalize(%x: tensor<1x3x4xf32>) {
  // expected-error @+1 {{p is 3; expected 1 or 2}}
  %0 = "top.Normalize"(%x) {p = 3 : i64} : (tensor<1x3x4xf32>) -> tensor<*xf32>
  return
}

// -----

func.func @rnn_activation(%x: tensor<5x1x3xf32>, %w: tensor<1x4x3xf32>, %r: tensor<1x4x4xf32>, %none: none) {
  // expected-error @+1 {{activation is "Swish"; expected one of ONNX's}}
  %0, %1 = "top.RNN"(%x, %w, %r, %none, %none, %none) {hidden_size = 4 : i64, activations = ["Swish"]} : (tensor<5x1x3xf32>, tensor<1x4x3xf32>, tensor<1x4x4xf32>, none, none, none) -> (tensor<*xf32>, none)
  return
}

// -----

func.func @gru_activations(%x: tensor<5x1x3xf32>, %w: tensor<2x12x3xf32>, %r: tensor<2x12x4xf32>, %none: none) {
  // expected-error @+1 {{has 2 activations; expected 4}}
  %0, %1 = "top.GRU"(%x, %w, %r, %none, %none, %none) {hidden_size = 4 : i64, direction = "bidirectional", activations = ["Tanh", "Tanh"]} : (tensor<5x1x3xf32>, tensor<2x12x3xf32>, tensor<2x12x4xf32>, none, none, none) -> (tensor<*xf32>, none)
  return
}

// -----

func.func @interp_mode(%x: tensor<1x3x4x4xf32>, %none: none) {
  // expected-error @+1 {{attribute 'mode' is 'area'; expected nearest, linear, cubic}}
  %0 = "top.Interp"(%x, %none, %none, %none) {mode = "area"} : (tensor<1x3x4x4xf32>, none, none, none) -> tensor<*xf32>
  return
}

// -----

func.func @interp_region(%x: tensor<1x3x4x4xf32>, %none: none) {
  // expected-error @+1 {{has coord_mode 'tf_crop_and_resize' without roi; expected a region}}
  %0 = "top.Interp"(%x, %none, %none, %none) {mode = "linear", coord_mode = "tf_crop_and_resize"} : (tensor<1x3x4x4xf32>, none, none, none) -> tensor<*xf32>
  return
}

// What passes say about layers is checked: a wrong or missing fact is an error behind the pass that
// is to blame.
// RUN: tpuc-opt %s --split-input-file --verify-diagnostics

func.func @modes_are_two(%x: tensor<1x8x4x4xf32>) {
  // expected-error @+1 {{attribute 'subnet_mode' failed to satisfy constraint: TPU or CPU}}
  %0 = "tpu.Relu"(%x) {subnet_id = 0 : i64, subnet_mode = "GPU"} : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
  return
}

// -----

func.func @sub_networks_count_from_0(%x: tensor<1x8x4x4xf32>) {
  // expected-error @+1 {{attribute 'subnet_id' failed to satisfy constraint: 64-bit signless integer attribute whose value is non-negative}}
  %0 = "tpu.Relu"(%x) {subnet_id = -1 : i64, subnet_mode = "TPU"} : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
  return
}

// -----

func.func @a_sub_network_has_a_mode(%x: tensor<1x8x4x4xf32>) {
  // expected-error @+1 {{has only one of subnet_id and subnet_mode; expected both or none}}
  %0 = "tpu.Relu"(%x) {subnet_id = 1 : i64} : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
  return
}

// -----

func.func @the_chip_needs_no_reason(%x: tensor<1x8x4x4xf32>) {
  // expected-error @+1 {{has a subnet_reason; expected it on layers of the CPU only}}
  %0 = "tpu.Relu"(%x) {subnet_id = 1 : i64, subnet_mode = "TPU", subnet_reason = "none"} : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
  return
}

// -----

func.func @times_are_not_negative(%x: tensor<1x8x4x4xf32>) {
  // expected-error @+1 {{attribute 'time' failed to satisfy constraint: 64-bit signless integer attribute whose value is non-negative}}
  %0 = "tpu.Relu"(%x) {time = -1 : i64} : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
  return
}

// -----

func.func @pool_times_are_times(%x: tensor<1x8x4x4xf32>) {
  // expected-error @+1 {{attribute 'pool_times' failed to satisfy constraint: units of time, or -1}}
  %0 = "tpu.Relu"(%x) {time = 0 : i64, pool_times = [0, -2]} : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
  return
}

// -----

func.func @pool_times_stand_with_a_time(%x: tensor<1x8x4x4xf32>) {
  // expected-error @+1 {{has pool_times without time; expected both}}
  %0 = "tpu.Relu"(%x) {pool_times = [0]} : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
  return
}

// -----

func.func @tiles_are_those_of_a_group(%x: tensor<1x8x4x4xf32>) {
  // expected-error @+1 {{has ginfo; expected it in the body of a tpu.Group only}}
  %0 = "tpu.Relu"(%x) {ginfo = {buffer_addr = 0, buffer_size = 0, buffers = 1, c_idx = [0], c_slice = [4], d_idx = [0], d_slice = [4], eu_align = 1, first_step = -1, h_idx = [0, 2], h_slice = [3, 2], id = 0, n_idx = [0], n_slice = [4], out_addr = 0, out_size = 64, resident = 0, stage = 1, step = 0, w_idx = [0], w_slice = [4]}} : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
  return
}

// -----

func.func @all_of_a_group_are_tiled(%x: tensor<1x8x4x4xf32>) {
  %0 = "tpu.Group"(%x) ({
    %1 = "tpu.Load"(%x) {ginfo = {buffer_addr = 0, buffer_size = 0, buffers = 1, c_idx = [0], c_slice = [4], d_idx = [0], d_slice = [4], eu_align = 1, first_step = -1, h_idx = [0, 2], h_slice = [3, 2], id = 0, n_idx = [0], n_slice = [4], out_addr = 0, out_size = 64, resident = 0, stage = 0, step = 0, w_idx = [0], w_slice = [4]}} : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
    // expected-error @+1 {{has no ginfo; expected it on each load, layer and store of a group that is tiled}}
    %2 = "tpu.Relu"(%1) : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
    %3 = "tpu.Store"(%2) {ginfo = {buffer_addr = 0, buffer_size = 0, buffers = 1, c_idx = [0], c_slice = [4], d_idx = [0], d_slice = [4], eu_align = 1, first_step = -1, h_idx = [0, 2], h_slice = [3, 2], id = 0, n_idx = [0], n_slice = [4], out_addr = 0, out_size = 64, resident = 0, stage = 2, step = 0, w_idx = [0], w_slice = [4]}} : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
    "tpu.Yield"(%3) : (tensor<1x8x4x4xf32>) -> ()
  }) : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
  return
}

// -----

func.func @no_number_is_missing(%x: tensor<1x8x4x4xf32>) {
  %0 = "tpu.Group"(%x) ({
    %1 = "tpu.Load"(%x) {ginfo = {buffer_addr = 0, buffer_size = 0, buffers = 1, c_idx = [0], c_slice = [4], d_idx = [0], d_slice = [4], eu_align = 1, first_step = -1, h_idx = [0, 2], h_slice = [3, 2], id = 0, n_idx = [0], n_slice = [4], out_addr = 0, out_size = 64, resident = 0, stage = 0, step = 0, w_idx = [0], w_slice = [4]}} : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
    // expected-error @+1 {{ginfo has no number step}}
    %2 = "tpu.Relu"(%1) {ginfo = {buffer_addr = 0, buffer_size = 0, buffers = 1, c_idx = [0], c_slice = [4], d_idx = [0], d_slice = [4], eu_align = 1, first_step = -1, h_idx = [0, 2], h_slice = [3, 2], id = 0, n_idx = [0], n_slice = [4], out_addr = 0, out_size = 64, resident = 0, stage = 1, w_idx = [0], w_slice = [4]}} : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
    %3 = "tpu.Store"(%2) {ginfo = {buffer_addr = 0, buffer_size = 0, buffers = 1, c_idx = [0], c_slice = [4], d_idx = [0], d_slice = [4], eu_align = 1, first_step = -1, h_idx = [0, 2], h_slice = [3, 2], id = 0, n_idx = [0], n_slice = [4], out_addr = 0, out_size = 64, resident = 0, stage = 2, step = 0, w_idx = [0], w_slice = [4]}} : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
    "tpu.Yield"(%3) : (tensor<1x8x4x4xf32>) -> ()
  }) : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
  return
}

// -----

func.func @numbers_are_numbers(%x: tensor<1x8x4x4xf32>) {
  %0 = "tpu.Group"(%x) ({
    %1 = "tpu.Load"(%x) {ginfo = {buffer_addr = 0, buffer_size = 0, buffers = 1, c_idx = [0], c_slice = [4], d_idx = [0], d_slice = [4], eu_align = 1, first_step = -1, h_idx = [0, 2], h_slice = [3, 2], id = 0, n_idx = [0], n_slice = [4], out_addr = 0, out_size = 64, resident = 0, stage = 0, step = 0, w_idx = [0], w_slice = [4]}} : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
    // expected-error @+1 {{ginfo has no number id}}
    %2 = "tpu.Relu"(%1) {ginfo = {buffer_addr = 0, buffer_size = 0, buffers = 1, c_idx = [0], c_slice = [4], d_idx = [0], d_slice = [4], eu_align = 1, first_step = -1, h_idx = [0, 2], h_slice = [3, 2], id = "first", n_idx = [0], n_slice = [4], out_addr = 0, out_size = 64, resident = 0, stage = 1, step = 0, w_idx = [0], w_slice = [4]}} : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
    %3 = "tpu.Store"(%2) {ginfo = {buffer_addr = 0, buffer_size = 0, buffers = 1, c_idx = [0], c_slice = [4], d_idx = [0], d_slice = [4], eu_align = 1, first_step = -1, h_idx = [0, 2], h_slice = [3, 2], id = 0, n_idx = [0], n_slice = [4], out_addr = 0, out_size = 64, resident = 0, stage = 2, step = 0, w_idx = [0], w_slice = [4]}} : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
    "tpu.Yield"(%3) : (tensor<1x8x4x4xf32>) -> ()
  }) : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
  return
}

// -----

func.func @addresses_are_not_negative(%x: tensor<1x8x4x4xf32>) {
  %0 = "tpu.Group"(%x) ({
    %1 = "tpu.Load"(%x) {ginfo = {buffer_addr = 0, buffer_size = 0, buffers = 1, c_idx = [0], c_slice = [4], d_idx = [0], d_slice = [4], eu_align = 1, first_step = -1, h_idx = [0, 2], h_slice = [3, 2], id = 0, n_idx = [0], n_slice = [4], out_addr = 0, out_size = 64, resident = 0, stage = 0, step = 0, w_idx = [0], w_slice = [4]}} : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
    // expected-error @+1 {{ginfo has out_addr = -64; expected at least 0}}
    %2 = "tpu.Relu"(%1) {ginfo = {buffer_addr = 0, buffer_size = 0, buffers = 1, c_idx = [0], c_slice = [4], d_idx = [0], d_slice = [4], eu_align = 1, first_step = -1, h_idx = [0, 2], h_slice = [3, 2], id = 0, n_idx = [0], n_slice = [4], out_addr = -64, out_size = 64, resident = 0, stage = 1, step = 0, w_idx = [0], w_slice = [4]}} : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
    %3 = "tpu.Store"(%2) {ginfo = {buffer_addr = 0, buffer_size = 0, buffers = 1, c_idx = [0], c_slice = [4], d_idx = [0], d_slice = [4], eu_align = 1, first_step = -1, h_idx = [0, 2], h_slice = [3, 2], id = 0, n_idx = [0], n_slice = [4], out_addr = 0, out_size = 64, resident = 0, stage = 2, step = 0, w_idx = [0], w_slice = [4]}} : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
    "tpu.Yield"(%3) : (tensor<1x8x4x4xf32>) -> ()
  }) : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
  return
}

// -----

func.func @there_is_a_buffer(%x: tensor<1x8x4x4xf32>) {
  %0 = "tpu.Group"(%x) ({
    %1 = "tpu.Load"(%x) {ginfo = {buffer_addr = 0, buffer_size = 0, buffers = 1, c_idx = [0], c_slice = [4], d_idx = [0], d_slice = [4], eu_align = 1, first_step = -1, h_idx = [0, 2], h_slice = [3, 2], id = 0, n_idx = [0], n_slice = [4], out_addr = 0, out_size = 64, resident = 0, stage = 0, step = 0, w_idx = [0], w_slice = [4]}} : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
    // expected-error @+1 {{ginfo has buffers = 0; expected at least 1}}
    %2 = "tpu.Relu"(%1) {ginfo = {buffer_addr = 0, buffer_size = 0, buffers = 0, c_idx = [0], c_slice = [4], d_idx = [0], d_slice = [4], eu_align = 1, first_step = -1, h_idx = [0, 2], h_slice = [3, 2], id = 0, n_idx = [0], n_slice = [4], out_addr = 0, out_size = 64, resident = 0, stage = 1, step = 0, w_idx = [0], w_slice = [4]}} : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
    %3 = "tpu.Store"(%2) {ginfo = {buffer_addr = 0, buffer_size = 0, buffers = 1, c_idx = [0], c_slice = [4], d_idx = [0], d_slice = [4], eu_align = 1, first_step = -1, h_idx = [0, 2], h_slice = [3, 2], id = 0, n_idx = [0], n_slice = [4], out_addr = 0, out_size = 64, resident = 0, stage = 2, step = 0, w_idx = [0], w_slice = [4]}} : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
    "tpu.Yield"(%3) : (tensor<1x8x4x4xf32>) -> ()
  }) : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
  return
}

// -----

func.func @stages_are_three(%x: tensor<1x8x4x4xf32>) {
  %0 = "tpu.Group"(%x) ({
    %1 = "tpu.Load"(%x) {ginfo = {buffer_addr = 0, buffer_size = 0, buffers = 1, c_idx = [0], c_slice = [4], d_idx = [0], d_slice = [4], eu_align = 1, first_step = -1, h_idx = [0, 2], h_slice = [3, 2], id = 0, n_idx = [0], n_slice = [4], out_addr = 0, out_size = 64, resident = 0, stage = 0, step = 0, w_idx = [0], w_slice = [4]}} : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
    // expected-error @+1 {{ginfo has stage = 3; expected 0 to 2}}
    %2 = "tpu.Relu"(%1) {ginfo = {buffer_addr = 0, buffer_size = 0, buffers = 1, c_idx = [0], c_slice = [4], d_idx = [0], d_slice = [4], eu_align = 1, first_step = -1, h_idx = [0, 2], h_slice = [3, 2], id = 0, n_idx = [0], n_slice = [4], out_addr = 0, out_size = 64, resident = 0, stage = 3, step = 0, w_idx = [0], w_slice = [4]}} : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
    %3 = "tpu.Store"(%2) {ginfo = {buffer_addr = 0, buffer_size = 0, buffers = 1, c_idx = [0], c_slice = [4], d_idx = [0], d_slice = [4], eu_align = 1, first_step = -1, h_idx = [0, 2], h_slice = [3, 2], id = 0, n_idx = [0], n_slice = [4], out_addr = 0, out_size = 64, resident = 0, stage = 2, step = 0, w_idx = [0], w_slice = [4]}} : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
    "tpu.Yield"(%3) : (tensor<1x8x4x4xf32>) -> ()
  }) : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
  return
}

// -----

func.func @each_axis_is_cut(%x: tensor<1x8x4x4xf32>) {
  %0 = "tpu.Group"(%x) ({
    %1 = "tpu.Load"(%x) {ginfo = {buffer_addr = 0, buffer_size = 0, buffers = 1, c_idx = [0], c_slice = [4], d_idx = [0], d_slice = [4], eu_align = 1, first_step = -1, h_idx = [0, 2], h_slice = [3, 2], id = 0, n_idx = [0], n_slice = [4], out_addr = 0, out_size = 64, resident = 0, stage = 0, step = 0, w_idx = [0], w_slice = [4]}} : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
    // expected-error @+1 {{ginfo has no sections along d; expected as many in d_idx as in d_slice, at least 1}}
    %2 = "tpu.Relu"(%1) {ginfo = {buffer_addr = 0, buffer_size = 0, buffers = 1, c_idx = [0], c_slice = [4], d_idx = [], d_slice = [], eu_align = 1, first_step = -1, h_idx = [0, 2], h_slice = [3, 2], id = 0, n_idx = [0], n_slice = [4], out_addr = 0, out_size = 64, resident = 0, stage = 1, step = 0, w_idx = [0], w_slice = [4]}} : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
    %3 = "tpu.Store"(%2) {ginfo = {buffer_addr = 0, buffer_size = 0, buffers = 1, c_idx = [0], c_slice = [4], d_idx = [0], d_slice = [4], eu_align = 1, first_step = -1, h_idx = [0, 2], h_slice = [3, 2], id = 0, n_idx = [0], n_slice = [4], out_addr = 0, out_size = 64, resident = 0, stage = 2, step = 0, w_idx = [0], w_slice = [4]}} : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
    "tpu.Yield"(%3) : (tensor<1x8x4x4xf32>) -> ()
  }) : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
  return
}

// -----

func.func @sections_have_two_ends(%x: tensor<1x8x4x4xf32>) {
  %0 = "tpu.Group"(%x) ({
    %1 = "tpu.Load"(%x) {ginfo = {buffer_addr = 0, buffer_size = 0, buffers = 1, c_idx = [0], c_slice = [4], d_idx = [0], d_slice = [4], eu_align = 1, first_step = -1, h_idx = [0, 2], h_slice = [3, 2], id = 0, n_idx = [0], n_slice = [4], out_addr = 0, out_size = 64, resident = 0, stage = 0, step = 0, w_idx = [0], w_slice = [4]}} : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
    // expected-error @+1 {{ginfo has no sections along w; expected as many in w_idx as in w_slice, at least 1}}
    %2 = "tpu.Relu"(%1) {ginfo = {buffer_addr = 0, buffer_size = 0, buffers = 1, c_idx = [0], c_slice = [4], d_idx = [0], d_slice = [4], eu_align = 1, first_step = -1, h_idx = [0, 2], h_slice = [3, 2], id = 0, n_idx = [0], n_slice = [4], out_addr = 0, out_size = 64, resident = 0, stage = 1, step = 0, w_idx = [0, 2], w_slice = [4]}} : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
    %3 = "tpu.Store"(%2) {ginfo = {buffer_addr = 0, buffer_size = 0, buffers = 1, c_idx = [0], c_slice = [4], d_idx = [0], d_slice = [4], eu_align = 1, first_step = -1, h_idx = [0, 2], h_slice = [3, 2], id = 0, n_idx = [0], n_slice = [4], out_addr = 0, out_size = 64, resident = 0, stage = 2, step = 0, w_idx = [0], w_slice = [4]}} : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
    "tpu.Yield"(%3) : (tensor<1x8x4x4xf32>) -> ()
  }) : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
  return
}

// -----

func.func @tiles_are_in_order(%x: tensor<1x8x4x4xf32>) {
  %0 = "tpu.Group"(%x) ({
    %1 = "tpu.Load"(%x) {ginfo = {buffer_addr = 0, buffer_size = 0, buffers = 1, c_idx = [0], c_slice = [4], d_idx = [0], d_slice = [4], eu_align = 1, first_step = -1, h_idx = [0, 2], h_slice = [3, 2], id = 0, n_idx = [0], n_slice = [4], out_addr = 0, out_size = 64, resident = 0, stage = 0, step = 0, w_idx = [0], w_slice = [4]}} : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
    // expected-error @+1 {{ginfo has sections along h out of order; expected h_idx to ascend from 0}}
    %2 = "tpu.Relu"(%1) {ginfo = {buffer_addr = 0, buffer_size = 0, buffers = 1, c_idx = [0], c_slice = [4], d_idx = [0], d_slice = [4], eu_align = 1, first_step = -1, h_idx = [2, 0], h_slice = [3, 2], id = 0, n_idx = [0], n_slice = [4], out_addr = 0, out_size = 64, resident = 0, stage = 1, step = 0, w_idx = [0], w_slice = [4]}} : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
    %3 = "tpu.Store"(%2) {ginfo = {buffer_addr = 0, buffer_size = 0, buffers = 1, c_idx = [0], c_slice = [4], d_idx = [0], d_slice = [4], eu_align = 1, first_step = -1, h_idx = [0, 2], h_slice = [3, 2], id = 0, n_idx = [0], n_slice = [4], out_addr = 0, out_size = 64, resident = 0, stage = 2, step = 0, w_idx = [0], w_slice = [4]}} : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
    "tpu.Yield"(%3) : (tensor<1x8x4x4xf32>) -> ()
  }) : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
  return
}

// -----

func.func @tiles_begin_in_the_tensor(%x: tensor<1x8x4x4xf32>) {
  %0 = "tpu.Group"(%x) ({
    %1 = "tpu.Load"(%x) {ginfo = {buffer_addr = 0, buffer_size = 0, buffers = 1, c_idx = [0], c_slice = [4], d_idx = [0], d_slice = [4], eu_align = 1, first_step = -1, h_idx = [0, 2], h_slice = [3, 2], id = 0, n_idx = [0], n_slice = [4], out_addr = 0, out_size = 64, resident = 0, stage = 0, step = 0, w_idx = [0], w_slice = [4]}} : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
    // expected-error @+1 {{ginfo has sections along c out of order; expected c_idx to ascend from 0}}
    %2 = "tpu.Relu"(%1) {ginfo = {buffer_addr = 0, buffer_size = 0, buffers = 1, c_idx = [-1], c_slice = [4], d_idx = [0], d_slice = [4], eu_align = 1, first_step = -1, h_idx = [0, 2], h_slice = [3, 2], id = 0, n_idx = [0], n_slice = [4], out_addr = 0, out_size = 64, resident = 0, stage = 1, step = 0, w_idx = [0], w_slice = [4]}} : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
    %3 = "tpu.Store"(%2) {ginfo = {buffer_addr = 0, buffer_size = 0, buffers = 1, c_idx = [0], c_slice = [4], d_idx = [0], d_slice = [4], eu_align = 1, first_step = -1, h_idx = [0, 2], h_slice = [3, 2], id = 0, n_idx = [0], n_slice = [4], out_addr = 0, out_size = 64, resident = 0, stage = 2, step = 0, w_idx = [0], w_slice = [4]}} : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
    "tpu.Yield"(%3) : (tensor<1x8x4x4xf32>) -> ()
  }) : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
  return
}

// -----

func.func @no_tile_is_empty(%x: tensor<1x8x4x4xf32>) {
  %0 = "tpu.Group"(%x) ({
    %1 = "tpu.Load"(%x) {ginfo = {buffer_addr = 0, buffer_size = 0, buffers = 1, c_idx = [0], c_slice = [4], d_idx = [0], d_slice = [4], eu_align = 1, first_step = -1, h_idx = [0, 2], h_slice = [3, 2], id = 0, n_idx = [0], n_slice = [4], out_addr = 0, out_size = 64, resident = 0, stage = 0, step = 0, w_idx = [0], w_slice = [4]}} : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
    // expected-error @+1 {{ginfo has an empty section along h; expected each of h_slice to be at least 1}}
    %2 = "tpu.Relu"(%1) {ginfo = {buffer_addr = 0, buffer_size = 0, buffers = 1, c_idx = [0], c_slice = [4], d_idx = [0], d_slice = [4], eu_align = 1, first_step = -1, h_idx = [0, 2], h_slice = [4, 0], id = 0, n_idx = [0], n_slice = [4], out_addr = 0, out_size = 64, resident = 0, stage = 1, step = 0, w_idx = [0], w_slice = [4]}} : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
    %3 = "tpu.Store"(%2) {ginfo = {buffer_addr = 0, buffer_size = 0, buffers = 1, c_idx = [0], c_slice = [4], d_idx = [0], d_slice = [4], eu_align = 1, first_step = -1, h_idx = [0, 2], h_slice = [3, 2], id = 0, n_idx = [0], n_slice = [4], out_addr = 0, out_size = 64, resident = 0, stage = 2, step = 0, w_idx = [0], w_slice = [4]}} : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
    "tpu.Yield"(%3) : (tensor<1x8x4x4xf32>) -> ()
  }) : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
  return
}

// -----

func.func @a_concatenation_has_parts(%x: tensor<1x8x4x4xf32>) {
  %0 = "tpu.Group"(%x) ({
    %1 = "tpu.Load"(%x) {ginfo = {buffer_addr = 0, buffer_size = 0, buffers = 1, c_idx = [0], c_slice = [4], d_idx = [0], d_slice = [4], eu_align = 1, first_step = -1, h_idx = [0, 2], h_slice = [3, 2], id = 0, n_idx = [0], n_slice = [4], out_addr = 0, out_size = 64, resident = 0, stage = 0, step = 0, w_idx = [0], w_slice = [4]}} : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
    // expected-error @+1 {{ginfo has part_steps; expected them on tpu.Concat only}}
    %2 = "tpu.Relu"(%1) {ginfo = {buffer_addr = 0, buffer_size = 0, buffers = 1, c_idx = [0], c_slice = [4], d_idx = [0], d_slice = [4], eu_align = 1, first_step = -1, h_idx = [0, 2], h_slice = [3, 2], id = 0, n_idx = [0], n_slice = [4], out_addr = 0, out_size = 64, part_steps = [0], resident = 0, stage = 1, step = 0, w_idx = [0], w_slice = [4]}} : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
    %3 = "tpu.Store"(%2) {ginfo = {buffer_addr = 0, buffer_size = 0, buffers = 1, c_idx = [0], c_slice = [4], d_idx = [0], d_slice = [4], eu_align = 1, first_step = -1, h_idx = [0, 2], h_slice = [3, 2], id = 0, n_idx = [0], n_slice = [4], out_addr = 0, out_size = 64, resident = 0, stage = 2, step = 0, w_idx = [0], w_slice = [4]}} : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
    "tpu.Yield"(%3) : (tensor<1x8x4x4xf32>) -> ()
  }) : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
  return
}

// -----

func.func @an_order_has_no_value(%x: tensor<1x8x4x4xf32>) {
  %0 = "tpu.Group"(%x) ({
    %1 = "tpu.Load"(%x) {ginfo = {buffer_addr = 0, buffer_size = 0, buffers = 1, c_idx = [0], c_slice = [4], d_idx = [0], d_slice = [4], eu_align = 1, first_step = -1, h_idx = [0, 2], h_slice = [3, 2], id = 0, n_idx = [0], n_slice = [4], out_addr = 0, out_size = 64, resident = 0, stage = 0, step = 0, w_idx = [0], w_slice = [4]}} : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
    // expected-error @+1 {{ginfo has a value of c_inner; expected none}}
    %2 = "tpu.Relu"(%1) {ginfo = {buffer_addr = 0, buffer_size = 0, buffers = 1, c_idx = [0], c_inner = 0, c_slice = [4], d_idx = [0], d_slice = [4], eu_align = 1, first_step = -1, h_idx = [0, 2], h_slice = [3, 2], id = 0, n_idx = [0], n_slice = [4], out_addr = 0, out_size = 64, resident = 0, stage = 1, step = 0, w_idx = [0], w_slice = [4]}} : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
    %3 = "tpu.Store"(%2) {ginfo = {buffer_addr = 0, buffer_size = 0, buffers = 1, c_idx = [0], c_slice = [4], d_idx = [0], d_slice = [4], eu_align = 1, first_step = -1, h_idx = [0, 2], h_slice = [3, 2], id = 0, n_idx = [0], n_slice = [4], out_addr = 0, out_size = 64, resident = 0, stage = 2, step = 0, w_idx = [0], w_slice = [4]}} : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
    "tpu.Yield"(%3) : (tensor<1x8x4x4xf32>) -> ()
  }) : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
  return
}

// -----

func.func @each_part_has_a_step(%x: tensor<1x8x4x4xf32>) {
  %0 = "tpu.Group"(%x) ({
    %1 = "tpu.Load"(%x) {ginfo = {buffer_addr = 0, buffer_size = 0, buffers = 1, c_idx = [0], c_slice = [4], d_idx = [0], d_slice = [4], eu_align = 1, first_step = -1, h_idx = [0, 2], h_slice = [3, 2], id = 0, n_idx = [0], n_slice = [4], out_addr = 0, out_size = 64, resident = 0, stage = 0, step = 0, w_idx = [0], w_slice = [4]}} : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
    // expected-error @+1 {{ginfo has other part_steps than one for each of the 1 operands}}
    %2 = "tpu.Concat"(%1) {axis = 1 : i64, ginfo = {buffer_addr = 0, buffer_size = 0, buffers = 1, c_idx = [0], c_slice = [4], d_idx = [0], d_slice = [4], eu_align = 1, first_step = -1, h_idx = [0, 2], h_slice = [3, 2], id = 0, n_idx = [0], n_slice = [4], out_addr = 0, out_size = 64, part_steps = [0, 1], resident = 0, stage = 1, step = 0, w_idx = [0], w_slice = [4]}} : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
    %3 = "tpu.Store"(%2) {ginfo = {buffer_addr = 0, buffer_size = 0, buffers = 1, c_idx = [0], c_slice = [4], d_idx = [0], d_slice = [4], eu_align = 1, first_step = -1, h_idx = [0, 2], h_slice = [3, 2], id = 0, n_idx = [0], n_slice = [4], out_addr = 0, out_size = 64, resident = 0, stage = 2, step = 0, w_idx = [0], w_slice = [4]}} : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
    "tpu.Yield"(%3) : (tensor<1x8x4x4xf32>) -> ()
  }) : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
  return
}

// -----

func.func @steps_of_parts_are_steps(%x: tensor<1x8x4x4xf32>) {
  %0 = "tpu.Group"(%x) ({
    %1 = "tpu.Load"(%x) {ginfo = {buffer_addr = 0, buffer_size = 0, buffers = 1, c_idx = [0], c_slice = [4], d_idx = [0], d_slice = [4], eu_align = 1, first_step = -1, h_idx = [0, 2], h_slice = [3, 2], id = 0, n_idx = [0], n_slice = [4], out_addr = 0, out_size = 64, resident = 0, stage = 0, step = 0, w_idx = [0], w_slice = [4]}} : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
    // expected-error @+1 {{ginfo has -2 in part_steps; expected at least -1}}
    %2 = "tpu.Concat"(%1) {axis = 1 : i64, ginfo = {buffer_addr = 0, buffer_size = 0, buffers = 1, c_idx = [0], c_slice = [4], d_idx = [0], d_slice = [4], eu_align = 1, first_step = -1, h_idx = [0, 2], h_slice = [3, 2], id = 0, n_idx = [0], n_slice = [4], out_addr = 0, out_size = 64, part_steps = [-2], resident = 0, stage = 1, step = 0, w_idx = [0], w_slice = [4]}} : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
    %3 = "tpu.Store"(%2) {ginfo = {buffer_addr = 0, buffer_size = 0, buffers = 1, c_idx = [0], c_slice = [4], d_idx = [0], d_slice = [4], eu_align = 1, first_step = -1, h_idx = [0, 2], h_slice = [3, 2], id = 0, n_idx = [0], n_slice = [4], out_addr = 0, out_size = 64, resident = 0, stage = 2, step = 0, w_idx = [0], w_slice = [4]}} : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
    "tpu.Yield"(%3) : (tensor<1x8x4x4xf32>) -> ()
  }) : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
  return
}

// -----

func.func @no_entry_is_strange(%x: tensor<1x8x4x4xf32>) {
  %0 = "tpu.Group"(%x) ({
    %1 = "tpu.Load"(%x) {ginfo = {buffer_addr = 0, buffer_size = 0, buffers = 1, c_idx = [0], c_slice = [4], d_idx = [0], d_slice = [4], eu_align = 1, first_step = -1, h_idx = [0, 2], h_slice = [3, 2], id = 0, n_idx = [0], n_slice = [4], out_addr = 0, out_size = 64, resident = 0, stage = 0, step = 0, w_idx = [0], w_slice = [4]}} : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
    // expected-error @+1 {{ginfo has entries that nobody knows; expected those of tpu.Group}}
    %2 = "tpu.Relu"(%1) {ginfo = {buffer_addr = 0, buffer_size = 0, buffers = 1, c_idx = [0], c_slice = [4], d_idx = [0], d_slice = [4], eu_align = 1, first_step = -1, h_idx = [0, 2], h_slice = [3, 2], id = 0, n_idx = [0], n_slice = [4], out_addr = 0, out_size = 64, pooled = 0, resident = 0, stage = 1, step = 0, w_idx = [0], w_slice = [4]}} : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
    %3 = "tpu.Store"(%2) {ginfo = {buffer_addr = 0, buffer_size = 0, buffers = 1, c_idx = [0], c_slice = [4], d_idx = [0], d_slice = [4], eu_align = 1, first_step = -1, h_idx = [0, 2], h_slice = [3, 2], id = 0, n_idx = [0], n_slice = [4], out_addr = 0, out_size = 64, resident = 0, stage = 2, step = 0, w_idx = [0], w_slice = [4]}} : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
    "tpu.Yield"(%3) : (tensor<1x8x4x4xf32>) -> ()
  }) : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
  return
}

// -----

func.func @a_group_with_a_time_is_tiled(%x: tensor<1x8x4x4xf32>) {
  %0 = "tpu.Group"(%x) ({
    // expected-error @+1 {{has no ginfo; expected it on each load, layer and store of a group that is tiled}}
    %1 = "tpu.Load"(%x) : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
    "tpu.Yield"(%1) : (tensor<1x8x4x4xf32>) -> ()
  }) {time = 0 : i64} : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
  return
}

// -----

func.func @a_row_is_one_pixel(%x: tensor<1x8x4x4xf32>) {
  // expected-error @+1 {{has from_row, but reads 'tensor<1x8x4x4xf32>'; expected one pixel}}
  %0 = "tpu.Cast"(%x) {from_row} : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf16>
  return
}

// -----

func.func @a_row_is_of_one_image(%x: tensor<2x8x1x1xf32>) {
  // expected-error @+1 {{has in_row, but gives 'tensor<2x8x1x1xf16>'; expected one pixel}}
  %0 = "tpu.Cast"(%x) {in_row} : (tensor<2x8x1x1xf32>) -> tensor<2x8x1x1xf16>
  return
}

// -----

func.func @rows_divide_the_channels(%x: tensor<1x8x4x4xf32>) {
  // expected-error @+1 {{stored_rows is 3, which does not divide the channels of 'tensor<1x8x4x4xf32>'}}
  %0 = "tpu.Relu"(%x) {stored_rows = 3 : i64} : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
  return
}

// -----

func.func @rows_are_some(%x: tensor<1x8x4x4xf32>) {
  // expected-error @+1 {{attribute 'stored_rows' failed to satisfy constraint: 64-bit signless integer attribute whose value is positive}}
  %0 = "tpu.Relu"(%x) {stored_rows = 0 : i64} : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
  return
}

// -----

func.func @rows_are_unpacked(%x: tensor<1x8x4x4xf32>) {
  // expected-error @+1 {{has stored_rows = 2, but tpu.Abs reads it; expected tpu.UnpackRows of as many rows only}}
  %0 = "tpu.Relu"(%x) {stored_rows = 2 : i64} : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
  %1 = "tpu.UnpackRows"(%0) {rows = 2 : i64} : (tensor<1x8x4x4xf32>) -> tensor<1x4x8x4xf32>
  %2 = "tpu.Abs"(%0) : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
  return
}

// -----

func.func @as_many_rows_are_unpacked(%x: tensor<1x8x4x4xf32>) {
  // expected-error @+1 {{has stored_rows = 4, but tpu.UnpackRows reads it; expected tpu.UnpackRows of as many rows only}}
  %0 = "tpu.Relu"(%x) {stored_rows = 4 : i64} : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
  %1 = "tpu.UnpackRows"(%0) {rows = 2 : i64} : (tensor<1x8x4x4xf32>) -> tensor<1x4x8x4xf32>
  return
}

// -----

func.func @rows_of_a_group_are_unpacked(%x: tensor<1x8x4x4xf32>) {
  %0 = "tpu.Group"(%x) ({
    %1 = "tpu.Load"(%x) : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
    // expected-error @+1 {{has stored_rows = 2, but tpu.Abs reads it}}
    %2 = "tpu.Relu"(%1) {stored_rows = 2 : i64} : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
    %3 = "tpu.Store"(%2) : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
    "tpu.Yield"(%3) : (tensor<1x8x4x4xf32>) -> ()
  }) : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
  %4 = "tpu.Abs"(%0) : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
  return
}

// -----

func.func @groups_divide_the_channels(%x: tensor<1x8x4x4xf32>, %w: tensor<6x8x1x1xf32>, %none: none) {
  // expected-error @+1 {{stored_turned is 4, which does not divide the channels of 'tensor<1x6x4x4xf32>'}}
  %c = "tpu.Conv"(%x, %w, %none) {kernel_shape = [1, 1], stored_turned = 4 : i64} : (tensor<1x8x4x4xf32>, tensor<6x8x1x1xf32>, none) -> tensor<1x6x4x4xf32>
  return
}

// -----

func.func @a_permute_reads_what_is_turned(%x: tensor<1x8x4x4xf32>, %w: tensor<6x8x1x1xf32>, %none: none) {
  // expected-error @+1 {{has stored_turned = 2, but tpu.Relu reads it; expected the tpu.Permute, or a tpu.Reshape in front of it, only}}
  %c = "tpu.Conv"(%x, %w, %none) {kernel_shape = [1, 1], stored_turned = 2 : i64} : (tensor<1x8x4x4xf32>, tensor<6x8x1x1xf32>, none) -> tensor<1x6x4x4xf32>
  %r = "tpu.Relu"(%c) : (tensor<1x6x4x4xf32>) -> tensor<1x6x4x4xf32>
  return
}

// -----

func.func @a_permute_says_that_it_is_turned(%x: tensor<1x8x4x4xf32>, %w: tensor<6x8x1x1xf32>, %none: none) {
  // expected-error @+1 {{has stored_turned = 1, but tpu.Permute reads it; expected}}
  %c = "tpu.Conv"(%x, %w, %none) {kernel_shape = [1, 1], stored_turned = 1 : i64} : (tensor<1x8x4x4xf32>, tensor<6x8x1x1xf32>, none) -> tensor<1x6x4x4xf32>
  %p = "tpu.Permute"(%c) {order = [0, 2, 3, 1]} : (tensor<1x6x4x4xf32>) -> tensor<1x4x4x6xf32>
  return
}

// -----

func.func @a_turned_permute_reads_a_convolution(%x: tensor<1x8x4x4xf32>) {
  // expected-error @+1 {{has stored_turned = 1, but reads what is stored in another order}}
  %p = "tpu.Permute"(%x) {order = [0, 2, 3, 1], stored_turned = 1 : i64} : (tensor<1x8x4x4xf32>) -> tensor<1x4x4x8xf32>
  return
}

// -----

func.func @a_turned_reshape_reads_as_many_groups(%x: tensor<1x8x4x4xf32>, %w: tensor<6x8x1x1xf32>, %none: none) {
  %c = "tpu.Conv"(%x, %w, %none) {kernel_shape = [1, 1]} : (tensor<1x8x4x4xf32>, tensor<6x8x1x1xf32>, none) -> tensor<1x6x4x4xf32>
  // expected-error @+1 {{has stored_turned = 3, but reads what is stored in another order}}
  %r = "tpu.Reshape"(%c, %none) {shape = [1, 3, 2, 16], stored_turned = 3 : i64} : (tensor<1x6x4x4xf32>, none) -> tensor<1x3x2x16xf32>
  return
}

// -----

func.func @steps_have_ten_numbers(%x: tensor<1x8x4x4x!quant.uniform<i8:f32, 0.1>>, %t: tensor<256xi8>) {
  // expected-error @+1 {{steps has 9 numbers; expected a multiple of 10, at least one step}}
  %0 = "tpu.Lut"(%x, %t) {steps = [20, 0, -1, 3, 0, 1, 0, -1, 0]} : (tensor<1x8x4x4x!quant.uniform<i8:f32, 0.1>>, tensor<256xi8>) -> tensor<1x8x4x4x!quant.uniform<i8:f32, 0.1>>
  return
}

// -----

func.func @there_is_a_step(%x: tensor<1x8x4x4x!quant.uniform<i8:f32, 0.1>>, %t: tensor<256xi8>) {
  // expected-error @+1 {{steps has 0 numbers; expected a multiple of 10, at least one step}}
  %0 = "tpu.Lut"(%x, %t) {steps = []} : (tensor<1x8x4x4x!quant.uniform<i8:f32, 0.1>>, tensor<256xi8>) -> tensor<1x8x4x4x!quant.uniform<i8:f32, 0.1>>
  return
}

// -----

func.func @steps_read_what_there_is(%x: tensor<1x8x4x4x!quant.uniform<i8:f32, 0.1>>, %t: tensor<256xi8>) {
  // expected-error @+1 {{number 1 of step 0 in steps is 1; expected 0 to 0}}
  %0 = "tpu.Lut"(%x, %t) {steps = [20, 1, -1, 3, 0, 1, 0, -1, 0, 3]} : (tensor<1x8x4x4x!quant.uniform<i8:f32, 0.1>>, tensor<256xi8>) -> tensor<1x8x4x4x!quant.uniform<i8:f32, 0.1>>
  return
}

// -----

func.func @a_second_step_reads_the_first(%x: tensor<1x8x4x4x!quant.uniform<i8:f32, 0.1>>, %t: tensor<256xi8>) {
  // expected-error @+1 {{number 2 of step 1 in steps is 2; expected -1 to 1}}
  %0 = "tpu.Lut"(%x, %t) {steps = [20, 0, -1, 3, 0, 1, 0, -1, 0, 3, 20, 1, 2, 3, 0, 1, 0, -1, 0, 3]} : (tensor<1x8x4x4x!quant.uniform<i8:f32, 0.1>>, tensor<256xi8>) -> tensor<1x8x4x4x!quant.uniform<i8:f32, 0.1>>
  return
}

// -----

func.func @steps_shift_to_the_right(%x: tensor<1x8x4x4x!quant.uniform<i8:f32, 0.1>>, %t: tensor<256xi8>) {
  // expected-error @+1 {{number 5 of step 0 in steps is -1; expected 0 to 31}}
  %0 = "tpu.Lut"(%x, %t) {steps = [20, 0, -1, 3, 0, -1, 0, -1, 0, 3]} : (tensor<1x8x4x4x!quant.uniform<i8:f32, 0.1>>, tensor<256xi8>) -> tensor<1x8x4x4x!quant.uniform<i8:f32, 0.1>>
  return
}

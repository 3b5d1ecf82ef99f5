// What passes say about layers, read and written.
// RUN: tpuc-opt %s --canonicalize --cse | tpuc-opt | FileCheck %s

// CHECK-LABEL: @group
func.func @group(%x: tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32> {
  // CHECK: "tpu.Load"{{.*}}ginfo = {buffer_addr = 0 : i64, {{.*}}first_step = -1 : i64, h_idx = [0, 2], h_slice = [3, 2], {{.*}}stage = 0 : i64
  // CHECK: "tpu.Relu"{{.*}}stage = 1 : i64
  // CHECK: "tpu.Store"{{.*}}stage = 2 : i64
  // CHECK: }) {pool_times = [-1, 0], subnet_id = 1 : i64, subnet_mode = "TPU", time = 3 : i64}
  %0 = "tpu.Group"(%x) ({
    %1 = "tpu.Load"(%x) {ginfo = {buffer_addr = 0, buffer_size = 0, buffers = 1, c_idx = [0], c_slice = [4], d_idx = [0], d_slice = [4], eu_align = 1, first_step = -1, h_idx = [0, 2], h_slice = [3, 2], id = 0, n_idx = [0], n_slice = [4], out_addr = 0, out_size = 64, resident = 0, stage = 0, step = 0, w_idx = [0], w_slice = [4]}} : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
    %2 = "tpu.Relu"(%1) {ginfo = {buffer_addr = 0, buffer_size = 0, buffers = 1, c_idx = [0], c_slice = [4], d_idx = [0], d_slice = [4], eu_align = 1, first_step = -1, h_idx = [0, 2], h_slice = [3, 2], id = 0, n_idx = [0], n_slice = [4], out_addr = 0, out_size = 64, resident = 0, stage = 1, step = 0, w_idx = [0], w_slice = [4]}} : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
    %3 = "tpu.Store"(%2) {ginfo = {buffer_addr = 0, buffer_size = 0, buffers = 1, c_idx = [0], c_slice = [4], d_idx = [0], d_slice = [4], eu_align = 1, first_step = -1, h_idx = [0, 2], h_slice = [3, 2], id = 0, n_idx = [0], n_slice = [4], out_addr = 0, out_size = 64, resident = 0, stage = 2, step = 0, w_idx = [0], w_slice = [4]}} : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
    "tpu.Yield"(%3) : (tensor<1x8x4x4xf32>) -> ()
  }) {pool_times = [-1, 0], subnet_id = 1 : i64, subnet_mode = "TPU", time = 3 : i64} : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
  // CHECK: "tpu.Relu"{{.*}}subnet_id = 2 : i64, subnet_mode = "CPU", subnet_reason = "why not"
  %1 = "tpu.Relu"(%0) {subnet_id = 2 : i64, subnet_mode = "CPU", subnet_reason = "why not"} : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
  return %1 : tensor<1x8x4x4xf32>
}

// CHECK-LABEL: @rows
func.func @rows(%x: tensor<1x8x1x1xf32>, %y: tensor<1x8x4x4xf32>) -> (tensor<1x8x1x1xf16>, tensor<1x4x8x4xf32>) {
  // CHECK: "tpu.Cast"{{.*}}{from_row, in_row}
  %0 = "tpu.Cast"(%x) {from_row, in_row} : (tensor<1x8x1x1xf32>) -> tensor<1x8x1x1xf16>
  // CHECK: "tpu.Relu"{{.*}}stored_rows = 2 : i64
  %1 = "tpu.Group"(%y) ({
    %2 = "tpu.Load"(%y) : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
    %3 = "tpu.Relu"(%2) {stored_rows = 2 : i64} : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
    %4 = "tpu.Store"(%3) : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
    "tpu.Yield"(%4) : (tensor<1x8x4x4xf32>) -> ()
  }) : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
  %5 = "tpu.UnpackRows"(%1) {rows = 2 : i64} : (tensor<1x8x4x4xf32>) -> tensor<1x4x8x4xf32>
  return %0, %5 : tensor<1x8x1x1xf16>, tensor<1x4x8x4xf32>
}

// CHECK-LABEL: @turned
func.func @turned(%x: tensor<1x8x4x4xf32>, %w: tensor<6x8x1x1xf32>, %none: none) -> tensor<1x3x4x4x2xf32> {
  // CHECK: "tpu.Conv"{{.*}}stored_turned = 3 : i64
  // CHECK: "tpu.Reshape"{{.*}}stored_turned = 3 : i64
  // CHECK: "tpu.Permute"{{.*}}stored_turned = 3 : i64
  %c = "tpu.Conv"(%x, %w, %none) {kernel_shape = [1, 1], stored_turned = 3 : i64} : (tensor<1x8x4x4xf32>, tensor<6x8x1x1xf32>, none) -> tensor<1x6x4x4xf32>
  %r = "tpu.Reshape"(%c, %none) {shape = [1, 3, 2, 4, 4], stored_turned = 3 : i64} : (tensor<1x6x4x4xf32>, none) -> tensor<1x3x2x4x4xf32>
  %p = "tpu.Permute"(%r) {order = [0, 1, 3, 4, 2], stored_turned = 3 : i64} : (tensor<1x3x2x4x4xf32>) -> tensor<1x3x4x4x2xf32>
  return %p : tensor<1x3x4x4x2xf32>
}

// CHECK-LABEL: @steps
func.func @steps(%x: tensor<1x8x4x4x!quant.uniform<i8:f32, 0.1>>, %t: tensor<256xi8>) -> tensor<1x8x4x4x!quant.uniform<i8:f32, 0.1>> {
  // CHECK: "tpu.Lut"{{.*}}steps = [20, 0, -1, 3, 0, 1, 0, -1, 0, 3, 20, 1, 0, 3, 0, 1, 0, -1, 0, 3]
  %0 = "tpu.Lut"(%x, %t) {steps = [20, 0, -1, 3, 0, 1, 0, -1, 0, 3, 20, 1, 0, 3, 0, 1, 0, -1, 0, 3]} : (tensor<1x8x4x4x!quant.uniform<i8:f32, 0.1>>, tensor<256xi8>) -> tensor<1x8x4x4x!quant.uniform<i8:f32, 0.1>>
  return %0 : tensor<1x8x4x4x!quant.uniform<i8:f32, 0.1>>
}

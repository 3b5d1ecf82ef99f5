// Each layer is cut into slices that fit the 256 KiB of a lane, inputs with exact halos.
// RUN: tpuc-opt %s --layer-group=opt=0 | FileCheck %s

// CHECK: module.state = "TPU_GROUPED"
// CHECK-LABEL: func.func @main
// One slice: nothing is cut. Eight channels would leave lanes idle; 512 elements are 16 times 32, as
// shorter rows would take longer to load.
// CHECK: "tpu.Group"(%{{.*}}) ({
// CHECK-NEXT: "tpu.Load"{{.*}}buffers = 1 : i64{{.*}}c_slice = [16]{{.*}}out_size = 128 : i64{{.*}}stage = 0 : i64, step = -1 {{.*}}w_slice = [32]
// CHECK-NEXT: "tpu.Relu"{{.*}}out_addr = [[RELU:[0-9]+]] : i64{{.*}}stage = 1 : i64, step = 0
// CHECK-NEXT: "tpu.Store"{{.*}}out_addr = [[RELU]] : i64{{.*}}stage = 2 : i64, step = 1
// CHECK-NEXT: "tpu.Yield"
// CHECK-NEXT: {time = 1 : i64}
// Windows of 3 rows at stride 1 with a border: slices of the input overlap by two rows.
// CHECK: "tpu.Load"{{.*}}buffers = 2 : i64{{.*}}h_idx = [0, [[FIRST:[0-9]+]], {{.*}}w_slice = [256]
// CHECK-NEXT: "tpu.MaxPool"{{.*}}buffers = 2 : i64{{.*}}h_idx = [0, [[SECOND:[0-9]+]], {{.*}}, h_slice = [[[SECOND]], 
// CHECK-SAME: kernel_shape = [3, 3]
// A transposition moves data in global memory.
// CHECK-NOT: "tpu.Load"
// CHECK: "tpu.Permute"{{.*}}time = 4
module attributes {module.name = "net", module.chip = "bm1684x"} {
  func.func @main(%arg0: tensor<1x8x8x8xf32>, %arg1: tensor<1x64x256x256xf32>) -> (tensor<1x8x8x8xf32>, tensor<256x1x64x256xf32>) {
    %x = "top.Input"(%arg0) : (tensor<1x8x8x8xf32>) -> tensor<1x8x8x8xf32>
    %y = "top.Input"(%arg1) : (tensor<1x64x256x256xf32>) -> tensor<1x64x256x256xf32>
    %0 = "tpu.Relu"(%x) : (tensor<1x8x8x8xf32>) -> tensor<1x8x8x8xf32>
    %1 = "tpu.MaxPool"(%y) {kernel_shape = [3, 3], pads = [1, 1, 1, 1], strides = [1, 1]} : (tensor<1x64x256x256xf32>) -> tensor<1x64x256x256xf32>
    %2 = "tpu.Permute"(%1) {order = [2, 0, 1, 3]} : (tensor<1x64x256x256xf32>) -> tensor<256x1x64x256xf32>
    return %0, %2 : tensor<1x8x8x8xf32>, tensor<256x1x64x256xf32>
  }
}

// Filters lie as the chip reads them, each once; tpu.Unpack says what they mean.
// RUN: tpuc-opt %s --shape-infer --chip-assign=chip=bm1684x --convert-top-to-tpu=mode=F16 --weight-reorder --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s
// RUN: tpuc-opt %s --shape-infer --chip-assign=chip=bm1684x --convert-top-to-tpu=mode=F32 --weight-reorder --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s --check-prefix=F32

// 40 input channels are two blocks of 32; 8 output channels have a lane each.
// CHECK-DAG: %[[PACKED:.*]] = "top.Weight"() : () -> tensor<8x576xf16> loc("w_f16_packed")
// CHECK-DAG: "tpu.Unpack"(%[[PACKED]]) {blocks = [8, 1, 2, 3, 3, 32], order = [1, 0, 2, 5, 3, 4], padded = [8, 64, 3, 3]} : (tensor<8x576xf16>) -> tensor<8x40x3x3xf16> loc("w_f16")
// A depthwise filter of 80 channels: two for each of 64 lanes. Its bias is F32, as its sums
// are until they are rounded.
// CHECK-DAG: "tpu.Unpack"(%{{.*}}) {blocks = [64, 2, 1, 3, 3, 1], order = [1, 0, 2, 5, 3, 4], padded = [128, 1, 3, 3]} : (tensor<64x18xf16>) -> tensor<80x1x3x3xf16> loc("d_f16")
// CHECK-DAG: "tpu.Unpack"(%{{.*}}) {blocks = [64, 2], order = [1, 0], padded = [128]} : (tensor<64x2xf32>) -> tensor<80xf32> loc("e")
// 100 output channels with long rows stand one after the other.
// CHECK-DAG: "tpu.Unpack"(%{{.*}}) {blocks = [100, 1, 2, 2, 32], order = [0, 1, 4, 2, 3], padded = [100, 32, 2, 2]} : (tensor<100x128xf16>) -> tensor<100x1x2x2xf16> loc("v_f16")
// Two layers read the same filter.
// CHECK: "tpu.Conv"(%{{.*}}, %[[W:[0-9]+]], %{{.*}} : (tensor<1x40x8x8xf16>, tensor<8x40x3x3xf16>
// CHECK-NEXT: "tpu.Conv"(%{{.*}}, %[[W]], %{{.*}} : (tensor<1x40x8x8xf16>, tensor<8x40x3x3xf16>
// A transposed convolution of stride 2 is computed in four phases of 2x2 taps, which follow each other
// in a lane.
// CHECK: "tpu.Unpack"(%{{.*}}) {blocks = [4, 2, 2, 1, 2, 2, 2, 32], order = [4, 7, 3, 0, 5, 1, 6, 2], padded = [64, 4, 4, 4]} : (tensor<4x1024xf16>) -> tensor<40x4x4x4xf16> loc("t_f16")

// F32: blocks = [8, 1, 40, 3, 3, 1]{{.*}} -> tensor<8x40x3x3xf32> loc("w")
module attributes {module.name = "net"} {
  func.func @main(%arg0: tensor<1x80x8x8xf32>, %arg1: tensor<1x40x8x8xf32>, %arg2: tensor<1x1x8x8xf32>) -> (tensor<1x80x8x8xf32>, tensor<1x100x7x7xf32>, tensor<1x8x6x6xf32>, tensor<1x8x3x3xf32>, tensor<1x4x16x16xf32>) {
    %none = "top.None"() : () -> none
    %x = "top.Input"(%arg0) : (tensor<1x80x8x8xf32>) -> tensor<1x80x8x8xf32> loc("x")
    %y = "top.Input"(%arg1) : (tensor<1x40x8x8xf32>) -> tensor<1x40x8x8xf32> loc("y")
    %z = "top.Input"(%arg2) : (tensor<1x1x8x8xf32>) -> tensor<1x1x8x8xf32> loc("z")
    %d = "top.ConstantFill"(%none) {shape = [80, 1, 3, 3], value = 0.5 : f32} : (none) -> tensor<80x1x3x3xf32> loc("d")
    %e = "top.ConstantFill"(%none) {shape = [80], value = 0.25 : f32} : (none) -> tensor<80xf32> loc("e")
    %v = "top.ConstantFill"(%none) {shape = [100, 1, 2, 2], value = 0.5 : f32} : (none) -> tensor<100x1x2x2xf32> loc("v")
    %w = "top.ConstantFill"(%none) {shape = [8, 40, 3, 3], value = 0.5 : f32} : (none) -> tensor<8x40x3x3xf32> loc("w")
    %0 = "top.Conv"(%x, %d, %e) {kernel_shape = [3, 3], pads = [1, 1, 1, 1], group = 80} : (tensor<1x80x8x8xf32>, tensor<80x1x3x3xf32>, tensor<80xf32>) -> tensor<1x80x8x8xf32> loc("0")
    %1 = "top.Conv"(%z, %v, %none) {kernel_shape = [2, 2]} : (tensor<1x1x8x8xf32>, tensor<100x1x2x2xf32>, none) -> tensor<1x100x7x7xf32> loc("1")
    %2 = "top.Conv"(%y, %w, %none) {kernel_shape = [3, 3]} : (tensor<1x40x8x8xf32>, tensor<8x40x3x3xf32>, none) -> tensor<1x8x6x6xf32> loc("2")
    %3 = "top.Conv"(%y, %w, %none) {kernel_shape = [3, 3], strides = [2, 2]} : (tensor<1x40x8x8xf32>, tensor<8x40x3x3xf32>, none) -> tensor<1x8x3x3xf32> loc("3")
    %t = "top.ConstantFill"(%none) {shape = [40, 4, 4, 4], value = 0.5 : f32} : (none) -> tensor<40x4x4x4xf32> loc("t")
    %4 = "top.Deconv"(%y, %t, %none) {kernel_shape = [4, 4], strides = [2, 2], pads = [1, 1, 1, 1]} : (tensor<1x40x8x8xf32>, tensor<40x4x4x4xf32>, none) -> tensor<1x4x16x16xf32> loc("4")
    return %0, %1, %2, %3, %4 : tensor<1x80x8x8xf32>, tensor<1x100x7x7xf32>, tensor<1x8x6x6xf32>, tensor<1x8x3x3xf32>, tensor<1x4x16x16xf32>
  }
}

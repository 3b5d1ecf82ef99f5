// Where weights lie in global memory.
// RUN: tpuc-opt %s --shape-infer --chip-assign=chip=bm1684x --convert-top-to-tpu=mode=F32 --weight-reorder --subnet-divide --layer-group=opt=0 --address-assign --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s

// Weights first, from the chip's first address on, in pages of 4 KiB: the pool of short ones, of which
// each of 64 lanes has a row of 64 bytes, then the others.
// CHECK: module.coeff_addr = 4294967296 : i64, module.coeff_size = 8192 : i64
// CHECK-SAME: module.neuron_addr = 4294975488 : i64, module.neuron_size = 8192 : i64
// CHECK-SAME: module.state = "TPU_ADDRESSED"
// CHECK-DAG: "top.Weight"() : () -> tensor<8x72xf32, 4294971392 : i64> loc("w_packed")
// CHECK-DAG: "top.Weight"() : () -> tensor<8x1xf32, 4294967296 : i64> loc("e_packed")
module attributes {module.name = "net"} {
  func.func @main(%arg0: tensor<1x8x16x16xf32>) -> tensor<1x2048xf32> {
    %none = "top.None"() : () -> none
    %x = "top.Input"(%arg0) : (tensor<1x8x16x16xf32>) -> tensor<1x8x16x16xf32> loc("x")
    %w = "top.ConstantFill"(%none) {shape = [8, 8, 3, 3], value = 0.5 : f32} : (none) -> tensor<8x8x3x3xf32> loc("w")
    %e = "top.ConstantFill"(%none) {shape = [8], value = 0.25 : f32} : (none) -> tensor<8xf32> loc("e")
    %0 = "top.Conv"(%x, %w, %e) {kernel_shape = [3, 3], pads = [1, 1, 1, 1]} : (tensor<1x8x16x16xf32>, tensor<8x8x3x3xf32>, tensor<8xf32>) -> tensor<1x8x16x16xf32> loc("0")
    %1 = "top.Sigmoid"(%0) : (tensor<1x8x16x16xf32>) -> tensor<1x8x16x16xf32> loc("1")
    %2 = "top.Reshape"(%1, %none) {shape = [1, 2048]} : (tensor<1x8x16x16xf32>, none) -> tensor<1x2048xf32> loc("2")
    return %2 : tensor<1x2048xf32>
  }
}

// Weights, neurons, inputs and outputs have memories of their own, which the tags of addresses choose.
// REQUIRES: chip-null
// RUN: tpuc-opt %s --shape-infer --chip-assign=chip=null --convert-top-to-tpu=mode=F32 --weight-reorder --subnet-divide --layer-group=opt=0 --address-assign --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s

// Tags 1 to 4, above 40 bits.
// CHECK: module.coeff_addr = 1099511627776 : i64, module.coeff_size = [[#]] : i64
// CHECK-SAME: module.input_addr = 3298534883328 : i64, module.input_size = 8192 : i64
// CHECK-SAME: module.neuron_addr = 2199023255552 : i64, module.neuron_size = 8192 : i64
// CHECK-SAME: module.output_addr = 4398046511104 : i64, module.output_size = 8192 : i64
// The bias is resident, at the end of the memory space of constants.
// CHECK-SAME: module.pool_addr = 1099511627776 : i64, module.pool_local = 8184 : i64, module.pool_pieces = [8]
// CHECK: func.func @main(%arg0: tensor<1x8x16x16xf32, 3298534883328 : i64>{{.*}}) -> tensor<1x2048xf32, 4398046511104 : i64>
// Constants of channels begin at 0 of their memory space, where tiles begin at 0 of theirs.
// CHECK: "tpu.Load"(%{{.*}}) {ginfo = {{.*}}out_addr = 0 : i64{{.*}} (tensor<1x8x16x16xf32, 3298534883328 : i64>)
// CHECK: "tpu.Load"(%{{.*}}) {ginfo = {{.*}}out_addr = 0 : i64{{.*}} (tensor<4x144xf32, 1099511{{[0-9]+}} : i64>)
// CHECK: "tpu.Store"{{.*}} -> tensor<1x8x16x16xf32, 2199023255552 : i64> loc("0")
// CHECK: "tpu.Store"{{.*}} -> tensor<1x8x16x16xf32, 4398046511104 : i64> loc("1")
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

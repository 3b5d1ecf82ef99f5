// Every tensor in global memory has its address in its type.
// RUN: tpuc-opt %s --shape-infer --chip-assign=chip=%chip --convert-top-to-tpu=mode=F32 --weight-reorder --subnet-divide --layer-group=opt=0 --address-assign --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s

// CHECK: module.coeff_addr = {{[0-9]+}} : i64, module.coeff_size = {{[1-9][0-9]*}} : i64
// CHECK-SAME: module.neuron_addr = {{[0-9]+}} : i64, module.neuron_size = {{[1-9][0-9]*}} : i64
// CHECK-SAME: module.state = "TPU_ADDRESSED"
// CHECK: func.func @main(%arg0: tensor<1x8x16x16xf32, [[A:[0-9]+]] : i64>{{.*}}) -> tensor<1x2048xf32, [[B:[0-9]+]] : i64>
// CHECK-DAG: "top.Weight"() : () -> tensor<{{[0-9x]*}}xf32, {{[0-9]+}} : i64> loc("w{{.*}}")
// CHECK-DAG: "top.Weight"() : () -> tensor<{{[0-9x]*}}xf32, {{[0-9]+}} : i64> loc("e{{.*}}")
// An input is where the argument is.
// CHECK-DAG: "top.Input"{{.*}} -> tensor<1x8x16x16xf32, [[A]] : i64>
// What one layer stores, the next one loads.
// CHECK: "tpu.Store"{{.*}} -> tensor<1x8x16x16xf32, [[C:[0-9]+]] : i64> loc("0")
// CHECK: "tpu.Load"{{.*}} : (tensor<1x8x16x16xf32, [[C]] : i64>) -> tensor<1x8x16x16xf32>
// CHECK: "tpu.Store"{{.*}} -> tensor<1x8x16x16xf32, [[B]] : i64> loc("1")
// A reshape is its operand.
// CHECK: "tpu.Reshape"{{.*}} -> tensor<1x2048xf32, [[B]] : i64>
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

// A constant in other dimensions has no place on the chip: the host gives it one.
// RUN: sed s/bm1684x/%chip/ %s | tpuc-opt --subnet-divide --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s

// CHECK: "tpu.Reshape"{{.*}}subnet_mode = "CPU", subnet_reason = "a constant in other dimensions
// CHECK: "tpu.Add"{{.*}}subnet_mode = "TPU"
module attributes {module.name = "net", module.chip = "bm1684x", module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: tensor<2x4x7xf32>) -> tensor<2x4x7xf32> {
    %none = "top.None"() : () -> none
    %x = "top.Input"(%arg0) : (tensor<2x4x7xf32>) -> tensor<2x4x7xf32> loc("x")
    %w = "top.Weight"() : () -> tensor<4xf32> loc("w")
    %0 = "tpu.Reshape"(%w, %none) {shape = [1, 4, 1]} : (tensor<4xf32>, none) -> tensor<1x4x1xf32> loc("w_shaped")
    %1 = "tpu.Add"(%x, %0) : (tensor<2x4x7xf32>, tensor<1x4x1xf32>) -> tensor<2x4x7xf32> loc("y")
    return %1 : tensor<2x4x7xf32>
  }
}

// A layer on a type that the chip has no kernel for is the host's, and says why.
// RUN: tpuc-opt %s --subnet-divide | FileCheck %s
// CHECK: "tpu.Relu"{{.*}}subnet_mode = "CPU", subnet_reason = "a tensor of i32; expected F32, F16 or BF16"}
module attributes {module.name = "net", module.chip = "bm1684x"} {
  func.func @main(%arg0: tensor<8x8xi32>) -> tensor<8x8xi32> {
    %0 = "tpu.Relu"(%arg0) : (tensor<8x8xi32>) -> tensor<8x8xi32>
    return %0 : tensor<8x8xi32>
  }
}

// What the chip can compute is one sub-network; anything else is refused by name.
// RUN: tpuc-opt %s --split-input-file --verify-diagnostics --subnet-divide | FileCheck %s

// CHECK: module.state = "TPU_DIVIDED"
// CHECK: func.func @main{{.*}} attributes {subnet_id = 0 : i64, subnet_mode = "TPU"}
module attributes {module.name = "net", module.chip = "bm1684x"} {
  func.func @main(%arg0: tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32> {
    %x = "top.Input"(%arg0) : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
    %0 = "tpu.Relu"(%x) : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
    return %0 : tensor<1x8x4x4xf32>
  }
}

// -----

module attributes {module.name = "net", module.chip = "bm1684x"} {
  func.func @main(%arg0: tensor<1x8x4x4xf32>, %arg1: tensor<8x8xi32>, %arg2: tensor<1x?x4x4xf32>) {
    %n = "top.None"() : () -> none
    // expected-error@+1 {{tpu.Det on f32 cannot be computed on bm1684x: there is no kernel for it}}
    %0 = "tpu.Det"(%arg0) : (tensor<1x8x4x4xf32>) -> tensor<1x8xf32>
    // expected-error@+1 {{tpu.Relu on i32 cannot be computed on bm1684x: a tensor of i32; expected F32, F16 or BF16}}
    %1 = "tpu.Relu"(%arg1) : (tensor<8x8xi32>) -> tensor<8x8xi32>
    // expected-error@+1 {{tpu.Relu on f32 cannot be computed on bm1684x: a tensor whose extents are not known, or 0; expected static shapes}}
    %2 = "tpu.Relu"(%arg2) : (tensor<1x?x4x4xf32>) -> tensor<1x?x4x4xf32>
    // expected-error@+1 {{a filter or bias that is computed; expected constants}}
    %3 = "tpu.Conv"(%arg0, %arg0, %n) {kernel_shape = [4, 4]} : (tensor<1x8x4x4xf32>, tensor<1x8x4x4xf32>, none) -> tensor<1x1x1x1xf32>
    return
  }
}

// -----

// expected-error@+1 {{module: there is no code generator for cv183x}}
module attributes {module.name = "net", module.chip = "cv183x"} {
  func.func @main() {
    return
  }
}

// -----

// expected-error@+1 {{module: is compiled for no chip; expected --chip-assign first}}
module attributes {module.name = "net"} {
  func.func @main() {
    return
  }
}

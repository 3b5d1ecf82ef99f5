// What the chip can compute is one sub-network; the host computes the rest, but for what it cannot
// either, which is refused by name.
// RUN: sed s/bm1684x/%chip/ %s | tpuc-opt --split-input-file --verify-diagnostics --subnet-divide | FileCheck %s

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

// What the chip has no kernel for, the host computes. Ops of one engine come together where they do
// not depend on the other; what only renames is part of the sub-network that it comes from.
// CHECK-LABEL: module.name = "mixed"
// CHECK-NOT: attributes {subnet_id
// CHECK: "tpu.Relu"{{.*}}subnet_id = 0 : i64, subnet_mode = "TPU"}
// CHECK: "tpu.Sigmoid"{{.*}}subnet_id = 0 : i64, subnet_mode = "TPU"}
// CHECK: "tpu.Det"{{.*}}subnet_id = 1 : i64, subnet_mode = "CPU", subnet_reason = "there is no kernel for it"}
// CHECK: "tpu.Tan"(%arg1){{.*}}subnet_id = 1 : i64, subnet_mode = "CPU", subnet_reason = "there is no kernel for it"}
// CHECK: "tpu.Reshape"{{.*}}shape = [1, 8, 1, 1], subnet_id = 1 : i64, subnet_mode = "CPU", subnet_reason = "it moves nothing, beside layers of the host"}
// CHECK: "tpu.Relu"{{.*}}subnet_id = 2 : i64, subnet_mode = "TPU"}
module attributes {module.name = "mixed", module.chip = "bm1684x"} {
  func.func @main(%arg0: tensor<1x8x4x4xf32>, %arg1: tensor<8x8xf32>) -> (tensor<1x8x1x1xf32>, tensor<8x8xf32>, tensor<1x8x4x4xf32>) {
    %n = "top.None"() : () -> none
    %0 = "tpu.Relu"(%arg0) : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
    %1 = "tpu.Det"(%0) : (tensor<1x8x4x4xf32>) -> tensor<1x8xf32>
    %2 = "tpu.Tan"(%arg1) : (tensor<8x8xf32>) -> tensor<8x8xf32>
    %3 = "tpu.Reshape"(%1, %n) {shape = [1, 8, 1, 1]} : (tensor<1x8xf32>, none) -> tensor<1x8x1x1xf32>
    %4 = "tpu.Relu"(%3) : (tensor<1x8x1x1xf32>) -> tensor<1x8x1x1xf32>
    %5 = "tpu.Sigmoid"(%0) : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
    return %4, %2, %5 : tensor<1x8x1x1xf32>, tensor<8x8xf32>, tensor<1x8x4x4xf32>
  }
}

// -----

// A shape that only the data show may stand between layers of the host.
// CHECK-LABEL: module.name = "dynamic"
// CHECK: "tpu.NonZero"{{.*}} subnet_mode = "CPU"
// CHECK: "tpu.Reduce"{{.*}} subnet_mode = "CPU"
module attributes {module.name = "dynamic", module.chip = "bm1684x"} {
  func.func @main(%arg0: tensor<4x4xf32>) -> tensor<2xi64> {
    %n = "top.None"() : () -> none
    %0 = "tpu.NonZero"(%arg0) : (tensor<4x4xf32>) -> tensor<2x?xi64>
    %1 = "tpu.Reduce"(%0, %n) {axes = [1], keepdims = false, mode = "ReduceSum"} : (tensor<2x?xi64>, none) -> tensor<2xi64>
    return %1 : tensor<2xi64>
  }
}

// -----

// Constants that are results are copied. Ops have the meaning of their twins in top.
// CHECK-LABEL: module.name = "constant"
// CHECK: "tpu.DtypeCast"{{.*}} subnet_mode = "CPU"
// CHECK: "tpu.Copy"{{.*}} subnet_mode = "CPU"
module attributes {module.name = "constant", module.chip = "bm1684x"} {
  func.func @main(%arg0: tensor<4xf64>) -> (tensor<4xf32>, tensor<4xi64>) {
    %0 = "tpu.DtypeCast"(%arg0) {to = f32} : (tensor<4xf64>) -> tensor<4xf32>
    %w = "top.Weight"() : () -> tensor<4xi64>
    return %0, %w : tensor<4xf32>, tensor<4xi64>
  }
}

// -----

module attributes {module.name = "net", module.chip = "bm1684x"} {
  func.func @main(%arg0: tensor<1x8x4x4xf32>, %arg1: tensor<1x8x4x4x!quant.uniform<i8:f32, 0.5>>, %arg2: tensor<1x?x4x4xf32>) -> tensor<1x?x4x4xf32> {
    // expected-error@+1 {{tpu.Arctan on i8 cannot be computed on bm1684x: }}
    %1 = "tpu.Arctan"(%arg1) {rshift = 1 : i64} : (tensor<1x8x4x4x!quant.uniform<i8:f32, 0.5>>) -> tensor<1x8x4x4x!quant.uniform<i8:f32, 0.5>>
    return %arg2 : tensor<1x?x4x4xf32>
  }
}

// -----

// The host gives a result whose shape only the data show, but no layer of the chip takes it.
module attributes {module.name = "net", module.chip = "bm1684x"} {
  func.func @main(%arg0: tensor<4x4xf32>, %arg1: tensor<4xf32>) -> (tensor<2x?xi64>, tensor<4xi64>, tensor<2x?xi64>) {
    %n = "top.None"() : () -> none
    // expected-error@+1 {{tpu.NonZero on i64 cannot be computed on bm1684x: its result has a shape that only the data show, and is needed outside of the CPU's layers}}
    %0 = "tpu.NonZero"(%arg0) : (tensor<4x4xf32>) -> tensor<2x?xi64>
    %1 = "tpu.DtypeCast"(%arg1) {to = i64} : (tensor<4xf32>) -> tensor<4xi64>
    %2 = "tpu.DtypeCast"(%1) {to = f32} : (tensor<4xi64>) -> tensor<4xf32>
    %3 = "tpu.Relu"(%2) : (tensor<4xf32>) -> tensor<4xf32>
    %4 = "tpu.DtypeCast"(%3) {to = i64} : (tensor<4xf32>) -> tensor<4xi64>
    %5 = "tpu.Reshape"(%4, %n) {shape = [2, 2]} : (tensor<4xi64>, none) -> tensor<2x2xi64>
    %6 = "tpu.Gather"(%5, %0) {axis = 1 : i64} : (tensor<2x2xi64>, tensor<2x?xi64>) -> tensor<2x?xi64>
    return %0, %4, %6 : tensor<2x?xi64>, tensor<4xi64>, tensor<2x?xi64>
  }
}

// -----

// expected-error@+1 {{module: there is no code generator of layer groups for dnnweaver}}
module attributes {module.name = "net", module.chip = "dnnweaver"} {
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

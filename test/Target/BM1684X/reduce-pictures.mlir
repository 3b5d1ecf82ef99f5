// Norms of whole pictures stay on pictures, and means of the channels of one pixel are convolutions.
// So a response norm is in one group with the layer that reads it.
// DEFINE: %{lower} = tpuc-opt %s --shape-infer --chip-assign=chip=bm1684x --convert-top-to-tpu=mode=F16 --decompose --mlir-print-debuginfo --mlir-print-local-scope
// RUN: %{lower} | FileCheck %s
// RUN: %{lower} --subnet-divide --weight-reorder --layer-group | FileCheck %s --check-prefix=GROUPED

// CHECK: "tpu.Mul"(%[[W:[0-9]+]], %[[W]]) {{.*}} -> tensor<1x160x8x8xf32> loc("norm_squares")
// CHECK: "tpu.Reduce"{{.*}}axes = [2, 3]{{.*}} -> tensor<1x160x1x1xf32> loc("norm_ReduceSum")
// CHECK: "tpu.Sqrt"{{.*}} -> tensor<1x160x1x1xf32>
// CHECK: "tpu.Conv"{{.*}} -> tensor<1x1x1x1xf32> loc("mean_channels")
// CHECK-NOT: "tpu.Reshape"
// CHECK: "tpu.Mul"{{.*}} loc("scaled_f16")
// Other dimensions become rows.
// CHECK: "tpu.Reduce"{{.*}} -> tensor<1280x1xf32> loc("rows_f16_ReduceSum")

// A vector has no channels.
// CHECK: "tpu.Reduce"{{.*}} loc("all

// GROUPED: loc("norm_squares")
// GROUPED-NOT: "tpu.Yield"
// GROUPED: "tpu.Mul"{{.*}} loc("scaled_f16")
module attributes {module.name = "net"} {
  func.func @main(%arg0: tensor<1x160x8x8xf32>, %arg1: tensor<160xf32>) -> (tensor<1x160x8x8xf32>, tensor<1x160x8x1xf32>, tensor<1xf32>) {
    %none = "top.None"() : () -> none
    %x = "top.Input"(%arg0) : (tensor<1x160x8x8xf32>) -> tensor<1x160x8x8xf32> loc("x")
    %0 = "top.Reduce"(%x, %none) {axes = [2, 3], keepdims = true, mode = "ReduceL2"} : (tensor<1x160x8x8xf32>, none) -> tensor<1x160x1x1xf32> loc("norm")
    %1 = "top.Reduce"(%0, %none) {axes = [1], keepdims = true, mode = "ReduceMean"} : (tensor<1x160x1x1xf32>, none) -> tensor<1x1x1x1xf32> loc("mean")
    %2 = "top.Sub"(%0, %1) : (tensor<1x160x1x1xf32>, tensor<1x1x1x1xf32>) -> tensor<1x160x1x1xf32> loc("share")
    %3 = "top.Mul"(%x, %2) : (tensor<1x160x8x8xf32>, tensor<1x160x1x1xf32>) -> tensor<1x160x8x8xf32> loc("scaled")
    %4 = "top.Reduce"(%x, %none) {axes = [3], keepdims = true, mode = "ReduceL2"} : (tensor<1x160x8x8xf32>, none) -> tensor<1x160x8x1xf32> loc("rows")
    %y = "top.Input"(%arg1) : (tensor<160xf32>) -> tensor<160xf32> loc("y")
    %5 = "top.Reduce"(%y, %none) {axes = [0], keepdims = true, mode = "ReduceMean"} : (tensor<160xf32>, none) -> tensor<1xf32> loc("all")
    return %3, %4, %5 : tensor<1x160x8x8xf32>, tensor<1x160x8x1xf32>, tensor<1xf32>
  }
}

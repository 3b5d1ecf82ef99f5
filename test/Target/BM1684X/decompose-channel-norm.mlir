// A norm over the channels of pictures, which were turned to rows for it, stays on pictures: sums over
// channels are convolutions, so it is in one group with the layers around.
// DEFINE: %{lower} = tpuc-opt %s --shape-infer --chip-assign=chip=bm1684x --convert-top-to-tpu=mode=F16 --decompose --mlir-print-debuginfo --mlir-print-local-scope
// RUN: %{lower} | FileCheck %s
// RUN: %{lower} --subnet-divide --weight-reorder --layer-group | FileCheck %s --check-prefix=GROUPED

// Of 16 bits, numbers are summed up as they are, and squares as two of bf16.
// CHECK: "tpu.Conv"{{.*}} : (tensor<1x40x8x8xf16>, tensor<1x40x1x1xf16>, none) -> tensor<1x1x8x8xf32> loc("pictures{{.*}}_sums")
// CHECK-COUNT-2: "tpu.Conv"{{.*}} : (tensor<1x40x8x8xbf16>, tensor<1x40x1x1xbf16>, none) -> tensor<1x1x8x8xf32>
// CHECK: "tpu.Rsqrt"{{.*}} -> tensor<1x1x8x8xf32>
// CHECK: "tpu.Mul"{{.*}} -> tensor<1x40x8x8xf32> loc("pictures{{.*}}_scaled")
// CHECK-NOT: "tpu.Permute"
// What else is read of the rows keeps them.
// CHECK: "tpu.Relu"
// CHECK: "tpu.Permute"
// CHECK: "tpu.LayerNorm"{{.*}} -> (tensor<1x8x8x40xf16>, none, none)

// GROUPED: loc("pictures{{.*}}_sums")
// GROUPED-NOT: "tpu.Yield"
// GROUPED: "tpu.Relu"
module attributes {module.name = "net"} {
  func.func @main(%arg0: tensor<1x40x8x8xf32>) -> (tensor<1x40x8x8xf32>, tensor<1x40x8x8xf32>, tensor<1x8x8x40xf32>) {
    %none = "top.None"() : () -> none
    %x = "top.Input"(%arg0) : (tensor<1x40x8x8xf32>) -> tensor<1x40x8x8xf32> loc("x")
    %g = "top.ConstantFill"(%none) {shape = [40], value = 0.5 : f32} : (none) -> tensor<40xf32> loc("g")
    %0 = "top.Permute"(%x) {order = [0, 2, 3, 1]} : (tensor<1x40x8x8xf32>) -> tensor<1x8x8x40xf32> loc("rows")
    %1:3 = "top.LayerNorm"(%0, %g, %g) {axis = -1 : i64} : (tensor<1x8x8x40xf32>, tensor<40xf32>, tensor<40xf32>) -> (tensor<1x8x8x40xf32>, none, none) loc("norm")
    %2 = "top.Permute"(%1#0) {order = [0, 3, 1, 2]} : (tensor<1x8x8x40xf32>) -> tensor<1x40x8x8xf32> loc("pictures")
    %3 = "top.Relu"(%2) : (tensor<1x40x8x8xf32>) -> tensor<1x40x8x8xf32> loc("relu")
    %4 = "top.Permute"(%3) {order = [0, 2, 3, 1]} : (tensor<1x40x8x8xf32>) -> tensor<1x8x8x40xf32> loc("rows2")
    %5:3 = "top.LayerNorm"(%4, %g, %none) {axis = -1 : i64} : (tensor<1x8x8x40xf32>, tensor<40xf32>, none) -> (tensor<1x8x8x40xf32>, none, none) loc("norm2")
    %6 = "top.Permute"(%5#0) {order = [0, 3, 1, 2]} : (tensor<1x8x8x40xf32>) -> tensor<1x40x8x8xf32> loc("pictures2")
    return %3, %6, %5#0 : tensor<1x40x8x8xf32>, tensor<1x40x8x8xf32>, tensor<1x8x8x40xf32>
  }
}

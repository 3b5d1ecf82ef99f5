// What a detector does behind its last convolution: the channels of each anchor go behind the
// pixels. The transfer that stores the convolution's result does that.
// DEFINE: %{lower} = tpuc-opt %s --shape-infer --chip-assign=chip=bm1684x --convert-top-to-tpu=mode=F16 --mlir-print-debuginfo --mlir-print-local-scope
// RUN: %{lower} --fold-transpose-into-store | FileCheck %s
// RUN: %{lower} --fold-transpose-into-store --subnet-divide --weight-reorder --layer-group=opt=1 --address-assign | FileCheck %s --check-prefix=PLACED

// CHECK: "tpu.Conv"{{.*}}stored_turned = 3 {{.*}} loc("heads")
// CHECK: "tpu.Reshape"{{.*}}stored_turned = 3 {{.*}} loc("anchors")
// CHECK: "tpu.Permute"{{.*}}stored_turned = 3 {{.*}} loc("behind_f16")
// Patches of a picture as rows: one group of channels.
// CHECK: "tpu.Conv"{{.*}}stored_turned = 1 {{.*}} loc("patches")
// CHECK: "tpu.Reshape"{{.*}}stored_turned = 1
// CHECK: "tpu.Permute"{{.*}}stored_turned = 1
// Somebody else reads it, too; another order of the pixels; half of the pixels with the channels;
// the host computes it.
// CHECK-NOT: stored_turned

// The permute lies where the result is stored.
// PLACED: "tpu.Group"
// PLACED: "tpu.Conv"{{.*}}ginfo = {{.*}}stored_turned = 3 {{.*}} loc("heads")
// PLACED: "tpu.Reshape"{{.*}}stored_turned = 3 {{.*}}, [[AT:[0-9]+]] : i64>, none) -> tensor<1x3x5x6x8xf16, [[AT]] : i64> loc("anchors")
// PLACED: "tpu.Permute"{{.*}}stored_turned = 3 {{.*}}tensor<1x3x5x6x8xf16, [[AT]] : i64>) -> tensor<1x3x6x8x5xf16, [[AT]] : i64>
!x = tensor<1x4x6x8xf32>
module attributes {module.name = "net"} {
  func.func @main(%arg0: !x) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) {
    %none = "top.None"() : () -> none
    %x = "top.Input"(%arg0) : (!x) -> !x loc("x")
    %w = "top.ConstantFill"(%none) {shape = [15, 4, 1, 1], value = 0.5 : f32} : (none) -> tensor<15x4x1x1xf32> loc("w")
    %heads = "top.Conv"(%x, %w, %none) {kernel_shape = [1, 1]} : (!x, tensor<15x4x1x1xf32>, none) -> tensor<*xf32> loc("heads")
    %anchors = "top.Reshape"(%heads, %none) {shape = [1, 3, 5, 6, 8]} : (tensor<*xf32>, none) -> tensor<*xf32> loc("anchors")
    %behind = "top.Permute"(%anchors) {order = [0, 1, 3, 4, 2]} : (tensor<*xf32>) -> tensor<*xf32> loc("behind")
    %patches = "top.Conv"(%x, %w, %none) {kernel_shape = [1, 1]} : (!x, tensor<15x4x1x1xf32>, none) -> tensor<*xf32> loc("patches")
    %rows = "top.Reshape"(%patches, %none) {shape = [1, 15, 48]} : (tensor<*xf32>, none) -> tensor<*xf32> loc("rows")
    %turned = "top.Permute"(%rows) {order = [0, 2, 1]} : (tensor<*xf32>) -> tensor<*xf32> loc("turned")
    %read = "top.Conv"(%x, %w, %none) {kernel_shape = [1, 1]} : (!x, tensor<15x4x1x1xf32>, none) -> tensor<*xf32> loc("read")
    %first = "top.Permute"(%read) {order = [0, 2, 3, 1]} : (tensor<*xf32>) -> tensor<*xf32> loc("first")
    %columns = "top.Conv"(%x, %w, %none) {kernel_shape = [1, 1]} : (!x, tensor<15x4x1x1xf32>, none) -> tensor<*xf32> loc("columns")
    %other = "top.Permute"(%columns) {order = [0, 3, 2, 1]} : (tensor<*xf32>) -> tensor<*xf32> loc("other")
    %halves = "top.Conv"(%x, %w, %none) {kernel_shape = [1, 1]} : (!x, tensor<15x4x1x1xf32>, none) -> tensor<*xf32> loc("halves")
    %half = "top.Permute"(%halves) {order = [0, 3, 1, 2]} : (tensor<*xf32>) -> tensor<*xf32> loc("half")
    %v = "top.ConstantFill"(%none) {shape = [4, 4, 1, 1], value = 0.5 : f32} : (none) -> tensor<4x4x1x1xf32> loc("v")
    %grouped = "top.Deconv"(%x, %v, %none) {kernel_shape = [1, 1], group = 2 : i64} : (!x, tensor<4x4x1x1xf32>, none) -> tensor<*xf32> loc("grouped")
    %last = "top.Permute"(%grouped) {order = [0, 2, 3, 1]} : (tensor<*xf32>) -> tensor<*xf32> loc("last")
    return %behind, %turned, %read, %first, %other, %half, %last : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>
  }
}

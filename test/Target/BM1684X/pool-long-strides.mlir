// Of a pool whose strides are too long, the windows that they reach remain of one with shorter
// strides: it can be in the group of what makes the picture. Where the picture lies in memory, and
// rows of windows follow each other to its end, these become channels, and nothing is moved.
// RUN: tpuc-opt %s --decompose --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s
// CHECK: %[[C:.*]] = "tpu.AddConst"
// CHECK: %[[P:.*]] = "tpu.AvgPool"(%[[C]]){{.*}}kernel_shape = [19, 15]{{.*}}strides = [1, 15]{{.*}} -> tensor<2x8x40x4xf16> loc("often_often")
// CHECK: "tpu.Slice"(%[[P]]{{.*}}steps = [19]{{.*}} -> tensor<2x8x3x4xf16> loc("often")
// CHECK: %[[B:.*]] = "tpu.Reshape"{{.*}} -> tensor<2x24x32x64xf16> loc("rows_rows_blocks")
// CHECK: "tpu.MaxPool"(%[[B]]){{.*}}strides = [1, 2]{{.*}} -> tensor<2x24x1x32xf16>
!x = tensor<2x8x58x74xf16>
!y = tensor<2x8x96x64xf16>
module attributes {module.name = "net", module.chip = "bm1684x", module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: !x, %arg1: !y) -> (tensor<2x8x3x4xf16>, tensor<2x8x3x32xf16>) {
    %x = "top.Input"(%arg0) : (!x) -> !x loc("x")
    %y = "top.Input"(%arg1) : (!y) -> !y loc("y")
    %c = "tpu.AddConst"(%x) {const_val = 0.5 : f64} : (!x) -> !x loc("c")
    %0 = "tpu.AvgPool"(%c) {kernel_shape = [19, 15], strides = [19, 15]} : (!x) -> tensor<2x8x3x4xf16> loc("often")
    %1 = "tpu.MaxPool"(%y) {kernel_shape = [32, 2], strides = [32, 2]} : (!y) -> tensor<2x8x3x32xf16> loc("rows")
    return %0, %1 : tensor<2x8x3x4xf16>, tensor<2x8x3x32xf16>
  }
}

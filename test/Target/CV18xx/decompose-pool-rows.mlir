// A pool whose windows follow each other along the rows may become one of blocks. Of one row of
// windows there is one block, and the pool that is refused would be made again and again.
// RUN: tpuc-opt %s --decompose --mlir-print-local-scope | FileCheck %s
// CHECK: %[[X:.*]] = "tpu.Add"
// CHECK-NEXT: "tpu.AvgPool"(%[[X]])
// CHECK-SAME: kernel_shape = [12, 96]
// CHECK-NEXT: return
!in = tensor<1x8x12x96x!quant.uniform<i8:f32, 0.5>>
!out = tensor<1x8x1x1x!quant.uniform<i8:f32, 0.25>>
module attributes {module.name = "net", module.chip = "cv181x", module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: !in) -> !out {
    %x = "top.Input"(%arg0) : (!in) -> !in loc("x")
    %sum = "tpu.Add"(%x, %x) {coeff = [1.0, 1.0], do_relu = false, relu_limit = -1.0, multiplier = [1, 1], rshift = 1} : (!in, !in) -> !in loc("sum")
    %y = "tpu.AvgPool"(%sum) {auto_pad = "NOTSET", ceil_mode = false, count_include_pad = false, kernel_shape = [12, 96], strides = [12, 96], multiplier = [9424100], rshift = [31], round_mode = "HalfUp"} : (!in) -> !out loc("y")
    return %y : !out
  }
}

// Sums and means of bytes over dimensions in front of others become convolutions with ones. Where
// elements follow each other, they are added up as they lie, and so are floats.
// RUN: tpuc-opt %s --sums-to-conv --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s

// Two terms of 64 channels each.
// CHECK: %[[T:.*]] = "tpu.Reshape"(%{{.*}} -> tensor<2x128x56x56x{{.*}} loc("branches_terms")
// CHECK: "tpu.Conv"(%[[T]]{{.*}}kernel_shape = [1, 1], multiplier = [7, 7,{{.*}} tensor<64x128x1x1xi8>, tensor<64xi32>) -> tensor<2x64x56x56x{{.*}} loc("branches")
// Tokens are channels; the filter would be long with more of the 192 columns.
// CHECK: %[[U:.*]] = "tpu.Reshape"(%{{.*}} loc("tokens_terms")
// CHECK: %[[D:.*]] = "tpu.Conv"(%[[U]]
// CHECK-SAME: loc("tokens_sums")
// CHECK: "tpu.Reshape"(%[[D]]{{.*}} -> tensor<1x192x{{.*}} loc("tokens")
// CHECK: "tpu.Reduce"{{.*}} loc("rows")
// CHECK: "tpu.Reduce"{{.*}} loc("apart")
// CHECK: "tpu.Reduce"{{.*}} loc("most")
// CHECK: "tpu.Reduce"{{.*}} loc("floats")
// CHECK: "tpu.Reduce"{{.*}} loc("short")
!q = !quant.uniform<i8:f32, 0.5:3>
!r = !quant.uniform<i8:f32, 0.25>
module attributes {module.name = "net", module.chip = "bm1684x", module.state = "TPU_LOWERED"} {
  func.func @main(%x: tensor<2x2x64x56x56x!q>, %y: tensor<1x196x192x!q>, %z: tensor<1x196x192xf32>, %v: tensor<2x300x32x!q>) -> (tensor<2x64x56x56x!r>, tensor<1x192x!r>, tensor<1x196x!r>, tensor<2x56x56x!r>, tensor<1x192x!q>, tensor<1x192xf32>, tensor<2x32x!r>) {
    %n = "top.None"() : () -> none loc("n")
    %0 = "top.Input"(%x) : (tensor<2x2x64x56x56x!q>) -> tensor<2x2x64x56x56x!q> loc("x")
    %1 = "top.Input"(%y) : (tensor<1x196x192x!q>) -> tensor<1x196x192x!q> loc("y")
    %2 = "top.Input"(%z) : (tensor<1x196x192xf32>) -> tensor<1x196x192xf32> loc("z")
    %9 = "top.Input"(%v) : (tensor<2x300x32x!q>) -> tensor<2x300x32x!q> loc("v")
    %3 = "tpu.Reduce"(%0, %n) {axes = [1], keepdims = false, mode = "ReduceSum", multiplier = [7], rshift = [2]} : (tensor<2x2x64x56x56x!q>, none) -> tensor<2x64x56x56x!r> loc("branches")
    %4 = "tpu.Reduce"(%1, %n) {axes = [1], keepdims = false, mode = "ReduceMean", multiplier = [7], rshift = [9]} : (tensor<1x196x192x!q>, none) -> tensor<1x192x!r> loc("tokens")
    %5 = "tpu.Reduce"(%1, %n) {axes = [2], keepdims = false, mode = "ReduceMean", multiplier = [7], rshift = [9]} : (tensor<1x196x192x!q>, none) -> tensor<1x196x!r> loc("rows")
    %6 = "tpu.Reduce"(%0, %n) {axes = [0, 2], keepdims = false, mode = "ReduceSum", multiplier = [7], rshift = [9]} : (tensor<2x2x64x56x56x!q>, none) -> tensor<2x56x56x!r> loc("apart")
    %7 = "tpu.Reduce"(%1, %n) {axes = [1], keepdims = false, mode = "ReduceMax"} : (tensor<1x196x192x!q>, none) -> tensor<1x192x!q> loc("most")
    %8 = "tpu.Reduce"(%2, %n) {axes = [1], keepdims = false, mode = "ReduceSum"} : (tensor<1x196x192xf32>, none) -> tensor<1x192xf32> loc("floats")
    %10 = "tpu.Reduce"(%9, %n) {axes = [1], keepdims = false, mode = "ReduceSum", multiplier = [7], rshift = [9]} : (tensor<2x300x32x!q>, none) -> tensor<2x32x!r> loc("short")
    return %3, %4, %5, %6, %7, %8, %10 : tensor<2x64x56x56x!r>, tensor<1x192x!r>, tensor<1x196x!r>, tensor<2x56x56x!r>, tensor<1x192x!q>, tensor<1x192xf32>, tensor<2x32x!r>
  }
}

// Concatenations that begin like an earlier one join that and the rest.
// RUN: sed s/bm1684x/%chip/ %s | tpuc-opt --decompose=without=narrow-concat --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s

// CHECK: %[[A:.*]] = "tpu.Abs"{{.*}} loc("a")
// CHECK: %[[B:.*]] = "tpu.Abs"{{.*}} loc("b")
// CHECK: %[[C:.*]] = "tpu.Abs"{{.*}} loc("c")
// CHECK: %[[AB:.*]] = "tpu.Concat"(%[[A]], %[[B]]) {{.*}} loc("ab")
// CHECK: %[[ABC:.*]] = "tpu.Concat"(%[[AB]], %[[C]]) {{.*}} loc("abc")
// CHECK: "tpu.Concat"(%[[ABC]], %[[A]], %[[B]]) {{.*}} loc("abcab")
// What begins otherwise, or lies otherwise, stays.
// CHECK: "tpu.Concat"(%[[B]], %[[A]], %[[C]]) {{.*}} loc("bac")
// CHECK: "tpu.Concat"(%[[A]], %[[B]], %[[C]]) {{.*}} loc("rows")
!x = tensor<1x8x6x6xf32>
module attributes {module.name = "net", module.chip = "bm1684x", module.state = "TPU_LOWERED"} {
  func.func @main(%x: !x, %y: !x, %z: !x) -> (tensor<1x16x6x6xf32>, tensor<1x24x6x6xf32>, tensor<1x40x6x6xf32>, tensor<1x24x6x6xf32>, tensor<1x8x18x6xf32>) {
    %a = "tpu.Abs"(%x) : (!x) -> !x loc("a")
    %b = "tpu.Abs"(%y) : (!x) -> !x loc("b")
    %c = "tpu.Abs"(%z) : (!x) -> !x loc("c")
    %0 = "tpu.Concat"(%a, %b) {axis = 1 : i64} : (!x, !x) -> tensor<1x16x6x6xf32> loc("ab")
    %1 = "tpu.Concat"(%a, %b, %c) {axis = 1 : i64} : (!x, !x, !x) -> tensor<1x24x6x6xf32> loc("abc")
    %2 = "tpu.Concat"(%a, %b, %c, %a, %b) {axis = 1 : i64} : (!x, !x, !x, !x, !x) -> tensor<1x40x6x6xf32> loc("abcab")
    %3 = "tpu.Concat"(%b, %a, %c) {axis = 1 : i64} : (!x, !x, !x) -> tensor<1x24x6x6xf32> loc("bac")
    %4 = "tpu.Concat"(%a, %b, %c) {axis = 2 : i64} : (!x, !x, !x) -> tensor<1x8x18x6xf32> loc("rows")
    return %0, %1, %2, %3, %4 : tensor<1x16x6x6xf32>, tensor<1x24x6x6xf32>, tensor<1x40x6x6xf32>, tensor<1x24x6x6xf32>, tensor<1x8x18x6xf32>
  }
}

// Channels of several images that are joined and then shuffled are put side by side at once. Rows
// that are short are turned as matrices, and parts of one image are joined where they are made.
// RUN: tpuc-opt %s --decompose --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s
// CHECK-NOT: loc("joined")
// CHECK: "tpu.Concat"(%{{.*}}, %{{.*}}) {axis = 2 : i64{{.*}} -> tensor<3x58x2x357xf16> loc("long_interleaved")
// CHECK-NEXT: "top.None"
// CHECK-NEXT: "tpu.Reshape"{{.*}} -> tensor<3x116x21x17xf16> loc("long")
// CHECK: "tpu.Permute"{{.*}} -> tensor<3x58x2x30xf16> loc("short_swapped")
// CHECK: "tpu.Permute"{{.*}} -> tensor<1x58x2x357xf16> loc("one_swapped")
!x = tensor<3x58x21x17xf16>
!j = tensor<3x116x21x17xf16>
!y = tensor<3x58x6x5xf16>
!k = tensor<3x116x6x5xf16>
!z = tensor<1x58x21x17xf16>
!l = tensor<1x116x21x17xf16>
module attributes {module.name = "net", module.chip = "bm1684x", module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: !x, %arg1: !x, %arg2: !y, %arg3: !y, %arg4: !z, %arg5: !z) -> (!j, !k, !l) {
    %a = "top.Input"(%arg0) : (!x) -> !x loc("a")
    %b = "top.Input"(%arg1) : (!x) -> !x loc("b")
    %c = "top.Input"(%arg2) : (!y) -> !y loc("c")
    %d = "top.Input"(%arg3) : (!y) -> !y loc("d")
    %e = "top.Input"(%arg4) : (!z) -> !z loc("e")
    %f = "top.Input"(%arg5) : (!z) -> !z loc("f")
    %0 = "tpu.Concat"(%a, %b) {axis = 1 : i64} : (!x, !x) -> !j loc("joined")
    %1 = "tpu.ShuffleChannel"(%0) {group = 2 : i64} : (!j) -> !j loc("long")
    %2 = "tpu.Concat"(%c, %d) {axis = 1 : i64} : (!y, !y) -> !k loc("second")
    %3 = "tpu.ShuffleChannel"(%2) {group = 2 : i64} : (!k) -> !k loc("short")
    %4 = "tpu.Concat"(%e, %f) {axis = 1 : i64} : (!z, !z) -> !l loc("third")
    %5 = "tpu.ShuffleChannel"(%4) {group = 2 : i64} : (!l) -> !l loc("one")
    return %1, %3, %5 : !j, !k, !l
  }
}

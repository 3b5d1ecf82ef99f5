// Softmaxes over the features of each head: numbers of a row belong to several of them, so the heads stay apart.
// RUN: tpuc-opt %s --shape-infer --chip-assign=chip=bm1684x --convert-top-to-tpu=mode=F16 --fold-head-reshapes --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s

// CHECK: "tpu.Softmax"({{.*}} -> tensor<1x4x301x8xf16> loc("queries
// CHECK: "tpu.MatMul"({{.*}} -> tensor<1x4x301x8xf16> loc("read
!rows = tensor<1x301x96xf32>
!any = tensor<*xf32>
module attributes {module.name = "net"} {
  func.func @main(%arg0: !rows) -> !any {
    %none = "top.None"() : () -> none
    %x = "top.Input"(%arg0) : (!rows) -> !rows loc("x")
    %0 = "top.Reshape"(%x, %none) {shape = [1, 301, 3, 4, 8]} : (!rows, none) -> !any loc("parts")
    %1 = "top.Permute"(%0) {order = [2, 0, 3, 1, 4]} : (!any) -> !any loc("turned")
    %2:3 = "top.Split"(%1, %none) {axis = 0 : i64, split_size = [1, 1, 1]} : (!any, none) -> (!any, !any, !any) loc(fused["qp", "kp", "vp"])
    %q = "top.Squeeze"(%2#0, %none) {axes = [0]} : (!any, none) -> !any loc("q")
    %k = "top.Squeeze"(%2#1, %none) {axes = [0]} : (!any, none) -> !any loc("k")
    %v = "top.Squeeze"(%2#2, %none) {axes = [0]} : (!any, none) -> !any loc("v")
    %s = "top.Softmax"(%q) {axis = 3 : i64} : (!any) -> !any loc("queries")
    %w = "top.Softmax"(%k) {axis = 2 : i64} : (!any) -> !any loc("weights")
    %m = "top.MatMul"(%w, %v, %none) {left_transpose = true} : (!any, !any, none) -> !any loc("memory")
    %r = "top.MatMul"(%s, %m, %none) : (!any, !any, none) -> !any loc("read")
    %3 = "top.Permute"(%r) {order = [0, 2, 1, 3]} : (!any) -> !any loc("back")
    %4 = "top.Reshape"(%3, %none) {shape = [1, 301, 32]} : (!any, none) -> !any loc("joined")
    return %4 : !any
  }
}

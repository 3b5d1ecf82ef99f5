// A slice whose elements follow each other lies inside of its input, also where slices overlap.
// RUN: tpuc-opt %s --shape-infer --chip-assign=chip=%chip --convert-top-to-tpu=mode=F32 --weight-reorder --subnet-divide --layer-group=opt=0 --address-assign --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s

// CHECK: "tpu.Store"{{.*}} -> tensor<1x8x4x64xf32, [[#A:]] : i64> loc("s")
// CHECK: "tpu.Slice"{{.*}} -> tensor<1x5x4x64xf32, [[#A + 2048]] : i64> loc("p")
// CHECK: "tpu.Slice"{{.*}} -> tensor<1x4x4x64xf32, [[#A + 4096]] : i64> loc("q")
// Rows of all channels do not follow each other, nor do channels of several samples.
// CHECK-NOT: "tpu.Slice"{{.*}}, [[#A + 256]] : i64> loc("r")
// CHECK-NOT: "tpu.Slice"{{.*}}, [[#A + 8192]] : i64> loc("t")
module attributes {module.name = "net"} {
  func.func @main(%arg0: tensor<1x8x4x64xf32>) -> (tensor<1x5x4x64xf32>, tensor<1x4x4x64xf32>, tensor<1x8x3x64xf32>, tensor<2x3x4x64xf32>) {
    %n = "top.None"() : () -> none
    %x = "top.Input"(%arg0) : (tensor<1x8x4x64xf32>) -> tensor<1x8x4x64xf32> loc("x")
    %s = "top.Sigmoid"(%x) : (tensor<1x8x4x64xf32>) -> tensor<1x8x4x64xf32> loc("s")
    %p = "top.Slice"(%s, %n, %n, %n, %n) {axes = [1], offset = [2], ends = [7], steps = [1]} : (tensor<1x8x4x64xf32>, none, none, none, none) -> tensor<1x5x4x64xf32> loc("p")
    %q = "top.Slice"(%s, %n, %n, %n, %n) {axes = [-3], offset = [-4], ends = [8], steps = [1]} : (tensor<1x8x4x64xf32>, none, none, none, none) -> tensor<1x4x4x64xf32> loc("q")
    %r = "top.Slice"(%s, %n, %n, %n, %n) {axes = [2], offset = [1], ends = [4], steps = [1]} : (tensor<1x8x4x64xf32>, none, none, none, none) -> tensor<1x8x3x64xf32> loc("r")
    %v = "top.Reshape"(%s, %n) {shape = [2, 4, 4, 64]} : (tensor<1x8x4x64xf32>, none) -> tensor<2x4x4x64xf32> loc("v")
    %t = "top.Slice"(%v, %n, %n, %n, %n) {axes = [1], offset = [1], ends = [4], steps = [1]} : (tensor<2x4x4x64xf32>, none, none, none, none) -> tensor<2x3x4x64xf32> loc("t")
    %p1 = "top.Abs"(%p) : (tensor<1x5x4x64xf32>) -> tensor<1x5x4x64xf32> loc("p1")
    %q1 = "top.Abs"(%q) : (tensor<1x4x4x64xf32>) -> tensor<1x4x4x64xf32> loc("q1")
    %r1 = "top.Abs"(%r) : (tensor<1x8x3x64xf32>) -> tensor<1x8x3x64xf32> loc("r1")
    %t1 = "top.Abs"(%t) : (tensor<2x3x4x64xf32>) -> tensor<2x3x4x64xf32> loc("t1")
    return %p1, %q1, %r1, %t1 : tensor<1x5x4x64xf32>, tensor<1x4x4x64xf32>, tensor<1x8x3x64xf32>, tensor<2x3x4x64xf32>
  }
}

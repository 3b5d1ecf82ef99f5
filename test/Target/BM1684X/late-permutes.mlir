// A permute that makes rows short stands behind what is done to parts of them: these are then parts of
// long rows. It stays where something else reads one of the parts, or the permuted tensor itself, and
// where rows are long enough.
// RUN: rm -rf %t.dir && mkdir -p %t.dir
// RUN: tpuc-opt %s --decompose -o %t.dir/late.mlir --mlir-print-debuginfo --mlir-print-local-scope
// RUN: FileCheck %s --input-file %t.dir/late.mlir
// RUN: tpuc-opt %s --decompose=without=late-permutes,narrow-concat --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s --check-prefix=WITHOUT
// RUN: %python %S/../../Codegen/Inputs/ramp.py %t.dir/in.npz x=2,3,25,30,40 y=1,3,30,1200
// RUN: model_runner --model %s --input %t.dir/in.npz --output %t.dir/early.npz
// RUN: model_runner --model %t.dir/late.mlir --input %t.dir/in.npz --output %t.dir/late.npz
// RUN: npz_tool compare %t.dir/late.npz %t.dir/early.npz --tolerance 1,1 | FileCheck %s --check-prefix=SAME
// SAME: 4 equal

// CHECK: "tpu.Sigmoid"(%{{.*}}) {{.*}} -> tensor<2x3x25x30x40xf16> loc("s_early")
// CHECK: "tpu.Slice"{{.*}}axes = [2], ends = [2], offset = [0]{{.*}} -> tensor<2x3x2x30x40xf16> loc("a_early")
// CHECK: -> tensor<2x3x23x30x40xf16> loc("b_early1")
// CHECK: "tpu.Concat"{{.*}}axis = 2{{.*}} -> tensor<2x3x25x30x40xf16>
// CHECK: "tpu.Permute"{{.*}}order = [0, 1, 3, 4, 2]{{.*}} -> tensor<2x3x30x40x25xf16> loc("r")
// CHECK: "tpu.Permute"{{.*}}loc("v")
// CHECK: "tpu.Slice"{{.*}}axes = [3], ends = [2]
// CHECK: "tpu.Permute"{{.*}}loc("w")
// CHECK: "tpu.Slice"{{.*}}axes = [2], ends = [20]
// WITHOUT: "tpu.Permute"{{.*}}loc("t")
// WITHOUT-NOT: "tpu.Permute"{{.*}}loc("r")

module attributes {module.name = "net", module.chip = "bm1684x", module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: tensor<2x3x25x30x40xf16>, %arg1: tensor<1x3x30x1200xf16>) -> (tensor<2x3x30x40x25xf16>, tensor<1x3x1200x2xf16>, tensor<1x3x1200x4xf16>, tensor<1x30x20x1200xf16>) {
    %n = "top.None"() : () -> none
    %x = "top.Input"(%arg0) : (tensor<2x3x25x30x40xf16>) -> tensor<2x3x25x30x40xf16> loc("x")
    %y = "top.Input"(%arg1) : (tensor<1x3x30x1200xf16>) -> tensor<1x3x30x1200xf16> loc("y")
    %t = "tpu.Permute"(%x) {order = [0, 1, 3, 4, 2]} : (tensor<2x3x25x30x40xf16>) -> tensor<2x3x30x40x25xf16> loc("t")
    %s = "tpu.Sigmoid"(%t) {scale = 1.0 : f64, bias = 0.0 : f64} : (tensor<2x3x30x40x25xf16>) -> tensor<2x3x30x40x25xf16> loc("s")
    %a = "tpu.Slice"(%s, %n, %n, %n, %n) {axes = [-1], ends = [2], offset = [0], steps = [1]} : (tensor<2x3x30x40x25xf16>, none, none, none, none) -> tensor<2x3x30x40x2xf16> loc("a")
    %d = "tpu.MulConst"(%a) {const_val = 8.0 : f64} : (tensor<2x3x30x40x2xf16>) -> tensor<2x3x30x40x2xf16> loc("d")
    %b:2 = "tpu.Split"(%s, %n) {axis = -1 : i64, split_size = [2, 23]} : (tensor<2x3x30x40x25xf16>, none) -> (tensor<2x3x30x40x2xf16>, tensor<2x3x30x40x23xf16>) loc(fused["b", "e"])
    %r = "tpu.Concat"(%d, %b#1) {axis = 4 : i64} : (tensor<2x3x30x40x2xf16>, tensor<2x3x30x40x23xf16>) -> tensor<2x3x30x40x25xf16> loc("r")
    %v = "tpu.Permute"(%y) {order = [0, 1, 3, 2]} : (tensor<1x3x30x1200xf16>) -> tensor<1x3x1200x30xf16> loc("v")
    %f = "tpu.Slice"(%v, %n, %n, %n, %n) {axes = [3], ends = [2], offset = [0], steps = [1]} : (tensor<1x3x1200x30xf16>, none, none, none, none) -> tensor<1x3x1200x2xf16> loc("f")
    %g = "tpu.Slice"(%v, %n, %n, %n, %n) {axes = [3], ends = [6], offset = [2], steps = [1]} : (tensor<1x3x1200x30xf16>, none, none, none, none) -> tensor<1x3x1200x4xf16> loc("g")
    %w = "tpu.Permute"(%y) {order = [0, 2, 1, 3]} : (tensor<1x3x30x1200xf16>) -> tensor<1x30x3x1200xf16> loc("w")
    %u = "tpu.Concat"(%w, %w, %w, %w, %w, %w, %w) {axis = 2 : i64} : (tensor<1x30x3x1200xf16>, tensor<1x30x3x1200xf16>, tensor<1x30x3x1200xf16>, tensor<1x30x3x1200xf16>, tensor<1x30x3x1200xf16>, tensor<1x30x3x1200xf16>, tensor<1x30x3x1200xf16>) -> tensor<1x30x21x1200xf16> loc("u")
    %h = "tpu.Slice"(%u, %n, %n, %n, %n) {axes = [2], ends = [20], offset = [0], steps = [1]} : (tensor<1x30x21x1200xf16>, none, none, none, none) -> tensor<1x30x20x1200xf16> loc("h")
    return %r, %f, %g, %h : tensor<2x3x30x40x25xf16>, tensor<1x3x1200x2xf16>, tensor<1x3x1200x4xf16>, tensor<1x30x20x1200xf16>
  }
}

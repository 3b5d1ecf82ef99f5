// Sums of keys come apart from the values, and parts of channels are taken before they are turned to
// rows. So products of all heads are taken at once, and the heads of pictures stay channels. Ends that
// are counted from behind are those of the slice that is replaced.
// RUN: rm -rf %t.dir && mkdir -p %t.dir
// RUN: %python %tpuc_src/test/Codegen/Inputs/ramp.py %t.dir/in.npz x=1,384,14,14
// RUN: tpuc-opt %s --shape-infer --top-fuse --mlir-print-debuginfo --mlir-print-local-scope -o %t.dir/fused.mlir
// RUN: FileCheck %s < %t.dir/fused.mlir
// RUN: tpuc-opt %s --shape-infer --top-fuse=disable=sums-of-keys,parts-before-heads | FileCheck %s --check-prefix=OFF
// RUN: tpuc-opt %s --shape-infer --top-fuse --chip-assign=chip=bm1684x --convert-top-to-tpu=mode=F16 --fold-head-reshapes -o %t.dir/rows.mlir
// RUN: FileCheck %s --check-prefix=ROWS < %t.dir/rows.mlir
// RUN: tpuc-opt %s --shape-infer --top-fuse --chip-assign=chip=bm1684x --convert-top-to-tpu=mode=F16 --fold-head-reshapes --decompose --transpose-in-groups --gather-rows --subnet-divide --weight-reorder --layer-group --address-assign --codegen=model=%t.dir/fused.bmodel -o %t.dir/none.mlir
// RUN: model_runner --model %s --input %t.dir/in.npz --output %t.dir/written.npz
// RUN: model_runner --model %t.dir/fused.bmodel --input %t.dir/in.npz --output %t.dir/fused.npz
// RUN: npz_tool compare %t.dir/fused.npz %t.dir/written.npz --tolerance 0.9999,0.99
// OFF: "top.Pad"
// OFF-NOT: "top.Reduce"
// CHECK-LABEL: func.func @main
// CHECK: %[[Q:.*]] = "top.Slice"({{.*}}axes = [2], ends = [16], offset = [0]{{.*}} -> tensor<1x8x16x196xf32> loc("q_channels")
// CHECK: "top.Permute"(%[[Q]]) {order = [0, 1, 3, 2]} {{.*}} loc("q")
// CHECK-NOT: "top.Pad"
// CHECK: "top.MatMul"({{.*}} -> tensor<1x8x16x16xf32> loc("both_keys_values")
// CHECK: "top.MatMul"({{.*}} -> tensor<1x8x196x16xf32> loc("both_attended")
// CHECK: "top.Reduce"({{.*}}axes = [2]{{.*}} -> tensor<1x8x1x16xf32> loc("both_key_sum")
// CHECK: "top.MatMul"({{.*}}right_transpose = true{{.*}}tensor<1x8x1x16xf32>, tensor<1xf32>) -> tensor<1x8x196x1xf32>
// ROWS: "tpu.MatMul"({{.*}} -> tensor<1x128x128xf16>
// ROWS: "tpu.Where"({{.*}} -> tensor<1x128x128xf16>
// ROWS: "tpu.MatMul"({{.*}} -> tensor<1x196x128xf16>
// ROWS-NOT: -> tensor<1x8x196x16xf16>
// ROWS: "tpu.Permute"({{.*}}order = [0, 2, 1]{{.*}} -> tensor<1x128x196xf16>
// ROWS: "tpu.Reshape"({{.*}} -> tensor<1x128x14x14xf16>
!h = tensor<1x8x196x16xf32>
module attributes {module.name = "net", module.chip = "ALL", module.state = "TOP_F32"} {
  func.func @main(%arg0: tensor<1x384x14x14xf32>) -> (tensor<1x128x14x14xf32>, tensor<1x8x196x4xf32>) {
    %n = "top.None"() : () -> none
    %x = "top.Input"(%arg0) : (tensor<1x384x14x14xf32>) -> tensor<1x384x14x14xf32> loc("x")
    %a = "top.Abs"(%x) : (tensor<1x384x14x14xf32>) -> tensor<1x384x14x14xf32> loc("abs")
    %r = "top.Reshape"(%a, %n) {shape = [1, 8, 48, 196]} : (tensor<1x384x14x14xf32>, none) -> tensor<1x8x48x196xf32> loc("r")
    %p = "top.Permute"(%r) {order = [0, 1, 3, 2]} : (tensor<1x8x48x196xf32>) -> tensor<1x8x196x48xf32> loc("p")
    %q = "top.Slice"(%p, %n, %n, %n, %n) {axes = [-1], offset = [-99], ends = [16], steps = [1]} : (tensor<1x8x196x48xf32>, none, none, none, none) -> !h loc("q")
    %k = "top.Slice"(%p, %n, %n, %n, %n) {axes = [3], offset = [16], ends = [32], steps = [1]} : (tensor<1x8x196x48xf32>, none, none, none, none) -> !h loc("k")
    %v = "top.Slice"(%p, %n, %n, %n, %n) {axes = [3], offset = [32], ends = [48], steps = [1]} : (tensor<1x8x196x48xf32>, none, none, none, none) -> !h loc("v")
    %q1 = "top.Relu"(%q) : (!h) -> !h loc("q1")
    %k1 = "top.Relu"(%k) : (!h) -> !h loc("k1")
    %w = "top.Pad"(%v, %n, %n, %n) {paddings = [0, 0, 0, 0, 0, 0, 0, 1], val = 1.0 : f64} : (!h, none, none, none) -> tensor<1x8x196x17xf32> loc("w")
    %m = "top.MatMul"(%k1, %w, %n) {left_transpose = true} : (!h, tensor<1x8x196x17xf32>, none) -> tensor<1x8x16x17xf32> loc("m")
    %b = "top.MatMul"(%q1, %m, %n) : (!h, tensor<1x8x16x17xf32>, none) -> tensor<1x8x196x17xf32> loc("both")
    %c = "top.Slice"(%b, %n, %n, %n, %n) {axes = [3], offset = [0], ends = [-1], steps = [1]} : (tensor<1x8x196x17xf32>, none, none, none, none) -> !h loc("c")
    %d = "top.Slice"(%b, %n, %n, %n, %n) {axes = [3], offset = [-1], ends = [17], steps = [1]} : (tensor<1x8x196x17xf32>, none, none, none, none) -> tensor<1x8x196x1xf32> loc("d")
    %e = "top.AddConst"(%d) {const_val = 0.00001 : f64} : (tensor<1x8x196x1xf32>) -> tensor<1x8x196x1xf32> loc("e")
    %f = "top.Div"(%c, %e) : (!h, tensor<1x8x196x1xf32>) -> !h loc("f")
    %g = "top.Permute"(%f) {order = [0, 1, 3, 2]} : (!h) -> tensor<1x8x16x196xf32> loc("g")
    %y = "top.Reshape"(%g, %n) {shape = [1, 128, 14, 14]} : (tensor<1x8x16x196xf32>, none) -> tensor<1x128x14x14xf32> loc("y")
    %some = "top.Slice"(%b, %n, %n, %n, %n) {axes = [3], offset = [-5], ends = [-1], steps = [1]} : (tensor<1x8x196x17xf32>, none, none, none, none) -> tensor<1x8x196x4xf32> loc("some")
    return %y, %some : tensor<1x128x14x14xf32>, tensor<1x8x196x4xf32>
  }
}

// Heads may be channels of a picture, turned: all of them are turned to rows at once, and the result
// is turned back.
// RUN: tpuc-opt %s --shape-infer --fold-head-reshapes --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s
// RUN: rm -rf %t.dir && mkdir -p %t.dir
// RUN: tpuc-opt %s --shape-infer --fold-head-reshapes --mlir-print-debuginfo --mlir-print-local-scope -o %t.dir/rows.mlir
// RUN: %python %tpuc_src/test/Codegen/Inputs/ramp.py %t.dir/in.npz x=2,96,3,4 z=1,512,3,4
// RUN: model_runner --model %s --input %t.dir/in.npz --output %t.dir/heads.npz
// RUN: model_runner --model %t.dir/rows.mlir --input %t.dir/in.npz --output %t.dir/rows.npz
// RUN: npz_tool compare %t.dir/rows.npz %t.dir/heads.npz --tolerance 0.999999,0.9999

// CHECK-DAG: %[[X:.*]] = "top.Input"{{.*}} loc("x")
// CHECK-DAG: %[[P:.*]] = "tpu.Reshape"(%[[X]], {{.*}} -> tensor<2x96x12xf16> loc("x_places")
// CHECK-DAG: %[[R:.*]] = "tpu.Permute"(%[[P]]) {order = [0, 2, 1]} {{.*}} loc("x_rows")
// CHECK-DAG: %[[Q:.*]] = "tpu.Slice"(%[[R]], {{.*}}ends = [32], offset = [0]
// CHECK-DAG: %[[K:.*]] = "tpu.Slice"(%[[R]], {{.*}}ends = [64], offset = [32]
// CHECK-DAG: %[[V:.*]] = "tpu.Slice"(%[[R]], {{.*}}ends = [96], offset = [64]
// CHECK: %[[A:[a-z]+]], %{{.*}} = "tpu.ScaleDotProductAttention"(%[[Q]], %[[K]], %[[V]], {{.*}} -> (tensor<2x12x32xf16>, none, none, none) loc("attended_rows")
// CHECK: %[[C:.*]] = "tpu.Permute"(%[[A]]) {order = [0, 2, 1]} {{.*}} loc("attended_channels")
// CHECK: "tpu.Reshape"(%[[C]], {{.*}} -> tensor<2x32x3x4xf16> loc("joined")
// Long rows of heads are no short transfers.
// CHECK: "tpu.ScaleDotProductAttention"{{.*}} -> (tensor<1x2x12x256xf16>, none, none, none)
module attributes {module.name = "net", module.chip = "bm1684x", module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: tensor<2x96x3x4xf16>, %arg1: tensor<1x512x3x4xf16>) -> (tensor<2x32x3x4xf16>, tensor<1x512x12xf16>) {
    %none = "top.None"() : () -> none
    %x = "top.Input"(%arg0) : (tensor<2x96x3x4xf16>) -> tensor<2x96x3x4xf16> loc("x")
    %z = "top.Input"(%arg1) : (tensor<1x512x3x4xf16>) -> tensor<1x512x3x4xf16> loc("z")
    %s = "tpu.Reshape"(%x, %none) {shape = [2, 6, 16, 12]} : (tensor<2x96x3x4xf16>, none) -> tensor<2x6x16x12xf16> loc("s")
    %t = "tpu.Permute"(%s) {order = [0, 1, 3, 2]} : (tensor<2x6x16x12xf16>) -> tensor<2x6x12x16xf16> loc("t")
    %q = "tpu.Slice"(%t, %none, %none, %none, %none) {axes = [1], ends = [2], offset = [0]} : (tensor<2x6x12x16xf16>, none, none, none, none) -> tensor<2x2x12x16xf16> loc("q")
    %k = "tpu.Slice"(%t, %none, %none, %none, %none) {axes = [1], ends = [4], offset = [2]} : (tensor<2x6x12x16xf16>, none, none, none, none) -> tensor<2x2x12x16xf16> loc("k")
    %v = "tpu.Slice"(%t, %none, %none, %none, %none) {axes = [1], ends = [6], offset = [4]} : (tensor<2x6x12x16xf16>, none, none, none, none) -> tensor<2x2x12x16xf16> loc("v")
    %0:4 = "tpu.ScaleDotProductAttention"(%q, %k, %v, %none, %none, %none, %none) : (tensor<2x2x12x16xf16>, tensor<2x2x12x16xf16>, tensor<2x2x12x16xf16>, none, none, none, none) -> (tensor<2x2x12x16xf16>, none, none, none) loc("attended")
    %1 = "tpu.Permute"(%0#0) {order = [0, 1, 3, 2]} : (tensor<2x2x12x16xf16>) -> tensor<2x2x16x12xf16> loc("turned")
    %2 = "tpu.Reshape"(%1, %none) {shape = [2, 32, 3, 4]} : (tensor<2x2x16x12xf16>, none) -> tensor<2x32x3x4xf16> loc("joined")
    %zs = "tpu.Reshape"(%z, %none) {shape = [1, 2, 256, 12]} : (tensor<1x512x3x4xf16>, none) -> tensor<1x2x256x12xf16> loc("zs")
    %zt = "tpu.Permute"(%zs) {order = [0, 1, 3, 2]} : (tensor<1x2x256x12xf16>) -> tensor<1x2x12x256xf16> loc("zt")
    %3:4 = "tpu.ScaleDotProductAttention"(%zt, %zt, %zt, %none, %none, %none, %none) : (tensor<1x2x12x256xf16>, tensor<1x2x12x256xf16>, tensor<1x2x12x256xf16>, none, none, none, none) -> (tensor<1x2x12x256xf16>, none, none, none) loc("long")
    %4 = "tpu.Permute"(%3#0) {order = [0, 1, 3, 2]} : (tensor<1x2x12x256xf16>) -> tensor<1x2x256x12xf16> loc("long_turned")
    %5 = "tpu.Reshape"(%4, %none) {shape = [1, 512, 12]} : (tensor<1x2x256x12xf16>, none) -> tensor<1x512x12xf16> loc("long_joined")
    return %2, %5 : tensor<2x32x3x4xf16>, tensor<1x512x12xf16>
  }
}

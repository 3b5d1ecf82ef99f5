// Windows of rows may be made of heads: they become windows of rows that hold all heads. With a mask,
// which would be one for each window, they stay.
// RUN: tpuc-opt %s --shape-infer --fold-head-reshapes --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s
// RUN: rm -rf %t.dir && mkdir -p %t.dir
// RUN: tpuc-opt %s --shape-infer --fold-head-reshapes --mlir-print-debuginfo --mlir-print-local-scope -o %t.dir/rows.mlir
// RUN: %python %tpuc_src/test/Codegen/Inputs/ramp.py %t.dir/in.npz x=2,8,32 m=4,4
// RUN: model_runner --model %s --input %t.dir/in.npz --output %t.dir/heads.npz
// RUN: model_runner --model %t.dir/rows.mlir --input %t.dir/in.npz --output %t.dir/rows.npz
// RUN: npz_tool compare %t.dir/rows.npz %t.dir/heads.npz --tolerance 0.999999,0.9999

// CHECK: %[[X:.*]] = "top.Input"{{.*}} loc("x")
// CHECK: %[[W:.*]] = "tpu.Reshape"(%[[X]], {{.*}} -> tensor<4x4x32xf16> loc("x_windows")
// CHECK: %[[A:[a-z]+]], %{{.*}} = "tpu.ScaleDotProductAttention"(%[[W]], %[[W]], %[[W]], {{.*}}kv_num_heads = 2 : i64{{.*}}q_num_heads = 2 : i64{{.*}} -> (tensor<4x4x32xf16>, none, none, none) loc("attended_rows")
// CHECK: "tpu.Reshape"(%[[A]], {{.*}} -> tensor<2x8x32xf16> loc("joined")
// CHECK: "tpu.ScaleDotProductAttention"{{.*}} -> (tensor<4x2x4x16xf16>, none, none, none) loc("masked")
!rows = tensor<2x8x32xf16>
!split = tensor<2x8x2x16xf16>
!heads = tensor<2x2x8x16xf16>
!windows = tensor<4x2x4x16xf16>
module attributes {module.name = "net", module.chip = "bm1684x", module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: !rows, %arg1: tensor<4x4xf16>) -> (!rows, !rows) {
    %none = "top.None"() : () -> none
    %x = "top.Input"(%arg0) : (!rows) -> !rows loc("x")
    %m = "top.Input"(%arg1) : (tensor<4x4xf16>) -> tensor<4x4xf16> loc("m")
    %s = "tpu.Reshape"(%x, %none) {shape = [2, 8, 2, 16]} : (!rows, none) -> !split loc("split")
    %h = "tpu.Permute"(%s) {order = [0, 2, 1, 3]} : (!split) -> !heads loc("heads")
    %w = "tpu.Reshape"(%h, %none) {shape = [4, 2, 4, 16]} : (!heads, none) -> !windows loc("windows")
    %0:4 = "tpu.ScaleDotProductAttention"(%w, %w, %w, %none, %none, %none, %none) : (!windows, !windows, !windows, none, none, none, none) -> (!windows, none, none, none) loc("attended")
    %1 = "tpu.Reshape"(%0#0, %none) {shape = [2, 2, 8, 16]} : (!windows, none) -> !heads loc("whole")
    %2 = "tpu.Permute"(%1) {order = [0, 2, 1, 3]} : (!heads) -> !split loc("turned")
    %3 = "tpu.Reshape"(%2, %none) {shape = [2, 8, 32]} : (!split, none) -> !rows loc("joined")
    %4:4 = "tpu.ScaleDotProductAttention"(%w, %w, %w, %m, %none, %none, %none) : (!windows, !windows, !windows, tensor<4x4xf16>, none, none, none) -> (!windows, none, none, none) loc("masked")
    %5 = "tpu.Reshape"(%4#0, %none) {shape = [2, 2, 8, 16]} : (!windows, none) -> !heads loc("masked_whole")
    %6 = "tpu.Permute"(%5) {order = [0, 2, 1, 3]} : (!heads) -> !split loc("masked_turned")
    %7 = "tpu.Reshape"(%6, %none) {shape = [2, 8, 32]} : (!split, none) -> !rows loc("masked_joined")
    return %3, %7 : !rows, !rows
  }
}

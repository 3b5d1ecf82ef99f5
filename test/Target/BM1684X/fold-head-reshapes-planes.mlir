// Windows of a picture, whose rows are planes [7, 7] before and behind attention, and whose queries, keys
// and values stand behind the heads: attention takes rows of all heads, and nothing is permuted.
// RUN: tpuc-opt %s --shape-infer --fold-head-reshapes --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s
// RUN: rm -rf %t.dir && mkdir -p %t.dir
// RUN: tpuc-opt %s --shape-infer --fold-head-reshapes --mlir-print-debuginfo --mlir-print-local-scope -o %t.dir/rows.mlir
// RUN: %python %tpuc_src/test/Codegen/Inputs/ramp.py %t.dir/in.npz x=4,7,7,96
// RUN: model_runner --model %s --input %t.dir/in.npz --output %t.dir/heads.npz
// RUN: model_runner --model %t.dir/rows.mlir --input %t.dir/in.npz --output %t.dir/rows.npz
// RUN: npz_tool compare %t.dir/rows.npz %t.dir/heads.npz --tolerance 0.999999,0.9999

// CHECK: %[[X:.*]] = "top.Input"{{.*}} loc("x")
// CHECK: %[[S:.*]] = "tpu.Reshape"(%[[X]], {{.*}} -> tensor<4x49x96xf16> loc("x_samples")
// CHECK-NOT: "tpu.Permute"
// CHECK-DAG: %[[Q:.*]] = "tpu.Slice"(%[[S]], {{.*}}offset = [0]{{.*}} -> tensor<4x49x32xf16> loc("q_rows")
// CHECK-DAG: %[[K:.*]] = "tpu.Slice"(%[[S]], {{.*}}offset = [32]{{.*}} loc("k_rows")
// CHECK-DAG: %[[V:.*]] = "tpu.Slice"(%[[S]], {{.*}}offset = [64]{{.*}} loc("v_rows")
// CHECK: %[[A:[a-z]+]], %{{.*}} = "tpu.ScaleDotProductAttention"(%[[Q]], %[[K]], %[[V]], {{.*}}q_num_heads = 2 : i64{{.*}} -> (tensor<4x49x32xf16>, none, none, none)
// CHECK: "tpu.Reshape"(%[[A]], {{.*}} -> tensor<4x7x7x32xf16> loc("y")
!heads = tensor<4x2x49x16xf16>
!part = tensor<4x2x1x49x16xf16>
module attributes {module.name = "net", module.chip = "bm1684x", module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: tensor<4x7x7x96xf16>) -> tensor<4x7x7x32xf16> {
    %none = "top.None"() : () -> none
    %x = "top.Input"(%arg0) : (tensor<4x7x7x96xf16>) -> tensor<4x7x7x96xf16> loc("x")
    %0 = "tpu.Reshape"(%x, %none) {shape = [4, 49, 3, 2, 16]} : (tensor<4x7x7x96xf16>, none) -> tensor<4x49x3x2x16xf16> loc("apart")
    %1 = "tpu.Permute"(%0) {order = [0, 3, 2, 1, 4]} : (tensor<4x49x3x2x16xf16>) -> tensor<4x2x3x49x16xf16> loc("turned")
    %2:3 = "tpu.Split"(%1, %none) {axis = 2 : i64, split_size = [1, 1, 1]} : (tensor<4x2x3x49x16xf16>, none) -> (!part, !part, !part) loc(fused["q1", "k1", "v1"])
    %q = "tpu.Squeeze"(%2#0, %none) {axes = [2]} : (!part, none) -> !heads loc("q")
    %k = "tpu.Squeeze"(%2#1, %none) {axes = [2]} : (!part, none) -> !heads loc("k")
    %v = "tpu.Squeeze"(%2#2, %none) {axes = [2]} : (!part, none) -> !heads loc("v")
    %3:4 = "tpu.ScaleDotProductAttention"(%q, %k, %v, %none, %none, %none, %none) : (!heads, !heads, !heads, none, none, none, none) -> (!heads, none, none, none) loc("attended")
    %4 = "tpu.Permute"(%3#0) {order = [0, 2, 1, 3]} : (!heads) -> tensor<4x49x2x16xf16> loc("back")
    %y = "tpu.Reshape"(%4, %none) {shape = [4, 7, 7, 32]} : (tensor<4x49x2x16xf16>, none) -> tensor<4x7x7x32xf16> loc("y")
    return %y : tensor<4x7x7x32xf16>
  }
}

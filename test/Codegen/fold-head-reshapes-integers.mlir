// Attention on integers, on heads that slices picked, takes and gives rows; where the heads stay
// heads, it becomes attention of one head on more samples. The bits are the same.
// UNSUPPORTED: chip-bm1684
// RUN: sed s/bm1684x/%chip/ %s | tpuc-opt --shape-infer --fold-head-reshapes --decompose-attention --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s
// RUN: rm -rf %t.dir && mkdir -p %t.dir
// RUN: sed s/bm1684x/%chip/ %s | tpuc-opt --shape-infer --fold-head-reshapes --decompose-attention --mlir-print-debuginfo --mlir-print-local-scope -o %t.dir/rows.mlir
// RUN: %python %S/Inputs/ramp.py %t.dir/in.npz x=2,5,96
// RUN: model_runner --model %s --input %t.dir/in.npz --output %t.dir/heads.npz
// RUN: model_runner --model %t.dir/rows.mlir --input %t.dir/in.npz --output %t.dir/rows.npz
// RUN: npz_tool compare %t.dir/rows.npz %t.dir/heads.npz --tolerance 1,1

// CHECK-LABEL: func.func @main
// CHECK: %[[X:.*]] = "tpu.Cast"{{.*}} loc("x_i8")
// CHECK: %[[Q:.*]] = "tpu.Slice"(%[[X]], {{.*}}) {axes = [2], ends = [32], offset = [0], steps = [1]} : {{.*}} loc("q_rows")
// CHECK: %[[K:.*]] = "tpu.Slice"(%[[X]], {{.*}}) {axes = [2], ends = [64], offset = [32], steps = [1]} : {{.*}} loc("k_rows")
// CHECK: %[[V:.*]] = "tpu.Slice"(%[[X]], {{.*}}) {axes = [2], ends = [96], offset = [64], steps = [1]} : {{.*}} loc("v_rows")
// CHECK: "tpu.ScaleDotProductAttention"(%[[Q]], %[[K]], %[[V]], {{.*}}kv_num_heads = 2 : i64{{.*}} -> (tensor<2x5x32x!quant.uniform<i8:f32, 1.562500e-02>>, none, none, none) loc("joined")
// CHECK: %[[S:.*]] = "tpu.Reshape"{{.*}} -> tensor<4x5x16x!quant.uniform<i8:f32, 7.812500e-03:5>> loc("kept_query_rows")
// CHECK: %[[A:[a-z0-9_]+]], %{{.*}} = "tpu.ScaleDotProductAttention"(%[[S]], {{.*}}kv_num_heads = 1 : i64{{.*}}q_num_heads = 1 : i64{{.*}}scale = 2.500000e-01 : f64{{.*}} loc("kept_rows")
// CHECK: "tpu.Reshape"(%[[A]], {{.*}} -> tensor<2x2x5x16x!quant.uniform<i8:f32, 1.562500e-02>> loc("kept")
!x = tensor<2x5x96x!quant.uniform<i8:f32, 0.0078125:5>>
!p = tensor<3x2x2x5x16x!quant.uniform<i8:f32, 0.0078125:5>>
!o = tensor<1x2x2x5x16x!quant.uniform<i8:f32, 0.0078125:5>>
!h = tensor<2x2x5x16x!quant.uniform<i8:f32, 0.0078125:5>>
!r = tensor<2x2x5x16x!quant.uniform<i8:f32, 0.015625>>
!j = tensor<2x5x32x!quant.uniform<i8:f32, 0.015625>>
module attributes {module.name = "net", module.chip = "bm1684x", module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: tensor<2x5x96xf32>) -> (tensor<2x5x32xf32>, tensor<2x2x5x16xf32>) {
    %none = "top.None"() : () -> none
    %in = "top.Input"(%arg0) : (tensor<2x5x96xf32>) -> tensor<2x5x96xf32> loc("x")
    %x = "tpu.Cast"(%in) : (tensor<2x5x96xf32>) -> !x loc("x_i8")
    %s = "tpu.Reshape"(%x, %none) {shape = [2, 5, 3, 2, 16]} : (!x, none) -> tensor<2x5x3x2x16x!quant.uniform<i8:f32, 0.0078125:5>> loc("split")
    %p = "tpu.Permute"(%s) {order = [2, 0, 3, 1, 4]} : (tensor<2x5x3x2x16x!quant.uniform<i8:f32, 0.0078125:5>>) -> !p loc("parts")
    %q1 = "tpu.Slice"(%p, %none, %none, %none, %none) {axes = [0], offset = [0], ends = [1], steps = [1]} : (!p, none, none, none, none) -> !o loc("q1")
    %q = "tpu.Squeeze"(%q1, %none) {axes = [0]} : (!o, none) -> !h loc("q")
    %k1 = "tpu.Slice"(%p, %none, %none, %none, %none) {axes = [0], offset = [1], ends = [2], steps = [1]} : (!p, none, none, none, none) -> !o loc("k1")
    %k = "tpu.Squeeze"(%k1, %none) {axes = [0]} : (!o, none) -> !h loc("k")
    %v1 = "tpu.Slice"(%p, %none, %none, %none, %none) {axes = [0], offset = [-1], ends = [9], steps = [1]} : (!p, none, none, none, none) -> !o loc("v1")
    %v = "tpu.Squeeze"(%v1, %none) {axes = [0]} : (!o, none) -> !h loc("v")
    %0:4 = "tpu.ScaleDotProductAttention"(%q, %k, %v, %none, %none, %none, %none) : (!h, !h, !h, none, none, none, none) -> (!r, none, none, none) loc("attended")
    %1 = "tpu.Permute"(%0#0) {order = [0, 2, 1, 3]} : (!r) -> tensor<2x5x2x16x!quant.uniform<i8:f32, 0.015625>> loc("turned")
    %2 = "tpu.Reshape"(%1, %none) {shape = [2, 5, 32]} : (tensor<2x5x2x16x!quant.uniform<i8:f32, 0.015625>>, none) -> !j loc("joined")
    %3 = "tpu.Cast"(%2) : (!j) -> tensor<2x5x32xf32> loc("joined_f32")
    %4:4 = "tpu.ScaleDotProductAttention"(%q, %k, %v, %none, %none, %none, %none) : (!h, !h, !h, none, none, none, none) -> (!r, none, none, none) loc("kept")
    %5 = "tpu.Cast"(%4#0) : (!r) -> tensor<2x2x5x16xf32> loc("kept_f32")
    return %3, %5 : tensor<2x5x32xf32>, tensor<2x2x5x16xf32>
  }
}

// Attention on heads that are nothing but reordered rows takes and gives rows; what only reordered
// them is gone. Forms that the chip has no kernel for stay.
// RUN: tpuc-opt %s --shape-infer --fold-head-reshapes --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s
// RUN: rm -rf %t.dir && mkdir -p %t.dir
// RUN: tpuc-opt %s --shape-infer --fold-head-reshapes --mlir-print-debuginfo --mlir-print-local-scope -o %t.dir/rows.mlir
// RUN: %python %tpuc_src/test/Codegen/Inputs/ramp.py %t.dir/in.npz x=1,5,96 k=1,7,32
// RUN: model_runner --model %s --input %t.dir/in.npz --output %t.dir/heads.npz
// RUN: model_runner --model %t.dir/rows.mlir --input %t.dir/in.npz --output %t.dir/rows.npz
// RUN: npz_tool compare %t.dir/rows.npz %t.dir/heads.npz --tolerance 0.999999,0.9999

// CHECK-LABEL: func.func @main
// CHECK: %[[X:.*]] = "top.Input"{{.*}} loc("x")
// CHECK: %[[K:.*]] = "top.Input"{{.*}} loc("k")
// CHECK-NOT: order = [2, 0, 3, 1, 4]
// CHECK: %[[H:.*]] = "tpu.Cast"{{.*}} loc("k_f16")
// CHECK: %[[Q:.*]] = "tpu.Slice"(%[[X]], {{.*}}) {axes = [2], ends = [96], offset = [64], steps = [1]} : {{.*}} -> tensor<1x5x32xf16> loc("q_rows")
// CHECK: %[[C:.*]] = "tpu.Cast"(%[[K]]) : (tensor<1x7x32xf32>) -> tensor<1x7x32xf16> loc("k_f16_rows")
// CHECK: %[[A:[a-z]+]], %{{.*}} = "tpu.ScaleDotProductAttention"(%[[Q]], %[[C]], %[[C]], {{.*}}kv_num_heads = 2 : i64{{.*}}q_num_heads = 2 : i64{{.*}} -> (tensor<1x5x32xf16>, none, none, none) loc("attended_rows")
// CHECK: %[[R:.*]] = "tpu.Cast"(%[[A]]) : (tensor<1x5x32xf16>) -> tensor<1x5x32xf32> loc("joined")
// CHECK: "tpu.ScaleDotProductAttention"(%[[H]]{{.*}}softcap = 2
module attributes {module.name = "net", module.chip = "bm1684x", module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: tensor<1x5x96xf16>, %arg1: tensor<1x7x32xf32>) -> (tensor<1x5x32xf32>, tensor<1x7x32xf16>) {
    %none = "top.None"() : () -> none
    %x = "top.Input"(%arg0) : (tensor<1x5x96xf16>) -> tensor<1x5x96xf16> loc("x")
    %k = "top.Input"(%arg1) : (tensor<1x7x32xf32>) -> tensor<1x7x32xf32> loc("k")
    %s = "tpu.Reshape"(%x, %none) {shape = [1, 5, 3, 2, 16]} : (tensor<1x5x96xf16>, none) -> tensor<1x5x3x2x16xf16> loc("split")
    %p = "tpu.Permute"(%s) {order = [2, 0, 3, 1, 4]} : (tensor<1x5x3x2x16xf16>) -> tensor<3x1x2x5x16xf16> loc("parts")
    %i = "top.ConstantFill"(%none) {shape = [], value = -1 : i64} : (none) -> tensor<i64> loc("last")
    %q = "tpu.Gather"(%p, %i) {axis = 0 : i64} : (tensor<3x1x2x5x16xf16>, tensor<i64>) -> tensor<1x2x5x16xf16> loc("q")
    %ks = "tpu.Reshape"(%k, %none) {shape = [1, 7, 2, 16]} : (tensor<1x7x32xf32>, none) -> tensor<1x7x2x16xf32> loc("k_split")
    %kp = "tpu.Permute"(%ks) {order = [0, 2, 1, 3]} : (tensor<1x7x2x16xf32>) -> tensor<1x2x7x16xf32> loc("k_heads")
    %kh = "tpu.Cast"(%kp) : (tensor<1x2x7x16xf32>) -> tensor<1x2x7x16xf16> loc("k_f16")
    %0:4 = "tpu.ScaleDotProductAttention"(%q, %kh, %kh, %none, %none, %none, %none) : (tensor<1x2x5x16xf16>, tensor<1x2x7x16xf16>, tensor<1x2x7x16xf16>, none, none, none, none) -> (tensor<1x2x5x16xf16>, none, none, none) loc("attended")
    %1 = "tpu.Cast"(%0#0) : (tensor<1x2x5x16xf16>) -> tensor<1x2x5x16xf32> loc("attended_f32")
    %2 = "tpu.Permute"(%1) {order = [0, 2, 1, 3]} : (tensor<1x2x5x16xf32>) -> tensor<1x5x2x16xf32> loc("turned")
    %3 = "tpu.Reshape"(%2, %none) {shape = [1, 5, 32]} : (tensor<1x5x2x16xf32>, none) -> tensor<1x5x32xf32> loc("joined")
    %4:4 = "tpu.ScaleDotProductAttention"(%kh, %kh, %kh, %none, %none, %none, %none) {softcap = 2.0 : f64} : (tensor<1x2x7x16xf16>, tensor<1x2x7x16xf16>, tensor<1x2x7x16xf16>, none, none, none, none) -> (tensor<1x2x7x16xf16>, none, none, none) loc("causal")
    %5 = "tpu.Permute"(%4#0) {order = [0, 2, 1, 3]} : (tensor<1x2x7x16xf16>) -> tensor<1x7x2x16xf16> loc("causal_turned")
    %6 = "tpu.Reshape"(%5, %none) {shape = [1, 7, 32]} : (tensor<1x7x2x16xf16>, none) -> tensor<1x7x32xf16> loc("causal_joined")
    return %3, %6 : tensor<1x5x32xf32>, tensor<1x7x32xf16>
  }
}

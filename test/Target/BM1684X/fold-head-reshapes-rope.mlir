// Rotary positions of heads are turned in the rows that the heads are made of, behind a cast too, so
// that attention takes rows. Heads that are read elsewhere stay as they are.
// RUN: tpuc-opt %s --shape-infer --fold-head-reshapes --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s
// RUN: rm -rf %t.dir && mkdir -p %t.dir
// RUN: tpuc-opt %s --shape-infer --fold-head-reshapes --mlir-print-debuginfo --mlir-print-local-scope -o %t.dir/rows.mlir
// RUN: %python %tpuc_src/test/Codegen/Inputs/ramp.py %t.dir/in.npz x=1,5,32 k=1,5,32 v=1,5,32 cos=1,5,8 sin=1,5,8
// RUN: model_runner --model %s --input %t.dir/in.npz --output %t.dir/heads.npz
// RUN: model_runner --model %t.dir/rows.mlir --input %t.dir/in.npz --output %t.dir/rows.npz
// RUN: npz_tool compare %t.dir/rows.npz %t.dir/heads.npz --tolerance 0.999999,0.9999

// CHECK-LABEL: func.func @main
// CHECK: %[[X:.*]] = "top.Input"{{.*}} loc("x")
// CHECK: %[[K:.*]] = "top.Input"{{.*}} loc("k")
// CHECK: %[[Q:.*]] = "tpu.Rope"(%[[X]], {{.*}}num_heads = 2 : i64{{.*}} -> tensor<1x5x32xf16> loc("q_turned")
// CHECK: %[[C:.*]] = "tpu.Cast"(%[[K]]) : (tensor<1x5x32xf32>) -> tensor<1x5x32xf16> loc("key_rows")
// CHECK: %[[T:.*]] = "tpu.Rope"(%[[C]], {{.*}}num_heads = 2 : i64{{.*}} -> tensor<1x5x32xf16> loc("key_turned")
// CHECK: "tpu.ScaleDotProductAttention"(%[[Q]], %[[T]], {{.*}} -> (tensor<1x5x32xf16>, none, none, none) loc("joined")
// CHECK: "tpu.Permute"{{.*}} loc("other_heads")
// CHECK: "tpu.Rope"{{.*}}num_heads = 0 : i64{{.*}} loc("other")
module attributes {module.name = "net", module.chip = "bm1684x", module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: tensor<1x5x32xf16>, %arg1: tensor<1x5x32xf32>, %arg2: tensor<1x5x32xf16>, %arg3: tensor<1x5x8xf16>, %arg4: tensor<1x5x8xf16>) -> (tensor<1x5x32xf16>, tensor<1x2x5x16xf16>, tensor<1x2x5x16xf16>) {
    %none = "top.None"() : () -> none
    %x = "top.Input"(%arg0) : (tensor<1x5x32xf16>) -> tensor<1x5x32xf16> loc("x")
    %k = "top.Input"(%arg1) : (tensor<1x5x32xf32>) -> tensor<1x5x32xf32> loc("k")
    %v = "top.Input"(%arg2) : (tensor<1x5x32xf16>) -> tensor<1x5x32xf16> loc("v")
    %cos = "top.Input"(%arg3) : (tensor<1x5x8xf16>) -> tensor<1x5x8xf16> loc("cos")
    %sin = "top.Input"(%arg4) : (tensor<1x5x8xf16>) -> tensor<1x5x8xf16> loc("sin")
    %qs = "tpu.Reshape"(%x, %none) {shape = [1, 5, 2, 16]} : (tensor<1x5x32xf16>, none) -> tensor<1x5x2x16xf16> loc("q_split")
    %qh = "tpu.Permute"(%qs) {order = [0, 2, 1, 3]} : (tensor<1x5x2x16xf16>) -> tensor<1x2x5x16xf16> loc("q_heads")
    %q = "tpu.Rope"(%qh, %cos, %sin, %none) : (tensor<1x2x5x16xf16>, tensor<1x5x8xf16>, tensor<1x5x8xf16>, none) -> tensor<1x2x5x16xf16> loc("q")
    %ks = "tpu.Reshape"(%k, %none) {shape = [1, 5, 2, 16]} : (tensor<1x5x32xf32>, none) -> tensor<1x5x2x16xf32> loc("k_split")
    %kh = "tpu.Permute"(%ks) {order = [0, 2, 1, 3]} : (tensor<1x5x2x16xf32>) -> tensor<1x2x5x16xf32> loc("k_heads")
    %kc = "tpu.Cast"(%kh) : (tensor<1x2x5x16xf32>) -> tensor<1x2x5x16xf16> loc("k_f16")
    %key = "tpu.Rope"(%kc, %cos, %sin, %none) : (tensor<1x2x5x16xf16>, tensor<1x5x8xf16>, tensor<1x5x8xf16>, none) -> tensor<1x2x5x16xf16> loc("key")
    %vs = "tpu.Reshape"(%v, %none) {shape = [1, 5, 2, 16]} : (tensor<1x5x32xf16>, none) -> tensor<1x5x2x16xf16> loc("v_split")
    %vh = "tpu.Permute"(%vs) {order = [0, 2, 1, 3]} : (tensor<1x5x2x16xf16>) -> tensor<1x2x5x16xf16> loc("v_heads")
    %0:4 = "tpu.ScaleDotProductAttention"(%q, %key, %vh, %none, %none, %none, %none) : (tensor<1x2x5x16xf16>, tensor<1x2x5x16xf16>, tensor<1x2x5x16xf16>, none, none, none, none) -> (tensor<1x2x5x16xf16>, none, none, none) loc("attended")
    %1 = "tpu.Permute"(%0#0) {order = [0, 2, 1, 3]} : (tensor<1x2x5x16xf16>) -> tensor<1x5x2x16xf16> loc("turned")
    %2 = "tpu.Reshape"(%1, %none) {shape = [1, 5, 32]} : (tensor<1x5x2x16xf16>, none) -> tensor<1x5x32xf16> loc("joined")
    %os = "tpu.Reshape"(%v, %none) {shape = [1, 5, 2, 16]} : (tensor<1x5x32xf16>, none) -> tensor<1x5x2x16xf16> loc("other_split")
    %oh = "tpu.Permute"(%os) {order = [0, 2, 1, 3]} : (tensor<1x5x2x16xf16>) -> tensor<1x2x5x16xf16> loc("other_heads")
    %o = "tpu.Rope"(%oh, %cos, %sin, %none) : (tensor<1x2x5x16xf16>, tensor<1x5x8xf16>, tensor<1x5x8xf16>, none) -> tensor<1x2x5x16xf16> loc("other")
    return %2, %oh, %o : tensor<1x5x32xf16>, tensor<1x2x5x16xf16>, tensor<1x2x5x16xf16>
  }
}

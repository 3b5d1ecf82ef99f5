// Attention without masks becomes products and a softmax; other forms stay, and are refused later.
// RUN: tpuc-opt %s --decompose-attention --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s
// RUN: rm -rf %t.dir && mkdir -p %t.dir
// RUN: tpuc-opt %s --decompose-attention --mlir-print-debuginfo --mlir-print-local-scope -o %t.dir/parts.mlir
// RUN: %python %S/Inputs/ramp.py %t.dir/in.npz q=1,2,5,16 k=1,2,7,16 v=1,2,7,12
// RUN: model_runner --model %s --input %t.dir/in.npz --output %t.dir/whole.npz
// RUN: model_runner --model %t.dir/parts.mlir --input %t.dir/in.npz --output %t.dir/parts.npz
// RUN: npz_tool compare %t.dir/parts.npz %t.dir/whole.npz --tolerance 0.99999,0.999

// CHECK: %[[Q:.*]] = "tpu.MulConst"(%{{.*}}) {const_val = 5.000000e-01 : f64{{.*}} loc("attended_query_scaled")
// CHECK: %[[K:.*]] = "tpu.MulConst"(%{{.*}}) {const_val = 5.000000e-01 : f64
// CHECK: %[[T:.*]] = "tpu.Permute"(%[[K]]) {order = [0, 1, 3, 2]} : (tensor<1x2x7x16xf16>) -> tensor<1x2x16x7xf16>
// CHECK: %[[S:.*]] = "tpu.MatMul"(%[[Q]], %[[T]], %{{.*}} -> tensor<1x2x5x7xf16>
// CHECK: %[[P:.*]] = "tpu.Softmax"(%[[S]]) {axis = 3 : i64
// CHECK: "tpu.MatMul"(%[[P]], %{{.*}} -> tensor<1x2x5x12xf16> loc("attended")
// CHECK: "tpu.ScaleDotProductAttention"{{.*}}is_causal = true
module attributes {module.name = "net", module.chip = "bm1684x", module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: tensor<1x2x5x16xf16>, %arg1: tensor<1x2x7x16xf16>, %arg2: tensor<1x2x7x12xf16>) -> (tensor<1x2x5x12xf16>, tensor<1x2x5x12xf16>) {
    %none = "top.None"() : () -> none
    %q = "top.Input"(%arg0) : (tensor<1x2x5x16xf16>) -> tensor<1x2x5x16xf16> loc("q")
    %k = "top.Input"(%arg1) : (tensor<1x2x7x16xf16>) -> tensor<1x2x7x16xf16> loc("k")
    %v = "top.Input"(%arg2) : (tensor<1x2x7x12xf16>) -> tensor<1x2x7x12xf16> loc("v")
    %0:4 = "tpu.ScaleDotProductAttention"(%q, %k, %v, %none, %none, %none, %none) : (tensor<1x2x5x16xf16>, tensor<1x2x7x16xf16>, tensor<1x2x7x12xf16>, none, none, none, none) -> (tensor<1x2x5x12xf16>, none, none, none) loc("attended")
    %1:4 = "tpu.ScaleDotProductAttention"(%q, %k, %v, %none, %none, %none, %none) {is_causal = true} : (tensor<1x2x5x16xf16>, tensor<1x2x7x16xf16>, tensor<1x2x7x12xf16>, none, none, none, none) -> (tensor<1x2x5x12xf16>, none, none, none) loc("causal")
    return %0#0, %1#0 : tensor<1x2x5x12xf16>, tensor<1x2x5x12xf16>
  }
}

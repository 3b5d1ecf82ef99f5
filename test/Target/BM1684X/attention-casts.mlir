// What attention on rows of heads reads of another type is converted behind the reshape, so that it
// is in one group with the attention, where what is converted is stored anyway or takes fewer bytes.
// RUN: tpuc-opt %s --decompose-attention --decompose --mlir-print-debuginfo --mlir-print-local-scope -o %t.mlir
// RUN: FileCheck %s --input-file %t.mlir
// RUN: tpuc-opt %t.mlir --subnet-divide --weight-reorder --layer-group --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s --check-prefix=GROUPED

// The queries are computed in F32 for their conversion alone: half of the bytes are stored.
// CHECK: %[[Q:.*]] = "tpu.Cast"({{.*}} -> tensor<2x4x1x32xf16> loc("q")
// CHECK: %[[QR:.*]] = "tpu.Reshape"(%[[Q]], {{.*}} -> tensor<8x1x32xf16> loc("attended_query_rows")
// An input.
// CHECK: %[[K:.*]] = "tpu.Reshape"({{.*}} -> tensor<8x64x32xf32> loc("attended_key_rows_before")
// CHECK: %[[KR:.*]] = "tpu.Cast"(%[[K]]) : (tensor<8x64x32xf32>) -> tensor<8x64x32xf16> loc("attended_key_rows")
// Stored integers, which only this reads.
// CHECK: %[[V:.*]] = "tpu.Reshape"({{.*}} -> tensor<8x64x32x!quant.uniform<i8:f32, 5.000000e-01>> loc("attended_value_rows_before")
// CHECK: %[[VR:.*]] = "tpu.Cast"(%[[V]]) {{.*}} -> tensor<8x64x32xf16> loc("attended_value_rows")
// CHECK: "tpu.ScaleDotProductAttention"(%[[QR]], %[[KR]], %[[VR]]

// GROUPED: "tpu.Cast"({{.*}} loc("attended_key_rows")
// GROUPED-NOT: "tpu.Yield"
// GROUPED: "tpu.ScaleDotProductAttention"
!q = tensor<2x4x1x32xf32>
!k = tensor<2x4x64x32xf32>
!v = tensor<2x4x64x32x!quant.uniform<i8:f32, 0.5>>
!qh = tensor<2x4x1x32xf16>
!kh = tensor<2x4x64x32xf16>
module attributes {module.name = "net", module.chip = "bm1684x", module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: !q, %arg1: !k, %arg2: !kh) -> !qh {
    %none = "top.None"() : () -> none
    %0 = "top.Input"(%arg0) : (!q) -> !q loc("q_f32")
    %1 = "top.Input"(%arg1) : (!k) -> !k loc("k_f32")
    %2 = "top.Input"(%arg2) : (!kh) -> !kh loc("v_f16")
    %3 = "tpu.Cast"(%2) : (!kh) -> !v loc("v_i8")
    %4 = "tpu.Abs"(%0) : (!q) -> !q loc("q_abs")
    %q = "tpu.Cast"(%4) : (!q) -> !qh loc("q")
    %k = "tpu.Cast"(%1) : (!k) -> !kh loc("k")
    %v = "tpu.Cast"(%3) : (!v) -> !kh loc("v")
    %5:4 = "tpu.ScaleDotProductAttention"(%q, %k, %v, %none, %none, %none, %none) {softmax_type = f32} : (!qh, !kh, !kh, none, none, none, none) -> (!qh, none, none, none) loc("attended")
    return %5#0 : !qh
  }
}

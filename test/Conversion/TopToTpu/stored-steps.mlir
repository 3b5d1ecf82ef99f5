// Layer norms read the integers that were cast for them, softmaxes and attention give the integers
// that are stored behind them; the numbers are the same but for the last step of an integer.
// RUN: tpuc-opt %s --chip-tpu-optimize --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s
// RUN: rm -rf %t.dir && mkdir -p %t.dir
// RUN: tpuc-opt %s --chip-tpu-optimize --mlir-print-debuginfo --mlir-print-local-scope -o %t.dir/stored.mlir
// RUN: %python %S/../../Codegen/Inputs/ramp.py %t.dir/in.npz x=1,2,5,16
// RUN: model_runner --model %s --input %t.dir/in.npz --output %t.dir/floats.npz
// RUN: model_runner --model %t.dir/stored.mlir --input %t.dir/in.npz --output %t.dir/stored.npz
// RUN: npz_tool compare %t.dir/stored.npz %t.dir/floats.npz --tolerance 0.9999,0.98

// CHECK-LABEL: func.func @main
// CHECK: %[[X:.*]] = "tpu.Cast"{{.*}} loc("x_i8")
// CHECK: %[[F:.*]] = "tpu.Cast"(%[[X]]) {{.*}} loc("x_f32")
// CHECK: "tpu.LayerNorm"(%[[X]], {{.*}}) {axis = -1 : i64, eps = {{[^,}]*}}} : {{.*}} -> (tensor<1x2x5x16xf32>, none, none) loc("norm")
// Statistics are asked for, or the parameters are repeated.
// CHECK: "tpu.LayerNorm"(%[[F]], {{.*}} loc("norm_mean")
// CHECK: "tpu.LayerNorm"(%[[F]], {{.*}} loc("norm_one")
// The tensor keeps its name.
// CHECK: %[[P:.*]] = "tpu.Softmax"(%[[F]]) {axis = -1 : i64, {{.*}} : (tensor<1x2x5x16xf32>) -> tensor<1x2x5x16x!quant.uniform<i8:f32, 3.906250e-03:-128>> loc("shares")
// Somebody reads the floats, the axis is in the middle, or a logarithm is asked for.
// CHECK: "tpu.Softmax"{{.*}} -> tensor<1x2x5x16xf32> loc("shares_float")
// CHECK: "tpu.Softmax"{{.*}} -> tensor<1x2x5x16xf32> loc("shares_rows")
// CHECK: "tpu.Softmax"{{.*}} -> tensor<1x2x5x16xf32> loc("shares_log")
// CHECK: "tpu.ScaleDotProductAttention"(%[[X]], %[[X]], %[[X]], {{.*}} -> (tensor<1x2x5x16x!quant.uniform<i8:f32, 7.812500e-03>>, none, none, none) loc("attended")
// CHECK: "tpu.ScaleDotProductAttention"(%[[F]], {{.*}}is_causal = true{{.*}} loc("causal")
// CHECK-NOT: short_weights
// In F16 its weights want no more digits than bytes do, unless its result is read as it is.
// CHECK: "tpu.ScaleDotProductAttention"{{.*}}short_weights{{.*}} loc("half")
// CHECK-NOT: short_weights
// CHECK: loc("half_read")
!f = tensor<1x2x5x16xf32>
!h = tensor<1x2x5x16xf16>
!q = tensor<1x2x5x16x!quant.uniform<i8:f32, 0.0078125>>
!s = tensor<1x2x5x16x!quant.uniform<i8:f32, 0.00390625:-128>>
module attributes {module.name = "net", module.chip = "bm1684x", module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: !f) -> (!f, !f, !f, tensor<1x2x5x1xf32>, !f, !f, !f, !f, !f, !f, !f, !f, !h) {
    %none = "top.None"() : () -> none
    %x = "top.Input"(%arg0) : (!f) -> !f loc("x")
    %i = "tpu.Cast"(%x) : (!f) -> !q loc("x_i8")
    %f = "tpu.Cast"(%i) : (!q) -> !f loc("x_f32")
    %w = "top.ConstantFill"(%none) {shape = [16], value = 2.0 : f32} : (none) -> tensor<16xf32> loc("w")
    %w1 = "top.ConstantFill"(%none) {shape = [1], value = 2.0 : f32} : (none) -> tensor<1xf32> loc("w1")
    %0:3 = "tpu.LayerNorm"(%f, %w, %w) {axis = -1 : i64, eps = 0.001 : f64, storage_reason = "top.LayerNorm has no form on integers"} : (!f, tensor<16xf32>, tensor<16xf32>) -> (!f, none, none) loc("norm")
    %1:3 = "tpu.LayerNorm"(%f, %w, %none) {axis = -1 : i64, eps = 0.001 : f64} : (!f, tensor<16xf32>, none) -> (!f, tensor<1x2x5x1xf32>, none) loc("norm_mean")
    %2:3 = "tpu.LayerNorm"(%f, %w1, %none) {axis = -1 : i64, eps = 0.001 : f64} : (!f, tensor<1xf32>, none) -> (!f, none, none) loc("norm_one")
    %3 = "tpu.Softmax"(%f) {axis = -1 : i64, storage_reason = "top.Softmax has no form on integers"} : (!f) -> !f loc("shares")
    %4 = "tpu.Cast"(%3) : (!f) -> !s loc("shares_i8")
    %5 = "tpu.Cast"(%4) : (!s) -> !f loc("shares_f32")
    %6 = "tpu.Softmax"(%f) {axis = 3 : i64, beta = 2.0 : f64} : (!f) -> !f loc("shares_float")
    %7 = "tpu.Cast"(%6) : (!f) -> !s loc("shares_float_i8")
    %8 = "tpu.Cast"(%7) : (!s) -> !f loc("shares_float_f32")
    %9 = "tpu.Softmax"(%f) {axis = 2 : i64} : (!f) -> !f loc("shares_rows")
    %10 = "tpu.Cast"(%9) : (!f) -> !s loc("shares_rows_i8")
    %11 = "tpu.Cast"(%10) : (!s) -> !f loc("shares_rows_f32")
    %12 = "tpu.Softmax"(%f) {axis = 3 : i64, log = true} : (!f) -> !f loc("shares_log")
    %13 = "tpu.Cast"(%12) : (!f) -> !s loc("shares_log_i8")
    %14 = "tpu.Cast"(%13) : (!s) -> !f loc("shares_log_f32")
    %15:4 = "tpu.ScaleDotProductAttention"(%f, %f, %f, %none, %none, %none, %none) {softmax_type = f32} : (!f, !f, !f, none, none, none, none) -> (!f, none, none, none) loc("attended")
    %16 = "tpu.Cast"(%15#0) : (!f) -> !q loc("attended_i8")
    %17 = "tpu.Cast"(%16) : (!q) -> !f loc("attended_f32")
    %18:4 = "tpu.ScaleDotProductAttention"(%f, %f, %f, %none, %none, %none, %none) {is_causal = true} : (!f, !f, !f, none, none, none, none) -> (!f, none, none, none) loc("causal")
    %19 = "tpu.Cast"(%18#0) : (!f) -> !q loc("causal_i8")
    %20 = "tpu.Cast"(%19) : (!q) -> !f loc("causal_f32")
    %h = "tpu.Cast"(%i) : (!q) -> !h loc("x_f16")
    %21:4 = "tpu.ScaleDotProductAttention"(%h, %h, %h, %none, %none, %none, %none) {is_causal = true} : (!h, !h, !h, none, none, none, none) -> (!h, none, none, none) loc("half")
    %22 = "tpu.Cast"(%21#0) : (!h) -> !q loc("half_i8")
    %23 = "tpu.Cast"(%22) : (!q) -> !f loc("half_f32")
    %24:4 = "tpu.ScaleDotProductAttention"(%h, %h, %h, %none, %none, %none, %none) {is_causal = true} : (!h, !h, !h, none, none, none, none) -> (!h, none, none, none) loc("half_read")
    return %0#0, %1#0, %2#0, %1#1, %5, %6, %8, %11, %14, %17, %20, %23, %24#0 : !f, !f, !f, tensor<1x2x5x1xf32>, !f, !f, !f, !f, !f, !f, !f, !f, !h
  }
}

// What is made in floats and read by products on integers is multiplied so that every channel uses
// all of the integers; the filter is divided by the same factors.
// DEFINE: %{table} = pool F16
// DEFINE: %{lower} = printf '%{table}\n' > %t.qtable && tpuc-opt %s --shape-infer --chip-assign=chip=bm1684x "--convert-top-to-tpu=mode=INT8 asymmetric=true qtable=%t.qtable" --canonicalize --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s
// RUN: %{lower} --check-prefixes=CHECK,F16
// REDEFINE: %{table} = pool BF16
// RUN: %{lower} --check-prefixes=CHECK,F32
// REDEFINE: %{table} = pool INT8
// RUN: %{lower} --check-prefix=INT8

// One multiplication for both readers, in the floats that are there; BF16 would round as coarsely
// as 8 bits.
// F16: %[[FACTORS:.*]] = "top.Weight"() : () -> tensor<1x2x1x1xf32> loc("pool_scaled_factors")
// F32: %[[WIDE:.*]] = "tpu.Cast"(%{{.*}}) : (tensor<1x2x4x4xbf16>) -> tensor<1x2x4x4xf32> loc("pool_f32")
// F32: %[[FACTORS:.*]] = "top.Weight"() : () -> tensor<1x2x1x1xf32> loc("pool_scaled_factors")
// F32: "tpu.Mul"(%[[WIDE]], %[[FACTORS]])
// F16: "tpu.Mul"(%{{.*}}, %[[FACTORS]])
// CHECK-SAME: storage_reason = "it scales channels for products on integers"
// CHECK-SAME: -> tensor<1x2x4x4x[[T:f16|f32]]> loc("pool_scaled")
// CHECK: %[[STORED:.*]] = "tpu.Cast"(%{{.*}}) : (tensor<1x2x4x4x[[T]]>) -> tensor<1x2x4x4x!quant.uniform<i8:f32, 0.031372549019607843:-128>> loc("pool_scaled_i8")
// CHECK: "tpu.Conv"(%[[STORED]], {{.*}} loc("first_i8")
// CHECK: "tpu.Conv"(%[[STORED]], {{.*}} loc("second_i8")
// What is on integers already stays as it is.
// INT8-NOT: scaled
!x = tensor<1x2x4x4x!quant.calibrated<f32<0.0:8.0>>>
!y = tensor<1x1x4x4x!quant.calibrated<f32<0.0:8.0>>>
module {
  func.func @main(%arg0: !x) -> (!y, !y) {
    %none = "top.None"() : () -> none
    %x = "top.Input"(%arg0) : (!x) -> !x loc("x")
    %w = "top.ConstantFill"(%none) {shape = [1, 2, 1, 1], value = 0.5 : f32} : (none) -> tensor<1x2x1x1xf32> loc("w")
    %pool = "top.MaxPool"(%x) {kernel_shape = [1, 1], strides = [1, 1]} : (!x) -> !x loc("pool")
    %first = "top.Conv"(%pool, %w, %none) {kernel_shape = [1, 1], calibration.input_means = array<f32: 4.0, 0.5>, calibration.input_lowest = array<f32: 0.0, 0.0>, calibration.input_highest = array<f32: 8.0, 1.0>} : (!x, tensor<1x2x1x1xf32>, none) -> !y loc("first")
    %second = "top.Conv"(%pool, %w, %none) {kernel_shape = [1, 1], calibration.input_means = array<f32: 4.0, 0.5>, calibration.input_lowest = array<f32: 0.0, 0.0>, calibration.input_highest = array<f32: 8.0, 1.0>} : (!x, tensor<1x2x1x1xf32>, none) -> !y loc("second")
    return %first, %second : !y, !y
  }
}

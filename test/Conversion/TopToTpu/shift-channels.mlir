// Channels whose intervals lie on different sides of 0 would share less than all of the integers.
// RUN: printf 'pool F16\npeak F16\n' > %t.qtable
// RUN: tpuc-opt %s --shape-infer --chip-assign=chip=bm1684x "--convert-top-to-tpu=mode=INT8 asymmetric=true qtable=%t.qtable" --canonicalize --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s
// RUN: tpuc-opt %s --shape-infer --chip-assign=chip=bm1684x "--convert-top-to-tpu=mode=INT8 qtable=%t.qtable" --canonicalize --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s --check-prefix=EVEN

// The middle of each becomes 0; the bias, which there was none, takes up what that adds.
// CHECK: "tpu.Mul"({{.*}} -> tensor<1x2x4x4xf16> loc("pool_scaled")
// CHECK: "tpu.Add"({{.*}} -> tensor<1x2x4x4xf16> loc("pool_scaled_shifted")
// CHECK: %[[MIDDLE:.*]] = "tpu.Cast"(%{{.*}}) {{.*}} -> tensor<1x2x4x4x!quant.uniform<i8:f32, 0.031372549019607843:-1>> loc("pool_scaled_shifted_i8")
// Padding stays 0: the channel that is negative changes its sign instead.
// CHECK: "tpu.Mul"({{.*}} -> tensor<1x2x4x4xf16> loc("peak_scaled")
// CHECK: %[[TURNED:.*]] = "tpu.Cast"(%{{.*}}) {{.*}} -> tensor<1x2x4x4x!quant.uniform<i8:f32, 0.031372549019607843:-128>> loc("peak_scaled_i8")
// CHECK: %[[BIAS:.*]] = "top.Weight"() : () -> tensor<1xi32> loc("first_bias_i32")
// CHECK: "tpu.Conv"(%[[MIDDLE]], %{{.*}}, %[[BIAS]]) {{.*}} loc("first_i8")
// CHECK: "tpu.Conv"(%[[TURNED]], {{.*}} loc("second_i8")

// Symmetric integers hold twice as much of a channel around 0; signs make no difference.
// EVEN: "tpu.Add"({{.*}} -> tensor<1x2x4x4xf16> loc("pool_scaled_shifted")
// EVEN: "tpu.Cast"(%{{.*}}) {{.*}} -> tensor<1x2x4x4x!quant.uniform<i8:f32, 3.125000e-02>> loc("pool_scaled_shifted_i8")
// EVEN-NOT: peak_scaled
!x = tensor<1x2x4x4x!quant.calibrated<f32<-8.0:8.0>>>
!y = tensor<1x1x4x4x!quant.calibrated<f32<-8.0:8.0>>>
module {
  func.func @main(%arg0: !x) -> (!y, !y) {
    %none = "top.None"() : () -> none
    %x = "top.Input"(%arg0) : (!x) -> !x loc("x")
    %w = "top.ConstantFill"(%none) {shape = [1, 2, 1, 1], value = 0.5 : f32} : (none) -> tensor<1x2x1x1xf32> loc("w")
    %v = "top.ConstantFill"(%none) {shape = [1, 2, 3, 3], value = 0.5 : f32} : (none) -> tensor<1x2x3x3xf32> loc("v")
    %pool = "top.MaxPool"(%x) {kernel_shape = [1, 1], strides = [1, 1]} : (!x) -> !x loc("pool")
    %peak = "top.MaxPool"(%x) {kernel_shape = [1, 1], strides = [1, 1]} : (!x) -> !x loc("peak")
    %first = "top.Conv"(%pool, %w, %none) {kernel_shape = [1, 1], calibration.input_means = array<f32: 4.0, 0.0>, calibration.input_lowest = array<f32: 0.0, -4.0>, calibration.input_highest = array<f32: 8.0, 4.0>} : (!x, tensor<1x2x1x1xf32>, none) -> !y loc("first")
    %second = "top.Conv"(%peak, %v, %none) {kernel_shape = [3, 3], pads = [1, 1, 1, 1], calibration.input_means = array<f32: 4.0, -4.0>, calibration.input_lowest = array<f32: 0.0, -8.0>, calibration.input_highest = array<f32: 8.0, 0.0>} : (!x, tensor<1x2x3x3xf32>, none) -> !y loc("second")
    return %first, %second : !y, !y
  }
}

// A product on integers whose channels are of different widths makes them as wide as the integers: its filter and bias
// take up the factors, and the filters of its readers are divided by them. Nothing is added to the network.
// DEFINE: %{lower} = tpuc-opt %t.mlir --shape-infer --chip-assign=chip=bm1684x "--convert-top-to-tpu=mode=INT8 asymmetric=true" --canonicalize --mlir-print-debuginfo --mlir-print-local-scope
// RUN: cp %s %t.mlir && %{lower} | FileCheck %s
// RUN: sed 's/{group = 16 : i64, /{group = 16 : i64, do_relu = true, /' %s > %t.mlir && %{lower} | FileCheck %s --check-prefix=RELU
// A line of a quantize table holds for the layer under its new name.
// RUN: printf 'dw INT8\npw INT8\n' > %t.qtable && tpuc-opt %s --shape-infer --chip-assign=chip=bm1684x "--convert-top-to-tpu=mode=F16 asymmetric=true qtable=%t.qtable" --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s --check-prefix=TABLE
// A limit would cut off other numbers, and what the network gives are those of the source.
// RUN: sed 's/{group = 16 : i64, /{group = 16 : i64, do_relu = true, relu_limit = 6.0 : f64, /' %s > %t.mlir && %{lower} | FileCheck %s --check-prefix=PLAIN
// RUN: sed 's/return %%pw : !y/return %%pw, %%dw : !y, !x/; s/-> (!y)/-> (!y, !x)/' %s > %t.mlir && %{lower} | FileCheck %s --check-prefix=PLAIN

// All channels but the first are an eighth as wide. The middle of each is 0.
// CHECK-NOT: "tpu.Mul"
// CHECK: "top.Weight"() : () -> tensor<16xi32> loc("dw_scaled_bias_i32")
// CHECK: "tpu.Conv"{{.*}} -> tensor<1x16x4x4x!quant.uniform<i8:f32, 0.062745098039215685{{(:-?[0-9]+)?}}>> loc("dw_scaled")
// CHECK-NOT: "tpu.Mul"
// CHECK: "tpu.Conv"{{.*}} loc("pw
// RELU: loc("dw_scaled")
// TABLE: "tpu.Conv"{{.*}} -> tensor<1x16x4x4x!quant.uniform<{{.*}} loc("dw_scaled")
// PLAIN-NOT: scaled
// PLAIN: loc("dw
// PLAIN-NOT: scaled
!x = tensor<1x16x4x4x!quant.calibrated<f32<-8.0:8.0>>>
!y = tensor<1x1x4x4x!quant.calibrated<f32<-8.0:8.0>>>
module {
  func.func @main(%arg0: !x) -> (!y) {
    %none = "top.None"() : () -> none
    %x = "top.Input"(%arg0) : (!x) -> !x loc("x")
    %wd = "top.ConstantFill"(%none) {shape = [16, 1, 1, 1], value = 1.0 : f32} : (none) -> tensor<16x1x1x1xf32> loc("wd")
    %w = "top.ConstantFill"(%none) {shape = [1, 16, 1, 1], value = 0.5 : f32} : (none) -> tensor<1x16x1x1xf32> loc("w")
    %dw = "top.Conv"(%x, %wd, %none) {group = 16 : i64, kernel_shape = [1, 1]} : (!x, tensor<16x1x1x1xf32>, none) -> !x loc("dw")
    %pw = "top.Conv"(%dw, %w, %none) {kernel_shape = [1, 1], calibration.input_means = array<f32: 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0>, calibration.input_lowest = array<f32: -8.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0>, calibration.input_highest = array<f32: 8.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0>} : (!x, tensor<1x16x1x1xf32>, none) -> !y loc("pw")
    return %pw : !y
  }
}

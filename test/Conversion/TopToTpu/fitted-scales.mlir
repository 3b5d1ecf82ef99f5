// Scales that leave fewer or shorter factors on chips whose multipliers are short: a little larger than the ranges.
// RUN: printf '# calibration\nx 12.7 -12.7 12.7\nmean 6.35 -6.35 6.35\nconv 3.175 -3.175 3.175\nexp 20 0 20\n' > %t.table
// DEFINE: %{to} =
// DEFINE: %{lower} = tpuc-opt %s --shape-infer --import-calibration-table=file=%t.table --chip-assign=chip=%{to} --convert-top-to-tpu=mode=INT8
// REDEFINE: %{to} = cv181x
// RUN: %{lower} | FileCheck %s --check-prefix=SHORT
// REDEFINE: %{to} = bm1684x
// RUN: %{lower} | FileCheck %s --check-prefix=LONG

// 1 / 48 of twice the scale is 170.7 / 2^12 of it; with 170 the scale is 1.004 times as large.
// SHORT: "tpu.AvgPool"{{.*}}multiplier = [170], {{.*}}rshift = [12]{{.*}} -> tensor<1x3x1x1x!quant.uniform<i8:f32, 0.0498039
// What casts multiply by is a BF16: 203.2 / 2^13 becomes 204 / 2^13.
// SHORT: "tpu.Conv"{{.*}} -> tensor<1x3x1x1x!quant.uniform<i8:f32, 0.02490234375>>
// LONG: "tpu.AvgPool"{{.*}} -> tensor<1x3x1x1x!quant.uniform<i8:f32, 0.049609{{.*}}>>
module attributes {module.name = "net"} {
  func.func @main(%arg0: tensor<1x3x6x8xf32>) -> tensor<1x3x1x1xf32> {
    %none = "top.None"() : () -> none
    %x = "top.Input"(%arg0) : (tensor<1x3x6x8xf32>) -> tensor<1x3x6x8xf32> loc("x")
    %0 = "top.AvgPool"(%x) {kernel_shape = [6, 8]} : (tensor<1x3x6x8xf32>) -> tensor<1x3x1x1xf32> loc("mean")
    %w = "top.ConstantFill"(%none) {shape = [3, 3, 1, 1], value = 0.1 : f32} : (none) -> tensor<3x3x1x1xf32> loc("w")
    %1 = "top.Conv"(%0, %w, %none) {kernel_shape = [1, 1]} : (tensor<1x3x1x1xf32>, tensor<3x3x1x1xf32>, none) -> tensor<1x3x1x1xf32> loc("conv")
    %2 = "top.Exp"(%1) : (tensor<1x3x1x1xf32>) -> tensor<1x3x1x1xf32> loc("exp")
    return %2 : tensor<1x3x1x1xf32>
  }
}

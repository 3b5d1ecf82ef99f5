// Lowering to integers, symmetric and asymmetric: types, factors, offsets, tables, casts.
// DEFINE: %{asymmetric} = false
// DEFINE: %{lower} = tpuc-opt %s --shape-infer --chip-assign=chip=bm1684x "--import-calibration-table=file=%S/Inputs/integers.cali asymmetric=%{asymmetric}" "--convert-top-to-tpu=mode=INT8 asymmetric=%{asymmetric}" --mlir-print-debuginfo --mlir-print-local-scope
// RUN: %{lower} | FileCheck %s --check-prefixes=CHECK,SYM
// REDEFINE: %{asymmetric} = true
// RUN: %{lower} | FileCheck %s --check-prefixes=CHECK,ASYM

// SYM: module.asymmetric = false, module.chip = "bm1684x", module.mode = "INT8"{{.*}}module.weight_file = "net_bm1684x_int8_sym_tpu_weight.npz"
// ASYM: module.asymmetric = true, module.chip = "bm1684x", module.mode = "INT8"{{.*}}module.weight_file = "net_bm1684x_int8_asym_tpu_weight.npz"
// CHECK: func.func @main(%arg0: tensor<1x2x4x4xf32>{{.*}}) -> (tensor<1x3x4x4xf32>, tensor<1x3x4x4xi1>)

// Scales: threshold / 128, or (max - min) / 255 and a zero point.
// SYM: "tpu.Cast"(%{{.*}}) : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4x!quant.uniform<i8:f32, 3.125000e-02>> loc("x_i8")
// ASYM: "tpu.Cast"(%{{.*}}) : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4x!quant.uniform<i8:f32, 0.019607843137254902:-77>> loc("x_i8")

// The factor is (0.5 / 127) * scale of x / scale of the result; what a ReLU makes has no sign.
// CHECK-DAG: %[[W:.*]] = "top.Weight"() : () -> tensor<3x2x1x1xi8> loc("conv_filter_i8")
// CHECK-DAG: %[[B:.*]] = "top.Weight"() : () -> tensor<3xi32> loc("conv_bias_i32")
// SYM: "tpu.Conv"(%{{.*}}, %[[W]], %[[B]]) {{{.*}}do_relu = true{{.*}}multiplier = [1690932006], relu_limit = -1.000000e+00 : f64, round_mode = "HalfUp", rshift = [38]}{{.*}} -> tensor<1x3x4x4x!quant.uniform<u8:f32, 0.01999{{.*}}>> loc("conv")
// ASYM: "tpu.Conv"(%{{.*}}, %[[W]], %[[B]]) {{{.*}}do_relu = true{{.*}}multiplier = [2121953890]{{.*}}rshift = [39]}{{.*}} -> tensor<1x3x4x4x!quant.uniform<i8:f32, 0.01999{{.*}}:-128>> loc("conv")

// CHECK: %[[T:.*]] = "top.Weight"() : () -> tensor<256xi8> loc("sigmoid_table")
// SYM: "tpu.Lut"(%{{.*}}, %[[T]]) {{.*}} -> tensor<1x3x4x4x!quant.uniform<u8:f32, 0.00392{{[0-9]*}}>> loc("sigmoid")
// ASYM: "tpu.Lut"(%{{.*}}, %[[T]]) {{.*}} -> tensor<1x3x4x4x!quant.uniform<i8:f32, 0.00392{{[0-9]*}}:-128>> loc("sigmoid")

// The offset of a sum is -(sum of multiplier * zero point).
// SYM: "tpu.Sub"{{.*}}multiplier = [20460, -4012], offset = 0 : i64,{{.*}}round_mode = "HalfUp", rshift = 15 : i64}
// ASYM: "tpu.Sub"{{.*}}multiplier = [16384, -3213], offset = 1685888 : i64,{{.*}}round_mode = "HalfUp", rshift = 14 : i64}{{.*}}:-78>> loc("sub")
// Max compares in the result's scale.
// CHECK: %[[SUB:.*]] = "tpu.RequantInt"{{.*}} loc("sub_i8")

// A constant operand has 8 bits, too.
// CHECK: %[[C:.*]] = "top.Weight"() : () -> tensor<3x1x1x!quant.uniform<i8:f32, 0.01574803149606299{{[0-9]*}}>> loc("mul_operand1_i8")
// CHECK: "tpu.Mul"(%{{.*}}, %[[C]]) {{{.*}}multiplier = 1082196484 : i64{{.*}}rshift = 37 : i64}
// One factor for what is not negative, one for the rest.
// SYM: "tpu.LeakyRelu"{{.*}}multiplier = [1100585370, 1760936591], round_mode = "HalfUp", rshift = [28, 32]}
// ASYM: "tpu.LeakyRelu"{{.*}}multiplier = [1941873511, 1553498809], round_mode = "HalfUp", rshift = [29, 32]}
// ASYM: "tpu.RequantInt"{{.*}} loc("leaky_i8")
// CHECK: %[[MAX:.*]] = "tpu.Max"(%{{.*}}, %[[SUB]]) {{.*}} loc("max_i8")
// 0.5 is stored as 32; with a zero point no integer stands for it.
// SYM: "tpu.CompareConst"(%[[MAX]]) {const_val = 3.200000e+01 : f64
// ASYM: "tpu.CompareConst"(%[[MAX]]) {const_val = 3.050000e+01 : f64
// CHECK-SAME: -> tensor<1x3x4x4xi1> loc("compare")
// CHECK: "tpu.Cast"(%[[MAX]]) {{.*}} -> tensor<1x3x4x4xf32> loc("max")
module attributes {module.name = "net"} {
  func.func @main(%arg0: tensor<1x2x4x4xf32>) -> (tensor<1x3x4x4xf32>, tensor<1x3x4x4xi1>) {
    %none = "top.None"() : () -> none
    %x = "top.Input"(%arg0) : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32> loc("x")
    %w = "top.ConstantFill"(%none) {shape = [3, 2, 1, 1], value = 0.5 : f32} : (none) -> tensor<3x2x1x1xf32> loc("w")
    %b = "top.ConstantFill"(%none) {shape = [3], value = 0.1 : f32} : (none) -> tensor<3xf32> loc("b")
    %c = "top.ConstantFill"(%none) {shape = [3, 1, 1], value = -2.0 : f32} : (none) -> tensor<3x1x1xf32> loc("c")
    %0 = "top.Conv"(%x, %w, %b) {kernel_shape = [1, 1], do_relu = true} : (tensor<1x2x4x4xf32>, tensor<3x2x1x1xf32>, tensor<3xf32>) -> tensor<1x3x4x4xf32> loc("conv")
    %1 = "top.Sigmoid"(%0) : (tensor<1x3x4x4xf32>) -> tensor<1x3x4x4xf32> loc("sigmoid")
    %2 = "top.Sub"(%0, %1) : (tensor<1x3x4x4xf32>, tensor<1x3x4x4xf32>) -> tensor<1x3x4x4xf32> loc("sub")
    %3 = "top.Mul"(%2, %c) : (tensor<1x3x4x4xf32>, tensor<3x1x1xf32>) -> tensor<1x3x4x4xf32> loc("mul")
    %4 = "top.LeakyRelu"(%3) {alpha = 0.1 : f64} : (tensor<1x3x4x4xf32>) -> tensor<1x3x4x4xf32> loc("leaky")
    %5 = "top.Max"(%4, %2) : (tensor<1x3x4x4xf32>, tensor<1x3x4x4xf32>) -> tensor<1x3x4x4xf32> loc("max")
    %6 = "top.CompareConst"(%5) {const_val = 0.5 : f64, mode = "Greater"} : (tensor<1x3x4x4xf32>) -> tensor<1x3x4x4xi1> loc("compare")
    return %5, %6 : tensor<1x3x4x4xf32>, tensor<1x3x4x4xi1>
  }
}

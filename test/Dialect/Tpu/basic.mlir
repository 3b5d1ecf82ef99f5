// RUN: tpuc-opt %s | tpuc-opt | FileCheck %s
// RUN: tpuc-opt %s --mlir-print-op-generic | tpuc-opt | FileCheck %s

// CHECK-LABEL: func.func @casts
func.func @casts(%arg0: tensor<1x3x8x8xf32>, %arg1: tensor<?xf16>) -> tensor<1x3x8x8xbf16> {
  // CHECK: "tpu.Cast"(%{{.*}}) : (tensor<1x3x8x8xf32>) -> tensor<1x3x8x8xbf16>
  %0 = "tpu.Cast"(%arg0) : (tensor<1x3x8x8xf32>) -> tensor<1x3x8x8xbf16>
  // CHECK: "tpu.Cast"(%{{.*}}) : (tensor<?xf16>) -> tensor<?xi8>
  %1 = "tpu.Cast"(%arg1) : (tensor<?xf16>) -> tensor<?xi8>
  // CHECK: "tpu.RoundTo"(%{{.*}}) {type = f16} : (tensor<1x3x8x8xf32>) -> tensor<1x3x8x8xf32>
  %2 = "tpu.RoundTo"(%arg0) {type = f16} : (tensor<1x3x8x8xf32>) -> tensor<1x3x8x8xf32>
  return %0 : tensor<1x3x8x8xbf16>
}

!i8 = tensor<1x4x6x6x!quant.uniform<i8:f32, 0.1:-3>>
!u8 = tensor<1x4x6x6x!quant.uniform<u8:f32, 0.2>>
// CHECK-LABEL: func.func @integers
func.func @integers(%x: !i8, %filter: tensor<4x4x1x1xi8>, %bias: tensor<4xi32>, %table: tensor<256xi8>, %sums: tensor<1x4x6x6xi32>) -> !u8 {
  %none = "top.None"() : () -> none
  // CHECK: "tpu.RequantInt"(%{{.*}}) {multiplier = [3], rshift = [2]} : (tensor<1x4x6x6xi32>) -> tensor<1x4x6x6x!quant.uniform<i8:f32, 1.000000e-01:-3>>
  %0 = "tpu.RequantInt"(%sums) {multiplier = [3], rshift = [2]} : (tensor<1x4x6x6xi32>) -> !i8
  // CHECK: "tpu.Lut"(%{{.*}}, %{{.*}}) : (tensor<1x4x6x6x!quant.uniform<i8:f32, 1.000000e-01:-3>>, tensor<256xi8>) -> tensor<1x4x6x6x!quant.uniform<u8:f32, 2.000000e-01>>
  %1 = "tpu.Lut"(%x, %table) : (!i8, tensor<256xi8>) -> !u8
  // CHECK: "tpu.Conv"{{.*}}multiplier = [1, 2, 3, 4], {{.*}}quant_mode = "QDM", {{.*}}rshift = [0, 1, 2, 31]
  %2 = "tpu.Conv"(%x, %filter, %bias) {kernel_shape = [1, 1], multiplier = [1, 2, 3, 4], rshift = [0, 1, 2, 31], quant_mode = "QDM"} : (!i8, tensor<4x4x1x1xi8>, tensor<4xi32>) -> !u8
  // CHECK: "tpu.Add"{{.*}}multiplier = [1, -1], offset = -5 : i64, {{.*}}round_mode = "HalfToEven", rshift = 3 : i64
  %3 = "tpu.Add"(%x, %1) {multiplier = [1, -1], offset = -5 : i64, rshift = 3 : i64, round_mode = "HalfToEven"} : (!i8, !u8) -> !u8
  // CHECK: "tpu.Mul"{{.*}}multiplier = 7 : i64, {{.*}}rshift = -2 : i64
  %4 = "tpu.Mul"(%x, %1) {multiplier = 7 : i64, rshift = -2 : i64} : (!i8, !u8) -> !u8
  // CHECK: "tpu.Concat"(%{{.*}}) {axis = 1 : i64
  %5 = "tpu.Concat"(%1, %2) {axis = 1 : i64} : (!u8, !u8) -> tensor<1x8x6x6x!quant.uniform<u8:f32, 0.2>>
  // CHECK: "tpu.CompareConst"{{.*}} -> tensor<1x4x6x6xi1>
  %6 = "tpu.CompareConst"(%x) {const_val = 0.5 : f64, mode = "Greater"} : (!i8) -> tensor<1x4x6x6xi1>
  return %4 : !u8
}

// CHECK-LABEL: func.func @floats
func.func @floats(%x: tensor<2x3xf16>, %go: tensor<i1>) -> tensor<2x3xf16> {
  %none = "top.None"() : () -> none
  // CHECK: "tpu.MatMul"(%{{.*}}, %{{.*}}, %{{.*}}) {{.*}} : (tensor<2x3xf16>, tensor<2x3xf16>, none) -> tensor<2x2xf16>
  %0 = "tpu.MatMul"(%x, %x, %none) {right_transpose = true} : (tensor<2x3xf16>, tensor<2x3xf16>, none) -> tensor<2x2xf16>
  // CHECK: "tpu.If"
  %1 = "tpu.If"(%go) ({
    // CHECK: "tpu.Yield"
    "tpu.Yield"(%x) : (tensor<2x3xf16>) -> ()
  }, {
    // CHECK: "tpu.Gather"
    %2 = "tpu.Neg"(%x) : (tensor<2x3xf16>) -> tensor<2x3xf16>
    %i = "tpu.ConstantFill"(%none) {shape = [2], value = 0 : i64} : (none) -> tensor<2xi64>
    %3 = "tpu.Gather"(%2, %i) {axis = 0 : i64} : (tensor<2x3xf16>, tensor<2xi64>) -> tensor<2x3xf16>
    "tpu.Yield"(%3) : (tensor<2x3xf16>) -> ()
  }) : (tensor<i1>) -> tensor<2x3xf16>
  // CHECK: "tpu.DtypeCast"(%{{.*}}) {from_bit = 0 : i64, saturate = true, to = i32} : (tensor<2x3xf16>) -> tensor<2x3xi32>
  %4 = "tpu.DtypeCast"(%1) {to = i32} : (tensor<2x3xf16>) -> tensor<2x3xi32>
  return %1 : tensor<2x3xf16>
}

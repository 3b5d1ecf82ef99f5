// RFC, "Operation quant.scast": its examples and its canonicalization.
// RUN: tpuc-opt %s --mlir-print-local-scope | FileCheck %s
// RUN: tpuc-opt %s --canonicalize --mlir-print-local-scope | FileCheck %s --check-prefix=CANON

// CHECK: quant.scast %arg0 : !quant.uniform<i8:f32, 2.000000e+00> to i8
func.func @scalar(%input: !quant.uniform<i8:f32, 2.0>) -> i8 {
  %result = quant.scast %input : !quant.uniform<i8:f32, 2.0> to i8
  return %result : i8
}

// CHECK: quant.scast %arg0 : tensor<?x!quant.uniform<i8:f32, 2.000000e+00>> to tensor<?xi8>
func.func @dynamic(%input: tensor<?x!quant.uniform<i8:f32, 2.0>>) -> tensor<?xi8> {
  %result = quant.scast %input : tensor<?x!quant.uniform<i8:f32, 2.0>> to tensor<?xi8>
  return %result : tensor<?xi8>
}

// CHECK: quant.scast %arg0 : tensor<*xi8> to tensor<*x!quant.uniform<i8:f32:1, {2.000000e+00, 3.000000e+00}>>
func.func @unranked(%input: tensor<*xi8>) -> tensor<*x!quant.uniform<i8:f32:1, {2.0, 3.0}>> {
  %result = quant.scast %input : tensor<*xi8> to tensor<*x!quant.uniform<i8:f32:1, {2.0, 3.0}>>
  return %result : tensor<*x!quant.uniform<i8:f32:1, {2.0, 3.0}>>
}

// CANON-LABEL: @canonicalize
// CANON-NEXT: return %arg0 : i8
func.func @canonicalize(%0: i8) -> i8 {
  %1 = quant.scast %0 : i8 to !quant.uniform<i8:f32, 2.0>
  %2 = quant.scast %1 : !quant.uniform<i8:f32, 2.0> to i8
  return %2 : i8
}

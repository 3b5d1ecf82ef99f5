// RFC, "Operation quant.qcast": its examples and its canonicalization.
// RUN: tpuc-opt %s --mlir-print-local-scope | FileCheck %s
// RUN: tpuc-opt %s --canonicalize --mlir-print-local-scope | FileCheck %s --check-prefix=CANON

// CHECK: quant.qcast %arg0 : f32 to !quant.uniform<i8:f32, 2.000000e+00>
func.func @scalar(%input: f32) -> !quant.uniform<i8:f32, 2.0> {
  %result = quant.qcast %input : f32 to !quant.uniform<i8:f32, 2.0>
  return %result : !quant.uniform<i8:f32, 2.0>
}

// CHECK: quant.qcast %arg0 : tensor<?xf32> to tensor<?x!quant.uniform<i8:f32, 2.000000e+00>>
func.func @dynamic(%input: tensor<?xf32>) -> tensor<?x!quant.uniform<i8:f32, 2.0>> {
  %result = quant.qcast %input : tensor<?xf32> to tensor<?x!quant.uniform<i8:f32, 2.0>>
  return %result : tensor<?x!quant.uniform<i8:f32, 2.0>>
}

// CHECK: quant.qcast %arg0 : tensor<*xf32> to tensor<*x!quant.uniform<i8:f32:1, {2.000000e+00, 3.000000e+00}>>
func.func @unranked(%input: tensor<*xf32>) -> tensor<*x!quant.uniform<i8:f32:1, {2.0, 3.0}>> {
  %result = quant.qcast %input : tensor<*xf32> to tensor<*x!quant.uniform<i8:f32:1, {2.0, 3.0}>>
  return %result : tensor<*x!quant.uniform<i8:f32:1, {2.0, 3.0}>>
}

// CANON-LABEL: @canonicalize
// CANON-NEXT: return %arg0 : !quant.uniform<i8:f32, 2.000000e+00>
func.func @canonicalize(%0: !quant.uniform<i8:f32, 2.0>) -> !quant.uniform<i8:f32, 2.0> {
  %1 = quant.dcast %0 : !quant.uniform<i8:f32, 2.0> to f32
  %2 = quant.qcast %1 : f32 to !quant.uniform<i8:f32, 2.0>
  return %2 : !quant.uniform<i8:f32, 2.0>
}

// RFC, "Operation quant.dcast": its examples and its canonicalization.
// RUN: tpuc-opt %s --mlir-print-local-scope | FileCheck %s
// RUN: tpuc-opt %s --canonicalize --mlir-print-local-scope | FileCheck %s --check-prefix=CANON

// CHECK: quant.dcast %arg0 : !quant.uniform<i8:f32, 2.000000e+00> to f32
func.func @scalar(%input: !quant.uniform<i8:f32, 2.0>) -> f32 {
  %result = quant.dcast %input : !quant.uniform<i8:f32, 2.0> to f32
  return %result : f32
}

// CHECK: quant.dcast %arg0 : tensor<?x!quant.uniform<i8:f32, 2.000000e+00>> to tensor<?xf32>
func.func @dynamic(%input: tensor<?x!quant.uniform<i8:f32, 2.0>>) -> tensor<?xf32> {
  %result = quant.dcast %input : tensor<?x!quant.uniform<i8:f32, 2.0>> to tensor<?xf32>
  return %result : tensor<?xf32>
}

// CHECK: quant.dcast %arg0 : tensor<*x!quant.uniform<i8:f32:1, {2.000000e+00, 3.000000e+00}>> to tensor<*xf32>
func.func @unranked(%input: tensor<*x!quant.uniform<i8:f32:1, {2.0, 3.0}>>) -> tensor<*xf32> {
  %result = quant.dcast %input : tensor<*x!quant.uniform<i8:f32:1, {2.0, 3.0}>> to tensor<*xf32>
  return %result : tensor<*xf32>
}

// "%1 ... Possibly dead code; uses of %2 replaced with %0"
// CANON-LABEL: @canonicalize
// CANON-NEXT: return %arg0 : f32
func.func @canonicalize(%0: f32) -> f32 {
  %1 = quant.qcast %0 : f32 to !quant.uniform<i8:f32, 2.0>
  %2 = quant.dcast %1 : !quant.uniform<i8:f32, 2.0> to f32
  return %2 : f32
}

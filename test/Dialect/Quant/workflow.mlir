// The workflow as a pipeline: integer forms, the fallback, and what happens without it.
// RUN: tpuc-ml-opt %s --split-input-file --ml-workflow | FileCheck %s
// RUN: tpuc-ml-opt %s --split-input-file --ml-workflow=saturate=true | FileCheck %s --check-prefix=SAT
// RUN: tpuc-ml-opt %s --split-input-file --quant-fallback | FileCheck %s --check-prefix=FALLBACK
// RUN: tpuc-ml-opt %s --split-input-file --ml-workflow=fallback=false --verify-diagnostics

!q = !quant.uniform<i8:f32, 2.0:3>

// An op with an integer form is not touched by the fallback and never sees a float.
// CHECK-LABEL: func.func @integer(%arg0: tensor<4xi8>, %arg1: tensor<4xi8>) -> tensor<4xi8>
// CHECK-NOT: f32
// CHECK: arith.addi
// CHECK-NOT: f32
// CHECK: arith.trunci %{{.*}} : tensor<4xi32> to tensor<4xi8>
// CHECK-NEXT: return
// FALLBACK-LABEL: @integer
// FALLBACK-NEXT: "ml.add"
func.func @integer(%x: tensor<4x!q>, %y: tensor<4x!q>) -> tensor<4x!q> {
  %0 = "ml.add"(%x, %y) : (tensor<4x!q>, tensor<4x!q>) -> tensor<4x!q>
  return %0 : tensor<4x!q>
}

// -----

!q = !quant.uniform<i8:f32, 2.0:3>

// A chain of ops without: between the two no quantization remains. Three forms of type.
// CHECK-LABEL: func.func @float(%arg0: tensor<*xi8>, %arg1: tensor<*xi8>) -> tensor<*xi8>
// CHECK-NOT: quant
// CHECK: arith.mulf
// CHECK: arith.divf %{{.*}}, %{{.*}} : tensor<*xf32>
// CHECK: arith.fptosi
// CHECK-NOT: quant
// SAT-LABEL: @float
// SAT: math.roundeven
// FALLBACK-LABEL: @float
// FALLBACK-NEXT: quant.dcast
// FALLBACK-NEXT: quant.dcast
// FALLBACK-NEXT: "ml.mul"(%{{.*}}, %{{.*}}) {note = "kept"} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
// FALLBACK-NEXT: quant.qcast
// FALLBACK-NEXT: quant.dcast
// FALLBACK-NEXT: quant.dcast
// FALLBACK-NEXT: "ml.div"
// FALLBACK-NEXT: quant.qcast
// FALLBACK-NEXT: return
func.func @float(%x: tensor<*x!q>, %y: tensor<*x!q>) -> tensor<*x!q> {
  // expected-error @+1 {{'ml.mul' op still has the type '!quant.uniform<i8:f32, 2.000000e+00:3>'; expected an integer form of it, or the fallback to floats}}
  %0 = "ml.mul"(%x, %y) {note = "kept"} : (tensor<*x!q>, tensor<*x!q>) -> tensor<*x!q>
  // expected-error @+1 {{'ml.div' op still has the type}}
  %1 = "ml.div"(%0, %y) : (tensor<*x!q>, tensor<*x!q>) -> tensor<*x!q>
  return %1 : tensor<*x!q>
}

// -----

// Scalars, and a mix of quantized and float operands.
// CHECK-LABEL: func.func @mixed(%arg0: i16, %arg1: f64) -> f64
// CHECK-NOT: quant
// CHECK: arith.remf
// CHECK-NOT: quant
func.func @mixed(%x: !quant.uniform<u16:f64, 0.1:9>, %y: f64) -> f64 {
  // expected-error @+1 {{still has the type}}
  %0 = "ml.mod"(%x, %y) : (!quant.uniform<u16:f64, 0.1:9>, f64) -> f64
  return %0 : f64
}

// RFC, "Application": the snippets of the tfl and tosa dialects, which tpuc does not have, as
// unregistered ops. tosa.rescale is in generic form and without the attributes that the RFC elides
// with "..."; they do not matter here.
// RUN: tpuc-opt %s --split-input-file --allow-unregistered-dialect --verify-diagnostics | FileCheck %s
// RUN: tpuc-opt %s --split-input-file --allow-unregistered-dialect --verify-diagnostics --strip-func-quant-types | FileCheck %s --check-prefix=STRIP

// As printed in the RFC the attribute ends with a typographic quote and does not parse.
!qalias = !quant.uniform<i8:f32, 2.0>

// expected-error @+2 {{expected '"' in string literal}}
func.func @predict(%arg0: tensor<3x!qalias>, %arg1: tensor<3x!qalias>) -> tensor<3x!qalias> {
  %result = "tfl.add"(%arg0, %arg1) { fused_activation_function = "NONE“ } : (tensor<3x!qalias>, tensor<3x!qalias>) -> tensor<3x!qalias>
  return %result : tensor<3x!qalias>
}

// -----

!qalias = !quant.uniform<i8:f32, 2.0>

// CHECK: "tfl.add"({{.*}}) {fused_activation_function = "NONE"} : (tensor<3x!quant.uniform<i8:f32, 2.000000e+00>>
func.func @predict(%arg0: tensor<3x!qalias>, %arg1: tensor<3x!qalias>) -> tensor<3x!qalias> {
  %result = "tfl.add"(%arg0, %arg1) { fused_activation_function = "NONE" } : (tensor<3x!qalias>, tensor<3x!qalias>) -> tensor<3x!qalias>
  return %result : tensor<3x!qalias>
}

// -----

!qalias = !quant.uniform<i8:f32, 2.0>

// Stripping leaves the same arithmetic on i8, as the RFC shows.
// STRIP-LABEL: @rescaled(%arg0: tensor<3xi8>, %arg1: tensor<3xi8>) -> tensor<3xi8>
// STRIP: "tosa.add"(%{{.*}}, %{{.*}}) : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
// STRIP: quant.scast {{.*}} to tensor<3xi8>
// STRIP-NEXT: return %{{.*}} : tensor<3xi8>
func.func @rescaled(%arg0: tensor<3x!qalias>, %arg1: tensor<3x!qalias>) -> tensor<3x!qalias> {
  %0 = "tosa.rescale"(%arg0) : (tensor<3x!qalias>) -> tensor<3xi32>
  %1 = "tosa.rescale"(%arg1) : (tensor<3x!qalias>) -> tensor<3xi32>
  %2 = "tosa.add"(%0, %1) : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
  %3 = "tosa.rescale"(%2) : (tensor<3xi32>) -> tensor<3x!qalias>
  return %3 : tensor<3x!qalias>
}

// -----

func.func @stripped(%arg0: tensor<3xi8>, %arg1: tensor<3xi8>) -> tensor<3xi8> {
  %0 = "tosa.rescale"(%arg0) : (tensor<3xi8>) -> tensor<3xi32>
  %1 = "tosa.rescale"(%arg1) : (tensor<3xi8>) -> tensor<3xi32>
  %2 = "tosa.add"(%0, %1) : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
  %3 = "tosa.rescale"(%2) : (tensor<3xi32>) -> tensor<3xi8>
  return %3 : tensor<3xi8>
}

// -----

!qalias = !quant.uniform<i8:f32, 0.5>
// CHECK: "tfl.log_softmax"(%arg0) : (tensor<2x3x!quant.uniform<i8:f32, 5.000000e-01>>)
func.func @main(%arg0: tensor<2x3x!qalias>) -> tensor<2x3x!qalias> {
  %0 = "tfl.log_softmax"(%arg0) : (tensor<2x3x!qalias>) -> tensor<2x3x!qalias>
  return %0 : tensor<2x3x!qalias>
}

// -----

!qalias = !quant.uniform<i8:f32, 0.5>
// CHECK: "tfl.pad"
func.func @main(%arg0: tensor<2x2x!qalias>) -> tensor<4x6x!qalias> {
  %padding = "tfl.pseudo_const"() {value = dense<[[1, 1], [2, 2]]> : tensor<2x2xi32>} : () -> tensor<2x2xi32>
  %result = "tfl.pad"(%arg0, %padding) : (tensor<2x2x!qalias>, tensor<2x2xi32>) -> tensor<4x6x!qalias>
  return %result : tensor<4x6x!qalias>
}

// -----

// The RFC's invalid result of lowering tfl.pad; as unregistered ops without tosa's own attribute.
func.func @main(%arg0: tensor<2x2xi8>) -> tensor<4x6xi8> {
  %0 = "tosa.const"() <{value = dense<[[1, 1], [2, 2]]> : tensor<2x2xi32>}> : () -> tensor<2x2xi32>
  %1 = "tosa.const"() <{value = dense<0> : tensor<i8>}> : () -> tensor<i8>
  %2 = "tosa.pad"(%arg0, %0, %1) : (tensor<2x2xi8>, tensor<2x2xi32>, tensor<i8>) -> tensor<4x6xi8>
  return %2 : tensor<4x6xi8>
}

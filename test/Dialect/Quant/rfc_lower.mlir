// RFC, "Pass --lower-quant-ops": its four inputs, word for word. Inputs/rfc_lower_out.mlir holds its
// four outputs, and the pass must give the same text.
// Case 1 differs in the place of one constant, which the RFC writes between the ops for the sake of
// its comments: that text is compared after --canonicalize, like the others.
// RUN: tpuc-opt %s --split-input-file --lower-quant-ops -o %t.out
// RUN: tpuc-opt %S/Inputs/rfc_lower_out.mlir --split-input-file -o %t.rfc
// RUN: tpuc-opt %t.out --split-input-file --canonicalize -o %t.out.canonical
// RUN: tpuc-opt %t.rfc --split-input-file --canonicalize -o %t.rfc.canonical
// RUN: diff %t.out.canonical %t.rfc.canonical
// RUN: sed '1,/^.. -----/d' %t.out > %t.out.234
// RUN: sed '1,/^.. -----/d' %t.rfc > %t.rfc.234
// RUN: diff %t.out.234 %t.rfc.234
// RUN: FileCheck %s --input-file=%t.out

// CHECK-LABEL: func.func @f(%arg0: tensor<3x5xf32>)
// CHECK-DAG: %[[SCALE:.*]] = arith.constant 2.000000e+00 : f32
// CHECK-DAG: %[[ZERO:.*]] = arith.constant 10 : i8
// CHECK: %[[SCALES:.*]] = tensor.splat %[[SCALE]] : tensor<3x5xf32>
// CHECK-NEXT: %[[DIV:.*]] = arith.divf %arg0, %[[SCALES]]
// CHECK-NEXT: %[[ZEROS:.*]] = tensor.splat %[[ZERO]] : tensor<3x5xi8>
// CHECK-NEXT: %[[ZEROF:.*]] = arith.sitofp %[[ZEROS]] : tensor<3x5xi8> to tensor<3x5xf32>
// CHECK-NEXT: %[[SUM:.*]] = arith.addf %[[DIV]], %[[ZEROF]]
// CHECK-NEXT: %[[INT:.*]] = arith.fptosi %[[SUM]] : tensor<3x5xf32> to tensor<3x5xi8>
// CHECK-NEXT: %[[MIN:.*]] = arith.constant -8 : i8
// CHECK-NEXT: %[[MAX:.*]] = arith.constant 7 : i8
// CHECK-NEXT: %[[MINS:.*]] = tensor.splat %[[MIN]]
// CHECK-NEXT: %[[MAXS:.*]] = tensor.splat %[[MAX]]
// CHECK-NEXT: %[[LOW:.*]] = arith.maxsi %[[INT]], %[[MINS]]
// CHECK-NEXT: %[[CLAMPED:.*]] = arith.minsi %[[LOW]], %[[MAXS]]
// CHECK-NEXT: %[[RESULT:.*]] = quant.scast %[[CLAMPED]]
// CHECK-NEXT: return %[[RESULT]]

!qalias = !quant.uniform<i8<-8:7>:f32, 2.0:10>
func.func @f(%arg0: tensor<3x5xf32>) -> tensor<3x5x!qalias> {
  %0 = quant.qcast %arg0 : tensor<3x5xf32> to tensor<3x5x!qalias>
  return %0 : tensor<3x5x!qalias>
}

// -----

!qalias = !quant.uniform<i8:f32, 2.0:10>
func.func @f(%arg0: tensor<*xf32>) -> tensor<*x!qalias> {
  %0 = quant.qcast %arg0 : tensor<*xf32> to tensor<*x!qalias>
  return %0 : tensor<*x!qalias>
}

// -----

!qalias = !quant.uniform<i8<-8:7>:f32:1, {2.0, 3.0}>
func.func @f(%arg0: tensor<4x2x5xf32>) -> tensor<4x2x5x!qalias> {
  %0 = "quant.qcast"(%arg0) : (tensor<4x2x5xf32>) -> tensor<4x2x5x!qalias>
  return %0 : tensor<4x2x5x!qalias>
}

// -----

!qalias = !quant.uniform<i8:f32:2, {2.0:10, 3.0:20, 4.0:30}>
func.func @f(%arg0: tensor<*xf32>) -> tensor<*x!qalias> {
  %0 = "quant.qcast"(%arg0) : (tensor<*xf32>) -> tensor<*x!qalias>
  return %0 : tensor<*x!qalias>
}

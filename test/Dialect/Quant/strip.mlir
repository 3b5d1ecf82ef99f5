// --strip-func-quant-types beyond the RFC's example (rfc_strip.mlir).
// RUN: tpuc-opt %s --strip-func-quant-types --allow-unregistered-dialect | FileCheck %s

!q = !quant.uniform<i8:f32, 2.0>
!a = !quant.uniform<u4:f16:0, {2.0, 3.0}>

// CHECK: func.func private @declared(tensor<2xi4>, f32) -> (tensor<2xi4>, i8)
func.func private @declared(tensor<2x!a>, f32) -> (tensor<2x!a>, !q)

// CHECK-LABEL: func.func @call
// CHECK-SAME: (%[[X:.*]]: tensor<2xi4> {test.tag = 1 : i64}, %[[Y:.*]]: f32) -> (tensor<2xi4>, i8)
// CHECK-NEXT: %[[Q:.*]] = quant.scast %[[X]] : tensor<2xi4> to tensor<2x!quant.uniform<u4:f16:0
// CHECK-NEXT: %[[I:.*]] = quant.scast %[[Q]] : {{.*}} to tensor<2xi4>
// CHECK-NEXT: %[[R:.*]]:2 = call @declared(%[[I]], %[[Y]]) : (tensor<2xi4>, f32) -> (tensor<2xi4>, i8)
// CHECK-DAG: %[[R0:.*]] = quant.scast %[[R]]#0
// CHECK-DAG: %[[R1:.*]] = quant.scast %[[R]]#1
// CHECK: "test.use"(%[[R1]]) : (!quant.uniform<i8:f32, 2.000000e+00>) -> ()
// CHECK: %[[O0:.*]] = quant.scast %[[R0]] : {{.*}} to tensor<2xi4>
// CHECK: %[[O1:.*]] = quant.scast %[[R1]] : {{.*}} to i8
// CHECK: return %[[O0]], %[[O1]] : tensor<2xi4>, i8
func.func @call(%x: tensor<2x!a> {test.tag = 1}, %y: f32) -> (tensor<2x!a>, !q) {
  %0:2 = call @declared(%x, %y) : (tensor<2x!a>, f32) -> (tensor<2x!a>, !q)
  "test.use"(%0#1) : (!q) -> ()
  return %0#0, %0#1 : tensor<2x!a>, !q
}

// Values of function type follow the signatures, through arguments and constants.
// CHECK-LABEL: func.func @call_indirect
// CHECK-SAME: (%[[X:.*]]: i8, %[[F:.*]]: (i8) -> i8) -> i8
// CHECK: %[[G:.*]] = constant @identity : (i8) -> i8
// CHECK: %[[C:.*]] = "test.choose"(%[[F]], %[[G]]) : ((i8) -> i8, (i8) -> i8) -> ((i8) -> i8)
// CHECK: %[[I:.*]] = quant.scast %{{.*}} to i8
// CHECK-NEXT: %[[R:.*]] = call_indirect %[[C]](%[[I]]) : (i8) -> i8
// CHECK-NEXT: quant.scast %[[R]] : i8 to
func.func @call_indirect(%x: !q, %f: (!q) -> !q) -> !q {
  %g = constant @identity : (!q) -> !q
  %c = "test.choose"(%f, %g) : ((!q) -> !q, (!q) -> !q) -> ((!q) -> !q)
  %0 = call_indirect %c(%x) : (!q) -> !q
  return %0 : !q
}

// CHECK-LABEL: func.func @identity(%arg0: i8) -> i8
func.func @identity(%x: !q) -> !q {
  return %x : !q
}

// Every return of every block; block arguments other than the function's keep their type.
// CHECK-LABEL: func.func @blocks(%arg0: i8) -> i8
// CHECK: "test.branch"(%{{.*}})[^bb1, ^bb2]
// CHECK: ^bb1(%[[A:.*]]: !quant.uniform
// CHECK-NEXT: %[[AI:.*]] = quant.scast %[[A]]
// CHECK-NEXT: return %[[AI]] : i8
// CHECK: ^bb2:
// CHECK: return %{{.*}} : i8
func.func @blocks(%x: !q) -> !q {
  "test.branch"(%x)[^bb1, ^bb2] : (!q) -> ()
^bb1(%y: !q):
  return %y : !q
^bb2:
  return %x : !q
}

// Containers that quant.scast does not take.
// CHECK-LABEL: func.func @tuple(%arg0: tuple<i8, tensor<*xi8>>) -> tuple<i8, tensor<*xi8>>
// CHECK-NEXT: builtin.unrealized_conversion_cast %arg0
// CHECK: builtin.unrealized_conversion_cast
// CHECK: return
func.func @tuple(%x: tuple<!q, tensor<*x!q>>) -> tuple<!q, tensor<*x!q>> {
  return %x : tuple<!q, tensor<*x!q>>
}

// Other types of the dialect and unquantized signatures stay.
// CHECK-LABEL: func.func @others(%arg0: !quant.any<i8>, %arg1: tensor<1x!quant.calibrated<f32<0.000000e+00:1.000000e+00>>>, %arg2: i8)
// CHECK-NEXT: return %arg2
func.func @others(%x: !quant.any<i8>, %y: tensor<1x!quant.calibrated<f32<0.0:1.0>>>, %z: i8) -> i8 {
  return %z : i8
}

// Only top-level functions are stripped, and a nested module's calls go to its own functions.
// CHECK-LABEL: module @nested
module @nested {
  // CHECK: func.func private @inner(!quant.uniform
  func.func private @inner(!q) -> !q
  // CHECK: func.func @outer(%arg0: !quant.uniform
  // CHECK-NEXT: call @inner(%arg0) : (!quant.uniform
  func.func @outer(%x: !q) -> !q {
    %0 = call @inner(%x) : (!q) -> !q
    return %0 : !q
  }
}

// --lower-quant-ops beyond the RFC's four texts (rfc_lower.mlir).
// RUN: tpuc-opt %s --lower-quant-ops --mlir-print-local-scope | FileCheck %s
// RUN: tpuc-opt %s --lower-quant-ops=saturate --mlir-print-local-scope | FileCheck %s --check-prefix=SAT

!q = !quant.uniform<i8:f32, 2.0>

// A zero point of 0 and a full range: a division and a conversion.
// CHECK-LABEL: @qcast_simple
// CHECK-NEXT: %[[SCALE:.*]] = arith.constant 2.000000e+00 : f32
// CHECK-NEXT: %[[DIV:.*]] = arith.divf %arg0, %[[SCALE]] : f32
// CHECK-NEXT: %[[INT:.*]] = arith.fptosi %[[DIV]] : f32 to i8
// CHECK-NEXT: %[[Q:.*]] = quant.scast %[[INT]] : i8 to
// CHECK-NEXT: return %[[Q]]
// SAT-LABEL: @qcast_simple
// SAT: %[[DIV:.*]] = arith.divf %arg0
// SAT-NEXT: %[[ROUND:.*]] = math.roundeven %[[DIV]] : f32
// SAT-NEXT: %[[NAN:.*]] = arith.cmpf uno, %[[ROUND]], %[[ROUND]]
// SAT-NEXT: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// SAT-NEXT: %[[NUM:.*]] = arith.select %[[NAN]], %[[ZERO]], %[[ROUND]]
// SAT-NEXT: %[[MIN:.*]] = arith.constant -1.280000e+02 : f32
// SAT-NEXT: %[[MAX:.*]] = arith.constant 1.270000e+02 : f32
// SAT-NEXT: %[[LOW:.*]] = arith.maximumf %[[NUM]], %[[MIN]]
// SAT-NEXT: %[[CLAMPED:.*]] = arith.minimumf %[[LOW]], %[[MAX]]
// SAT-NEXT: arith.fptosi %[[CLAMPED]] : f32 to i8
func.func @qcast_simple(%x: f32) -> !q {
  %0 = quant.qcast %x : f32 to !q
  return %0 : !q
}

// Unsigned storage.
// CHECK-LABEL: @qcast_unsigned
// CHECK: arith.uitofp %{{.*}} : i4 to f16
// CHECK: %[[INT:.*]] = arith.fptoui %{{.*}} : f16 to i4
// CHECK-NEXT: %[[MIN:.*]] = arith.constant 2 : i4
// CHECK-NEXT: %[[MAX:.*]] = arith.constant -3 : i4
// CHECK-NEXT: %[[LOW:.*]] = arith.maxui %[[INT]], %[[MIN]]
// CHECK-NEXT: arith.minui %[[LOW]], %[[MAX]]
// Sixteen bits of storage or fewer saturate in f32, more in f64.
// SAT-LABEL: @qcast_unsigned
// SAT: arith.divf %{{.*}} : f16
// SAT-NEXT: arith.extf %{{.*}} : f16 to f32
// SAT: arith.fptoui %{{.*}} : f32 to i4
func.func @qcast_unsigned(%x: f16) -> !quant.uniform<u4<2:13>:f16, 0.5:3> {
  %0 = quant.qcast %x : f16 to !quant.uniform<u4<2:13>:f16, 0.5:3>
  return %0 : !quant.uniform<u4<2:13>:f16, 0.5:3>
}

// CHECK-LABEL: @qcast_wide
// SAT-LABEL: @qcast_wide
// SAT: arith.extf %{{.*}} : f32 to f64
// SAT: arith.fptosi %{{.*}} : f64 to i17
func.func @qcast_wide(%x: f32) -> !quant.uniform<i17:f32, 0.5> {
  %0 = quant.qcast %x : f32 to !quant.uniform<i17:f32, 0.5>
  return %0 : !quant.uniform<i17:f32, 0.5>
}

// CHECK-LABEL: @dcast_scalar
// CHECK-NEXT: %[[I:.*]] = quant.scast %arg0 : {{.*}} to i8
// CHECK-NEXT: %[[SCALE:.*]] = arith.constant 2.000000e+00 : f32
// CHECK-NEXT: %[[F:.*]] = arith.sitofp %[[I]] : i8 to f32
// CHECK-NEXT: %[[M:.*]] = arith.mulf %[[F]], %[[SCALE]] : f32
// CHECK-NEXT: return %[[M]]
func.func @dcast_scalar(%x: !q) -> f32 {
  %0 = quant.dcast %x : !q to f32
  return %0 : f32
}

// Dynamic dimensions, asked for once; the encoding of a tensor stays.
// CHECK-LABEL: @dcast_dynamic
// CHECK: %[[I:.*]] = quant.scast %arg0 : {{.*}} to tensor<?x4x?xi8, 7 : i64>
// CHECK: %[[C0:.*]] = arith.constant 0 : index
// CHECK-NEXT: %[[D0:.*]] = tensor.dim %[[I]], %[[C0]]
// CHECK-NEXT: %[[C2:.*]] = arith.constant 2 : index
// CHECK-NEXT: %[[D2:.*]] = tensor.dim %[[I]], %[[C2]]
// CHECK-NEXT: %[[F:.*]] = arith.uitofp %[[I]] : tensor<?x4x?xi8, 7 : i64> to tensor<?x4x?xf32, 7 : i64>
// CHECK-NEXT: %[[Z:.*]] = tensor.splat %{{.*}}[%[[D0]], %[[D2]]] : tensor<?x4x?xi8, 7 : i64>
// CHECK-NEXT: %[[ZF:.*]] = arith.uitofp %[[Z]]
// CHECK-NEXT: %[[SUB:.*]] = arith.subf %[[F]], %[[ZF]]
// CHECK-NEXT: %[[S:.*]] = tensor.splat %{{.*}}[%[[D0]], %[[D2]]] : tensor<?x4x?xf32, 7 : i64>
// CHECK-NEXT: arith.mulf %[[SUB]], %[[S]]
func.func @dcast_dynamic(%x: tensor<?x4x?x!quant.uniform<u8:f32, 2.0:7>, 7 : i64>) -> tensor<?x4x?xf32, 7 : i64> {
  %0 = quant.dcast %x : tensor<?x4x?x!quant.uniform<u8:f32, 2.0:7>, 7 : i64> to tensor<?x4x?xf32, 7 : i64>
  return %0 : tensor<?x4x?xf32, 7 : i64>
}

// Per axis a zero point of 0 is subtracted all the same.
// CHECK-LABEL: @dcast_axis
// CHECK: %[[SCALES:.*]] = arith.constant dense<[2.000000e+00, 3.000000e+00]> : tensor<2xf32>
// CHECK-NEXT: %[[ZEROS:.*]] = arith.constant dense<0> : tensor<2xi8>
// CHECK: tensor.empty(%{{.*}}) : tensor<?x2xf32>
// CHECK: linalg.generic
// CHECK-SAME: affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>
// CHECK: ^bb0(%[[IN:.*]]: i8, %[[S:.*]]: f32, %[[Z:.*]]: i8, %{{.*}}: f32):
// CHECK-NEXT: %[[F:.*]] = arith.sitofp %[[IN]]
// CHECK-NEXT: %[[ZF:.*]] = arith.sitofp %[[Z]]
// CHECK-NEXT: %[[SUB:.*]] = arith.subf %[[F]], %[[ZF]]
// CHECK-NEXT: %[[M:.*]] = arith.mulf %[[SUB]], %[[S]]
// CHECK-NEXT: linalg.yield %[[M]]
func.func @dcast_axis(%x: tensor<?x2x!quant.uniform<i8:f32:1, {2.0, 3.0}>>) -> tensor<?x2xf32> {
  %0 = quant.dcast %x : tensor<?x2x!quant.uniform<i8:f32:1, {2.0, 3.0}>> to tensor<?x2xf32>
  return %0 : tensor<?x2xf32>
}

// CHECK-LABEL: @dcast_unranked
// CHECK: %[[I:.*]] = quant.scast %arg0 : {{.*}} to tensor<*xi8>
// CHECK-NEXT: %[[SHAPE:.*]] = shape.shape_of %[[I]]
// CHECK: %[[FLAT:.*]] = tensor.reshape %[[I]]({{.*}}) : (tensor<*xi8>, tensor<3xindex>) -> tensor<?x2x?xi8>
// CHECK: %[[R:.*]] = linalg.generic
// CHECK: tensor.reshape %[[R]](%[[SHAPE]]) : (tensor<?x2x?xf32>, tensor<?xindex>) -> tensor<*xf32>
func.func @dcast_unranked(%x: tensor<*x!quant.uniform<i8:f32:0, {2.0, 3.0}>>) -> tensor<*xf32> {
  %0 = quant.dcast %x : tensor<*x!quant.uniform<i8:f32:0, {2.0, 3.0}>> to tensor<*xf32>
  return %0 : tensor<*xf32>
}

// A pair is lowered as it is written; only --canonicalize drops it. quant.scast remains.
// CHECK-LABEL: @pair
// CHECK: arith.divf
// CHECK: arith.fptosi
// CHECK: quant.scast
// CHECK: arith.sitofp
// CHECK: arith.mulf
func.func @pair(%x: f32) -> f32 {
  %0 = quant.qcast %x : f32 to !q
  %1 = quant.dcast %0 : !q to f32
  return %1 : f32
}

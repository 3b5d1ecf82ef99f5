// RUN: tpuc-opt %s | tpuc-opt | FileCheck %s

// CHECK-LABEL: func.func @casts
func.func @casts(%arg0: tensor<1x3x8x8xf32>, %arg1: tensor<?xf16>) -> tensor<1x3x8x8xbf16> {
  // CHECK: "tpu.Cast"(%{{.*}}) : (tensor<1x3x8x8xf32>) -> tensor<1x3x8x8xbf16>
  %0 = "tpu.Cast"(%arg0) : (tensor<1x3x8x8xf32>) -> tensor<1x3x8x8xbf16>
  // CHECK: "tpu.Cast"(%{{.*}}) : (tensor<?xf16>) -> tensor<?xi8>
  %1 = "tpu.Cast"(%arg1) : (tensor<?xf16>) -> tensor<?xi8>
  return %0 : tensor<1x3x8x8xbf16>
}

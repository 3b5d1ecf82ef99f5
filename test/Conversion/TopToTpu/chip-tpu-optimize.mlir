// Equal casts become one, and what nobody reads goes.
// RUN: tpuc-opt %s --chip-tpu-optimize --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s

// CHECK-LABEL: func.func @main
// CHECK-NEXT: %[[A:.*]] = "tpu.Cast"(%arg0) {{.*}} loc("a")
// The output keeps its name; the other reader takes it.
// CHECK-NEXT: %[[B:.*]] = "tpu.Cast"(%[[A]]) {{.*}} loc("out")
// CHECK-NEXT: %[[C:.*]] = "tpu.Add"(%[[A]], %[[A]])
// CHECK-NEXT: %[[D:.*]] = "tpu.Neg"(%[[B]])
// Two outputs of two names are two.
// CHECK-NEXT: %[[E:.*]] = "tpu.Cast"(%[[A]]) {{.*}} loc("again")
// CHECK-NEXT: %[[F:.*]] = "tpu.If"(%arg1) ({
// CHECK-NEXT: %[[G:.*]] = "tpu.Cast"(%arg2) {{.*}} loc("inside")
// CHECK-NEXT: "tpu.Yield"(%[[G]])
// CHECK: "tpu.Yield"
// CHECK: %[[H:.*]] = "tpu.Cast"(%arg2) {{.*}} loc("behind")
// CHECK-NEXT: %[[I:.*]] = "tpu.Neg"(%[[H]])
// CHECK-NEXT: return %[[C]], %[[D]], %[[B]], %[[E]], %[[F]], %[[I]]
func.func @main(%arg0: tensor<4xf32>, %arg1: tensor<i1>, %arg2: tensor<4xf16>) -> (tensor<4xf16>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0 = "tpu.Cast"(%arg0) : (tensor<4xf32>) -> tensor<4xf16> loc("a")
  %1 = "tpu.Cast"(%arg0) : (tensor<4xf32>) -> tensor<4xf16> loc("b")
  %2 = "tpu.Cast"(%0) : (tensor<4xf16>) -> tensor<4xf32> loc("c")
  %3 = "tpu.Add"(%0, %1) : (tensor<4xf16>, tensor<4xf16>) -> tensor<4xf16> loc("add")
  %4 = "tpu.Neg"(%2) : (tensor<4xf32>) -> tensor<4xf32> loc("neg")
  %5 = "tpu.Cast"(%0) : (tensor<4xf16>) -> tensor<4xf32> loc("out")
  %6 = "tpu.Cast"(%0) : (tensor<4xf16>) -> tensor<4xf32> loc("again")
  %7 = "tpu.Exp"(%4) : (tensor<4xf32>) -> tensor<4xf32> loc("dead")
  %8 = "tpu.If"(%arg1) ({
    %9 = "tpu.Cast"(%arg2) : (tensor<4xf16>) -> tensor<4xf32> loc("inside")
    "tpu.Yield"(%9) : (tensor<4xf32>) -> ()
  }, {
    "tpu.Yield"(%5) : (tensor<4xf32>) -> ()
  }) : (tensor<i1>) -> tensor<4xf32> loc("if")
  %10 = "tpu.Cast"(%arg2) : (tensor<4xf16>) -> tensor<4xf32> loc("behind")
  %11 = "tpu.Neg"(%10) : (tensor<4xf32>) -> tensor<4xf32> loc("neg2")
  return %3, %4, %5, %6, %8, %11 : tensor<4xf16>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

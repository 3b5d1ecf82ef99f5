// RUN: tpuc-opt %s --canonicalize --cse | FileCheck %s

// Constants that nothing reads disappear.
// CHECK-LABEL: func.func @unused
// CHECK-NOT: top.
// CHECK: return
func.func @unused() {
  %0 = "top.None"() : () -> none
  %1 = "top.Weight"() : () -> tensor<4xf32> loc("w")
  return
}

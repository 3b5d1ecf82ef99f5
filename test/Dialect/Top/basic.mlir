// The ops of the dialect, printed and parsed back, with their names.
// RUN: tpuc-opt %s --mlir-print-debuginfo --mlir-print-local-scope | tpuc-opt --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s

// CHECK: module @net attributes {module.state = "TOP_F32", module.weight_file = "net.npz"}
module @net attributes {module.state = "TOP_F32", module.weight_file = "net.npz"} {
  // CHECK-LABEL: func.func @main
  func.func @main(%arg0: tensor<1x4xf32>) -> tensor<1x4xf32> {
    // CHECK: "top.None"() : () -> none
    %0 = "top.None"() : () -> none
    // CHECK: "top.Weight"() : () -> tensor<32x16x3x3xf32> loc("a/b c:gr\C3\B6\C3\9Fe")
    %1 = "top.Weight"() : () -> tensor<32x16x3x3xf32> loc("a/b c:größe")
    // CHECK: "top.Weight"() : () -> tensor<f64>
    %2 = "top.Weight"() : () -> tensor<f64> loc("scalar")
    return %arg0 : tensor<1x4xf32>
  }
}

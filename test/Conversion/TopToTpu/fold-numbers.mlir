// Convolutions take over sums and products with a number in front of them.
// RUN: tpuc-opt %s --chip-assign=chip=bm1684x --shape-infer "--chip-top-optimize=fold-numbers=true" --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s
// RUN: tpuc-opt %s --chip-assign=chip=bm1684x --shape-infer --chip-top-optimize --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s --check-prefix=NOT
// NOT-NOT: pad_value =
// NOT: loc("product")
// NOT: loc("sum")
// NOT: loc("kept")
// NOT-NOT: pad_value =

// CHECK: %[[X:.*]] = "top.Input"
// CHECK-NOT: loc("product")
// CHECK-NOT: loc("sum")
// CHECK-NOT: loc("shift")
// Windows that reach beyond what channels share: the number stays.
// CHECK: %[[KEPT:.*]] = "top.AddConst"(%[[X]]) {{.*}} loc("kept")
// So it does where the numbers around are of channels.
// CHECK: %[[BESIDE:.*]] = "top.AddConst"(%[[X]]) {{.*}} loc("beside")
// 0 around 2 x + 3 is -1.5 around x.
// CHECK: "top.Conv"(%[[X]], {{.*}}pad_value = -1.500000e+00 : f64{{.*}} loc("padded")
// CHECK-NOT: pad_value
// CHECK: "top.Conv"(%[[X]], {{.*}} loc("inside")
// CHECK-NOT: pad_value
// CHECK: "top.Conv"(%[[KEPT]], {{.*}} loc("dense")
// CHECK: "top.Conv"(%[[BESIDE]], {{.*}}pad_values = [1.000000e+00, 2.000000e+00]{{.*}} loc("channels")
module {
  func.func @main(%arg0: tensor<1x2x5x5xf32>) -> (tensor<1x2x5x5xf32>, tensor<1x2x5x5xf32>, tensor<1x2x5x5xf32>, tensor<1x2x5x5xf32>) {
    %none = "top.None"() : () -> none
    %x = "top.Input"(%arg0) : (tensor<1x2x5x5xf32>) -> tensor<1x2x5x5xf32> loc("x")
    %w = "top.ConstantFill"(%none) {shape = [2, 1, 3, 3], value = 0.5 : f32} : (none) -> tensor<2x1x3x3xf32> loc("w")
    %v = "top.ConstantFill"(%none) {shape = [2, 2, 1, 1], value = 0.5 : f32} : (none) -> tensor<2x2x1x1xf32> loc("v")
    %u = "top.ConstantFill"(%none) {shape = [2, 2, 3, 3], value = 0.5 : f32} : (none) -> tensor<2x2x3x3xf32> loc("u")
    %0 = "top.MulConst"(%x) {const_val = 2.0 : f64} : (tensor<1x2x5x5xf32>) -> tensor<1x2x5x5xf32> loc("product")
    %1 = "top.AddConst"(%0) {const_val = 3.0 : f64} : (tensor<1x2x5x5xf32>) -> tensor<1x2x5x5xf32> loc("sum")
    %2 = "top.AddConst"(%x) {const_val = 7.0 : f64} : (tensor<1x2x5x5xf32>) -> tensor<1x2x5x5xf32> loc("shift")
    %3 = "top.AddConst"(%x) {const_val = 5.0 : f64} : (tensor<1x2x5x5xf32>) -> tensor<1x2x5x5xf32> loc("kept")
    %8 = "top.AddConst"(%x) {const_val = 6.0 : f64} : (tensor<1x2x5x5xf32>) -> tensor<1x2x5x5xf32> loc("beside")
    %4 = "top.Conv"(%1, %w, %none) {kernel_shape = [3, 3], pads = [1, 1, 1, 1], group = 2 : i64} : (tensor<1x2x5x5xf32>, tensor<2x1x3x3xf32>, none) -> tensor<1x2x5x5xf32> loc("padded")
    %5 = "top.Conv"(%2, %v, %none) {kernel_shape = [1, 1]} : (tensor<1x2x5x5xf32>, tensor<2x2x1x1xf32>, none) -> tensor<1x2x5x5xf32> loc("inside")
    %6 = "top.Conv"(%3, %u, %none) {kernel_shape = [3, 3], pads = [1, 1, 1, 1]} : (tensor<1x2x5x5xf32>, tensor<2x2x3x3xf32>, none) -> tensor<1x2x5x5xf32> loc("dense")
    %7 = "top.Conv"(%8, %w, %none) {kernel_shape = [3, 3], pads = [1, 1, 1, 1], group = 2 : i64, pad_values = [1.0, 2.0]} : (tensor<1x2x5x5xf32>, tensor<2x1x3x3xf32>, none) -> tensor<1x2x5x5xf32> loc("channels")
    return %4, %5, %6, %7 : tensor<1x2x5x5xf32>, tensor<1x2x5x5xf32>, tensor<1x2x5x5xf32>, tensor<1x2x5x5xf32>
  }
}

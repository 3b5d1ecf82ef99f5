// RUN: tpuc-opt %s --shape-infer --top-fuse --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s
// RUN: tpuc-opt %s --shape-infer --top-fuse=disable=merge-convs | FileCheck %s --check-prefix=OFF

// OFF-NOT: "top.Slice"

// Two readers of 32 channels with 2 and 4: 32 are read once less, 2 * 6 are copied.
// CHECK-LABEL: func.func @heads
// CHECK: %[[C:.*]] = "top.Conv"(%arg0, {{.*}}do_relu = true{{.*}}(tensor<1x32x8x8xf32>, tensor<6x32x1x1xf32>, tensor<6xf32>) -> tensor<1x6x8x8xf32> loc("a_relu_merged")
// CHECK-DAG: %[[A:.*]] = "top.Slice"(%[[C]], {{.*}}axes = [1], ends = [2], offset = [0], steps = [1]{{.*}} loc("a_relu")
// CHECK-DAG: %[[B:.*]] = "top.Slice"(%[[C]], {{.*}}axes = [1], ends = [6], offset = [2], steps = [1]{{.*}} loc("b_relu")
// CHECK: return %[[A]], %[[B]]
// OFF-LABEL: func.func @heads
// OFF: "top.Conv"
// OFF: "top.Conv"
func.func @heads(%x: tensor<1x32x8x8xf32>) -> (tensor<1x2x8x8xf32>, tensor<1x4x8x8xf32>) {
  %none = "top.None"() : () -> none
  %wa = "top.ConstantFill"(%none) {shape = [2, 32, 1, 1], value = 1.0 : f32} : (none) -> tensor<2x32x1x1xf32>
  %ba = "top.ConstantFill"(%none) {shape = [2], value = 1.0 : f32} : (none) -> tensor<2xf32>
  %wb = "top.ConstantFill"(%none) {shape = [4, 32, 1, 1], value = 1.5 : f32} : (none) -> tensor<4x32x1x1xf32>
  %a = "top.Conv"(%x, %wa, %ba) {kernel_shape = [1, 1]} : (tensor<1x32x8x8xf32>, tensor<2x32x1x1xf32>, tensor<2xf32>) -> tensor<1x2x8x8xf32> loc("a")
  %ra = "top.Relu"(%a) : (tensor<1x2x8x8xf32>) -> tensor<1x2x8x8xf32> loc("a_relu")
  %b = "top.Conv"(%x, %wb, %none) {kernel_shape = [1, 1]} : (tensor<1x32x8x8xf32>, tensor<4x32x1x1xf32>, none) -> tensor<1x4x8x8xf32> loc("b")
  %rb = "top.Relu"(%b) : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32> loc("b_relu")
  return %ra, %rb : tensor<1x2x8x8xf32>, tensor<1x4x8x8xf32>
}

// Concatenated, nothing is copied; the merged channels are in the order of the concatenation.
// CHECK-LABEL: func.func @concatenated
// CHECK: %[[W:.*]] = "top.Weight"() : () -> tensor<32x16x1x1xf32>
// CHECK: %[[C:.*]] = "top.Conv"(%arg0, %[[W]], {{.*}}-> tensor<1x32x8x8xf32> loc("b_merged")
// CHECK: %[[S:.*]] = "top.SiLU"(%[[C]]){{.*}} loc("b_silu_merged")
// CHECK: "top.Concat"(%arg0, %[[S]]) {{.*}} loc("y")
func.func @concatenated(%x: tensor<1x16x8x8xf32>) -> tensor<1x48x8x8xf32> {
  %none = "top.None"() : () -> none
  %wa = "top.ConstantFill"(%none) {shape = [20, 16, 1, 1], value = 1.0 : f32} : (none) -> tensor<20x16x1x1xf32>
  %wb = "top.ConstantFill"(%none) {shape = [12, 16, 1, 1], value = 9.0 : f32} : (none) -> tensor<12x16x1x1xf32>
  %a = "top.Conv"(%x, %wa, %none) {kernel_shape = [1, 1]} : (tensor<1x16x8x8xf32>, tensor<20x16x1x1xf32>, none) -> tensor<1x20x8x8xf32> loc("a")
  %sa = "top.SiLU"(%a) : (tensor<1x20x8x8xf32>) -> tensor<1x20x8x8xf32> loc("a_silu")
  %b = "top.Conv"(%x, %wb, %none) {kernel_shape = [1, 1]} : (tensor<1x16x8x8xf32>, tensor<12x16x1x1xf32>, none) -> tensor<1x12x8x8xf32> loc("b")
  %sb = "top.SiLU"(%b) : (tensor<1x12x8x8xf32>) -> tensor<1x12x8x8xf32> loc("b_silu")
  %y = "top.Concat"(%x, %sb, %sa) {axis = 1 : i64} : (tensor<1x16x8x8xf32>, tensor<1x12x8x8xf32>, tensor<1x20x8x8xf32>) -> tensor<1x48x8x8xf32> loc("y")
  return %y : tensor<1x48x8x8xf32>
}

// CHECK-LABEL: func.func @all_of_a_concat
// CHECK: %[[C:.*]] = "top.Conv"(%arg0, {{.*}}-> tensor<1x32x8x8xf32> loc("y")
// CHECK-NEXT: return %[[C]]
func.func @all_of_a_concat(%x: tensor<1x16x8x8xf32>) -> tensor<1x32x8x8xf32> {
  %none = "top.None"() : () -> none
  %wa = "top.ConstantFill"(%none) {shape = [20, 16, 1, 1], value = 1.0 : f32} : (none) -> tensor<20x16x1x1xf32>
  %wb = "top.ConstantFill"(%none) {shape = [12, 16, 1, 1], value = 9.0 : f32} : (none) -> tensor<12x16x1x1xf32>
  %a = "top.Conv"(%x, %wa, %none) {kernel_shape = [1, 1]} : (tensor<1x16x8x8xf32>, tensor<20x16x1x1xf32>, none) -> tensor<1x20x8x8xf32> loc("a")
  %b = "top.Conv"(%x, %wb, %none) {kernel_shape = [1, 1]} : (tensor<1x16x8x8xf32>, tensor<12x16x1x1xf32>, none) -> tensor<1x12x8x8xf32> loc("b")
  %y = "top.Concat"(%a, %b) {axis = -3 : i64} : (tensor<1x20x8x8xf32>, tensor<1x12x8x8xf32>) -> tensor<1x32x8x8xf32> loc("y")
  return %y : tensor<1x32x8x8xf32>
}

// Rows are concatenated, and 2 * 16 channels would have to be copied to read 16 once less.
// CHECK-LABEL: func.func @rows
// CHECK-NOT: _merged
// CHECK: return
func.func @rows(%x: tensor<1x16x8x8xf32>) -> tensor<1x8x16x8xf32> {
  %none = "top.None"() : () -> none
  %wa = "top.ConstantFill"(%none) {shape = [8, 16, 1, 1], value = 1.0 : f32} : (none) -> tensor<8x16x1x1xf32>
  %wb = "top.ConstantFill"(%none) {shape = [8, 16, 1, 1], value = 1.5 : f32} : (none) -> tensor<8x16x1x1xf32>
  %a = "top.Conv"(%x, %wa, %none) {kernel_shape = [1, 1]} : (tensor<1x16x8x8xf32>, tensor<8x16x1x1xf32>, none) -> tensor<1x8x8x8xf32> loc("a")
  %b = "top.Conv"(%x, %wb, %none) {kernel_shape = [1, 1]} : (tensor<1x16x8x8xf32>, tensor<8x16x1x1xf32>, none) -> tensor<1x8x8x8xf32> loc("b")
  %y = "top.Concat"(%a, %b) {axis = 2 : i64} : (tensor<1x8x8x8xf32>, tensor<1x8x8x8xf32>) -> tensor<1x8x16x8xf32> loc("y")
  return %y : tensor<1x8x16x8xf32>
}

// Weights three times as large: one 8-bit scale would cost the other result more than a bit.
// CHECK-LABEL: func.func @other_range
// CHECK-NOT: _merged
// CHECK: return
func.func @other_range(%x: tensor<1x32x8x8xf32>) -> (tensor<1x2x8x8xf32>, tensor<1x4x8x8xf32>) {
  %none = "top.None"() : () -> none
  %wa = "top.ConstantFill"(%none) {shape = [2, 32, 1, 1], value = 1.0 : f32} : (none) -> tensor<2x32x1x1xf32>
  %wb = "top.ConstantFill"(%none) {shape = [4, 32, 1, 1], value = 3.0 : f32} : (none) -> tensor<4x32x1x1xf32>
  %a = "top.Conv"(%x, %wa, %none) {kernel_shape = [1, 1]} : (tensor<1x32x8x8xf32>, tensor<2x32x1x1xf32>, none) -> tensor<1x2x8x8xf32> loc("a")
  %b = "top.Conv"(%x, %wb, %none) {kernel_shape = [1, 1]} : (tensor<1x32x8x8xf32>, tensor<4x32x1x1xf32>, none) -> tensor<1x4x8x8xf32> loc("b")
  return %a, %b : tensor<1x2x8x8xf32>, tensor<1x4x8x8xf32>
}

// CHECK-LABEL: func.func @other_window
// CHECK-NOT: _merged
// CHECK: return
func.func @other_window(%x: tensor<1x32x8x8xf32>) -> (tensor<1x2x8x8xf32>, tensor<1x4x8x8xf32>) {
  %none = "top.None"() : () -> none
  %wa = "top.ConstantFill"(%none) {shape = [2, 32, 1, 1], value = 1.0 : f32} : (none) -> tensor<2x32x1x1xf32>
  %wb = "top.ConstantFill"(%none) {shape = [4, 32, 3, 3], value = 0.5 : f32} : (none) -> tensor<4x32x3x3xf32>
  %a = "top.Conv"(%x, %wa, %none) {kernel_shape = [1, 1], pads = [0, 0, 0, 0]} : (tensor<1x32x8x8xf32>, tensor<2x32x1x1xf32>, none) -> tensor<1x2x8x8xf32> loc("a")
  %b = "top.Conv"(%x, %wb, %none) {kernel_shape = [3, 3], pads = [1, 1, 1, 1]} : (tensor<1x32x8x8xf32>, tensor<4x32x3x3xf32>, none) -> tensor<1x4x8x8xf32> loc("b")
  return %a, %b : tensor<1x2x8x8xf32>, tensor<1x4x8x8xf32>
}

// CHECK-LABEL: func.func @other_activation
// CHECK-NOT: _merged
// CHECK: return
func.func @other_activation(%x: tensor<1x32x8x8xf32>) -> (tensor<1x2x8x8xf32>, tensor<1x4x8x8xf32>) {
  %none = "top.None"() : () -> none
  %wa = "top.ConstantFill"(%none) {shape = [2, 32, 1, 1], value = 1.0 : f32} : (none) -> tensor<2x32x1x1xf32>
  %wb = "top.ConstantFill"(%none) {shape = [4, 32, 1, 1], value = 1.5 : f32} : (none) -> tensor<4x32x1x1xf32>
  %a = "top.Conv"(%x, %wa, %none) {kernel_shape = [1, 1]} : (tensor<1x32x8x8xf32>, tensor<2x32x1x1xf32>, none) -> tensor<1x2x8x8xf32> loc("a")
  %sa = "top.LeakyRelu"(%a) {alpha = 0.1 : f64} : (tensor<1x2x8x8xf32>) -> tensor<1x2x8x8xf32>
  %b = "top.Conv"(%x, %wb, %none) {kernel_shape = [1, 1]} : (tensor<1x32x8x8xf32>, tensor<4x32x1x1xf32>, none) -> tensor<1x4x8x8xf32> loc("b")
  %sb = "top.LeakyRelu"(%b) {alpha = 0.2 : f64} : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  return %sa, %sb : tensor<1x2x8x8xf32>, tensor<1x4x8x8xf32>
}

// CHECK-LABEL: func.func @grouped
// CHECK-NOT: _merged
// CHECK: return
func.func @grouped(%x: tensor<1x32x8x8xf32>) -> (tensor<1x2x8x8xf32>, tensor<1x4x8x8xf32>) {
  %none = "top.None"() : () -> none
  %wa = "top.ConstantFill"(%none) {shape = [2, 16, 1, 1], value = 1.0 : f32} : (none) -> tensor<2x16x1x1xf32>
  %wb = "top.ConstantFill"(%none) {shape = [4, 16, 1, 1], value = 1.5 : f32} : (none) -> tensor<4x16x1x1xf32>
  %a = "top.Conv"(%x, %wa, %none) {kernel_shape = [1, 1], group = 2 : i64} : (tensor<1x32x8x8xf32>, tensor<2x16x1x1xf32>, none) -> tensor<1x2x8x8xf32> loc("a")
  %b = "top.Conv"(%x, %wb, %none) {kernel_shape = [1, 1], group = 2 : i64} : (tensor<1x32x8x8xf32>, tensor<4x16x1x1xf32>, none) -> tensor<1x4x8x8xf32> loc("b")
  return %a, %b : tensor<1x2x8x8xf32>, tensor<1x4x8x8xf32>
}

// Numbers for input channels go to the input, those for output channels to the result.
// CHECK-LABEL: func.func @modulated
// CHECK-DAG: %[[W:.*]] = "top.Weight"() : () -> tensor<6x4x3x3xf32>
// CHECK-DAG: %[[X:.*]] = "top.Mul"(%arg0, {{.*}} : (tensor<2x4x8x8xf32>, tensor<1x4x1x1xf32>) -> tensor<2x4x8x8xf32> loc("y_scaled0")
// CHECK: %[[C:.*]] = "top.Conv"(%[[X]], %[[W]], {{.*}} loc("y_convolved")
// Each tensor has a name of its own.
// CHECK: %[[D:.*]] = "top.Reshape"(%arg2{{.*}} loc("y_factor0_numbers")
// CHECK: "top.Mul"(%[[C]], %[[D]]) {{.*}} : (tensor<2x6x6x6xf32>, tensor<1x6x1x1xf32>) -> tensor<2x6x6x6xf32> loc("y")
// OFF-LABEL: func.func @modulated
func.func @modulated(%x: tensor<2x4x8x8xf32>, %s: tensor<1x4x1x1xf32>, %d: tensor<6x1x1x1xf32>) -> tensor<2x6x6x6xf32> {
  %none = "top.None"() : () -> none
  %w = "top.Weight"() : () -> tensor<6x4x3x3xf32> loc("modulated_w")
  %1 = "top.Mul"(%w, %s) : (tensor<6x4x3x3xf32>, tensor<1x4x1x1xf32>) -> tensor<6x4x3x3xf32> loc("1")
  %2 = "top.Mul"(%1, %d) : (tensor<6x4x3x3xf32>, tensor<6x1x1x1xf32>) -> tensor<6x4x3x3xf32> loc("2")
  %y = "top.Conv"(%x, %2, %none) {kernel_shape = [3, 3]} : (tensor<2x4x8x8xf32>, tensor<6x4x3x3xf32>, none) -> tensor<2x6x6x6xf32> loc("y")
  return %y : tensor<2x6x6x6xf32>
}

// With numbers for each tap the filter stays computed.
// CHECK-LABEL: func.func @of_taps
// CHECK: "top.Conv"(%arg0, %{{.*}} loc("z")
func.func @of_taps(%x: tensor<2x4x8x8xf32>, %s: tensor<1x1x3x1xf32>) -> tensor<2x6x6x6xf32> {
  %none = "top.None"() : () -> none
  %w = "top.Weight"() : () -> tensor<6x4x3x3xf32> loc("taps_w")
  %1 = "top.Mul"(%w, %s) : (tensor<6x4x3x3xf32>, tensor<1x1x3x1xf32>) -> tensor<6x4x3x3xf32> loc("1")
  %z = "top.Conv"(%x, %1, %none) {kernel_shape = [3, 3]} : (tensor<2x4x8x8xf32>, tensor<6x4x3x3xf32>, none) -> tensor<2x6x6x6xf32> loc("z")
  return %z : tensor<2x6x6x6xf32>
}

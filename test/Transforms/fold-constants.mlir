// RUN: tpuc-opt %s --shape-infer --top-fuse --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s
// RUN: tpuc-opt %s --shape-infer --top-fuse=disable=mul-into-conv,add-into-conv,scale-into-conv,mul-into-matmul,scale-to-depthwise | FileCheck %s --check-prefix=OFF

// CHECK-LABEL: func.func @mul_into_conv
// CHECK: "top.Conv"(%arg0, {{.*}} loc("y")
// CHECK-NOT: "top.Mul"
// CHECK: return
// OFF-LABEL: func.func @mul_into_conv
// OFF: "top.Conv"
// OFF: "top.Mul"
func.func @mul_into_conv(%x: tensor<1x4x6x6xf32>) -> tensor<1x8x6x6xf32> {
  %none = "top.None"() : () -> none
  %f = "top.ConstantFill"(%none) {shape = [8, 4, 1, 1], value = 0.5 : f32} : (none) -> tensor<8x4x1x1xf32>
  %1 = "top.Conv"(%x, %f, %none) {kernel_shape = [1, 1]} : (tensor<1x4x6x6xf32>, tensor<8x4x1x1xf32>, none) -> tensor<1x8x6x6xf32> loc("x")
  %c = "top.ConstantFill"(%none) {shape = [8, 1, 1], value = 2.0 : f32} : (none) -> tensor<8x1x1xf32>
  %2 = "top.Mul"(%1, %c) : (tensor<1x8x6x6xf32>, tensor<8x1x1xf32>) -> tensor<1x8x6x6xf32> loc("y")
  return %2 : tensor<1x8x6x6xf32>
}

// CHECK-LABEL: func.func @mul_scalar_into_conv
// CHECK: "top.Conv"(%arg0, {{.*}} loc("y")
// CHECK-NOT: "top.Mul"
// CHECK: return
func.func @mul_scalar_into_conv(%x: tensor<1x4x6x6xf32>) -> tensor<1x8x6x6xf32> {
  %none = "top.None"() : () -> none
  %f = "top.ConstantFill"(%none) {shape = [8, 4, 1, 1], value = 0.5 : f32} : (none) -> tensor<8x4x1x1xf32>
  %1 = "top.Conv"(%x, %f, %none) {kernel_shape = [1, 1]} : (tensor<1x4x6x6xf32>, tensor<8x4x1x1xf32>, none) -> tensor<1x8x6x6xf32> loc("x")
  %c = "top.ConstantFill"(%none) {shape = [], value = 2.0 : f32} : (none) -> tensor<f32>
  %2 = "top.Mul"(%c, %1) : (tensor<f32>, tensor<1x8x6x6xf32>) -> tensor<1x8x6x6xf32> loc("y")
  return %2 : tensor<1x8x6x6xf32>
}

// CHECK-LABEL: func.func @div_into_conv
// CHECK: "top.Conv"(%arg0, {{.*}} loc("y")
// CHECK-NOT: "top.Div"
// CHECK: return
func.func @div_into_conv(%x: tensor<1x4x6x6xf32>) -> tensor<1x8x6x6xf32> {
  %none = "top.None"() : () -> none
  %f = "top.ConstantFill"(%none) {shape = [8, 4, 1, 1], value = 0.5 : f32} : (none) -> tensor<8x4x1x1xf32>
  %1 = "top.Conv"(%x, %f, %none) {kernel_shape = [1, 1]} : (tensor<1x4x6x6xf32>, tensor<8x4x1x1xf32>, none) -> tensor<1x8x6x6xf32> loc("x")
  %c = "top.ConstantFill"(%none) {shape = [1, 8, 1, 1], value = 2.0 : f32} : (none) -> tensor<1x8x1x1xf32>
  %2 = "top.Div"(%1, %c) : (tensor<1x8x6x6xf32>, tensor<1x8x1x1xf32>) -> tensor<1x8x6x6xf32> loc("y")
  return %2 : tensor<1x8x6x6xf32>
}

// CHECK-LABEL: func.func @add_into_conv
// CHECK: "top.Conv"(%arg0, {{.*}} loc("y")
// CHECK-NOT: "top.Add"
// CHECK: return
// OFF-LABEL: func.func @add_into_conv
// OFF: "top.Conv"
// OFF: "top.Add"
func.func @add_into_conv(%x: tensor<1x4x6x6xf32>) -> tensor<1x8x6x6xf32> {
  %none = "top.None"() : () -> none
  %f = "top.ConstantFill"(%none) {shape = [8, 4, 1, 1], value = 0.5 : f32} : (none) -> tensor<8x4x1x1xf32>
  %1 = "top.Conv"(%x, %f, %none) {kernel_shape = [1, 1]} : (tensor<1x4x6x6xf32>, tensor<8x4x1x1xf32>, none) -> tensor<1x8x6x6xf32> loc("x")
  %c = "top.ConstantFill"(%none) {shape = [1, 8, 1, 1], value = 2.0 : f32} : (none) -> tensor<1x8x1x1xf32>
  %2 = "top.Add"(%1, %c) : (tensor<1x8x6x6xf32>, tensor<1x8x1x1xf32>) -> tensor<1x8x6x6xf32> loc("y")
  return %2 : tensor<1x8x6x6xf32>
}

// CHECK-LABEL: func.func @sub_from_into_conv
// CHECK: "top.Conv"(%arg0, {{.*}} loc("y")
// CHECK-NOT: "top.Sub"
// CHECK: return
func.func @sub_from_into_conv(%x: tensor<1x4x6x6xf32>) -> tensor<1x8x6x6xf32> {
  %none = "top.None"() : () -> none
  %f = "top.ConstantFill"(%none) {shape = [8, 4, 1, 1], value = 0.5 : f32} : (none) -> tensor<8x4x1x1xf32>
  %1 = "top.Conv"(%x, %f, %none) {kernel_shape = [1, 1]} : (tensor<1x4x6x6xf32>, tensor<8x4x1x1xf32>, none) -> tensor<1x8x6x6xf32> loc("x")
  %c = "top.ConstantFill"(%none) {shape = [], value = 2.0 : f32} : (none) -> tensor<f32>
  %2 = "top.Sub"(%c, %1) : (tensor<f32>, tensor<1x8x6x6xf32>) -> tensor<1x8x6x6xf32> loc("y")
  return %2 : tensor<1x8x6x6xf32>
}

// CHECK-LABEL: func.func @consts_into_conv
// CHECK: "top.Conv"(%arg0, {{.*}}do_relu = true{{.*}} loc("y")
// CHECK-NOT: top.
// CHECK: return
func.func @consts_into_conv(%x: tensor<1x4x6x6xf32>) -> tensor<1x8x6x6xf32> {
  %none = "top.None"() : () -> none
  %f = "top.ConstantFill"(%none) {shape = [8, 4, 1, 1], value = 0.5 : f32} : (none) -> tensor<8x4x1x1xf32>
  %1 = "top.Conv"(%x, %f, %none) {kernel_shape = [1, 1]} : (tensor<1x4x6x6xf32>, tensor<8x4x1x1xf32>, none) -> tensor<1x8x6x6xf32> loc("x")
  %2 = "top.MulConst"(%1) {const_val = 3.0 : f64} : (tensor<1x8x6x6xf32>) -> tensor<1x8x6x6xf32>
  %3 = "top.AddConst"(%2) {const_val = 1.0 : f64, do_relu = true} : (tensor<1x8x6x6xf32>) -> tensor<1x8x6x6xf32> loc("y")
  return %3 : tensor<1x8x6x6xf32>
}

// The convolution is an output itself.
// CHECK-LABEL: func.func @mul_read_twice
// CHECK: "top.Conv"
// CHECK: "top.Mul"
func.func @mul_read_twice(%x: tensor<1x4x6x6xf32>) -> (tensor<1x8x6x6xf32>, tensor<1x8x6x6xf32>) {
  %none = "top.None"() : () -> none
  %f = "top.ConstantFill"(%none) {shape = [8, 4, 1, 1], value = 0.5 : f32} : (none) -> tensor<8x4x1x1xf32>
  %1 = "top.Conv"(%x, %f, %none) {kernel_shape = [1, 1]} : (tensor<1x4x6x6xf32>, tensor<8x4x1x1xf32>, none) -> tensor<1x8x6x6xf32> loc("x")
  %c = "top.ConstantFill"(%none) {shape = [8, 1, 1], value = 2.0 : f32} : (none) -> tensor<8x1x1xf32>
  %2 = "top.Mul"(%1, %c) : (tensor<1x8x6x6xf32>, tensor<8x1x1xf32>) -> tensor<1x8x6x6xf32>
  return %1, %2 : tensor<1x8x6x6xf32>, tensor<1x8x6x6xf32>
}

// One factor per row is none per channel.
// CHECK-LABEL: func.func @mul_per_row
// CHECK: "top.Mul"
func.func @mul_per_row(%x: tensor<1x4x6x6xf32>) -> tensor<1x8x6x6xf32> {
  %none = "top.None"() : () -> none
  %f = "top.ConstantFill"(%none) {shape = [8, 4, 1, 1], value = 0.5 : f32} : (none) -> tensor<8x4x1x1xf32>
  %1 = "top.Conv"(%x, %f, %none) {kernel_shape = [1, 1]} : (tensor<1x4x6x6xf32>, tensor<8x4x1x1xf32>, none) -> tensor<1x8x6x6xf32> loc("x")
  %c = "top.ConstantFill"(%none) {shape = [6, 1], value = 2.0 : f32} : (none) -> tensor<6x1xf32>
  %2 = "top.Mul"(%1, %c) : (tensor<1x8x6x6xf32>, tensor<6x1xf32>) -> tensor<1x8x6x6xf32>
  return %2 : tensor<1x8x6x6xf32>
}

// Of a tensor that is computed.
// CHECK-LABEL: func.func @mul_not_constant
// CHECK: "top.Mul"
func.func @mul_not_constant(%x: tensor<1x4x6x6xf32>, %c: tensor<8x1x1xf32>) -> tensor<1x8x6x6xf32> {
  %none = "top.None"() : () -> none
  %f = "top.ConstantFill"(%none) {shape = [8, 4, 1, 1], value = 0.5 : f32} : (none) -> tensor<8x4x1x1xf32>
  %1 = "top.Conv"(%x, %f, %none) {kernel_shape = [1, 1]} : (tensor<1x4x6x6xf32>, tensor<8x4x1x1xf32>, none) -> tensor<1x8x6x6xf32> loc("x")
  %2 = "top.Mul"(%1, %c) : (tensor<1x8x6x6xf32>, tensor<8x1x1xf32>) -> tensor<1x8x6x6xf32>
  return %2 : tensor<1x8x6x6xf32>
}

// The weights would be infinite.
// CHECK-LABEL: func.func @div_by_zero
// CHECK: "top.Div"
func.func @div_by_zero(%x: tensor<1x4x6x6xf32>) -> tensor<1x8x6x6xf32> {
  %none = "top.None"() : () -> none
  %f = "top.ConstantFill"(%none) {shape = [8, 4, 1, 1], value = 0.5 : f32} : (none) -> tensor<8x4x1x1xf32>
  %1 = "top.Conv"(%x, %f, %none) {kernel_shape = [1, 1]} : (tensor<1x4x6x6xf32>, tensor<8x4x1x1xf32>, none) -> tensor<1x8x6x6xf32> loc("x")
  %c = "top.ConstantFill"(%none) {shape = [8, 1, 1], value = 0.0 : f32} : (none) -> tensor<8x1x1xf32>
  %2 = "top.Div"(%1, %c) : (tensor<1x8x6x6xf32>, tensor<8x1x1xf32>) -> tensor<1x8x6x6xf32>
  return %2 : tensor<1x8x6x6xf32>
}

// A factor below 0 would be another activation.
// CHECK-LABEL: func.func @mul_behind_relu
// CHECK: do_relu = true
// CHECK: "top.Mul"
func.func @mul_behind_relu(%x: tensor<1x4x6x6xf32>) -> tensor<1x8x6x6xf32> {
  %none = "top.None"() : () -> none
  %f = "top.ConstantFill"(%none) {shape = [8, 4, 1, 1], value = 0.5 : f32} : (none) -> tensor<8x4x1x1xf32>
  %1 = "top.Conv"(%x, %f, %none) {kernel_shape = [1, 1], do_relu = true} : (tensor<1x4x6x6xf32>, tensor<8x4x1x1xf32>, none) -> tensor<1x8x6x6xf32> loc("x")
  %c = "top.ConstantFill"(%none) {shape = [8, 1, 1], value = 2.0 : f32} : (none) -> tensor<8x1x1xf32>
  %2 = "top.Mul"(%1, %c) : (tensor<1x8x6x6xf32>, tensor<8x1x1xf32>) -> tensor<1x8x6x6xf32>
  return %2 : tensor<1x8x6x6xf32>
}

// Extents that are not known do not matter.
// CHECK-LABEL: func.func @mul_of_dynamic
// CHECK: "top.Conv"({{.*}} loc("y")
// CHECK-NOT: "top.Mul"
// CHECK: return
func.func @mul_of_dynamic(%x: tensor<?x4x?x?xf32>) -> tensor<?x8x?x?xf32> {
  %none = "top.None"() : () -> none
  %f = "top.ConstantFill"(%none) {shape = [8, 4, 1, 1], value = 0.5 : f32} : (none) -> tensor<8x4x1x1xf32>
  %1 = "top.Conv"(%x, %f, %none) {kernel_shape = [1, 1]} : (tensor<?x4x?x?xf32>, tensor<8x4x1x1xf32>, none) -> tensor<?x8x?x?xf32> loc("x")
  %c = "top.ConstantFill"(%none) {shape = [8, 1, 1], value = 2.0 : f32} : (none) -> tensor<8x1x1xf32>
  %2 = "top.Mul"(%1, %c) : (tensor<?x8x?x?xf32>, tensor<8x1x1xf32>) -> tensor<?x8x?x?xf32> loc("y")
  return %2 : tensor<?x8x?x?xf32>
}

// CHECK-LABEL: func.func @scale_into_deconv
// CHECK: "top.Deconv"(%arg0, {{.*}} loc("y")
// CHECK-NOT: "top.Scale"
// CHECK: return
func.func @scale_into_deconv(%x: tensor<1x4x6x6xf32>) -> tensor<1x8x6x6xf32> {
  %none = "top.None"() : () -> none
  %f = "top.ConstantFill"(%none) {shape = [4, 8, 1, 1], value = 0.5 : f32} : (none) -> tensor<4x8x1x1xf32>
  %1 = "top.Deconv"(%x, %f, %none) {kernel_shape = [1, 1]} : (tensor<1x4x6x6xf32>, tensor<4x8x1x1xf32>, none) -> tensor<1x8x6x6xf32>
  %s = "top.ConstantFill"(%none) {shape = [8], value = 2.0 : f32} : (none) -> tensor<8xf32>
  %b = "top.ConstantFill"(%none) {shape = [8], value = 1.0 : f32} : (none) -> tensor<8xf32>
  %2 = "top.Scale"(%1, %s, %b) : (tensor<1x8x6x6xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<1x8x6x6xf32> loc("y")
  return %2 : tensor<1x8x6x6xf32>
}

// CHECK-LABEL: func.func @mul_and_add_into_deconv
// CHECK: "top.Deconv"(%arg0, {{.*}} loc("y")
// CHECK-NOT: "top.{{Mul|Add}}"
// CHECK: return
func.func @mul_and_add_into_deconv(%x: tensor<1x4x6x6xf32>) -> tensor<1x8x6x6xf32> {
  %none = "top.None"() : () -> none
  %f = "top.ConstantFill"(%none) {shape = [4, 8, 1, 1], value = 0.5 : f32} : (none) -> tensor<4x8x1x1xf32>
  %1 = "top.Deconv"(%x, %f, %none) {kernel_shape = [1, 1]} : (tensor<1x4x6x6xf32>, tensor<4x8x1x1xf32>, none) -> tensor<1x8x6x6xf32>
  %c = "top.ConstantFill"(%none) {shape = [8, 1, 1], value = 2.0 : f32} : (none) -> tensor<8x1x1xf32>
  %2 = "top.Mul"(%1, %c) : (tensor<1x8x6x6xf32>, tensor<8x1x1xf32>) -> tensor<1x8x6x6xf32>
  %3 = "top.Add"(%2, %c) : (tensor<1x8x6x6xf32>, tensor<8x1x1xf32>) -> tensor<1x8x6x6xf32> loc("y")
  return %3 : tensor<1x8x6x6xf32>
}

// CHECK-LABEL: func.func @add_per_row_to_deconv
// CHECK: "top.Deconv"
// CHECK: "top.Add"
func.func @add_per_row_to_deconv(%x: tensor<1x4x6x6xf32>) -> tensor<1x8x6x6xf32> {
  %none = "top.None"() : () -> none
  %f = "top.ConstantFill"(%none) {shape = [4, 8, 1, 1], value = 0.5 : f32} : (none) -> tensor<4x8x1x1xf32>
  %1 = "top.Deconv"(%x, %f, %none) {kernel_shape = [1, 1]} : (tensor<1x4x6x6xf32>, tensor<4x8x1x1xf32>, none) -> tensor<1x8x6x6xf32>
  %c = "top.ConstantFill"(%none) {shape = [6, 1], value = 2.0 : f32} : (none) -> tensor<6x1xf32>
  %2 = "top.Add"(%1, %c) : (tensor<1x8x6x6xf32>, tensor<6x1xf32>) -> tensor<1x8x6x6xf32>
  return %2 : tensor<1x8x6x6xf32>
}

// CHECK-LABEL: func.func @mul_and_add_into_matmul
// CHECK: "top.MatMul"(%arg0, {{.*}} loc("y")
// CHECK-NOT: "top.{{Mul|Add}}"
// CHECK: return
// OFF-LABEL: func.func @mul_and_add_into_matmul
// OFF: "top.MatMul"
// OFF: "top.Mul"
// OFF: "top.Add"
func.func @mul_and_add_into_matmul(%x: tensor<2x5x4xf32>) -> tensor<2x5x3xf32> {
  %none = "top.None"() : () -> none
  %w = "top.ConstantFill"(%none) {shape = [4, 3], value = 0.5 : f32} : (none) -> tensor<4x3xf32>
  %1 = "top.MatMul"(%x, %w, %none) : (tensor<2x5x4xf32>, tensor<4x3xf32>, none) -> tensor<2x5x3xf32>
  %c = "top.ConstantFill"(%none) {shape = [3], value = 2.0 : f32} : (none) -> tensor<3xf32>
  %2 = "top.Mul"(%1, %c) : (tensor<2x5x3xf32>, tensor<3xf32>) -> tensor<2x5x3xf32>
  %3 = "top.Add"(%c, %2) : (tensor<3xf32>, tensor<2x5x3xf32>) -> tensor<2x5x3xf32> loc("y")
  return %3 : tensor<2x5x3xf32>
}

// CHECK-LABEL: func.func @batchnorm_into_matmul
// CHECK: "top.MatMul"(%arg0, {{.*}} loc("y")
// CHECK-NOT: "top.{{BatchNorm|Scale}}"
// CHECK: return
func.func @batchnorm_into_matmul(%x: tensor<5x4xf32>) -> tensor<5x3xf32> {
  %none = "top.None"() : () -> none
  %w = "top.ConstantFill"(%none) {shape = [4, 3], value = 0.5 : f32} : (none) -> tensor<4x3xf32>
  %1 = "top.MatMul"(%x, %w, %none) : (tensor<5x4xf32>, tensor<4x3xf32>, none) -> tensor<5x3xf32>
  %s = "top.ConstantFill"(%none) {shape = [3], value = 2.0 : f32} : (none) -> tensor<3xf32>
  %2 = "top.BatchNorm"(%1, %s, %s, %none, %none) : (tensor<5x3xf32>, tensor<3xf32>, tensor<3xf32>, none, none) -> tensor<5x3xf32> loc("y")
  return %2 : tensor<5x3xf32>
}

// A reshape between keeps the columns as channels: it comes behind.
// CHECK-LABEL: func.func @batchnorm_of_reshaped_matmul
// CHECK: "top.MatMul"(%arg0, {{.*}} -> tensor<2x5x3xf32>
// CHECK-NOT: "top.{{BatchNorm|Scale|Mul|Add}}"
// CHECK: "top.Reshape"({{.*}} loc("y")
func.func @batchnorm_of_reshaped_matmul(%x: tensor<2x5x4xf32>) -> tensor<10x3xf32> {
  %none = "top.None"() : () -> none
  %w = "top.ConstantFill"(%none) {shape = [4, 3], value = 0.5 : f32} : (none) -> tensor<4x3xf32>
  %1 = "top.MatMul"(%x, %w, %none) : (tensor<2x5x4xf32>, tensor<4x3xf32>, none) -> tensor<2x5x3xf32>
  %f = "top.Reshape"(%1, %none) {shape = [10, 3]} : (tensor<2x5x3xf32>, none) -> tensor<10x3xf32>
  %s = "top.ConstantFill"(%none) {shape = [3], value = 2.0 : f32} : (none) -> tensor<3xf32>
  %2 = "top.BatchNorm"(%f, %s, %s, %none, %none) : (tensor<10x3xf32>, tensor<3xf32>, tensor<3xf32>, none, none) -> tensor<10x3xf32> loc("y")
  return %2 : tensor<10x3xf32>
}

// So does a flattening.
// CHECK-LABEL: func.func @batchnorm_of_flat_matmul
// CHECK: "top.MatMul"(%arg0, {{.*}} -> tensor<2x5x3xf32>
// CHECK-NOT: "top.{{BatchNorm|Scale|Mul|Add}}"
// CHECK: "top.FlattenTo2D"({{.*}} loc("y")
func.func @batchnorm_of_flat_matmul(%x: tensor<2x5x4xf32>) -> tensor<10x3xf32> {
  %none = "top.None"() : () -> none
  %w = "top.ConstantFill"(%none) {shape = [4, 3], value = 0.5 : f32} : (none) -> tensor<4x3xf32>
  %1 = "top.MatMul"(%x, %w, %none) : (tensor<2x5x4xf32>, tensor<4x3xf32>, none) -> tensor<2x5x3xf32>
  %f = "top.FlattenTo2D"(%1) {axis = 2 : i64} : (tensor<2x5x3xf32>) -> tensor<10x3xf32>
  %s = "top.ConstantFill"(%none) {shape = [3], value = 2.0 : f32} : (none) -> tensor<3xf32>
  %2 = "top.BatchNorm"(%f, %s, %s, %none, %none) : (tensor<10x3xf32>, tensor<3xf32>, tensor<3xf32>, none, none) -> tensor<10x3xf32> loc("y")
  return %2 : tensor<10x3xf32>
}

// The convolutions in front of a concatenation take a part of the factors each.
// CHECK-LABEL: func.func @batchnorm_of_parts
// CHECK: %[[A:.*]] = "top.Conv"(%arg0, {{.*}} -> tensor<1x3x6x6xf32> loc("y_part0")
// CHECK: %[[B:.*]] = "top.Conv"(%arg0, {{.*}} -> tensor<1x5x6x6xf32> loc("y_part1")
// CHECK: "top.Concat"(%[[A]], %[[B]]) {{.*}} loc("y")
// CHECK-NEXT: return
func.func @batchnorm_of_parts(%x: tensor<1x4x6x6xf32>) -> tensor<1x8x6x6xf32> {
  %none = "top.None"() : () -> none
  %w = "top.ConstantFill"(%none) {shape = [3, 4, 1, 1], value = 0.5 : f32} : (none) -> tensor<3x4x1x1xf32>
  %v = "top.ConstantFill"(%none) {shape = [5, 4, 3, 3], value = 0.5 : f32} : (none) -> tensor<5x4x3x3xf32>
  %1 = "top.Conv"(%x, %w, %none) {kernel_shape = [1, 1]} : (tensor<1x4x6x6xf32>, tensor<3x4x1x1xf32>, none) -> tensor<1x3x6x6xf32>
  %2 = "top.Conv"(%x, %v, %none) {kernel_shape = [3, 3], pads = [1, 1, 1, 1]} : (tensor<1x4x6x6xf32>, tensor<5x4x3x3xf32>, none) -> tensor<1x5x6x6xf32>
  %3 = "top.Concat"(%1, %2) {axis = 1 : i64} : (tensor<1x3x6x6xf32>, tensor<1x5x6x6xf32>) -> tensor<1x8x6x6xf32>
  %s = "top.ConstantFill"(%none) {shape = [8], value = 2.0 : f32} : (none) -> tensor<8xf32>
  %4 = "top.BatchNorm"(%3, %s, %s, %none, %none) : (tensor<1x8x6x6xf32>, tensor<8xf32>, tensor<8xf32>, none, none) -> tensor<1x8x6x6xf32> loc("y")
  return %4 : tensor<1x8x6x6xf32>
}

// So does each its part of an activation.
// CHECK-LABEL: func.func @relu_of_parts
// CHECK: %[[A:.*]] = "top.Conv"(%arg0, {{.*}}do_relu = true{{.*}} -> tensor<1x3x6x6xf32> loc("y_part0")
// CHECK: %[[B:.*]] = "top.Conv"(%arg0, {{.*}}do_relu = true{{.*}} -> tensor<1x5x6x6xf32> loc("y_part1")
// CHECK: "top.Concat"(%[[A]], %[[B]]) {{.*}}do_relu = false{{.*}} loc("y")
// CHECK-NEXT: return
func.func @relu_of_parts(%x: tensor<1x4x6x6xf32>) -> tensor<1x8x6x6xf32> {
  %none = "top.None"() : () -> none
  %w = "top.ConstantFill"(%none) {shape = [3, 4, 1, 1], value = 0.5 : f32} : (none) -> tensor<3x4x1x1xf32>
  %v = "top.ConstantFill"(%none) {shape = [5, 4, 3, 3], value = 0.5 : f32} : (none) -> tensor<5x4x3x3xf32>
  %1 = "top.Conv"(%x, %w, %none) {kernel_shape = [1, 1]} : (tensor<1x4x6x6xf32>, tensor<3x4x1x1xf32>, none) -> tensor<1x3x6x6xf32>
  %2 = "top.Conv"(%x, %v, %none) {kernel_shape = [3, 3], pads = [1, 1, 1, 1]} : (tensor<1x4x6x6xf32>, tensor<5x4x3x3xf32>, none) -> tensor<1x5x6x6xf32>
  %3 = "top.Concat"(%1, %2) {axis = 1 : i64} : (tensor<1x3x6x6xf32>, tensor<1x5x6x6xf32>) -> tensor<1x8x6x6xf32>
  %s = "top.ConstantFill"(%none) {shape = [8], value = 2.0 : f32} : (none) -> tensor<8xf32>
  %4 = "top.BatchNorm"(%3, %s, %s, %none, %none) : (tensor<1x8x6x6xf32>, tensor<8xf32>, tensor<8xf32>, none, none) -> tensor<1x8x6x6xf32>
  %5 = "top.Relu"(%4) : (tensor<1x8x6x6xf32>) -> tensor<1x8x6x6xf32> loc("y")
  return %5 : tensor<1x8x6x6xf32>
}

// Something else reads a part.
// CHECK-LABEL: func.func @batchnorm_of_shared_parts
// CHECK: "top.Concat"
// CHECK: "top.Conv"{{.*}}group = 8 : i64{{.*}} loc("y")
func.func @batchnorm_of_shared_parts(%x: tensor<1x4x6x6xf32>) -> (tensor<1x8x6x6xf32>, tensor<1x4x6x6xf32>) {
  %none = "top.None"() : () -> none
  %w = "top.ConstantFill"(%none) {shape = [4, 4, 1, 1], value = 0.5 : f32} : (none) -> tensor<4x4x1x1xf32>
  %1 = "top.Conv"(%x, %w, %none) {kernel_shape = [1, 1]} : (tensor<1x4x6x6xf32>, tensor<4x4x1x1xf32>, none) -> tensor<1x4x6x6xf32>
  %3 = "top.Concat"(%1, %x) {axis = 1 : i64} : (tensor<1x4x6x6xf32>, tensor<1x4x6x6xf32>) -> tensor<1x8x6x6xf32>
  %s = "top.ConstantFill"(%none) {shape = [8], value = 2.0 : f32} : (none) -> tensor<8xf32>
  %4 = "top.BatchNorm"(%3, %s, %s, %none, %none) : (tensor<1x8x6x6xf32>, tensor<8xf32>, tensor<8xf32>, none, none) -> tensor<1x8x6x6xf32> loc("y")
  return %4, %1 : tensor<1x8x6x6xf32>, tensor<1x4x6x6xf32>
}

// The channels are the rows.
// CHECK-LABEL: func.func @batchnorm_of_rows
// CHECK: "top.MatMul"
// CHECK: "top.Conv"({{.*}} loc("y")
func.func @batchnorm_of_rows(%x: tensor<2x5x4xf32>) -> tensor<2x5x3xf32> {
  %none = "top.None"() : () -> none
  %w = "top.ConstantFill"(%none) {shape = [4, 3], value = 0.5 : f32} : (none) -> tensor<4x3xf32>
  %1 = "top.MatMul"(%x, %w, %none) : (tensor<2x5x4xf32>, tensor<4x3xf32>, none) -> tensor<2x5x3xf32>
  %s = "top.ConstantFill"(%none) {shape = [5], value = 2.0 : f32} : (none) -> tensor<5xf32>
  %2 = "top.BatchNorm"(%1, %s, %s, %none, %none) : (tensor<2x5x3xf32>, tensor<5xf32>, tensor<5xf32>, none, none) -> tensor<2x5x3xf32> loc("y")
  return %2 : tensor<2x5x3xf32>
}

// CHECK-LABEL: func.func @mul_without_constant_weight
// CHECK: "top.MatMul"
// CHECK: "top.Mul"
func.func @mul_without_constant_weight(%x: tensor<2x5x4xf32>, %w: tensor<4x3xf32>) -> tensor<2x5x3xf32> {
  %none = "top.None"() : () -> none
  %1 = "top.MatMul"(%x, %w, %none) : (tensor<2x5x4xf32>, tensor<4x3xf32>, none) -> tensor<2x5x3xf32>
  %c = "top.ConstantFill"(%none) {shape = [3], value = 2.0 : f32} : (none) -> tensor<3xf32>
  %2 = "top.Mul"(%1, %c) : (tensor<2x5x3xf32>, tensor<3xf32>) -> tensor<2x5x3xf32>
  return %2 : tensor<2x5x3xf32>
}

// CHECK-LABEL: func.func @add_without_constant_weight
// CHECK: "top.MatMul"(%arg0, %arg1, {{.*}} loc("y")
// CHECK-NOT: "top.Add"
// CHECK: return
func.func @add_without_constant_weight(%x: tensor<2x5x4xf32>, %w: tensor<4x3xf32>) -> tensor<2x5x3xf32> {
  %none = "top.None"() : () -> none
  %1 = "top.MatMul"(%x, %w, %none) : (tensor<2x5x4xf32>, tensor<4x3xf32>, none) -> tensor<2x5x3xf32>
  %c = "top.ConstantFill"(%none) {shape = [3], value = 2.0 : f32} : (none) -> tensor<3xf32>
  %2 = "top.Add"(%1, %c) {coeff = [1.0, 0.5]} : (tensor<2x5x3xf32>, tensor<3xf32>) -> tensor<2x5x3xf32> loc("y")
  return %2 : tensor<2x5x3xf32>
}

// CHECK-LABEL: func.func @scale_to_depthwise
// CHECK: "top.Conv"(%arg0, {{.*}}do_relu = true, group = 8 : i64, kernel_shape = [1, 1]
// CHECK-NEXT: "top.Abs"
// OFF-LABEL: func.func @scale_to_depthwise
// OFF: "top.Scale"(%arg0
// OFF-NOT: "top.Scale"
// OFF: return
func.func @scale_to_depthwise(%x: tensor<1x8x6x6xf32>) -> tensor<1x8x6x6xf32> {
  %none = "top.None"() : () -> none
  %s = "top.ConstantFill"(%none) {shape = [8], value = 2.0 : f32} : (none) -> tensor<8xf32>
  %b = "top.ConstantFill"(%none) {shape = [8], value = 1.0 : f32} : (none) -> tensor<8xf32>
  %1 = "top.Scale"(%x, %s, %b) : (tensor<1x8x6x6xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<1x8x6x6xf32>
  %2 = "top.MulConst"(%1) {const_val = 3.0 : f64} : (tensor<1x8x6x6xf32>) -> tensor<1x8x6x6xf32>
  %3 = "top.Scale"(%2, %s, %b) {do_relu = true} : (tensor<1x8x6x6xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<1x8x6x6xf32>
  %4 = "top.Abs"(%3) : (tensor<1x8x6x6xf32>) -> tensor<1x8x6x6xf32>
  return %4 : tensor<1x8x6x6xf32>
}

// Without spatial dimensions there is no convolution.
// CHECK-LABEL: func.func @scale_of_vectors
// CHECK: "top.Scale"
func.func @scale_of_vectors(%x: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %none = "top.None"() : () -> none
  %s = "top.ConstantFill"(%none) {shape = [8], value = 2.0 : f32} : (none) -> tensor<8xf32>
  %b = "top.ConstantFill"(%none) {shape = [8], value = 1.0 : f32} : (none) -> tensor<8xf32>
  %1 = "top.Scale"(%x, %s, %b) : (tensor<2x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<2x8xf32>
  return %1 : tensor<2x8xf32>
}

// CHECK-LABEL: func.func @batchnorm_not_constant
// CHECK: "top.BatchNorm"
func.func @batchnorm_not_constant(%x: tensor<1x8x6x6xf32>, %m: tensor<8xf32>) -> tensor<1x8x6x6xf32> {
  %none = "top.None"() : () -> none
  %1 = "top.BatchNorm"(%x, %m, %m, %none, %none) : (tensor<1x8x6x6xf32>, tensor<8xf32>, tensor<8xf32>, none, none) -> tensor<1x8x6x6xf32>
  return %1 : tensor<1x8x6x6xf32>
}

// CHECK-LABEL: func.func @scale_into_next_conv
// CHECK-NOT: group = 4
// CHECK: "top.Conv"(%arg0, {{.*}} loc("y")
// CHECK-NEXT: return
func.func @scale_into_next_conv(%x: tensor<1x4x6x6xf32>) -> tensor<1x8x4x4xf32> {
  %none = "top.None"() : () -> none
  %s = "top.ConstantFill"(%none) {shape = [4], value = 2.0 : f32} : (none) -> tensor<4xf32>
  %b = "top.ConstantFill"(%none) {shape = [4], value = 1.0 : f32} : (none) -> tensor<4xf32>
  %1 = "top.Scale"(%x, %s, %b) : (tensor<1x4x6x6xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<1x4x6x6xf32>
  %f = "top.ConstantFill"(%none) {shape = [8, 4, 3, 3], value = 0.5 : f32} : (none) -> tensor<8x4x3x3xf32>
  %2 = "top.Conv"(%1, %f, %none) {kernel_shape = [3, 3]} : (tensor<1x4x6x6xf32>, tensor<8x4x3x3xf32>, none) -> tensor<1x8x4x4xf32> loc("y")
  return %2 : tensor<1x8x4x4xf32>
}

// Padding is 0, not what the scale makes of it.
// CHECK-LABEL: func.func @scale_before_padding
// CHECK: "top.Conv"(%arg0, {{.*}}group = 4
// CHECK: "top.Conv"({{.*}} loc("y")
func.func @scale_before_padding(%x: tensor<1x4x6x6xf32>) -> tensor<1x8x6x6xf32> {
  %none = "top.None"() : () -> none
  %s = "top.ConstantFill"(%none) {shape = [4], value = 2.0 : f32} : (none) -> tensor<4xf32>
  %b = "top.ConstantFill"(%none) {shape = [4], value = 1.0 : f32} : (none) -> tensor<4xf32>
  %1 = "top.Scale"(%x, %s, %b) : (tensor<1x4x6x6xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<1x4x6x6xf32>
  %f = "top.ConstantFill"(%none) {shape = [8, 4, 3, 3], value = 0.5 : f32} : (none) -> tensor<8x4x3x3xf32>
  %2 = "top.Conv"(%1, %f, %none) {kernel_shape = [3, 3], pads = [1, 1, 1, 1]} : (tensor<1x4x6x6xf32>, tensor<8x4x3x3xf32>, none) -> tensor<1x8x6x6xf32> loc("y")
  return %2 : tensor<1x8x6x6xf32>
}

// CHECK-LABEL: func.func @permute_into_matmul
// CHECK-NOT: "top.Permute"
// CHECK: "top.MatMul"(%arg0, %arg1, {{.*}}right_transpose = true
func.func @permute_into_matmul(%x: tensor<2x5x4xf32>, %y: tensor<2x3x4xf32>) -> tensor<2x5x3xf32> {
  %none = "top.None"() : () -> none
  %1 = "top.Permute"(%y) {order = [0, 2, 1]} : (tensor<2x3x4xf32>) -> tensor<2x4x3xf32>
  %2 = "top.MatMul"(%x, %1, %none) : (tensor<2x5x4xf32>, tensor<2x4x3xf32>, none) -> tensor<2x5x3xf32>
  return %2 : tensor<2x5x3xf32>
}

// CHECK-LABEL: func.func @permute_of_more
// CHECK: "top.Permute"
func.func @permute_of_more(%x: tensor<2x5x4xf32>, %y: tensor<3x2x4xf32>) -> tensor<2x5x3xf32> {
  %none = "top.None"() : () -> none
  %1 = "top.Permute"(%y) {order = [1, 2, 0]} : (tensor<3x2x4xf32>) -> tensor<2x4x3xf32>
  %2 = "top.MatMul"(%x, %1, %none) : (tensor<2x5x4xf32>, tensor<2x4x3xf32>, none) -> tensor<2x5x3xf32>
  return %2 : tensor<2x5x3xf32>
}

// CHECK-LABEL: func.func @scalar_to_const
// CHECK: "top.SubConst"(%arg0) {const_val = 2.000000e+00 : f64, {{.*}}is_reverse = true
// CHECK: "top.DivConst"({{.*}}) {const_val = 2.000000e+00 : f64, do_relu = true
// CHECK: "top.PowConst"({{.*}}) {const_val = 2.000000e+00 : f64}
// CHECK: "top.MinConst"({{.*}} loc("y")
func.func @scalar_to_const(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %none = "top.None"() : () -> none
  %c = "top.ConstantFill"(%none) {shape = [], value = 2.0 : f32} : (none) -> tensor<f32>
  %1 = "top.Sub"(%c, %x) : (tensor<f32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = "top.Div"(%1, %c) {do_relu = true} : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %3 = "top.Pow"(%2, %c) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %4 = "top.Min"(%c, %3) : (tensor<f32>, tensor<2x3xf32>) -> tensor<2x3xf32> loc("y")
  return %4 : tensor<2x3xf32>
}

// The constant adds a dimension; the constant is raised.
// CHECK-LABEL: func.func @scalar_of_higher_rank
// CHECK: "top.Add"
// CHECK: "top.Pow"
func.func @scalar_of_higher_rank(%x: tensor<2x3xf32>) -> tensor<1x2x3xf32> {
  %none = "top.None"() : () -> none
  %c = "top.ConstantFill"(%none) {shape = [1, 1, 1], value = 2.0 : f32} : (none) -> tensor<1x1x1xf32>
  %p = "top.ConstantFill"(%none) {shape = [], value = 2.0 : f32} : (none) -> tensor<f32>
  %1 = "top.Add"(%x, %c) : (tensor<2x3xf32>, tensor<1x1x1xf32>) -> tensor<1x2x3xf32>
  %2 = "top.Pow"(%p, %1) : (tensor<f32>, tensor<1x2x3xf32>) -> tensor<1x2x3xf32>
  return %2 : tensor<1x2x3xf32>
}

// CHECK-LABEL: func.func @affine_into_next_conv
// CHECK: "top.Conv"(%arg0, {{.*}} loc("y")
// CHECK-NEXT: return
func.func @affine_into_next_conv(%x: tensor<1x4x6x6xf32>) -> tensor<1x8x4x4xf32> {
  %none = "top.None"() : () -> none
  %1 = "top.MulConst"(%x) {const_val = 2.0 : f64} : (tensor<1x4x6x6xf32>) -> tensor<1x4x6x6xf32>
  %2 = "top.AddConst"(%1) {const_val = 1.0 : f64} : (tensor<1x4x6x6xf32>) -> tensor<1x4x6x6xf32>
  %f = "top.ConstantFill"(%none) {shape = [8, 4, 3, 3], value = 0.5 : f32} : (none) -> tensor<8x4x3x3xf32>
  %3 = "top.Conv"(%2, %f, %none) {kernel_shape = [3, 3]} : (tensor<1x4x6x6xf32>, tensor<8x4x3x3xf32>, none) -> tensor<1x8x4x4xf32> loc("y")
  return %3 : tensor<1x8x4x4xf32>
}

// Padding is 0 behind the sum.
// CHECK-LABEL: func.func @affine_before_padding
// CHECK: "top.MulConst"(%arg0)
// CHECK: "top.AddConst"
// CHECK: "top.Conv"
func.func @affine_before_padding(%x: tensor<1x4x6x6xf32>) -> tensor<1x8x6x6xf32> {
  %none = "top.None"() : () -> none
  %1 = "top.MulConst"(%x) {const_val = 2.0 : f64} : (tensor<1x4x6x6xf32>) -> tensor<1x4x6x6xf32>
  %2 = "top.AddConst"(%1) {const_val = 1.0 : f64} : (tensor<1x4x6x6xf32>) -> tensor<1x4x6x6xf32>
  %f = "top.ConstantFill"(%none) {shape = [8, 4, 3, 3], value = 0.5 : f32} : (none) -> tensor<8x4x3x3xf32>
  %3 = "top.Conv"(%2, %f, %none) {kernel_shape = [3, 3], pads = [1, 1, 1, 1]} : (tensor<1x4x6x6xf32>, tensor<8x4x3x3xf32>, none) -> tensor<1x8x6x6xf32> loc("y")
  return %3 : tensor<1x8x6x6xf32>
}

// 0 times a factor is 0.
// CHECK-LABEL: func.func @factor_before_padding
// CHECK: "top.Conv"(%arg0, {{.*}} loc("y")
// CHECK-NEXT: return
func.func @factor_before_padding(%x: tensor<1x4x6x6xf32>) -> tensor<1x8x6x6xf32> {
  %none = "top.None"() : () -> none
  %1 = "top.MulConst"(%x) {const_val = 2.0 : f64} : (tensor<1x4x6x6xf32>) -> tensor<1x4x6x6xf32>
  %f = "top.ConstantFill"(%none) {shape = [8, 4, 3, 3], value = 0.5 : f32} : (none) -> tensor<8x4x3x3xf32>
  %3 = "top.Conv"(%1, %f, %none) {kernel_shape = [3, 3], pads = [1, 1, 1, 1]} : (tensor<1x4x6x6xf32>, tensor<8x4x3x3xf32>, none) -> tensor<1x8x6x6xf32> loc("y")
  return %3 : tensor<1x8x6x6xf32>
}

// CHECK-LABEL: func.func @factor_read_twice
// CHECK: "top.MulConst"
// CHECK: "top.Conv"
func.func @factor_read_twice(%x: tensor<1x4x6x6xf32>) -> (tensor<1x8x6x6xf32>, tensor<1x4x6x6xf32>) {
  %none = "top.None"() : () -> none
  %1 = "top.MulConst"(%x) {const_val = 2.0 : f64} : (tensor<1x4x6x6xf32>) -> tensor<1x4x6x6xf32>
  %f = "top.ConstantFill"(%none) {shape = [8, 4, 3, 3], value = 0.5 : f32} : (none) -> tensor<8x4x3x3xf32>
  %3 = "top.Conv"(%1, %f, %none) {kernel_shape = [3, 3], pads = [1, 1, 1, 1]} : (tensor<1x4x6x6xf32>, tensor<8x4x3x3xf32>, none) -> tensor<1x8x6x6xf32> loc("y")
  return %3, %1 : tensor<1x8x6x6xf32>, tensor<1x4x6x6xf32>
}

// What would not be finite stays, and the passes end.
// CHECK-LABEL: func.func @infinite_shift
// CHECK: "top.Conv"
// CHECK: "top.Conv"{{.*}}group = 8 : i64
// CHECK: return
func.func @infinite_shift(%x: tensor<1x4x6x6xf32>) -> tensor<1x8x6x6xf32> {
  %none = "top.None"() : () -> none
  %f = "top.ConstantFill"(%none) {shape = [8, 4, 1, 1], value = 0.5 : f32} : (none) -> tensor<8x4x1x1xf32>
  %1 = "top.Conv"(%x, %f, %none) {kernel_shape = [1, 1]} : (tensor<1x4x6x6xf32>, tensor<8x4x1x1xf32>, none) -> tensor<1x8x6x6xf32> loc("x")
  %c = "top.ConstantFill"(%none) {shape = [8], value = 2.0 : f32} : (none) -> tensor<8xf32>
  %b = "top.ConstantFill"(%none) {shape = [8], value = 0x7F800000 : f32} : (none) -> tensor<8xf32>
  %2 = "top.Scale"(%1, %c, %b) : (tensor<1x8x6x6xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<1x8x6x6xf32> loc("y")
  return %2 : tensor<1x8x6x6xf32>
}

// A product that is transposed, of an operand that is: the other way round.
// CHECK-LABEL: func.func @permute_of_product
// CHECK: %[[Y:.*]] = "top.MatMul"(%arg1, %arg0, {{.*}}left_transpose = true, {{.*}}right_transpose = false{{.*}} -> tensor<2x3x7xf32> loc("y")
// CHECK: %[[Z:.*]] = "top.MatMul"(%arg2, %arg0, {{.*}}left_transpose = false, {{.*}}right_transpose = false{{.*}} -> tensor<2x3x7xf32> loc("z")
// CHECK: return %[[Y]], %[[Z]]
// OFF-LABEL: func.func @permute_of_product
func.func @permute_of_product(%x: tensor<2x4x7xf32>, %w: tensor<2x4x3xf32>, %v: tensor<2x3x4xf32>) -> (tensor<2x3x7xf32>, tensor<2x3x7xf32>) {
  %none = "top.None"() : () -> none
  %1 = "top.MatMul"(%x, %w, %none) {left_transpose = true} : (tensor<2x4x7xf32>, tensor<2x4x3xf32>, none) -> tensor<2x7x3xf32> loc("p")
  %2 = "top.Permute"(%1) {order = [0, 2, 1]} : (tensor<2x7x3xf32>) -> tensor<2x3x7xf32> loc("y")
  %3 = "top.MatMul"(%x, %v, %none) {left_transpose = true, right_transpose = true} : (tensor<2x4x7xf32>, tensor<2x3x4xf32>, none) -> tensor<2x7x3xf32> loc("q")
  %4 = "top.Permute"(%3) {order = [0, 2, 1]} : (tensor<2x7x3xf32>) -> tensor<2x3x7xf32> loc("z")
  return %2, %4 : tensor<2x3x7xf32>, tensor<2x3x7xf32>
}

// Not of an operand that is read as it lies, nor where others read the product.
// CHECK-LABEL: func.func @permute_of_product_stays
// CHECK: "top.Permute"{{.*}} loc("y")
// CHECK: "top.Permute"{{.*}} loc("z")
// OFF-LABEL: func.func @permute_of_product_stays
func.func @permute_of_product_stays(%x: tensor<2x7x4xf32>, %w: tensor<2x4x3xf32>, %v: tensor<2x4x7xf32>) -> (tensor<2x3x7xf32>, tensor<2x3x7xf32>, tensor<2x7x3xf32>) {
  %none = "top.None"() : () -> none
  %1 = "top.MatMul"(%x, %w, %none) : (tensor<2x7x4xf32>, tensor<2x4x3xf32>, none) -> tensor<2x7x3xf32> loc("p")
  %2 = "top.Permute"(%1) {order = [0, 2, 1]} : (tensor<2x7x3xf32>) -> tensor<2x3x7xf32> loc("y")
  %3 = "top.MatMul"(%v, %w, %none) {left_transpose = true} : (tensor<2x4x7xf32>, tensor<2x4x3xf32>, none) -> tensor<2x7x3xf32> loc("q")
  %4 = "top.Permute"(%3) {order = [0, 2, 1]} : (tensor<2x7x3xf32>) -> tensor<2x3x7xf32> loc("z")
  return %2, %4, %3 : tensor<2x3x7xf32>, tensor<2x3x7xf32>, tensor<2x7x3xf32>
}

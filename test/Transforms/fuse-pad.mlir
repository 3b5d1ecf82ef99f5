// RUN: tpuc-opt %s --shape-infer --top-fuse | FileCheck %s
// RUN: tpuc-opt %s --shape-infer --top-fuse=disable=pad-into-conv,pad-into-pool | FileCheck %s --check-prefix=OFF

// CHECK-LABEL: func.func @pad_into_conv
// CHECK-NOT: "top.Pad"
// CHECK: "top.Conv"(%arg0, {{.*}}pads = [1, 1, 1, 1]
// OFF-LABEL: func.func @pad_into_conv
// OFF: "top.Pad"
func.func @pad_into_conv(%x: tensor<1x4x6x6xf32>) -> tensor<1x4x6x6xf32> {
  %none = "top.None"() : () -> none
  %p = "top.Pad"(%x, %none, %none, %none) {paddings = [0, 0, 1, 1, 0, 0, 1, 1]} : (tensor<1x4x6x6xf32>, none, none, none) -> tensor<1x4x8x8xf32>
  %f = "top.ConstantFill"(%none) {shape = [4, 4, 3, 3], value = 0.5 : f32} : (none) -> tensor<4x4x3x3xf32>
  %1 = "top.Conv"(%p, %f, %none) {kernel_shape = [3, 3]} : (tensor<1x4x8x8xf32>, tensor<4x4x3x3xf32>, none) -> tensor<1x4x6x6xf32>
  return %1 : tensor<1x4x6x6xf32>
}

// The dilation is as long as the picture is high: of three rows of taps the middle one sees it.
// CHECK-LABEL: func.func @drop_padded_taps
// CHECK: %[[W:.*]] = "top.Weight"() : () -> tensor<4x4x1x3xf32>
// CHECK: "top.Conv"(%arg0, %[[W]], {{.*}}dilations = [1, 2]{{.*}}kernel_shape = [1, 3], pads = [0, 2, 0, 2]
func.func @drop_padded_taps(%x: tensor<1x4x6x4xf32>) -> tensor<1x4x6x4xf32> {
  %none = "top.None"() : () -> none
  %f = "top.ConstantFill"(%none) {shape = [4, 4, 3, 3], value = 0.5 : f32} : (none) -> tensor<4x4x3x3xf32>
  %1 = "top.Conv"(%x, %f, %none) {kernel_shape = [3, 3], dilations = [6, 2], pads = [6, 2, 6, 2]} : (tensor<1x4x6x4xf32>, tensor<4x4x3x3xf32>, none) -> tensor<1x4x6x4xf32>
  return %1 : tensor<1x4x6x4xf32>
}

// CHECK-LABEL: func.func @pad_adds_to_pads
// CHECK: "top.Conv"(%arg0, {{.*}}pads = [1, 2, 3, 3]
func.func @pad_adds_to_pads(%x: tensor<1x4x6x6xf32>) -> tensor<1x4x8x9xf32> {
  %none = "top.None"() : () -> none
  %p = "top.Pad"(%x, %none, %none, %none) {paddings = [0, 0, 0, 1, 0, 0, 2, 2]} : (tensor<1x4x6x6xf32>, none, none, none) -> tensor<1x4x8x9xf32>
  %f = "top.ConstantFill"(%none) {shape = [4, 4, 3, 3], value = 0.5 : f32} : (none) -> tensor<4x4x3x3xf32>
  %1 = "top.Conv"(%p, %f, %none) {kernel_shape = [3, 3], pads = [1, 1, 1, 1]} : (tensor<1x4x8x9xf32>, tensor<4x4x3x3xf32>, none) -> tensor<1x4x8x9xf32>
  return %1 : tensor<1x4x8x9xf32>
}

// Convolutions pad with 0.
// CHECK-LABEL: func.func @pad_with_one
// CHECK: "top.Pad"
func.func @pad_with_one(%x: tensor<1x4x6x6xf32>) -> tensor<1x4x6x6xf32> {
  %none = "top.None"() : () -> none
  %p = "top.Pad"(%x, %none, %none, %none) {paddings = [0, 0, 1, 1, 0, 0, 1, 1], val = 1.0 : f64} : (tensor<1x4x6x6xf32>, none, none, none) -> tensor<1x4x8x8xf32>
  %f = "top.ConstantFill"(%none) {shape = [4, 4, 3, 3], value = 0.5 : f32} : (none) -> tensor<4x4x3x3xf32>
  %1 = "top.Conv"(%p, %f, %none) {kernel_shape = [3, 3]} : (tensor<1x4x8x8xf32>, tensor<4x4x3x3xf32>, none) -> tensor<1x4x6x6xf32>
  return %1 : tensor<1x4x6x6xf32>
}

// CHECK-LABEL: func.func @pad_of_edge
// CHECK: "top.Pad"
func.func @pad_of_edge(%x: tensor<1x4x6x6xf32>) -> tensor<1x4x6x6xf32> {
  %none = "top.None"() : () -> none
  %p = "top.Pad"(%x, %none, %none, %none) {paddings = [0, 0, 1, 1, 0, 0, 1, 1], mode = "edge"} : (tensor<1x4x6x6xf32>, none, none, none) -> tensor<1x4x8x8xf32>
  %f = "top.ConstantFill"(%none) {shape = [4, 4, 3, 3], value = 0.5 : f32} : (none) -> tensor<4x4x3x3xf32>
  %1 = "top.Conv"(%p, %f, %none) {kernel_shape = [3, 3]} : (tensor<1x4x8x8xf32>, tensor<4x4x3x3xf32>, none) -> tensor<1x4x6x6xf32>
  return %1 : tensor<1x4x6x6xf32>
}

// CHECK-LABEL: func.func @pad_takes_away
// CHECK: "top.Pad"
func.func @pad_takes_away(%x: tensor<1x4x6x6xf32>) -> tensor<1x4x2x4xf32> {
  %none = "top.None"() : () -> none
  %p = "top.Pad"(%x, %none, %none, %none) {paddings = [0, 0, -1, 0, 0, 0, -1, 0]} : (tensor<1x4x6x6xf32>, none, none, none) -> tensor<1x4x4x6xf32>
  %f = "top.ConstantFill"(%none) {shape = [4, 4, 3, 3], value = 0.5 : f32} : (none) -> tensor<4x4x3x3xf32>
  %1 = "top.Conv"(%p, %f, %none) {kernel_shape = [3, 3]} : (tensor<1x4x4x6xf32>, tensor<4x4x3x3xf32>, none) -> tensor<1x4x2x4xf32>
  return %1 : tensor<1x4x2x4xf32>
}

// CHECK-LABEL: func.func @pad_of_channels
// CHECK: "top.Pad"
func.func @pad_of_channels(%x: tensor<1x3x8x8xf32>) -> tensor<1x4x6x6xf32> {
  %none = "top.None"() : () -> none
  %p = "top.Pad"(%x, %none, %none, %none) {paddings = [0, 0, 0, 0, 0, 1, 0, 0]} : (tensor<1x3x8x8xf32>, none, none, none) -> tensor<1x4x8x8xf32>
  %f = "top.ConstantFill"(%none) {shape = [4, 4, 3, 3], value = 0.5 : f32} : (none) -> tensor<4x4x3x3xf32>
  %1 = "top.Conv"(%p, %f, %none) {kernel_shape = [3, 3]} : (tensor<1x4x8x8xf32>, tensor<4x4x3x3xf32>, none) -> tensor<1x4x6x6xf32>
  return %1 : tensor<1x4x6x6xf32>
}

// CHECK-LABEL: func.func @pad_read_twice
// CHECK: "top.Pad"
func.func @pad_read_twice(%x: tensor<1x4x6x6xf32>) -> (tensor<1x4x6x6xf32>, tensor<1x4x8x8xf32>) {
  %none = "top.None"() : () -> none
  %p = "top.Pad"(%x, %none, %none, %none) {paddings = [0, 0, 1, 1, 0, 0, 1, 1]} : (tensor<1x4x6x6xf32>, none, none, none) -> tensor<1x4x8x8xf32>
  %f = "top.ConstantFill"(%none) {shape = [4, 4, 3, 3], value = 0.5 : f32} : (none) -> tensor<4x4x3x3xf32>
  %1 = "top.Conv"(%p, %f, %none) {kernel_shape = [3, 3]} : (tensor<1x4x8x8xf32>, tensor<4x4x3x3xf32>, none) -> tensor<1x4x6x6xf32>
  return %1, %p : tensor<1x4x6x6xf32>, tensor<1x4x8x8xf32>
}

// CHECK-LABEL: func.func @pad_into_avgpool
// CHECK-NOT: "top.Pad"
// CHECK: "top.AvgPool"(%arg0) {{.*}}count_include_pad = true{{.*}}pads = [1, 1, 1, 1]
// OFF-LABEL: func.func @pad_into_avgpool
// OFF: "top.Pad"
func.func @pad_into_avgpool(%x: tensor<1x4x6x6xf32>) -> tensor<1x4x6x6xf32> {
  %none = "top.None"() : () -> none
  %p = "top.Pad"(%x, %none, %none, %none) {paddings = [0, 0, 1, 1, 0, 0, 1, 1]} : (tensor<1x4x6x6xf32>, none, none, none) -> tensor<1x4x8x8xf32>
  %1 = "top.AvgPool"(%p) {kernel_shape = [3, 3]} : (tensor<1x4x8x8xf32>) -> tensor<1x4x6x6xf32>
  return %1 : tensor<1x4x6x6xf32>
}

// Its own padding does not count, the other one does.
// CHECK-LABEL: func.func @avgpool_leaves_out_pads
// CHECK: "top.Pad"
func.func @avgpool_leaves_out_pads(%x: tensor<1x4x6x6xf32>) -> tensor<1x4x8x8xf32> {
  %none = "top.None"() : () -> none
  %p = "top.Pad"(%x, %none, %none, %none) {paddings = [0, 0, 1, 1, 0, 0, 1, 1]} : (tensor<1x4x6x6xf32>, none, none, none) -> tensor<1x4x8x8xf32>
  %1 = "top.AvgPool"(%p) {kernel_shape = [3, 3], pads = [1, 1, 1, 1]} : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  return %1 : tensor<1x4x8x8xf32>
}

// CHECK-LABEL: func.func @pad_into_maxpool
// CHECK-NOT: "top.Pad"
// CHECK: "top.MaxPool"({{.*}}pads = [1, 1, 1, 1]
func.func @pad_into_maxpool(%x: tensor<1x4x6x6xf32>) -> tensor<1x4x6x6xf32> {
  %none = "top.None"() : () -> none
  %r = "top.Relu"(%x) : (tensor<1x4x6x6xf32>) -> tensor<1x4x6x6xf32>
  %p = "top.Pad"(%r, %none, %none, %none) {paddings = [0, 0, 1, 1, 0, 0, 1, 1]} : (tensor<1x4x6x6xf32>, none, none, none) -> tensor<1x4x8x8xf32>
  %1 = "top.MaxPool"(%p) {kernel_shape = [3, 3]} : (tensor<1x4x8x8xf32>) -> tensor<1x4x6x6xf32>
  return %1 : tensor<1x4x6x6xf32>
}

// CHECK-LABEL: func.func @pad_of_infinity_into_maxpool
// CHECK-NOT: "top.Pad"
// CHECK: "top.MaxPool"({{.*}}pads = [1, 1, 1, 1]
func.func @pad_of_infinity_into_maxpool(%x: tensor<1x4x6x6xf32>) -> tensor<1x4x6x6xf32> {
  %none = "top.None"() : () -> none
  %p = "top.Pad"(%x, %none, %none, %none) {paddings = [0, 0, 1, 1, 0, 0, 1, 1], val = 0xFFF0000000000000 : f64} : (tensor<1x4x6x6xf32>, none, none, none) -> tensor<1x4x8x8xf32>
  %1 = "top.MaxPool"(%p) {kernel_shape = [3, 3]} : (tensor<1x4x8x8xf32>) -> tensor<1x4x6x6xf32>
  return %1 : tensor<1x4x6x6xf32>
}

// 0 may be the maximum.
// CHECK-LABEL: func.func @pad_of_any_sign
// CHECK: "top.Pad"
func.func @pad_of_any_sign(%x: tensor<1x4x6x6xf32>) -> tensor<1x4x6x6xf32> {
  %none = "top.None"() : () -> none
  %p = "top.Pad"(%x, %none, %none, %none) {paddings = [0, 0, 1, 1, 0, 0, 1, 1]} : (tensor<1x4x6x6xf32>, none, none, none) -> tensor<1x4x8x8xf32>
  %1 = "top.MaxPool"(%p) {kernel_shape = [3, 3]} : (tensor<1x4x8x8xf32>) -> tensor<1x4x6x6xf32>
  return %1 : tensor<1x4x6x6xf32>
}

// The first window sees nothing but padding.
// CHECK-LABEL: func.func @window_in_padding
// CHECK: "top.Pad"
func.func @window_in_padding(%x: tensor<1x4x6x6xf32>) -> tensor<1x4x8x6xf32> {
  %none = "top.None"() : () -> none
  %r = "top.Relu"(%x) : (tensor<1x4x6x6xf32>) -> tensor<1x4x6x6xf32>
  %p = "top.Pad"(%r, %none, %none, %none) {paddings = [0, 0, 3, 1, 0, 0, 1, 1]} : (tensor<1x4x6x6xf32>, none, none, none) -> tensor<1x4x10x8xf32>
  %1 = "top.MaxPool"(%p) {kernel_shape = [3, 3]} : (tensor<1x4x10x8xf32>) -> tensor<1x4x8x6xf32>
  return %1 : tensor<1x4x8x6xf32>
}

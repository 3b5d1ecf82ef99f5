// RUN: tpuc-opt %s --split-input-file --fuse-preprocess | FileCheck %s
// RUN: tpuc-opt %s --split-input-file --fuse-preprocess=customization_format=YUV_NV12 2>&1 | FileCheck %s --check-prefix=NV12

// What the input says moves into an op of its own, which has the input's name.
// CHECK-LABEL: module @planar
// CHECK: func.func @main(%arg0: tensor<1x3x10x12x!quant.uniform<u8:f32, {{.*}}>>)
// CHECK: %[[IN:.*]] = "top.Input"(%arg0) {customization_format = "RGB_PLANAR", do_preprocess = true, resize_dims = [10, 12]}
// CHECK: %[[P:.*]] = "top.Preprocess"(%[[IN]]) {channel_format = "nchw", crop_dims = [8, 8], customization_format = "RGB_PLANAR", mean = [1.000000e+00, 2.000000e+00, 3.000000e+00], pixel_format = "rgb"
// CHECK-SAME: -> tensor<1x3x8x8xf32>
// CHECK: "top.Relu"(%[[P]])
// NV12-LABEL: module @planar
// NV12: func.func @main(%arg0: tensor<1x1x15x12x!quant.uniform<u8:f32, {{.*}}>>)
// NV12: "top.Input"(%arg0) {customization_format = "YUV_NV12", {{.*}}video_range = true}
// NV12: "top.Preprocess"{{.*}}video_range = true
module @planar attributes {module.chip = "ALL", module.name = "n", module.platform = "ONNX", module.state = "TOP_F32"} {
  func.func @main(%arg0: tensor<1x3x8x8xf32>) -> tensor<1x3x8x8xf32> {
    %0 = "top.Input"(%arg0) {do_preprocess = true, pixel_format = "rgb", channel_format = "nchw", resize_dims = [10, 12], mean = [1.0, 2.0, 3.0]} : (tensor<1x3x8x8xf32>) -> tensor<1x3x8x8xf32> loc("x")
    %1 = "top.Relu"(%0) : (tensor<1x3x8x8xf32>) -> tensor<1x3x8x8xf32> loc("y")
    return %1 : tensor<1x3x8x8xf32>
  }
}

// -----

// CHECK-LABEL: module @packed
// CHECK: func.func @main(%arg0: tensor<2x8x6x3x!quant.uniform<u8:f32, {{.*}}>>)
// CHECK: "top.Preprocess"({{.*}}channel_format = "nhwc", customization_format = "BGR_PACKED", pixel_format = "bgr"
module @packed attributes {module.chip = "ALL", module.name = "n", module.platform = "ONNX", module.state = "TOP_F32"} {
  func.func @main(%arg0: tensor<2x8x6x3xf32>) -> tensor<2x8x6x3xf32> {
    %0 = "top.Input"(%arg0) {do_preprocess = true, channel_format = "nhwc"} : (tensor<2x8x6x3xf32>) -> tensor<2x8x6x3xf32> loc("x")
    %1 = "top.Relu"(%0) : (tensor<2x8x6x3xf32>) -> tensor<2x8x6x3xf32> loc("y")
    return %1 : tensor<2x8x6x3xf32>
  }
}

// Pictures of other extents than the network's, which it scales itself.
// DEFINE: %{keep} = false
// DEFINE: %{mode} = letterbox
// DEFINE: %{type} = center
// DEFINE: %{fuse} = sed 's/KEEP/%{keep}/; s/MODE/%{mode}/; s/TYPE/%{type}/' %s | tpuc-opt --fuse-preprocess="customization_format=YUV_NV21 video_range=false fuse_resize=6,20" --mlir-print-debuginfo --mlir-print-local-scope
// RUN: %{fuse} | FileCheck %s --check-prefixes=CHECK,STRETCH
// CHECK: "top.Input"(%arg0) {{.*}}keep_aspect_ratio = false{{.*}}resize_dims = [6, 20]{{.*}} -> tensor<1x1x9x20x!quant.uniform<u8:f32, 1.000000e+00>> loc("x_raw")
// CHECK: "top.Preprocess"{{.*}}customization_format = "YUV_NV21", pixel_format = "rgb"{{.*}} -> tensor<1x3x6x20x!quant.uniform<u8:f32, 1.000000e+00>> loc("x_planes")
// STRETCH: %[[R:.*]] = "top.Interp"{{.*}}mode = "linear"{{.*}}sizes = [1, 3, 10, 10]{{.*}} loc("x_resized")
// STRETCH-NEXT: "top.Preprocess"(%[[R]]) {{.*}}crop_dims = [8, 8], customization_format = "RGB_PLANAR", mean = [1.000000e+00, 2.000000e+00, 3.000000e+00]{{.*}} -> tensor<1x3x8x8xf32> loc("x")

// The whole picture, 3 rows of 10, between others; or at the top.
// REDEFINE: %{keep} = true
// RUN: %{fuse} | FileCheck %s --check-prefixes=CHECK,CENTRE
// CENTRE: "top.Interp"{{.*}}sizes = [1, 3, 3, 10]
// CENTRE: %[[P:.*]] = "top.Pad"{{.*}}paddings = [0, 0, 3, 0, 0, 0, 4, 0], val = 1.140000e+02{{.*}} -> tensor<1x3x10x10x{{.*}} loc("x_placed")
// CENTRE: "top.Preprocess"(%[[P]])
// REDEFINE: %{type} = normal
// RUN: %{fuse} | FileCheck %s --check-prefixes=CHECK,TOP
// TOP: paddings = [0, 0, 0, 0, 0, 0, 7, 0]

// Or 10 rows of 33, of which the middle is taken.
// REDEFINE: %{mode} = short_side_scale
// RUN: %{fuse} | FileCheck %s --check-prefixes=CHECK,FILL
// FILL: "top.Interp"{{.*}}sizes = [1, 3, 10, 33]
// FILL: paddings = [0, 0, 0, -11, 0, 0, 0, -12]
module @net attributes {module.chip = "ALL", module.name = "n", module.platform = "ONNX", module.state = "TOP_F32"} {
  func.func @main(%arg0: tensor<1x3x8x8xf32>) -> tensor<1x3x8x8xf32> {
    %0 = "top.Input"(%arg0) {do_preprocess = true, keep_aspect_ratio = KEEP, keep_ratio_mode = "MODE", pad_type = "TYPE", pad_value = 114 : i64, pixel_format = "rgb", resize_dims = [10, 10], mean = [1.0, 2.0, 3.0]} : (tensor<1x3x8x8xf32>) -> tensor<1x3x8x8xf32> loc("x")
    %1 = "top.Relu"(%0) : (tensor<1x3x8x8xf32>) -> tensor<1x3x8x8xf32> loc("y")
    return %1 : tensor<1x3x8x8xf32>
  }
}

// Planes of pictures are scaled by products with constants, where the chip has floats of 11 bits: rows
// are channels there. 300 rows are made in two products, of which each reads half of the rows.
// DEFINE: %{lower} = tpuc-opt %s --shape-infer --fuse-preprocess="customization_format=RGB_PLANAR fuse_resize=1200,20" --chip-assign=chip=bm1684x
// DEFINE: %{print} = --mlir-print-debuginfo --mlir-print-local-scope
// RUN: %{lower} --convert-top-to-tpu=mode=F32 %{print} | FileCheck %s
// RUN: %{lower} --convert-top-to-tpu=mode=F16 %{print} | FileCheck %s
// CHECK: %[[I:.*]] = "top.Input"{{.*}} -> tensor<1x3x1200x20x!quant.uniform<u8:f32, 1.000000e+00>> loc("x_raw")
// Bytes become floats where rows are channels: all lanes work, and no floats are stored.
// CHECK: %[[R:.*]] = "tpu.Reshape"(%[[I]], {{.*}} -> tensor<3x1200x1x20x!quant.uniform<u8:f32, 1.000000e+00>>
// CHECK: %[[A:.*]] = "tpu.Cast"(%[[R]]) {{.*}} -> tensor<3x1200x1x20xf16>
// CHECK: %[[T0:.*]] = "tpu.Slice"(%[[A]], {{.*}}ends = [599], offset = [1]{{.*}} -> tensor<3x598x1x20xf16>
// CHECK-NOT: tpu.Interp
// CHECK: "tpu.MatMul"{{.*}}(tensor<900x20xf16>, tensor<20x10xf16>, none) -> tensor<900x10xf16> loc("x_resized_columns_0")
// CHECK: "tpu.Cast"{{.*}} -> tensor<1x3x300x10x!quant.uniform<u8:f32, 1.000000e+00>> loc("x_resized")

// Without these products, and on a chip without such floats, it is computed what lies between pixels.
// RUN: %{lower} --convert-top-to-tpu="mode=F16 interpolate-pictures" %{print} | FileCheck %s --check-prefix=APART
// RUN: tpuc-opt %s --shape-infer --fuse-preprocess="customization_format=RGB_PLANAR fuse_resize=1200,20" --chip-assign=chip=cv181x --convert-top-to-tpu=mode=BF16 %{print} | FileCheck %s --check-prefix=APART
// APART: tpu.Interp
// APART-NOT: tpu.MatMul
module @net attributes {module.chip = "ALL", module.name = "n", module.platform = "ONNX", module.state = "TOP_F32"} {
  func.func @main(%arg0: tensor<1x3x300x10xf32>) -> tensor<1x3x300x10xf32> {
    %0 = "top.Input"(%arg0) {do_preprocess = true, keep_aspect_ratio = false, pixel_format = "rgb", resize_dims = [300, 10], mean = [1.0, 2.0, 3.0]} : (tensor<1x3x300x10xf32>) -> tensor<1x3x300x10xf32> loc("x")
    %1 = "top.Relu"(%0) : (tensor<1x3x300x10xf32>) -> tensor<1x3x300x10xf32> loc("y")
    return %1 : tensor<1x3x300x10xf32>
  }
}

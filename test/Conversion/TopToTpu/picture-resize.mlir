// Planes of pictures are scaled by products with constants, where the chip has floats of 11 bits: rows
// are channels there. 300 rows are made in two products, of which each reads half of the rows.
// DEFINE: %{lower} = tpuc-opt %s --shape-infer --fuse-preprocess="customization_format=RGB_PLANAR fuse_resize=1200,20" --chip-assign=chip=bm1684x
// DEFINE: %{print} = --mlir-print-debuginfo --mlir-print-local-scope
// RUN: %{lower} --convert-top-to-tpu=mode=F32 %{print} | FileCheck %s
// RUN: %{lower} --convert-top-to-tpu=mode=F16 %{print} | FileCheck %s
// CHECK: %[[I:.*]] = "top.Input"{{.*}} -> tensor<1x3x1200x20x!quant.uniform<u8:f32, 1.000000e+00>> loc("x_raw")
// CHECK: %[[F:.*]] = "tpu.Cast"(%[[I]]) {{.*}} -> tensor<1x3x1200x20xf16>
// CHECK: %[[A:.*]] = "tpu.Reshape"(%[[F]], {{.*}} -> tensor<3x1200x1x20xf16>
// CHECK: %[[T0:.*]] = "tpu.Slice"(%[[A]], {{.*}}ends = [599], offset = [1]{{.*}} -> tensor<3x598x1x20xf16>
// CHECK-NOT: tpu.Interp
// CHECK: "tpu.MatMul"{{.*}}(tensor<900x20xf16>, tensor<20x10xf16>, none) -> tensor<900x10xf16> loc("x_resized_columns_0")
// CHECK: "tpu.Cast"{{.*}} -> tensor<1x3x300x10x!quant.uniform<u8:f32, 1.000000e+00>> loc("x_resized")

// A chip without them computes what lies between pixels by itself.
// RUN: tpuc-opt %s --shape-infer --fuse-preprocess="customization_format=RGB_PLANAR fuse_resize=1200,20" --chip-assign=chip=cv181x --convert-top-to-tpu=mode=BF16 %{print} | FileCheck %s --check-prefix=APART
// APART: tpu.Interp
module @net attributes {module.chip = "ALL", module.name = "n", module.platform = "ONNX", module.state = "TOP_F32"} {
  func.func @main(%arg0: tensor<1x3x300x10xf32>) -> tensor<1x3x300x10xf32> {
    %0 = "top.Input"(%arg0) {do_preprocess = true, keep_aspect_ratio = false, pixel_format = "rgb", resize_dims = [300, 10], mean = [1.0, 2.0, 3.0]} : (tensor<1x3x300x10xf32>) -> tensor<1x3x300x10xf32> loc("x")
    %1 = "top.Relu"(%0) : (tensor<1x3x300x10xf32>) -> tensor<1x3x300x10xf32> loc("y")
    return %1 : tensor<1x3x300x10xf32>
  }
}

// Where the table of a picture is one of bytes less 128, bytes stay as they lie, and products have another zero
// point; on the chip nothing is computed. Other readers get signed integers, other means a table.
// RUN: printf '# tensor threshold min max\nx 1 -0.9921875 1\ny 4 -4 4\nz 4 -4 4\n' > %t.table
// DEFINE: %{fuse} = --shape-infer --fuse-preprocess=customization_format=RGB_PLANAR --chip-assign=chip=bm1684x --import-calibration-table="file=%t.table asymmetric=true"
// DEFINE: %{print} = --mlir-print-debuginfo --mlir-print-local-scope
// RUN: tpuc-opt %s %{fuse} --convert-top-to-tpu="mode=INT8 asymmetric=true" %{print} | FileCheck %s
// CHECK: "tpu.ScaleLut"({{.*}} -> tensor<1x3x8x8x!quant.uniform<u8:f32, 7.812500e-03:127>> loc("x")
// RUN: tpuc-opt %s %{fuse} --convert-top-to-tpu="mode=INT8 asymmetric=true" --decompose %{print} | FileCheck %s --check-prefix=CHIP
// CHIP: %[[IN:.*]] = "top.Input"({{.*}} loc("x_raw")
// CHIP-NOT: tpu.Lut
// CHIP: %[[X:.*]] = "tpu.Reshape"(%[[IN]], {{.*}} -> tensor<1x3x8x8x!quant.uniform<u8:f32, 7.812500e-03:127>> loc("x")
// CHIP: "tpu.Conv"(%[[X]],
// RUN: sed 's/127.0, 127.0/127.0, 126.0/' %s | tpuc-opt %{fuse} --convert-top-to-tpu="mode=INT8 asymmetric=true" --decompose %{print} | FileCheck %s --check-prefix=MEAN
// MEAN-NOT: tpu.Reshape
// MEAN: "tpu.Conv"({{.*}} -> tensor<1x3x8x8x!quant.uniform<i8:f32, 7.812500e-03:-1>> loc("x")
// RUN: sed 's/return %1 : tensor<1x2x8x8xf32>/%2 = "top.MulConst"(%0) {const_val = 2.0 : f64} : (tensor<1x3x8x8xf32>) -> tensor<1x3x8x8xf32> loc("z") return %1, %2 : tensor<1x2x8x8xf32>, tensor<1x3x8x8xf32>/;s/-> tensor<1x2x8x8xf32> {/-> (tensor<1x2x8x8xf32>, tensor<1x3x8x8xf32>) {/' %s | tpuc-opt %{fuse} --convert-top-to-tpu="mode=INT8 asymmetric=true" %{print} | FileCheck %s --check-prefix=OTHER
// OTHER: "tpu.ScaleLut"({{.*}} -> tensor<1x3x8x8x!quant.uniform<i8:f32, 7.812500e-03:-1>> loc("x")
// So do bytes of colours.
// RUN: tpuc-opt %s --shape-infer --fuse-preprocess=customization_format=YUV_NV12 --chip-assign=chip=bm1684x --import-calibration-table="file=%t.table asymmetric=true" --convert-top-to-tpu="mode=INT8 asymmetric=true" --decompose %{print} | FileCheck %s --check-prefix=YUV
// YUV: %[[C:.*]] = "tpu.Cast"({{.*}} loc("x_colours")
// YUV: "tpu.Reshape"(%[[C]], {{.*}} -> tensor<1x3x8x8x!quant.uniform<u8:f32, 7.812500e-03:127>> loc("x")
// Symmetric integers of a picture without mean are its bytes, too.
// RUN: printf '# tensor threshold min max\nx 1 0 1\ny 4 -4 4\n' > %t.positive
// RUN: sed 's/127.0, 127.0, 127.0/0.0, 0.0, 0.0/;s/0.0078125, 0.0078125, 0.0078125/0.00392156863, 0.00392156863, 0.00392156863/' %s | tpuc-opt --shape-infer --fuse-preprocess=customization_format=RGB_PLANAR --chip-assign=chip=bm1684x --import-calibration-table=file=%t.positive --convert-top-to-tpu=mode=INT8 --decompose %{print} | FileCheck %s --check-prefix=PLAIN
// PLAIN-NOT: tpu.Lut
// PLAIN: "tpu.Reshape"({{.*}} -> tensor<1x3x8x8x!quant.uniform<u8:f32, {{[^:]*}}>> loc("x")
module @net attributes {module.chip = "ALL", module.name = "n", module.platform = "ONNX", module.state = "TOP_F32"} {
  func.func @main(%arg0: tensor<1x3x8x8xf32>) -> tensor<1x2x8x8xf32> {
    %none = "top.None"() : () -> none
    %0 = "top.Input"(%arg0) {do_preprocess = true, pixel_format = "rgb", channel_format = "nchw", resize_dims = [8, 8], mean = [127.0, 127.0, 127.0], scale = [0.0078125, 0.0078125, 0.0078125]} : (tensor<1x3x8x8xf32>) -> tensor<1x3x8x8xf32> loc("x")
    %f = "top.ConstantFill"(%none) {shape = [2, 3, 3, 3], value = 0.5 : f32} : (none) -> tensor<2x3x3x3xf32> loc("w")
    %1 = "top.Conv"(%0, %f, %none) {kernel_shape = [3, 3], pads = [1, 1, 1, 1]} : (tensor<1x3x8x8xf32>, tensor<2x3x3x3xf32>, none) -> tensor<1x2x8x8xf32> loc("y")
    return %1 : tensor<1x2x8x8xf32>
  }
}

// Bytes of pictures become what the first layers want, on floats and on integers.
// RUN: printf '# tensor threshold min max\nx 2.64 -2.11 2.64\ny 4 -4 4\n' > %t.table
// DEFINE: %{format} = BGR_PACKED
// DEFINE: %{fold} =
// DEFINE: %{lower} = tpuc-opt %s --shape-infer --fuse-preprocess=customization_format=%{format} --chip-assign=chip=bm1684x
// DEFINE: %{print} = --mlir-print-debuginfo --mlir-print-local-scope
// RUN: %{lower} --fold-preprocess --convert-top-to-tpu="mode=F16 keep-scale" %{print} | FileCheck %s --check-prefix=F16
// F16: %[[IN:.*]] = "top.Input"(%arg0) {{.*}} loc("x_raw")
// F16: %[[P:.*]] = "tpu.Permute"(%[[IN]]) {order = [0, 3, 1, 2]} : (tensor<1x10x12x3x!quant.uniform<u8:f32, 1.000000e+00>>) -> {{.*}} loc("x_bgr_planar")
// F16: %[[S:.*]] = "tpu.Slice"(%[[P]], {{.*}}offset = [1, 2]{{.*}} -> tensor<1x3x8x8x!quant.uniform<u8:f32, 1.000000e+00>>
// F16: %[[C:.*]] = "tpu.Cast"(%[[S]]) : {{.*}} -> tensor<1x3x8x8xf32>
// F16: %[[N:.*]] = "tpu.Conv"(%[[C]], %{{.*}}, %{{.*}}) {{{.*}}group = 1 : i64{{.*}} -> tensor<1x3x8x8xf32> loc("x_bgr")
// F16: %[[H:.*]] = "tpu.Cast"(%[[N]]) : {{.*}} -> tensor<1x3x8x8xf16>
// F16: "tpu.Conv"(%[[H]], {{.*}} loc("y{{.*}}")

// Convolutions on floats take over mean and scale, too: bytes become floats, and outside of the
// picture stand the means.
// RUN: %{lower} --fold-preprocess --convert-top-to-tpu=mode=F16 %{print} | FileCheck %s --check-prefix=FOLD
// FOLD: %[[S:.*]] = "tpu.Slice"
// FOLD: %[[C:.*]] = "tpu.Cast"(%[[S]]) : {{.*}} -> tensor<1x3x8x8xf16> loc("x_bgr_bytes")
// FOLD: "tpu.Conv"(%[[C]], {{.*}}pad_values = [103.5{{[0-9]*}}, 116.2{{[0-9]*}}, 123.6{{.*}} loc("y{{.*}}")

// On integers a table, and no cast.
// RUN: %{lower} --import-calibration-table=file=%t.table --fold-preprocess --convert-top-to-tpu=mode=INT8 %{print} | FileCheck %s --check-prefix=INT8
// INT8: %[[S:.*]] = "tpu.Slice"
// INT8-NOT: tpu.Cast
// INT8: %[[N:.*]] = "tpu.ScaleLut"(%[[S]], %{{.*}}) : (tensor<1x3x8x8x!quant.uniform<u8:f32, 1.000000e+00>>, tensor<3x256xi8>) -> tensor<1x3x8x8x!quant.uniform<i8:f32, {{.*}}>> loc("x_bgr")
// INT8-NOT: tpu.Cast
// INT8: "tpu.Conv"(%[[N]], {{.*}} loc("y{{.*}}")

// Without the rewriting the channels change places, and the tensor keeps the input's name.
// RUN: %{lower} --import-calibration-table=file=%t.table --fold-preprocess=without=fold-swap --convert-top-to-tpu=mode=INT8 %{print} | FileCheck %s --check-prefix=KEPT
// KEPT: %[[J:.*]] = "tpu.Concat"{{.*}} loc("x_swapped")
// KEPT: "tpu.ScaleLut"(%[[J]], {{.*}} loc("x")
// RUN: %{lower} --fold-preprocess=without=fold-swap --convert-top-to-tpu="mode=F32 keep-scale" %{print} | FileCheck %s --check-prefix=MIXED
// MIXED: "tpu.Conv"{{.*}}group = 1 : i64{{.*}} loc("x")

// A layer on integers in a network on floats has the table, one on floats among integers a cast.
// RUN: echo 'y INT8' > %t.int8
// RUN: %{lower} --import-calibration-table=file=%t.table --convert-top-to-tpu="mode=F32 qtable=%t.int8" %{print} | FileCheck %s --check-prefix=TABLE
// TABLE-NOT: tpu.Cast
// TABLE: %[[N:.*]] = "tpu.ScaleLut"{{.*}} loc("x")
// TABLE: "tpu.Conv"(%[[N]],
// RUN: echo 'y F32' > %t.f32
// RUN: %{lower} --import-calibration-table=file=%t.table --convert-top-to-tpu="mode=INT8 qtable=%t.f32 keep-scale" %{print} | FileCheck %s --check-prefix=CAST
// CAST: %[[N:.*]] = "tpu.ScaleLut"{{.*}} loc("x")
// CAST: %[[C:.*]] = "tpu.Cast"(%[[N]])
// CAST: "tpu.Conv"(%[[C]],

// A convolution on floats that takes over mean and scale reads bytes instead.
// RUN: %{lower} --import-calibration-table=file=%t.table --convert-top-to-tpu="mode=INT8 qtable=%t.f32" %{print} | FileCheck %s --check-prefix=BYTES
// BYTES-NOT: tpu.ScaleLut
// BYTES: "tpu.Cast"{{.*}} -> tensor<1x3x8x8xf32> loc("x_bytes")
// BYTES: "tpu.Conv"{{.*}}pad_values

// Of YUV the colours are a product, limited to bytes.
// REDEFINE: %{format} = YUV_NV21
// RUN: %{lower} --convert-top-to-tpu=mode=F32 %{print} | FileCheck %s --check-prefix=YUV
// YUV: "tpu.Slice"{{.*}} loc("x{{.*}}_luma")
// YUV: "tpu.Reshape"{{.*}} -> tensor<1x5x6x2x
// YUV: "tpu.Permute"
// YUV: "tpu.Upsample"
// YUV: "tpu.Concat"{{.*}} -> tensor<1x3x10x12x
// YUV: "tpu.Conv"{{.*}} loc("x{{.*}}_sums")
// YUV: "tpu.Cast"{{.*}} -> tensor<1x3x8x8x!quant.uniform<u8:f32, 1.000000e+00>> loc("x{{.*}}_colours")

// Frames of gaps are taken apart first: rows of 64 bytes of Y and of pairs, behind 640 bytes.
// A chip without F32 sums the colours in BF16, of weights in two parts. What stands around a
// convolution is 0 there, so the mean is taken away in front: with weights of 1, in one part.
// RUN: tpuc-opt %s --shape-infer --fuse-preprocess="customization_format=YUV_NV21 row_alignment=64 plane_alignment=64" --chip-assign=chip=cv181x --convert-top-to-tpu=mode=BF16 %{print} | FileCheck %s --check-prefix=FRAME
// FRAME: "top.Input"{{.*}}frame = [10, 12, 64, 64]{{.*}} : (tensor<1x1x1x960x
// FRAME: %[[B:.*]] = "tpu.Slice"{{.*}}ends = [640]{{.*}} -> tensor<1x1x1x640x{{.*}} loc("x_centred_luma_bytes")
// FRAME: %[[R:.*]] = "tpu.Reshape"(%[[B]]{{.*}} -> tensor<1x1x10x64x
// FRAME: "tpu.Slice"(%[[R]]{{.*}} -> tensor<1x1x10x12x{{.*}} loc("x_centred_luma")
// FRAME: "tpu.Slice"{{.*}}offset = [640]{{.*}} -> tensor<1x1x1x320x{{.*}} loc("x_centred_chroma_bytes")
// FRAME: "tpu.Concat"{{.*}} -> tensor<1x6x8x8xbf16> loc("x_centred_sums_twice")
// FRAME: "tpu.Conv"{{.*}} -> tensor<1x3x8x8xbf16> loc("x_centred_sums")
// FRAME: "tpu.Cast"{{.*}} -> tensor<1x3x8x8x!quant.uniform<u8:f32, 1.000000e+00>> loc("x_centred_colours")
// FRAME: %[[N:.*]] = "tpu.Cast"{{.*}} loc("x_centred_numbers")
// FRAME: "tpu.Conv"(%[[N]], {{.*}} -> tensor<1x3x8x8xbf16> loc("x_centred")
// FRAME: "tpu.Conv"
// FRAME-NOT: pad_values
module @net attributes {module.chip = "ALL", module.name = "n", module.platform = "ONNX", module.state = "TOP_F32"} {
  func.func @main(%arg0: tensor<1x3x8x8xf32>) -> tensor<1x2x8x8xf32> {
    %none = "top.None"() : () -> none
    %0 = "top.Input"(%arg0) {do_preprocess = true, pixel_format = "rgb", channel_format = "nchw", resize_dims = [10, 12], mean = [123.675, 116.28, 103.53], scale = [0.0171, 0.0175, 0.0174]} : (tensor<1x3x8x8xf32>) -> tensor<1x3x8x8xf32> loc("x")
    %f = "top.ConstantFill"(%none) {shape = [2, 3, 3, 3], value = 0.5 : f32} : (none) -> tensor<2x3x3x3xf32> loc("w")
    %1 = "top.Conv"(%0, %f, %none) {kernel_shape = [3, 3], pads = [1, 1, 1, 1]} : (tensor<1x3x8x8xf32>, tensor<2x3x3x3xf32>, none) -> tensor<1x2x8x8xf32> loc("y")
    return %1 : tensor<1x2x8x8xf32> loc("y")
  }
}

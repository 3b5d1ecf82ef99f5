// Pictures get other extents by products with constants, or with --opt 2 by interpolation where that
// takes fewer cycles: here of 14 x 14 pixels, and not of 97 x 101.
// REQUIRES: mlir
// RUN: rm -rf %t.dir && mkdir -p %t.dir
// DEFINE: %{size} =
// DEFINE: %{more} = --opt 2
// DEFINE: %{deploy} = model_deploy --mlir %s --quantize F16 --chip bm1684x --model %t.dir/net.bmodel --fuse_preprocess --customization_format RGB_PLANAR --fuse_resize %{size} %{more}
// DEFINE: %{lowered} = FileCheck %s --input-file %t.dir/faster-resize_bm1684x_f16_tpu.mlir
// REDEFINE: %{size} = 14,14
// RUN: %{deploy} && %{lowered} --check-prefix=APART
// APART: tpu.Interp
// REDEFINE: %{more} =
// RUN: %{deploy} && %{lowered} --check-prefix=PRODUCTS
// REDEFINE: %{size} = 97,101
// REDEFINE: %{more} = --opt 2
// RUN: %{deploy} && %{lowered} --check-prefix=PRODUCTS
// PRODUCTS: tpu.MatMul
// REDEFINE: %{more} = --without resize-by-products
// RUN: %{deploy} && %{lowered} --check-prefix=APART
module @net attributes {module.chip = "ALL", module.name = "n", module.platform = "ONNX", module.state = "TOP_F32"} {
  func.func @main(%arg0: tensor<1x3x28x28xf32>) -> tensor<1x3x28x28xf32> {
    %0 = "top.Input"(%arg0) {do_preprocess = true, keep_aspect_ratio = false, pixel_format = "rgb", resize_dims = [28, 28], mean = [1.0, 2.0, 3.0]} : (tensor<1x3x28x28xf32>) -> tensor<1x3x28x28xf32> loc("x")
    %1 = "top.Relu"(%0) : (tensor<1x3x28x28xf32>) -> tensor<1x3x28x28xf32> loc("y")
    return %1 : tensor<1x3x28x28xf32>
  }
}

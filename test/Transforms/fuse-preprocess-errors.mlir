// RUN: not tpuc-opt %s --fuse-preprocess=customization_format=GRAYSCALE 2>&1 | FileCheck %s --check-prefix=GRAY
// GRAY: --customization_format: GRAYSCALE; expected a format with the 3 channels of pixel_format bgr
// RUN: not tpuc-opt %s --fuse-preprocess=customization_format=YUV_NV12 2>&1 | FileCheck %s --check-prefix=ODD
// ODD: --customization_format: input 'x' has a height of 9 and a width of 8; expected even ones for YUV_NV12
// RUN: not tpuc-opt %s --fuse-preprocess=customization_format=NV12 2>&1 | FileCheck %s --check-prefix=NAME
// NAME: --customization_format: NV12; expected one of RGB_PLANAR,
// RUN: not tpuc-opt %s --fuse-preprocess=fuse_resize=4 2>&1 | FileCheck %s --check-prefix=RESIZE
// RESIZE: --fuse_resize: 4; expected height and width, 1 at least
// RUN: not tpuc-opt %s --fuse-preprocess="fuse_resize=4,7 customization_format=YUV_NV12" 2>&1 | FileCheck %s --check-prefix=ODDLY
// ODDLY: --customization_format: input 'x' has a height of 4 and a width of 7; expected even ones for YUV_NV12
// RUN: sed 's/do_preprocess = true/do_preprocess = false/' %s > %t.mlir
// RUN: not tpuc-opt %t.mlir --fuse-preprocess 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: --fuse_preprocess: no input of the network is prepared from pictures; expected model_transform with
module @odd attributes {module.chip = "ALL", module.name = "n", module.platform = "ONNX", module.state = "TOP_F32"} {
  func.func @main(%arg0: tensor<1x3x9x8xf32>) -> tensor<1x3x9x8xf32> {
    %0 = "top.Input"(%arg0) {do_preprocess = true} : (tensor<1x3x9x8xf32>) -> tensor<1x3x9x8xf32> loc("x")
    %1 = "top.Relu"(%0) : (tensor<1x3x9x8xf32>) -> tensor<1x3x9x8xf32> loc("y")
    return %1 : tensor<1x3x9x8xf32>
  }
}

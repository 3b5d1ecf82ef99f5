// Candidates are tried on a copy of the layers around a convolution. Where none is chosen, the module
// stays as it is, to the letter: names, order, constants.
// DEFINE: %{lower} = tpuc-opt --shape-infer --chip-assign=chip=bm1684x --convert-top-to-tpu=mode=F16 --mlir-print-debuginfo
// RUN: rm -rf %t && split-file %s %t

// All candidates take longer than what is there.
// RUN: %{lower} %t/slower.mlir -o %t/before.mlir
// RUN: %{lower} %t/slower.mlir --pack-rows -o %t/after.mlir
// RUN: diff %t/before.mlir %t/after.mlir

// There is no price: the layer beside does not fit local memory.
// RUN: %{lower} %t/unpriced.mlir -o %t/before.mlir
// RUN: %{lower} %t/unpriced.mlir --pack-rows -o %t/after.mlir
// RUN: diff %t/before.mlir %t/after.mlir

// With a small layer beside, a candidate is chosen.
// RUN: sed s/1048576/1024/g %t/unpriced.mlir | %{lower} --pack-rows | FileCheck %s
// CHECK: tpu.UnpackRows

//--- slower.mlir
module attributes {module.name = "net"} {
  func.func @main(%arg0: tensor<1x8x16x16xf32>) -> tensor<1x8x16x16xf32> {
    %none = "top.None"() : () -> none
    %x = "top.Input"(%arg0) : (tensor<1x8x16x16xf32>) -> tensor<1x8x16x16xf32> loc("x")
    %u = "top.ConstantFill"(%none) {shape = [8, 8, 3, 3], value = 0.25 : f32} : (none) -> tensor<8x8x3x3xf32> loc("u")
    %0 = "top.Conv"(%x, %u, %none) {kernel_shape = [3, 3], pads = [1, 1, 1, 1]} : (tensor<1x8x16x16xf32>, tensor<8x8x3x3xf32>, none) -> tensor<1x8x16x16xf32> loc("small")
    return %0 : tensor<1x8x16x16xf32>
  }
}

//--- unpriced.mlir
module attributes {module.name = "net"} {
  func.func @main(%arg0: tensor<1x3x128x128xf32>, %arg1: tensor<1x1x1x1048576xf32>) -> (tensor<1x16x64x64xf32>, tensor<1x1x1x1048576xf32>) {
    %none = "top.None"() : () -> none
    %x = "top.Input"(%arg0) : (tensor<1x3x128x128xf32>) -> tensor<1x3x128x128xf32> loc("x")
    %y = "top.Input"(%arg1) : (tensor<1x1x1x1048576xf32>) -> tensor<1x1x1x1048576xf32> loc("y")
    %w = "top.ConstantFill"(%none) {shape = [16, 3, 7, 7], value = 0.5 : f32} : (none) -> tensor<16x3x7x7xf32> loc("w")
    %0 = "top.Conv"(%x, %w, %none) {kernel_shape = [7, 7], pads = [3, 3, 3, 3], strides = [2, 2]} : (tensor<1x3x128x128xf32>, tensor<16x3x7x7xf32>, none) -> tensor<1x16x64x64xf32> loc("wide")
    %1 = "top.Softmax"(%y) {axis = 3} : (tensor<1x1x1x1048576xf32>) -> tensor<1x1x1x1048576xf32> loc("row")
    return %0, %1 : tensor<1x16x64x64xf32>, tensor<1x1x1x1048576xf32>
  }
}

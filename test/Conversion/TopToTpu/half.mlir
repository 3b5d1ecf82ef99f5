// A network that is itself of 16-bit floats has no integers until it is widened.
// RUN: not tpuc-opt %s --chip-assign=chip=bm1684x --convert-top-to-tpu=mode=INT8 2>&1 | FileCheck %s
// CHECK: error: module: floats of 16 or 64 bits only; expected --widen-floats first
module {
  func.func @main(%arg0: tensor<4xf16>) -> tensor<4xf16> {
    %x = "top.Input"(%arg0) : (tensor<4xf16>) -> tensor<4xf16> loc("x")
    %y = "top.Relu"(%x) : (tensor<4xf16>) -> tensor<4xf16> loc("y")
    return %y : tensor<4xf16>
  } loc("main")
}

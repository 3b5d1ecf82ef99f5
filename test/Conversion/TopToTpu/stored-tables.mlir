// Tables of functions whose source states the integers: the function is of the numbers these stand for,
// and the result of it is stored as the source says.
// RUN: tpuc-opt %s --chip-assign=chip=bm1684x --convert-top-to-tpu="mode=INT8 asymmetric" | FileCheck %s

// CHECK: "tpu.Lut"
// CHECK-SAME: !quant.uniform<i8:f32, 3.906250e-03:-128>
// CHECK: "tpu.Lut"
// CHECK-SAME: !quant.uniform<i8:f32, 5.000000e-02:3>
module attributes {module.name = "net", module.state = "TOP_QUANTIZED"} {
  func.func @main(%arg0: tensor<1x3x4x5x!quant.uniform<i8:f32, 0.05:-5>>) -> (tensor<1x3x4x5x!quant.uniform<i8:f32, 0.00390625:-128>>, tensor<1x3x4x5x!quant.uniform<i8:f32, 0.05:3>>) {
    %x = "top.Input"(%arg0) : (tensor<1x3x4x5x!quant.uniform<i8:f32, 0.05:-5>>) -> tensor<1x3x4x5x!quant.uniform<i8:f32, 0.05:-5>> loc("x")
    %0 = "top.Sigmoid"(%x) : (tensor<1x3x4x5x!quant.uniform<i8:f32, 0.05:-5>>) -> tensor<1x3x4x5x!quant.uniform<i8:f32, 0.00390625:-128>> loc("y")
    %1 = "top.HardSwish"(%x) : (tensor<1x3x4x5x!quant.uniform<i8:f32, 0.05:-5>>) -> tensor<1x3x4x5x!quant.uniform<i8:f32, 0.05:3>> loc("z")
    return %0, %1 : tensor<1x3x4x5x!quant.uniform<i8:f32, 0.00390625:-128>>, tensor<1x3x4x5x!quant.uniform<i8:f32, 0.05:3>>
  }
}

// The file of functions in F32 is right although the chip's series are off by some units in the last
// place; a file is not refused for that.
// REQUIRES: mlir
// RUN: rm -rf %t.dir && mkdir -p %t.dir
// RUN: cp %s %t.dir/net.mlir
// RUN: %python %S/../../Codegen/Inputs/ramp.py %t.dir/in.npz x=3,40,50
// RUN: model_deploy --mlir %t.dir/net.mlir --quantize F32 --chip bm1684x --model %t.dir/net.bmodel --test_input %t.dir/in.npz | FileCheck %s --implicit-check-not=FAILED
// CHECK: compared with the lowered network, on the simulator:
// CHECK-COUNT-8: {{similar|equal}}
// CHECK: 'erf' may be off by
module attributes {module.FLOPs = 0 : i64, module.chip = "ALL", module.name = "net", module.platform = "ONNX", module.state = "TOP_F32"} {
  func.func @main(%arg0: tensor<3x40x50xf32> loc("x")) -> (tensor<3x40x50xf32>, tensor<3x40x50xf32>, tensor<3x40x50xf32>, tensor<3x40x50xf32>, tensor<3x40x50xf32>, tensor<3x40x50xf32>, tensor<3x40x50xf32>, tensor<3x40x50xf32>) {
    %x = "top.Input"(%arg0) : (tensor<3x40x50xf32>) -> tensor<3x40x50xf32> loc("x")
    %0 = "top.Erf"(%x) : (tensor<3x40x50xf32>) -> tensor<3x40x50xf32> loc("erf")
    %1 = "top.GELU"(%x) : (tensor<3x40x50xf32>) -> tensor<3x40x50xf32> loc("gelu")
    %2 = "top.Sigmoid"(%x) : (tensor<3x40x50xf32>) -> tensor<3x40x50xf32> loc("sigmoid")
    %3 = "top.Tanh"(%x) : (tensor<3x40x50xf32>) -> tensor<3x40x50xf32> loc("tanh")
    %4 = "top.Exp"(%x) : (tensor<3x40x50xf32>) -> tensor<3x40x50xf32> loc("exp")
    %5 = "top.Mish"(%x) : (tensor<3x40x50xf32>) -> tensor<3x40x50xf32> loc("mish")
    %6 = "top.Softmax"(%x) {axis = 2 : i64} : (tensor<3x40x50xf32>) -> tensor<3x40x50xf32> loc("softmax")
    %7 = "top.Sin"(%x) : (tensor<3x40x50xf32>) -> tensor<3x40x50xf32> loc("sin")
    return %0, %1, %2, %3, %4, %5, %6, %7 : tensor<3x40x50xf32>, tensor<3x40x50xf32>, tensor<3x40x50xf32>, tensor<3x40x50xf32>, tensor<3x40x50xf32>, tensor<3x40x50xf32>, tensor<3x40x50xf32>, tensor<3x40x50xf32>
  }
}

// A constant of 64 bits that is a result: files state integers of 32 bits.
// RUN: rm -rf %t.dir && mkdir -p %t.dir
// RUN: %python %S/../../Codegen/Inputs/ramp.py %t.dir/net.npz y:small=5
// RUN: %python %S/../../Codegen/Inputs/ramp.py %t.dir/in.npz x=1,8,3,3
// RUN: cp %s %t.dir/net.mlir
// RUN: model_deploy --mlir %t.dir/net.mlir --chip cv181x --quantize BF16 --skip_validation --model %t.dir/net.cvimodel
// RUN: FileCheck %s < %t.dir/net_cv181x_bf16_final.mlir
// CHECK: "tpu.Copy"{{.*}}tensor<5xi32{{.*}}loc("y")
// RUN: model_runner --model %t.dir/net.cvimodel --input %t.dir/in.npz --output %t.dir/file.npz
module attributes {module.name = "net", module.chip = "ALL", module.state = "TOP_F32", module.weight_file = "net.npz"} {
  func.func @main(%arg0: tensor<1x8x3x3xf32>) -> (tensor<1x8x3x3xf32>, tensor<5xi64>) {
    %x = "top.Input"(%arg0) : (tensor<1x8x3x3xf32>) -> tensor<1x8x3x3xf32> loc("x")
    %z = "top.Relu"(%x) : (tensor<1x8x3x3xf32>) -> tensor<1x8x3x3xf32> loc("z")
    %y = "top.Weight"() : () -> tensor<5xi64> loc("y")
    return %z, %y : tensor<1x8x3x3xf32>, tensor<5xi64>
  }
}

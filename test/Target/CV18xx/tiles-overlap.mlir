// Rows of the input and parts of the filter are so small that each has room for the next one: the filter passes for
// each part of the rows, which the products hide.
// RUN: rm -rf %t.dir && mkdir -p %t.dir
// RUN: %python %S/../../Codegen/Inputs/ramp.py %t.dir/net.npz filter=128,128,3,3
// RUN: %python %S/../../Codegen/Inputs/ramp.py %t.dir/in.npz x=1,128,28,28
// RUN: cp %s %t.dir/net.mlir
// RUN: model_deploy --mlir %t.dir/net.mlir --chip cv181x --quantize BF16 --skip_validation --model %t.dir/net.cvimodel
// RUN: FileCheck %s < %t.dir/net_cv181x_bf16_final.mlir
// CHECK-COUNT-2: "tpu.Load"({{.*}}buffers = 2
// CHECK: "tpu.Conv"({{.*}}buffers = 2
// RUN: model_runner --model %t.dir/net_cv181x_bf16_tpu.mlir --input %t.dir/in.npz --output %t.dir/lowered.npz
// RUN: model_runner --model %t.dir/net.cvimodel --input %t.dir/in.npz --output %t.dir/file.npz
// RUN: npz_tool compare %t.dir/file.npz %t.dir/lowered.npz --tolerance 0.9999,0.99
!x = tensor<1x128x28x28xf32>
!y = tensor<1x128x28x28xf32>
!f = tensor<128x128x3x3xf32>
module attributes {module.name = "net", module.chip = "ALL", module.state = "TOP_F32", module.weight_file = "net.npz"} {
  func.func @main(%arg0: !x) -> !y {
    %none = "top.None"() : () -> none
    %x = "top.Input"(%arg0) : (!x) -> !x loc("x")
    %filter = "top.Weight"() : () -> !f loc("filter")
    %y = "top.Conv"(%x, %filter, %none) {kernel_shape = [3, 3], strides = [1, 1], pads = [1, 1, 1, 1], dilations = [1, 1]} : (!x, !f, none) -> !y loc("y")
    return %y : !y
  }
}

// Lanes hold one row of all channels of the sum's operands beside the filter at most. A convolution and the sum behind it
// are one group nevertheless: in parts of channels, each with its part of the filter.
// RUN: rm -rf %t.dir && mkdir -p %t.dir
// RUN: %python %S/../../Codegen/Inputs/ramp.py %t.dir/net.npz filter=512,128,1,1 bias=512
// RUN: %python %S/../../Codegen/Inputs/ramp.py %t.dir/in.npz x=1,128,28,28 y=1,512,28,28
// RUN: cp %s %t.dir/net.mlir
// RUN: model_deploy --mlir %t.dir/net.mlir --chip cv181x --quantize BF16 --skip_validation --model %t.dir/net.cvimodel
// RUN: FileCheck %s < %t.dir/net_cv181x_bf16_final.mlir
// CHECK: "tpu.Group"(
// CHECK: "tpu.Conv"({{.*}}c_slice = [{{[0-9]+}}, {{[0-9]+}}
// CHECK: "tpu.Add"({{.*}}c_slice = [{{[0-9]+}}, {{[0-9]+}}
// CHECK-NOT: "tpu.Group"(
// RUN: model_runner --model %t.dir/net.cvimodel --input %t.dir/in.npz --output %t.dir/file.npz
// RUN: model_runner --model %t.dir/net_cv181x_bf16_tpu.mlir --input %t.dir/in.npz --output %t.dir/lowered.npz
// RUN: npz_tool compare %t.dir/file.npz %t.dir/lowered.npz --tolerance 0.9999,0.99
!x = tensor<1x128x28x28xf32>
!y = tensor<1x512x28x28xf32>
module attributes {module.name = "net", module.chip = "ALL", module.state = "TOP_F32", module.weight_file = "net.npz"} {
  func.func @main(%arg0: !x, %arg1: !y) -> !y {
    %x = "top.Input"(%arg0) : (!x) -> !x loc("x")
    %y = "top.Input"(%arg1) : (!y) -> !y loc("y")
    %filter = "top.Weight"() : () -> tensor<512x128x1x1xf32> loc("filter")
    %bias = "top.Weight"() : () -> tensor<512xf32> loc("bias")
    %c = "top.Conv"(%x, %filter, %bias) {kernel_shape = [1, 1], strides = [1, 1], pads = [0, 0, 0, 0]} : (!x, tensor<512x128x1x1xf32>, tensor<512xf32>) -> !y loc("conv")
    %s = "top.Add"(%c, %y) {do_relu = true} : (!y, !y) -> !y loc("sum")
    return %s : !y
  }
}

// Neither the input nor the filter fits the lanes. All of the filter passes while rows of the input stay, so that it
// is loaded beside the products: the other way round, one of both would be waited for.
// RUN: rm -rf %t.dir && mkdir -p %t.dir
// RUN: %python %S/../../Codegen/Inputs/ramp.py %t.dir/net.npz filter=96,576,1,1
// RUN: %python %S/../../Codegen/Inputs/ramp.py %t.dir/in.npz x=1,576,7,7
// RUN: cp %s %t.dir/net.mlir
// RUN: model_deploy --mlir %t.dir/net.mlir --chip cv180x --quantize BF16 --skip_validation --model %t.dir/net.cvimodel
// RUN: FileCheck %s < %t.dir/net_cv180x_bf16_final.mlir
// CHECK: "tpu.Conv"
// CHECK-SAME: c_inner
// RUN: model_runner --model %t.dir/net_cv180x_bf16_tpu.mlir --input %t.dir/in.npz --output %t.dir/lowered.npz
// RUN: model_runner --model %t.dir/net.cvimodel --input %t.dir/in.npz --output %t.dir/file.npz
// RUN: npz_tool compare %t.dir/file.npz %t.dir/lowered.npz --tolerance 0.9999,0.99
!x = tensor<1x576x7x7xf32>
!y = tensor<1x96x7x7xf32>
!f = tensor<96x576x1x1xf32>
module attributes {module.name = "net", module.chip = "ALL", module.state = "TOP_F32", module.weight_file = "net.npz"} {
  func.func @main(%arg0: !x) -> !y {
    %none = "top.None"() : () -> none
    %x = "top.Input"(%arg0) : (!x) -> !x loc("x")
    %filter = "top.Weight"() : () -> !f loc("filter")
    %y = "top.Conv"(%x, %filter, %none) {kernel_shape = [1, 1], strides = [1, 1], pads = [0, 0, 0, 0], dilations = [1, 1]} : (!x, !f, none) -> !y loc("y")
    return %y : !y
  }
}

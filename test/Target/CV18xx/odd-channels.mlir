// Integers are multiplied two input channels at a time. Of an odd number the last one is multiplied by a filter's zeros,
// whatever lies in its place in local memory; no load brings it.
// RUN: rm -rf %t.dir && mkdir -p %t.dir
// RUN: %python %S/../../Codegen/Inputs/ramp.py %t.dir/net.npz filter:s8=8,3,3,3
// RUN: cp %s %t.dir/net.mlir
// RUN: tpuc-opt %t.dir/net.mlir --subnet-divide --weight-reorder --op-reorder --layer-group --address-assign --codegen=model=%t.dir/net.cvimodel -o %t.dir/none.mlir
// RUN: model_tool --dump_commands %t.dir/net.cvimodel | FileCheck %s --check-prefix=COMMANDS
// COMMANDS: dma.load {{.*}}dst=[c3 h6 w5]
// COMMANDS: conv {{.*}}double=1 {{.*}}opd0=[n1 c4 h6 w5] opd1=[n4 c8 h3 w3]
// RUN: %python %S/../../Codegen/Inputs/ramp.py %t.dir/in.npz x=1,3,6,5
// RUN: model_runner --model %t.dir/net.mlir --input %t.dir/in.npz --output %t.dir/lowered.npz
// RUN: model_runner --model %t.dir/net.cvimodel --input %t.dir/in.npz --output %t.dir/file.npz
// RUN: npz_tool compare %t.dir/file.npz %t.dir/lowered.npz --tolerance 1,1 | FileCheck %s
// CHECK: 1 equal, 0 similar
!in = tensor<1x3x6x5x!quant.uniform<i8:f32, 0.5>>
!out = tensor<1x8x3x3x!quant.uniform<i8:f32, 0.25>>
module attributes {module.name = "net", module.chip = "cv181x", module.mode = "INT8", module.state = "TPU_LOWERED", module.weight_file = "net.npz"} {
  func.func @main(%arg0: !in) -> !out {
    %none = "top.None"() : () -> none
    %x = "top.Input"(%arg0) : (!in) -> !in loc("x")
    %filter = "top.Weight"() : () -> tensor<8x3x3x3xi8> loc("filter")
    %y = "tpu.Conv"(%x, %filter, %none) {kernel_shape = [3, 3], strides = [2, 2], pads = [1, 1, 1, 1], dilations = [1, 1], group = 1, do_relu = false, relu_limit = -1.0, multiplier = [1073741824], rshift = [2], quant_mode = "TFLite"} : (!in, tensor<8x3x3x3xi8>, none) -> !out loc("y")
    return %y : !out
  }
}

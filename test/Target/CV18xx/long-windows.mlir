// Windows have at most 4063 elements along an axis, so rows that a lane could hold are cut.
// RUN: rm -rf %t.dir && mkdir -p %t.dir
// RUN: %python %S/../../Codegen/Inputs/ramp.py %t.dir/net.npz filter:s8=2,4,1,1
// RUN: cp %s %t.dir/net.mlir
// RUN: tpuc-opt %t.dir/net.mlir --subnet-divide --weight-reorder --op-reorder --layer-group --address-assign --codegen=model=%t.dir/net.cvimodel -o %t.dir/none.mlir
// RUN: model_tool --dump_commands %t.dir/net.cvimodel | FileCheck %s --check-prefix=COMMANDS
// COMMANDS-COUNT-2: conv #
// COMMANDS-NOT: conv #
// RUN: %python %S/../../Codegen/Inputs/ramp.py %t.dir/in.npz x=1,4,1,6000
// RUN: model_runner --model %t.dir/net.mlir --input %t.dir/in.npz --output %t.dir/lowered.npz
// RUN: model_runner --model %t.dir/net.cvimodel --input %t.dir/in.npz --output %t.dir/file.npz
// RUN: npz_tool compare %t.dir/file.npz %t.dir/lowered.npz --tolerance 1,1 | FileCheck %s
// CHECK: 1 equal, 0 similar
!in = tensor<1x4x1x6000x!quant.uniform<i8:f32, 0.5>>
!out = tensor<1x2x1x6000x!quant.uniform<i8:f32, 0.25>>
module attributes {module.name = "net", module.chip = "cv183x", module.mode = "INT8", module.state = "TPU_LOWERED", module.weight_file = "net.npz"} {
  func.func @main(%arg0: !in) -> !out {
    %none = "top.None"() : () -> none
    %x = "top.Input"(%arg0) : (!in) -> !in loc("x")
    %filter = "top.Weight"() : () -> tensor<2x4x1x1xi8> loc("filter")
    %y = "tpu.Conv"(%x, %filter, %none) {kernel_shape = [1, 1], strides = [1, 1], pads = [0, 0, 0, 0], dilations = [1, 1], group = 1, do_relu = false, relu_limit = -1.0, multiplier = [1073741824, 1680714299], rshift = [0, 3], quant_mode = "TFLite"} : (!in, tensor<2x4x1x1xi8>, none) -> !out loc("y")
    return %y : !out
  }
}

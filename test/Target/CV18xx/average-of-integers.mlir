// An average with a factor of 8 bits is a command by itself; it takes half as long as a depthwise convolution of ones.
// RUN: rm -rf %t.dir && mkdir -p %t.dir
// RUN: cp %s %t.dir/net.mlir
// RUN: tpuc-opt %t.dir/net.mlir --average-to-conv --subnet-divide --weight-reorder --op-reorder --layer-group --address-assign --codegen=model=%t.dir/net.cvimodel -o %t.dir/none.mlir
// RUN: model_tool --dump_commands %t.dir/net.cvimodel | grep -v ^dma | FileCheck %s --check-prefix=COMMANDS
// COMMANDS: {{^}}pool.avg #{{.*}} shift=12 
// COMMANDS-NEXT: {{^}}pool.avg #{{.*}} shift=11 
// COMMANDS-NOT: depthwise
// RUN: %python %S/../../Codegen/Inputs/ramp.py %t.dir/in.npz x:s8=1,19,6,8
// RUN: model_runner --model %t.dir/net.mlir --input %t.dir/in.npz --output %t.dir/lowered.npz
// RUN: model_runner --model %t.dir/net.cvimodel --input %t.dir/in.npz --output %t.dir/file.npz
// RUN: npz_tool compare %t.dir/file.npz %t.dir/lowered.npz --tolerance 1,1 | FileCheck %s
// CHECK: 2 equal, 0 similar
!in = tensor<1x19x6x8x!quant.uniform<i8:f32, 0.5>>
!all = tensor<1x19x1x1x!quant.uniform<i8:f32, 0.25>>
!some = tensor<1x19x2x3x!quant.uniform<i8:f32, 0.25>>
module attributes {module.name = "net", module.chip = "cv180x", module.mode = "INT8", module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: !in) -> (!all, !some) {
    %x = "top.Input"(%arg0) : (!in) -> !in loc("x")
    %y = "tpu.AvgPool"(%x) {auto_pad = "NOTSET", ceil_mode = false, count_include_pad = false, kernel_shape = [6, 8], strides = [6, 8], multiplier = [171], rshift = [12], round_mode = "HalfUp"} : (!in) -> !all loc("y")
    %z = "tpu.AvgPool"(%x) {auto_pad = "NOTSET", ceil_mode = false, count_include_pad = false, kernel_shape = [2, 4], strides = [4, 2], multiplier = [255], rshift = [11], round_mode = "HalfUp"} : (!in) -> !some loc("z")
    return %y, %z : !all, !some
  }
}

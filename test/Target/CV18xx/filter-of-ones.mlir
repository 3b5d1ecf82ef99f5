// The ones of an average's filter are made in local memory; the file does not have them.
// RUN: rm -rf %t.dir && mkdir %t.dir
// RUN: tpuc-opt %s --average-to-conv --subnet-divide --weight-reorder --layer-group --address-assign --codegen=model=%t.dir/net.cvimodel -o %t.dir/final.mlir
// RUN: model_tool --dump_commands %t.dir/net.cvimodel | FileCheck %s --check-prefix=COMMANDS
// COMMANDS: dma.load_fill {{.*}}value=0x1
// COMMANDS: depthwise
// RUN: model_tool --info %t.dir/net.cvimodel | FileCheck %s --check-prefix=BYTES
// Nine for each channel.
// BYTES: 144 bytes of constants
!in = tensor<1x16x6x8x!quant.uniform<i8:f32, 0.5>>
!out = tensor<1x16x1x1x!quant.uniform<i8:f32, 0.25>>
module attributes {module.name = "net", module.chip = "cv181x", module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: !in) -> !out {
    %x = "top.Input"(%arg0) : (!in) -> !in loc("x")
    %y = "tpu.AvgPool"(%x) {auto_pad = "NOTSET", ceil_mode = false, count_include_pad = false, kernel_shape = [6, 8], strides = [6, 8], multiplier = [89478485], rshift = [31], round_mode = "HalfUp"} : (!in) -> !out loc("y")
    return %y : !out
  }
}

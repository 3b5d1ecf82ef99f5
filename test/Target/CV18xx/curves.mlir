// SiLU is x (T + S x) with T and S of tables. Between the inputs' own bytes and the tables' there are two tensors.
// RUN: rm -rf %t.dir && mkdir -p %t.dir
// RUN: cp %s %t.dir/net.mlir
// RUN: tpuc-opt %t.dir/net.mlir --subnet-divide --weight-reorder --op-reorder --layer-group --address-assign --codegen=model=%t.dir/net.cvimodel -o %t.dir/group.mlir
// RUN: FileCheck %s --check-prefix=GROUP < %t.dir/group.mlir
// Two of 960 bytes in each lane, and two tables.
// GROUP: buffer_size = 2944
// RUN: model_tool --dump_commands %t.dir/net.cvimodel | grep -v ^dma | FileCheck %s --check-prefix=COMMANDS
// COMMANDS: {{^}}max #
// COMMANDS-NEXT: {{^}}min #
// COMMANDS-NEXT: {{^}}add #
// COMMANDS-NEXT: {{^}}lookup #
// COMMANDS-NEXT: {{^}}lookup #
// COMMANDS-NEXT: {{^}}mac #
// COMMANDS-NEXT: {{^}}mul #
// COMMANDS-NOT: #
// RUN: %python %S/../../Codegen/Inputs/ramp.py %t.dir/in.npz x=1,16,12,20
// RUN: model_runner --model %t.dir/net.mlir --input %t.dir/in.npz --output %t.dir/lowered.npz
// RUN: model_runner --model %t.dir/net.cvimodel --input %t.dir/in.npz --output %t.dir/file.npz
// RUN: npz_tool compare %t.dir/file.npz %t.dir/lowered.npz --tolerance 0.9999,0.99
!x = tensor<1x16x12x20xbf16>
module attributes {module.name = "net", module.chip = "cv181x", module.mode = "BF16", module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: !x) -> !x {
    %x = "top.Input"(%arg0) : (!x) -> !x loc("x")
    %y = "tpu.SiLU"(%x) : (!x) -> !x loc("y")
    return %y : !x
  }
}

// Heads of a detector change places in local memory: no transfer moves single elements.
// RUN: rm -rf %t.dir && mkdir %t.dir
// DEFINE: %{rest} = --subnet-divide --weight-reorder --layer-group --address-assign
// RUN: tpuc-opt %s --move-through-lanes | FileCheck %s --check-prefix=PLAN
// PLAN: tpu.Permute{{.*}}lane_plan = [1, 64, 85]
// The rows of the second one are long as they are.
// PLAN: tpu.Permute
// PLAN-NOT: lane_plan
// RUN: tpuc-opt %s --move-through-lanes %{rest} --codegen=model=%t.dir/net.cvimodel -o %t.dir/final.mlir
// RUN: model_tool --dump_commands %t.dir/net.cvimodel | FileCheck %s --check-prefix=COMMANDS
// COMMANDS: dma.load
// COMMANDS: copy
// COMMANDS: dma.store
// COMMANDS: dma.global
// COMMANDS-NOT: dma.global

// Both ways give the same bytes.
// RUN: tpuc-opt %s %{rest} --codegen=model=%t.dir/direct.cvimodel -o %t.dir/direct.mlir
// RUN: %python %tpuc_src/test/Codegen/Inputs/ramp.py %t.dir/in.npz x=1,3,85,10,32
// RUN: model_runner --model %t.dir/net.cvimodel --input %t.dir/in.npz --output %t.dir/net.npz
// RUN: model_runner --model %t.dir/direct.cvimodel --input %t.dir/in.npz --output %t.dir/direct.npz
// RUN: npz_tool compare %t.dir/net.npz %t.dir/direct.npz --tolerance 1,1
!in = tensor<1x3x85x10x32x!quant.uniform<i8:f32, 0.5>>
!heads = tensor<1x3x10x32x85x!quant.uniform<i8:f32, 0.5>>
!out = tensor<1x10x3x32x85x!quant.uniform<i8:f32, 0.5>>
module attributes {module.name = "net", module.chip = "cv181x", module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: !in) -> !out {
    %x = "top.Input"(%arg0) : (!in) -> !in loc("x")
    %y = "tpu.Permute"(%x) {order = [0, 1, 3, 4, 2]} : (!in) -> !heads loc("y")
    %z = "tpu.Permute"(%y) {order = [0, 2, 1, 3, 4]} : (!heads) -> !out loc("z")
    return %z : !out
  }
}

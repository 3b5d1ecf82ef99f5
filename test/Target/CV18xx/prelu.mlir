// Slopes of channels: where none is above 1 the larger of two numbers, else both parts apart. A picture of
// half the size is a pool, which takes rows that do not fit a lane in parts.
// RUN: rm -rf %t.dir && mkdir -p %t.dir
// RUN: %python %S/../../Codegen/Inputs/ramp.py %t.dir/net.npz flat=8,1,1 steep:whole=8,1,1
// RUN: %python %S/../../Codegen/Inputs/ramp.py %t.dir/in.npz x=1,8,160,120
// RUN: cp %s %t.dir/net.mlir
// RUN: model_deploy --mlir %t.dir/net.mlir --chip cv181x --quantize BF16 --skip_validation --model %t.dir/net.cvimodel
// RUN: FileCheck %s < %t.dir/net_cv181x_bf16_final.mlir --implicit-check-not=CPU
// CHECK-DAG: "tpu.PRelu"
// CHECK-DAG: "tpu.AvgPool"
// RUN: model_tool --dump_commands %t.dir/net.cvimodel | FileCheck %s --check-prefix=COMMANDS
// COMMANDS: mul #
// COMMANDS-NEXT: max #
// COMMANDS: pool.avg #
// COMMANDS: min #
// COMMANDS: add #
// RUN: model_runner --model %t.dir/net.mlir --input %t.dir/in.npz --output %t.dir/float.npz
// RUN: model_runner --model %t.dir/net.cvimodel --input %t.dir/in.npz --output %t.dir/file.npz
// RUN: npz_tool compare %t.dir/file.npz %t.dir/float.npz --tolerance 0.99999,0.995
!x = tensor<1x8x160x120xf32>
!y = tensor<1x8x80x60xf32>
!s = tensor<8x1x1xf32>
module attributes {module.name = "net", module.chip = "ALL", module.state = "TOP_F32", module.weight_file = "net.npz"} {
  func.func @main(%arg0: !x) -> !y {
    %none = "top.None"() : () -> none
    %x = "top.Input"(%arg0) : (!x) -> !x loc("x")
    %flat = "top.Weight"() : () -> !s loc("flat")
    %steep = "top.Weight"() : () -> !s loc("steep")
    %a = "top.PRelu"(%x, %flat) : (!x, !s) -> !x loc("a")
    %b = "top.Interp"(%a, %none, %none, %none) {coord_mode = "pytorch_half_pixel", mode = "linear", scales = [1.0, 1.0, 0.5, 0.5]} : (!x, none, none, none) -> !y loc("b")
    %y = "top.PRelu"(%b, %steep) : (!y, !s) -> !y loc("y")
    return %y : !y
  }
}

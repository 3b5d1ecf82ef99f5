// A picture that a lane does not hold has moments of its parts, and their sizes are BF16 as all on the chip.
// RUN: rm -rf %t.dir && mkdir -p %t.dir
// RUN: %python %S/../../Codegen/Inputs/ramp.py %t.dir/net.npz factor=8 addend=8
// RUN: %python %S/../../Codegen/Inputs/ramp.py %t.dir/in.npz x=1,8,160,120
// RUN: cp %s %t.dir/net.mlir
// RUN: model_deploy --mlir %t.dir/net.mlir --chip cv181x --quantize BF16 --skip_validation --model %t.dir/net.cvimodel
// RUN: FileCheck %s < %t.dir/net_cv181x_bf16_final.mlir --implicit-check-not=CPU
// CHECK: bf16{{.*}}loc("y_sizes")
// RUN: model_runner --model %t.dir/net.mlir --input %t.dir/in.npz --output %t.dir/float.npz
// RUN: model_runner --model %t.dir/net.cvimodel --input %t.dir/in.npz --output %t.dir/file.npz
// RUN: npz_tool compare %t.dir/file.npz %t.dir/float.npz --tolerance 0.9999,0.98
!x = tensor<1x8x160x120xf32>
!s = tensor<8xf32>
module attributes {module.name = "net", module.chip = "ALL", module.state = "TOP_F32", module.weight_file = "net.npz"} {
  func.func @main(%arg0: !x) -> (!x, !x) {
    %x = "top.Input"(%arg0) : (!x) -> !x loc("x")
    %factor = "top.Weight"() : () -> !s loc("factor")
    %addend = "top.Weight"() : () -> !s loc("addend")
    %y = "top.InstanceNorm"(%x, %factor, %addend) {eps = 1.0e-5} : (!x, !s, !s) -> !x loc("y")
    %groups = "top.GroupNorm"(%x, %factor, %addend) {num_groups = 2 : i64, eps = 1.0e-5} : (!x, !s, !s) -> !x loc("groups")
    return %y, %groups : !x, !x
  }
}

// Rows are packed also where they cannot be shared out evenly: what is left of the last packed row is not stored. The
// result may be a part of a concatenation that is made in place.
// RUN: rm -rf %t.dir && mkdir -p %t.dir
// RUN: %python %S/../../Codegen/Inputs/ramp.py %t.dir/net.npz w=16,16,3,3 u=8,16,3,3 v=16,24,3,3
// RUN: %python %S/../../Codegen/Inputs/ramp.py %t.dir/in.npz x=1,16,75,80
// RUN: cp %s %t.dir/net.mlir
// RUN: model_deploy --mlir %t.dir/net.mlir --chip bm1684x --quantize F16 --skip_validation --model %t.dir/net.bmodel
// RUN: FileCheck %s < %t.dir/net_bm1684x_f16_final.mlir
// CHECK: "tpu.Store"{{.*}} -> tensor<1x16x75x80xf16, [[A:[0-9]+]] : i64> loc("a")
// CHECK: "tpu.UnpackRows"{{.*}} {rows = 4 : i64} : (tensor<1x32x19x80xf16, {{.*}} -> tensor<1x8x75x80xf16, {{.*}} loc("b")
// CHECK: "tpu.Concat"{{.*}} -> tensor<1x24x75x80xf16, [[A]] : i64> loc("c")
// RUN: model_runner --model %t.dir/net_bm1684x_f16_tpu.mlir --input %t.dir/in.npz --output %t.dir/lowered.npz
// RUN: model_runner --model %t.dir/net.bmodel --input %t.dir/in.npz --output %t.dir/file.npz
// RUN: npz_tool compare %t.dir/file.npz %t.dir/lowered.npz --tolerance 0.9999,0.999
!x = tensor<1x16x75x80xf32>
!b = tensor<1x8x75x80xf32>
!c = tensor<1x24x75x80xf32>
module attributes {module.name = "net", module.chip = "ALL", module.state = "TOP_F32", module.weight_file = "net.npz"} {
  func.func @main(%arg0: !x) -> !x {
    %none = "top.None"() : () -> none
    %x = "top.Input"(%arg0) : (!x) -> !x loc("x")
    %w = "top.Weight"() : () -> tensor<16x16x3x3xf32> loc("w")
    %u = "top.Weight"() : () -> tensor<8x16x3x3xf32> loc("u")
    %v = "top.Weight"() : () -> tensor<16x24x3x3xf32> loc("v")
    %a = "top.Conv"(%x, %w, %none) {kernel_shape = [3, 3], pads = [1, 1, 1, 1], do_relu = true} : (!x, tensor<16x16x3x3xf32>, none) -> !x loc("a")
    %b = "top.Conv"(%a, %u, %none) {kernel_shape = [3, 3], pads = [1, 1, 1, 1], do_relu = true} : (!x, tensor<8x16x3x3xf32>, none) -> !b loc("b")
    %c = "top.Concat"(%a, %b) {axis = 1 : i64} : (!x, !b) -> !c loc("c")
    %d = "top.Conv"(%c, %v, %none) {kernel_shape = [3, 3], pads = [1, 1, 1, 1]} : (!c, tensor<16x24x3x3xf32>, none) -> !x loc("d")
    return %d : !x
  }
}

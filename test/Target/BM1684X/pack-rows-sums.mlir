// A sum works on packed rows, too: those of the other summand are loaded so. Rows that are shorter than a transfer's
// burst are not.
// RUN: rm -rf %t.dir && mkdir -p %t.dir
// RUN: %python %S/../../Codegen/Inputs/ramp.py %t.dir/net.npz w=8,16,1,1 u=16,8,3,3 v=32,16,3,3
// RUN: %python %S/../../Codegen/Inputs/ramp.py %t.dir/in.npz x=1,16,128,160 y=1,16,128,80
// RUN: cp %s %t.dir/net.mlir
// RUN: model_deploy --mlir %t.dir/net.mlir --chip bm1684x --quantize F16 --skip_validation --model %t.dir/net.bmodel
// RUN: FileCheck %s < %t.dir/net_bm1684x_f16_final.mlir
// CHECK: "tpu.PackRows"(%{{.*}}) {kernel = 4 : i64, pad = 0 : i64, stride = 4 : i64} {{.*}} -> tensor<1x64x32x160xf16, {{.*}} loc("x5_apart")
// CHECK: "tpu.Add"{{.*}} -> tensor<1x64x32x160xf16> loc("x5_rows")
// CHECK: "tpu.Add"{{.*}} -> tensor<1x16x128x80xf16> loc("y5_f16")
// RUN: model_runner --model %t.dir/net_bm1684x_f16_tpu.mlir --input %t.dir/in.npz --output %t.dir/lowered.npz
// RUN: model_runner --model %t.dir/net.bmodel --input %t.dir/in.npz --output %t.dir/file.npz
// RUN: npz_tool compare %t.dir/file.npz %t.dir/lowered.npz --tolerance 0.9999,0.999
!x = tensor<1x16x128x160xf32>
!b = tensor<1x8x128x160xf32>
!z = tensor<1x32x64x80xf32>
!y = tensor<1x16x128x80xf32>
!c = tensor<1x8x128x80xf32>
module attributes {module.name = "net", module.chip = "ALL", module.state = "TOP_F32", module.weight_file = "net.npz"} {
  func.func @main(%arg0: !x, %arg1: !y) -> (!z, !y) {
    %none = "top.None"() : () -> none
    %x = "top.Input"(%arg0) : (!x) -> !x loc("x")
    %y = "top.Input"(%arg1) : (!y) -> !y loc("y")
    %w = "top.Weight"() : () -> tensor<8x16x1x1xf32> loc("w")
    %u = "top.Weight"() : () -> tensor<16x8x3x3xf32> loc("u")
    %v = "top.Weight"() : () -> tensor<32x16x3x3xf32> loc("v")
    %x0 = "top.LeakyRelu"(%x) {alpha = 0.1} : (!x) -> !x loc("x0")
    %x1 = "top.Conv"(%x0, %w, %none) {kernel_shape = [1, 1]} : (!x, tensor<8x16x1x1xf32>, none) -> !b loc("x1")
    %x2 = "top.LeakyRelu"(%x1) {alpha = 0.1} : (!b) -> !b loc("x2")
    %x3 = "top.Conv"(%x2, %u, %none) {kernel_shape = [3, 3], pads = [1, 1, 1, 1]} : (!b, tensor<16x8x3x3xf32>, none) -> !x loc("x3")
    %x4 = "top.LeakyRelu"(%x3) {alpha = 0.1} : (!x) -> !x loc("x4")
    %x5 = "top.Add"(%x0, %x4) : (!x, !x) -> !x loc("x5")
    %x6 = "top.Conv"(%x5, %v, %none) {kernel_shape = [3, 3], strides = [2, 2], pads = [1, 1, 1, 1]} : (!x, tensor<32x16x3x3xf32>, none) -> !z loc("x6")
    %y0 = "top.LeakyRelu"(%y) {alpha = 0.1} : (!y) -> !y loc("y0")
    %y1 = "top.Conv"(%y0, %w, %none) {kernel_shape = [1, 1]} : (!y, tensor<8x16x1x1xf32>, none) -> !c loc("y1")
    %y2 = "top.LeakyRelu"(%y1) {alpha = 0.1} : (!c) -> !c loc("y2")
    %y3 = "top.Conv"(%y2, %u, %none) {kernel_shape = [3, 3], pads = [1, 1, 1, 1]} : (!c, tensor<16x8x3x3xf32>, none) -> !y loc("y3")
    %y4 = "top.LeakyRelu"(%y3) {alpha = 0.1} : (!y) -> !y loc("y4")
    %y5 = "top.Add"(%y0, %y4) : (!y, !y) -> !y loc("y5")
    return %x6, %y5 : !z, !y
  }
}

// Pads of the input's own elements are transfers. Averages that leave their padding out are scaled at the edges. Norms
// along dimensions, factors of channels and left matrices that lie turned become ops with kernels; constants are moved.
// Limits beyond all numbers limit nothing.
// RUN: rm -rf %t.dir && mkdir -p %t.dir
// RUN: %python %S/../../Codegen/Inputs/ramp.py %t.dir/net.npz factors=16 addends=16 part=1,2,21,18 group_factors=16 group_addends=16
// RUN: %python %S/../../Codegen/Inputs/ramp.py %t.dir/in.npz x=1,16,21,18
// RUN: cp %s %t.dir/net.mlir
// RUN: model_deploy --mlir %t.dir/net.mlir --chip cv181x --quantize BF16 --skip_validation --model %t.dir/net.cvimodel
// RUN: FileCheck %s --implicit-check-not=CPU < %t.dir/net_cv181x_bf16_final.mlir
// CHECK: "tpu.Pad"
// RUN: model_runner --model %t.dir/net_cv181x_bf16_tpu.mlir --input %t.dir/in.npz --output %t.dir/lowered.npz
// RUN: model_runner --model %t.dir/net.cvimodel --input %t.dir/in.npz --output %t.dir/file.npz
// RUN: npz_tool compare %t.dir/file.npz %t.dir/lowered.npz --tolerance 0.9999,0.98
!x = tensor<1x16x21x18xf32>
module attributes {module.name = "net", module.chip = "ALL", module.state = "TOP_F32", module.weight_file = "net.npz"} {
  func.func @main(%arg0: !x) -> (tensor<1x16x11x9xf32>, !x, tensor<1x16x26x22xf32>, tensor<1x16x26x22xf32>, !x, tensor<1x16xf32>, !x, tensor<1x16x18x18xf32>, tensor<1x18x21x18xf32>, !x, !x, !x) {
    %none = "top.None"() : () -> none
    %x = "top.Input"(%arg0) : (!x) -> !x loc("x")
    %p = "top.AvgPool"(%x) {count_include_pad = false, kernel_shape = [3, 3], pads = [1, 1, 1, 1], strides = [2, 2]} : (!x) -> tensor<1x16x11x9xf32> loc("p")
    %q = "top.AvgPool"(%x) {count_include_pad = false, kernel_shape = [5, 2], pads = [2, 0, 2, 1]} : (!x) -> !x loc("q")
    %r = "top.Pad"(%x, %none, %none, %none) {mode = "reflect", paddings = [0, 0, 3, 1, 0, 0, 2, 3]} : (!x, none, none, none) -> tensor<1x16x26x22xf32> loc("r")
    %e = "top.Pad"(%x, %none, %none, %none) {mode = "edge", paddings = [0, 0, 3, 1, 0, 0, 2, 3]} : (!x, none, none, none) -> tensor<1x16x26x22xf32> loc("e")
    %norm = "top.Reduce"(%x, %none) {axes = [1], keepdims = true, mode = "ReduceL2"} : (!x, none) -> tensor<1x1x21x18xf32> loc("norm")
    %n = "top.Div"(%x, %norm) : (!x, tensor<1x1x21x18xf32>) -> !x loc("n")
    %l = "top.Reduce"(%x, %none) {axes = [2, 3], keepdims = false, mode = "ReduceLogSumExp"} : (!x, none) -> tensor<1x16xf32> loc("l")
    %factors = "top.Weight"() : () -> tensor<16xf32> loc("factors")
    %addends = "top.Weight"() : () -> tensor<16xf32> loc("addends")
    %s = "top.Scale"(%x, %factors, %addends) {do_relu = true} : (!x, tensor<16xf32>, tensor<16xf32>) -> !x loc("s")
    %m = "top.MatMul"(%x, %x, %none) {left_transpose = true} : (!x, !x, none) -> tensor<1x16x18x18xf32> loc("m")
    %part = "top.Weight"() : () -> tensor<1x2x21x18xf32> loc("part")
    %c = "top.Concat"(%part, %x) {axis = 1 : i64} : (tensor<1x2x21x18xf32>, !x) -> tensor<1x18x21x18xf32> loc("c")
    %gf = "top.Weight"() : () -> tensor<16xf32> loc("group_factors")
    %ga = "top.Weight"() : () -> tensor<16xf32> loc("group_addends")
    %g = "top.GroupNorm"(%x, %gf, %ga) {num_groups = 4 : i64, eps = 1.0e-5} : (!x, tensor<16xf32>, tensor<16xf32>) -> !x loc("g")
    %lrn = "top.LRN"(%x) {size = 5 : i64, alpha = 0.5, beta = 0.75, bias = 2.0} : (!x) -> !x loc("lrn")
    %limits = "top.Clip"(%x) {min = 0.25, max = 0x7FF0000000000000 : f64} : (!x) -> !x loc("limits")
    return %p, %q, %r, %e, %n, %l, %s, %m, %c, %g, %lrn, %limits : tensor<1x16x11x9xf32>, !x, tensor<1x16x26x22xf32>, tensor<1x16x26x22xf32>, !x, tensor<1x16xf32>, !x, tensor<1x16x18x18xf32>, tensor<1x18x21x18xf32>, !x, !x, !x
  }
}

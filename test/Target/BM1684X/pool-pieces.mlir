// Short constants are loaded in pieces: the first layers' behind the input that they read, the others
// while layers in front of theirs are computed.
// RUN: rm -rf %t.dir && mkdir -p %t.dir
// RUN: %python %tpuc_src/test/Codegen/Inputs/ramp.py %t.dir/in.npz x=1,448,16,16
// RUN: tpuc-opt %s --shape-infer --chip-assign=chip=bm1684x --convert-top-to-tpu=mode=F32 --subnet-divide --weight-reorder --layer-group --address-assign --codegen=model=%t.dir/net.bmodel -o %t.dir/final.mlir
// RUN: FileCheck %s < %t.dir/final.mlir
// RUN: model_runner --model %s --input %t.dir/in.npz --output %t.dir/top.npz
// RUN: model_runner --model %t.dir/net.bmodel --input %t.dir/in.npz --output %t.dir/net.npz
// RUN: npz_tool compare %t.dir/net.npz %t.dir/top.npz --tolerance .9999,.9999
// RUN: model_tool --profile --csv %t.dir/net.csv %t.dir/net.bmodel
// RUN: FileCheck %s --check-prefix=ORDER < %t.dir/net.csv

// CHECK: module.pool_pieces = [1280, 3072]
// CHECK: pool_times = [0, 1]
// ORDER: GDMA,1,{{.*}},c0
// ORDER-NEXT: GDMA,2,{{.*}},81920,0,{{$}}
// ORDER-NEXT: GDMA,3,{{.*}},114688,0,{{$}}
!x = tensor<1x448x16x16xf32>
!w = tensor<448x1x3x3xf32>
module attributes {module.name = "net"} {
  func.func @main(%arg0: !x) -> !x {
    %none = "top.None"() : () -> none
    %x = "top.Input"(%arg0) : (!x) -> !x loc("x")
    %w0 = "top.ConstantFill"(%none) {shape = [448, 1, 3, 3], value = 0.10 : f32} : (none) -> !w loc("w0")
    %0 = "top.Conv"(%x, %w0, %none) {kernel_shape = [3, 3], pads = [1, 1, 1, 1], group = 448 : i64} : (!x, !w, none) -> !x loc("c0")
    %w1 = "top.ConstantFill"(%none) {shape = [448, 1, 3, 3], value = 0.11 : f32} : (none) -> !w loc("w1")
    %1 = "top.Conv"(%0, %w1, %none) {kernel_shape = [3, 3], pads = [1, 1, 1, 1], group = 448 : i64} : (!x, !w, none) -> !x loc("c1")
    %w2 = "top.ConstantFill"(%none) {shape = [448, 1, 3, 3], value = 0.12 : f32} : (none) -> !w loc("w2")
    %2 = "top.Conv"(%1, %w2, %none) {kernel_shape = [3, 3], pads = [1, 1, 1, 1], group = 448 : i64} : (!x, !w, none) -> !x loc("c2")
    %w3 = "top.ConstantFill"(%none) {shape = [448, 1, 3, 3], value = 0.13 : f32} : (none) -> !w loc("w3")
    %3 = "top.Conv"(%2, %w3, %none) {kernel_shape = [3, 3], pads = [1, 1, 1, 1], group = 448 : i64} : (!x, !w, none) -> !x loc("c3")
    %w4 = "top.ConstantFill"(%none) {shape = [448, 1, 3, 3], value = 0.14 : f32} : (none) -> !w loc("w4")
    %4 = "top.Conv"(%3, %w4, %none) {kernel_shape = [3, 3], pads = [1, 1, 1, 1], group = 448 : i64} : (!x, !w, none) -> !x loc("c4")
    %w5 = "top.ConstantFill"(%none) {shape = [448, 1, 3, 3], value = 0.15 : f32} : (none) -> !w loc("w5")
    %5 = "top.Conv"(%4, %w5, %none) {kernel_shape = [3, 3], pads = [1, 1, 1, 1], group = 448 : i64} : (!x, !w, none) -> !x loc("c5")
    %w6 = "top.ConstantFill"(%none) {shape = [448, 1, 3, 3], value = 0.16 : f32} : (none) -> !w loc("w6")
    %6 = "top.Conv"(%5, %w6, %none) {kernel_shape = [3, 3], pads = [1, 1, 1, 1], group = 448 : i64} : (!x, !w, none) -> !x loc("c6")
    %w7 = "top.ConstantFill"(%none) {shape = [448, 1, 3, 3], value = 0.17 : f32} : (none) -> !w loc("w7")
    %7 = "top.Conv"(%6, %w7, %none) {kernel_shape = [3, 3], pads = [1, 1, 1, 1], group = 448 : i64} : (!x, !w, none) -> !x loc("c7")
    %w8 = "top.ConstantFill"(%none) {shape = [448, 1, 3, 3], value = 0.18 : f32} : (none) -> !w loc("w8")
    %8 = "top.Conv"(%7, %w8, %none) {kernel_shape = [3, 3], pads = [1, 1, 1, 1], group = 448 : i64} : (!x, !w, none) -> !x loc("c8")
    %w9 = "top.ConstantFill"(%none) {shape = [448, 1, 3, 3], value = 0.19 : f32} : (none) -> !w loc("w9")
    %9 = "top.Conv"(%8, %w9, %none) {kernel_shape = [3, 3], pads = [1, 1, 1, 1], group = 448 : i64} : (!x, !w, none) -> !x loc("c9")
    %w10 = "top.ConstantFill"(%none) {shape = [448, 1, 3, 3], value = 0.20 : f32} : (none) -> !w loc("w10")
    %10 = "top.Conv"(%9, %w10, %none) {kernel_shape = [3, 3], pads = [1, 1, 1, 1], group = 448 : i64} : (!x, !w, none) -> !x loc("c10")
    %w11 = "top.ConstantFill"(%none) {shape = [448, 1, 3, 3], value = 0.21 : f32} : (none) -> !w loc("w11")
    %11 = "top.Conv"(%10, %w11, %none) {kernel_shape = [3, 3], pads = [1, 1, 1, 1], group = 448 : i64} : (!x, !w, none) -> !x loc("c11")
    return %11 : !x
  }
}

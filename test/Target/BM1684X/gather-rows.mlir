// Rows that are rolled along both axes and put into windows are gathered at once. What something else
// reads stays where it is, and so do few rows. A slice may begin in front of the first row.
// RUN: rm -rf %t.dir && mkdir -p %t.dir
// RUN: %python %tpuc_src/test/Codegen/Inputs/ramp.py %t.dir/in.npz x=1,16,16,24 w=2,4,8,24
// RUN: tpuc-opt %s --gather-rows --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s
// RUN: tpuc-opt %s --gather-rows --subnet-divide --weight-reorder --layer-group --address-assign --codegen=model=%t.dir/net.bmodel -o %t.dir/none.mlir
// RUN: model_runner --model %s --input %t.dir/in.npz --output %t.dir/lowered.npz
// RUN: model_runner --model %t.dir/net.bmodel --input %t.dir/in.npz --output %t.dir/file.npz
// RUN: npz_tool compare %t.dir/file.npz %t.dir/lowered.npz --tolerance 1,1 | FileCheck %s --check-prefix=EQUAL
// EQUAL: 3 equal
// CHECK-NOT: "tpu.Concat"{{.*}} loc("rolled")
// CHECK: "tpu.Gather"({{.*}}(tensor<256x24xf16>, tensor<256xui32>) -> tensor<256x24xf16> loc("windows_rows")
// CHECK-NOT: "tpu.Gather"
!x = tensor<1x16x16x24xf16>
module attributes {module.name = "net", module.chip = "bm1684x", module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: !x, %arg1: tensor<2x4x8x24xf16>) -> (tensor<4x64x24xf16>, !x, tensor<2x8x4x24xf16>) {
    %n = "top.None"() : () -> none
    %0 = "top.Input"(%arg0) : (!x) -> !x loc("x")
    %x = "tpu.Abs"(%0) : (!x) -> !x loc("abs")
    %1 = "tpu.Slice"(%x, %n, %n, %n, %n) {axes = [1], offset = [4], ends = [16], steps = [1]} : (!x, none, none, none, none) -> tensor<1x12x16x24xf16> loc("1")
    %2 = "tpu.Slice"(%x, %n, %n, %n, %n) {axes = [1], offset = [-99], ends = [4], steps = [1]} : (!x, none, none, none, none) -> tensor<1x4x16x24xf16> loc("2")
    %3 = "tpu.Concat"(%1, %2) {axis = 1 : i64} : (tensor<1x12x16x24xf16>, tensor<1x4x16x24xf16>) -> !x loc("down")
    %4 = "tpu.Slice"(%3, %n, %n, %n, %n) {axes = [2], offset = [4], ends = [16], steps = [1]} : (!x, none, none, none, none) -> tensor<1x16x12x24xf16> loc("4")
    %5 = "tpu.Slice"(%3, %n, %n, %n, %n) {axes = [2], offset = [0], ends = [4], steps = [1]} : (!x, none, none, none, none) -> tensor<1x16x4x24xf16> loc("5")
    %6 = "tpu.Concat"(%4, %5) {axis = 2 : i64} : (tensor<1x16x12x24xf16>, tensor<1x16x4x24xf16>) -> !x loc("rolled")
    %7 = "tpu.Reshape"(%6, %n) {shape = [1, 2, 8, 2, 8, 24]} : (!x, none) -> tensor<1x2x8x2x8x24xf16> loc("7")
    %8 = "tpu.Permute"(%7) {order = [0, 1, 3, 2, 4, 5]} : (tensor<1x2x8x2x8x24xf16>) -> tensor<1x2x2x8x8x24xf16> loc("windows")
    %9 = "tpu.Reshape"(%8, %n) {shape = [4, 64, 24]} : (tensor<1x2x2x8x8x24xf16>, none) -> tensor<4x64x24xf16> loc("9")
    %y = "tpu.Abs"(%9) : (tensor<4x64x24xf16>) -> tensor<4x64x24xf16> loc("y")
    %z = "tpu.Neg"(%x) : (!x) -> !x loc("z")
    %w = "top.Input"(%arg1) : (tensor<2x4x8x24xf16>) -> tensor<2x4x8x24xf16> loc("w")
    %few = "tpu.Permute"(%w) {order = [0, 2, 1, 3]} : (tensor<2x4x8x24xf16>) -> tensor<2x8x4x24xf16> loc("few")
    return %y, %z, %few : tensor<4x64x24xf16>, !x, tensor<2x8x4x24xf16>
  }
}

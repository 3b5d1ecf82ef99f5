// Numbers of channels that are repeated behind them are a product with ones, which is in the group of
// what joins channels of one dimension, as those of pictures are. Nothing of that goes through global
// memory.
// RUN: rm -rf %t.dir && mkdir -p %t.dir
// RUN: %python %tpuc_src/test/Codegen/Inputs/ramp.py %t.dir/in.npz x=2,64,77 y=2,40,1 z=2,8,1,1
// RUN: tpuc-opt %s --decompose --subnet-divide --weight-reorder --layer-group --address-assign --codegen=model=%t.dir/net.bmodel --mlir-print-debuginfo --mlir-print-local-scope -o %t.dir/final.mlir
// RUN: FileCheck %s < %t.dir/final.mlir
// RUN: model_runner --model %s --input %t.dir/in.npz --output %t.dir/lowered.npz
// RUN: model_runner --model %t.dir/net.bmodel --input %t.dir/in.npz --output %t.dir/net.npz
// RUN: npz_tool compare %t.dir/net.npz %t.dir/lowered.npz --tolerance 1,1
// CHECK-NOT: tpu.Expand
// CHECK: "tpu.Group"
// CHECK: "tpu.Mul"{{.*}} -> tensor<2x40x77xf16> loc("repeated")
// CHECK: "tpu.Concat"{{.*}}ginfo = {{.*}} -> tensor<2x104x77xf16> loc("joined")
// CHECK: "tpu.Abs"
// Repeated along two dimensions.
// CHECK: "tpu.Mul"{{.*}} -> tensor<2x8x5x7xf16> loc("planes")
!x = tensor<2x64x77xf16>
!y = tensor<2x40x1xf16>
!z = tensor<2x8x1x1xf16>
module attributes {module.name = "net", module.chip = "bm1684x", module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: !x, %arg1: !y, %arg2: !z) -> (tensor<2x104x77xf16>, tensor<2x8x5x7xf16>) {
    %none = "top.None"() : () -> none
    %x = "top.Input"(%arg0) : (!x) -> !x loc("x")
    %y = "top.Input"(%arg1) : (!y) -> !y loc("y")
    %z = "top.Input"(%arg2) : (!z) -> !z loc("z")
    %a = "tpu.AddConst"(%x) {const_val = 1.0 : f64} : (!x) -> !x loc("a")
    %r = "tpu.Expand"(%y, %none) {shape = [1, 1, 77]} : (!y, none) -> tensor<2x40x77xf16> loc("repeated")
    %j = "tpu.Concat"(%a, %r) {axis = 1 : i64} : (!x, tensor<2x40x77xf16>) -> tensor<2x104x77xf16> loc("joined")
    %0 = "tpu.Abs"(%j) : (tensor<2x104x77xf16>) -> tensor<2x104x77xf16> loc("0")
    %1 = "tpu.Expand"(%z, %none) {shape = [2, 8, 5, 7]} : (!z, none) -> tensor<2x8x5x7xf16> loc("planes")
    return %0, %1 : tensor<2x104x77xf16>, tensor<2x8x5x7xf16>
  }
}

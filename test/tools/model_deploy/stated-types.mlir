// Inputs and outputs of types that a container cannot state are in the closest ones that it can.
// REQUIRES: mlir
// RUN: rm -rf %t.dir && mkdir -p %t.dir && cp %s %t.dir/net.mlir
// RUN: %python %S/../../Codegen/Inputs/ramp.py %t.dir/in.npz x=2,5 i:small=2,5
// RUN: model_deploy --mlir %t.dir/net.mlir --chip cv180x --quantize BF16 --model %t.dir/m.cvimodel --test_input %t.dir/in.npz | FileCheck %s
// CHECK: compared with the lowered network, on the simulator:
// CHECK-NEXT: 3 are equal
// RUN: model_tool --info %t.dir/m.cvimodel | FileCheck %s --check-prefix=INFO
// INFO: input i: i32 [2, 5]
// INFO: output best: i32 [2]
// INFO: output above: u8 [2, 5]
// INFO: output twice: i32 [2, 5]
// RUN: model_runner --model %t.dir/m.cvimodel --input %t.dir/in.npz --output %t.dir/file.npz
// RUN: model_runner --model %t.dir/net.mlir --input %t.dir/in.npz --output %t.dir/module.npz
// RUN: npz_tool compare %t.dir/file.npz %t.dir/module.npz | FileCheck %s --check-prefix=SAME
// SAME: 3 compared: 3 equal, 0 similar, 0 failed

module @net attributes {module.state = "TOP_F32", module.chip = "ALL"} {
  func.func @main(%arg0: tensor<2x5xf32>, %arg1: tensor<2x5xi64>) -> (tensor<2xi64>, tensor<2x5xi1>, tensor<2x5xi64>) {
    %x = "top.Input"(%arg0) : (tensor<2x5xf32>) -> tensor<2x5xf32> loc("x")
    %i = "top.Input"(%arg1) : (tensor<2x5xi64>) -> tensor<2x5xi64> loc("i")
    %a:2 = "top.Arg"(%x) {axis = 1 : i64, keepdims = false, mode = "ArgMax"} : (tensor<2x5xf32>) -> (tensor<2xi64>, none) loc("best")
    %c = "top.CompareConst"(%x) {const_val = 0.0 : f64, mode = "Greater"} : (tensor<2x5xf32>) -> tensor<2x5xi1> loc("above")
    %s = "top.Add"(%i, %i) : (tensor<2x5xi64>, tensor<2x5xi64>) -> tensor<2x5xi64> loc("twice")
    return %a#0, %c, %s : tensor<2xi64>, tensor<2x5xi1>, tensor<2x5xi64>
  }
}

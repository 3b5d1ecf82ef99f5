// Outputs whose shape only the data show, in the file of each chip's container.
// REQUIRES: mlir
// RUN: rm -rf %t.dir && mkdir -p %t.dir && cp %s %t.dir/net.mlir
// RUN: %python %S/../../Codegen/Inputs/ramp.py %t.dir/in.npz x=2,5
// DEFINE: %{chip} = bm1684x
// DEFINE: %{kind} = F32
// DEFINE: %{deploy} = model_deploy --mlir %t.dir/net.mlir --chip %{chip} --quantize %{kind} --model %t.dir/%{chip}.model --test_input %t.dir/in.npz
// DEFINE: %{run} = model_runner --model %t.dir/%{chip}.model --input %t.dir/in.npz --output %t.dir/%{chip}.npz
// DEFINE: %{compare} = npz_tool compare %t.dir/%{chip}.npz %t.dir/module.npz
// RUN: model_runner --model %t.dir/net.mlir --input %t.dir/in.npz --output %t.dir/module.npz
// RUN: %{deploy} | FileCheck %s
// RUN: %{run} && %{compare} | FileCheck %s --check-prefix=OUT
// REDEFINE: %{chip} = bm1684
// RUN: %{deploy} | FileCheck %s
// RUN: %{run} && %{compare} | FileCheck %s --check-prefix=OUT
// REDEFINE: %{chip} = cv180x
// REDEFINE: %{kind} = BF16
// RUN: %{deploy} | FileCheck %s
// RUN: %{run} && %{compare} | FileCheck %s --check-prefix=OUT

// CHECK: compared with the lowered network
// CHECK: 1 is equal
// CHECK: places (tpu.NonZero): a shape that only the data show
// OUT: 1 compared: 1 equal, 0 similar, 0 failed

module @net attributes {module.state = "TOP_F32", module.chip = "ALL"} {
  func.func @main(%arg0: tensor<2x5xf32> loc("x")) -> tensor<2x?xf32> {
    %x = "top.Input"(%arg0) : (tensor<2x5xf32>) -> tensor<2x5xf32> loc("x")
    %p = "top.NonZero"(%x) : (tensor<2x5xf32>) -> tensor<2x?xi64> loc("places")
    %n = "top.Cast"(%p) {to = f32} : (tensor<2x?xi64>) -> tensor<2x?xf32> loc("numbers")
    return %n : tensor<2x?xf32>
  }
}

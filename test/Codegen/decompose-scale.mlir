// Factors and addends of channels that no other op has taken in are a product and a sum on the chip.
// RUN: rm -rf %t.dir && mkdir -p %t.dir
// RUN: sed s/bm1684x/%chip/ %s > %t.dir/net.mlir
// RUN: %python %S/Inputs/ramp.py %t.dir/net.npz factors=70 addends=70
// RUN: tpuc-opt %t.dir/net.mlir --decompose --subnet-divide -o %t.dir/divided.mlir
// RUN: %if model-file %{ not grep subnet_reason %t.dir/divided.mlir %}
// RUN: %if model-file %{ tpuc-opt %t.dir/net.mlir --decompose --subnet-divide --weight-reorder --op-reorder --layer-group --address-assign --codegen=model=%t.dir/net.model -o %t.dir/none.mlir %}
// RUN: %python %S/Inputs/ramp.py %t.dir/in.npz x=8,70 y=2,70,5
// RUN: model_runner --model %t.dir/net.mlir --input %t.dir/in.npz --output %t.dir/lowered.npz
// RUN: %if model-file %{ model_runner --model %t.dir/net.model --input %t.dir/in.npz --output %t.dir/file.npz %}
// RUN: %if model-file %{ npz_tool compare %t.dir/file.npz %t.dir/lowered.npz --tolerance 1,1 | FileCheck %s --check-prefix=EQUAL %}
// EQUAL: 2 equal
module attributes {module.name = "net", module.chip = "bm1684x", module.state = "TPU_LOWERED", module.weight_file = "net.npz"} {
  func.func @main(%arg0: tensor<8x70xf32>, %arg1: tensor<2x70x5xf32>) -> (tensor<8x70xf32>, tensor<2x70x5xf32>) {
    %x = "top.Input"(%arg0) : (tensor<8x70xf32>) -> tensor<8x70xf32> loc("x")
    %y = "top.Input"(%arg1) : (tensor<2x70x5xf32>) -> tensor<2x70x5xf32> loc("y")
    %factors = "top.Weight"() : () -> tensor<70xf32> loc("factors")
    %addends = "top.Weight"() : () -> tensor<70xf32> loc("addends")
    %0 = "tpu.Scale"(%x, %factors, %addends) {do_relu = true, relu_limit = 0.5 : f64} : (tensor<8x70xf32>, tensor<70xf32>, tensor<70xf32>) -> tensor<8x70xf32> loc("limited")
    %1 = "tpu.Scale"(%y, %factors, %addends) : (tensor<2x70x5xf32>, tensor<70xf32>, tensor<70xf32>) -> tensor<2x70x5xf32> loc("scaled")
    return %0, %1 : tensor<8x70xf32>, tensor<2x70x5xf32>
  }
}

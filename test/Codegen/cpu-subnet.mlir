// Layers of the host between layers of the chip: what is compiled, and its file where the
// chip has one, compute what the network computes.
// RUN: rm -rf %t.dir && mkdir -p %t.dir
// RUN: sed s/bm1684x/%chip/ %s > %t.dir/net.mlir
// RUN: tpuc-opt %t.dir/net.mlir --subnet-divide --weight-reorder --op-reorder --layer-group --address-assign --mlir-print-debuginfo --mlir-print-local-scope -o %t.dir/final.mlir
// RUN: %if model-file %{ tpuc-opt %t.dir/final.mlir --codegen=model=%t.dir/net.model -o %t.dir/none.mlir %}
// RUN: %if model-file %{ model_tool --info %t.dir/net.model | FileCheck %s --check-prefix=INFO %}
// INFO: sub-nets: 3
// INFO: sub-net 1, on the CPU: cube, angle, indices, tangent, count
// RUN: %if model-file %{ model_tool --print %t.dir/net.model | FileCheck %s --check-prefix=PRINT %}
// PRINT: "op": "PowConst"
// RUN: %python %S/Inputs/ramp.py %t.dir/in.npz x=1,6,5,7
// RUN: model_runner --model %t.dir/net.mlir --input %t.dir/in.npz --output %t.dir/lowered.npz
// RUN: model_runner --model %t.dir/final.mlir --input %t.dir/in.npz --output %t.dir/final.npz
// RUN: %if model-file %{ model_runner --model %t.dir/net.model --input %t.dir/in.npz --output %t.dir/net.npz --profile | FileCheck %s --check-prefix=TIME %}
// TIME: not counted: 5 layers on the CPU: cube, angle, indices, tangent, count
// RUN: npz_tool compare %t.dir/final.npz %t.dir/lowered.npz --tolerance 1,1 | FileCheck %s --check-prefix=EQUAL
// RUN: %if model-file %{ npz_tool compare %t.dir/net.npz %t.dir/lowered.npz --tolerance 1,1 | FileCheck %s --check-prefix=EQUAL %}
// EQUAL: 3 equal

// What only the data show of an output, the run shows.
// RUN: %if model-file %{ model_tool --info %t.dir/net.model | FileCheck %s --check-prefix=DYNAMIC %}
// DYNAMIC: indices{{.*}}4, 0
// RUN: %if model-file %{ npz_tool dump %t.dir/net.npz | FileCheck %s --check-prefix=SHAPE %}
// SHAPE: indices{{.*}}4, 1

// Groups are those of one sub-network.
// RUN: tpuc-opt %t.dir/net.mlir --subnet-divide --layer-group=save-groups=%t.dir/groups.json -o %t.dir/first.mlir
// RUN: tpuc-opt %t.dir/net.mlir --subnet-divide --layer-group=load-groups=%t.dir/groups.json -o %t.dir/again.mlir
// RUN: cmp %t.dir/first.mlir %t.dir/again.mlir
// RUN: %python -c "print('[' * 100000)" > %t.dir/deep.json
// RUN: not tpuc-opt %t.dir/net.mlir --subnet-divide --layer-group=load-groups=%t.dir/deep.json 2>&1 | FileCheck %s --check-prefix=DEEP
// DEEP: deep.json:1: is nested too deep; expected at most 256 brackets within each other
// RUN: echo '{"groups": [{"layers": ["relu", "sum"]}]}' > %t.dir/joined.json
// RUN: not tpuc-opt %t.dir/net.mlir --subnet-divide --layer-group=load-groups=%t.dir/joined.json 2>&1 | FileCheck %s --check-prefix=JOINED
// JOINED: joined.json
module attributes {module.name = "net", module.chip = "bm1684x", module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: tensor<1x6x5x7xf32>) -> (tensor<1x6x5x7xf32>, tensor<4xi64>, tensor<4x?xi64>) {
    %n = "top.None"() : () -> none
    %x = "top.Input"(%arg0) : (tensor<1x6x5x7xf32>) -> tensor<1x6x5x7xf32> loc("x")
    %0 = "tpu.Relu"(%x) : (tensor<1x6x5x7xf32>) -> tensor<1x6x5x7xf32> loc("relu")
    %1 = "tpu.PowConst"(%0) {const_val = 3.0 : f64} : (tensor<1x6x5x7xf32>) -> tensor<1x6x5x7xf32> loc("cube")
    %2 = "tpu.Arctan"(%1) : (tensor<1x6x5x7xf32>) -> tensor<1x6x5x7xf32> loc("angle")
    %3 = "tpu.Tan"(%2) : (tensor<1x6x5x7xf32>) -> tensor<1x6x5x7xf32> loc("tangent")
    %4 = "tpu.NonZero"(%2) : (tensor<1x6x5x7xf32>) -> tensor<4x?xi64> loc("indices")
    %5 = "tpu.Reduce"(%4, %n) {axes = [1], keepdims = false, mode = "ReduceSum"} : (tensor<4x?xi64>, none) -> tensor<4xi64> loc("count")
    %6 = "tpu.Add"(%3, %0) : (tensor<1x6x5x7xf32>, tensor<1x6x5x7xf32>) -> tensor<1x6x5x7xf32> loc("sum")
    return %6, %5, %4 : tensor<1x6x5x7xf32>, tensor<4xi64>, tensor<4x?xi64>
  }
}

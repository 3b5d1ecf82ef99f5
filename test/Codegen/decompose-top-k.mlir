// The first elements in order, where they are few, are found one by one on the chip, with equal ones in
// the order of their places and infinities among them. More of them are left to the host.
// UNSUPPORTED: chip-bm1684
// RUN: rm -rf %t.dir && mkdir -p %t.dir
// RUN: sed s/bm1684x/%chip/ %s > %t.dir/net.mlir
// RUN: %python %S/Inputs/ramp.py %t.dir/net.npz table=12,5
// RUN: %if model-file %{ tpuc-opt %t.dir/net.mlir --decompose -o %t.dir/parts.mlir %}
// RUN: %if model-file %{ grep -c "tpu.TopK" %t.dir/parts.mlir | FileCheck %s --check-prefix=LEFT %}
// LEFT: {{^}}1{{$}}
// RUN: %if model-file %{ tpuc-opt %t.dir/net.mlir --decompose --subnet-divide --weight-reorder --op-reorder --layer-group --address-assign --codegen=model=%t.dir/net.model -o %t.dir/none.mlir %}
// RUN: %python %S/Inputs/ramp.py %t.dir/in.npz x:whole=6,12 y:whole=2,7,10
// RUN: model_runner --model %t.dir/net.mlir --input %t.dir/in.npz --output %t.dir/lowered.npz
// RUN: %if model-file %{ model_runner --model %t.dir/net.model --input %t.dir/in.npz --output %t.dir/file.npz %}
// RUN: %if model-file %{ npz_tool compare %t.dir/file.npz %t.dir/lowered.npz --tolerance 1,1 | FileCheck %s --check-prefix=EQUAL %}
// EQUAL: 5 equal
module attributes {module.name = "net", module.chip = "bm1684x", module.state = "TPU_LOWERED", module.weight_file = "net.npz"} {
  func.func @main(%arg0: tensor<6x12xf32>, %arg1: tensor<2x7x10xf32>) -> (tensor<6x3xf32>, tensor<18x5xf32>, tensor<2x4x10xf32>, tensor<6x12xf32>, tensor<2x7x10xf32>) {
    %n = "top.None"() : () -> none
    %x = "top.Input"(%arg0) : (tensor<6x12xf32>) -> tensor<6x12xf32> loc("x")
    %y = "top.Input"(%arg1) : (tensor<2x7x10xf32>) -> tensor<2x7x10xf32> loc("y")
    %table = "top.Weight"() : () -> tensor<12x5xf32> loc("table")
    // The places name rows of a table.
    %0, %1 = "tpu.TopK"(%x, %n) {axis = -1 : i64, k = 3 : i64} : (tensor<6x12xf32>, none) -> (tensor<6x3xf32>, tensor<6x3xi64>) loc(fused["best", "places"])
    %2 = "tpu.Reshape"(%1, %n) {shape = [18]} : (tensor<6x3xi64>, none) -> tensor<18xi64> loc("flat")
    %3 = "tpu.Gather"(%table, %2) {axis = 0 : i64} : (tensor<12x5xf32>, tensor<18xi64>) -> tensor<18x5xf32> loc("rows")
    // The least ones, along a dimension in the middle.
    %4, %5 = "tpu.TopK"(%y, %n) {axis = 1 : i64, k = 4 : i64, largest = false} : (tensor<2x7x10xf32>, none) -> (tensor<2x4x10xf32>, tensor<2x4x10xi64>) loc(fused["least", "least_places"])
    // All of a row, whose smaller half is infinite.
    %6 = "tpu.Relu"(%x) : (tensor<6x12xf32>) -> tensor<6x12xf32> loc("positive")
    %7 = "tpu.Log"(%6) : (tensor<6x12xf32>) -> tensor<6x12xf32> loc("logarithm")
    %8, %9 = "tpu.TopK"(%7, %n) {axis = 1 : i64, k = 12 : i64} : (tensor<6x12xf32>, none) -> (tensor<6x12xf32>, tensor<6x12xi64>) loc(fused["sorted", "order"])
    %10 = "tpu.DtypeCast"(%9) {to = f32} : (tensor<6x12xi64>) -> tensor<6x12xf32> loc("order_f32")
    // More than are found one by one.
    %12 = "tpu.Reshape"(%y, %n) {shape = [140]} : (tensor<2x7x10xf32>, none) -> tensor<140xf32> loc("line")
    %13, %14 = "tpu.TopK"(%12, %n) {axis = 0 : i64, k = 140 : i64} : (tensor<140xf32>, none) -> (tensor<140xf32>, tensor<140xi64>) loc(fused["all", "all_places"])
    %15 = "tpu.Reshape"(%13, %n) {shape = [2, 7, 10]} : (tensor<140xf32>, none) -> tensor<2x7x10xf32> loc("line_back")
    return %0, %3, %4, %10, %15 : tensor<6x3xf32>, tensor<18x5xf32>, tensor<2x4x10xf32>, tensor<6x12xf32>, tensor<2x7x10xf32>
  }
}

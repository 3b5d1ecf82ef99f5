// Sums and products of 64-bit integers of which only the lowest 32 bits are read are computed in these:
// positions that an attention mask gives, which name rows of a table. What is read in full stays.
// REQUIRES: chip-bm1684x
// RUN: rm -rf %t.dir && mkdir -p %t.dir
// RUN: %python %S/Inputs/ramp.py %t.dir/net.npz one:all1= two:all2=1 table=64,8
// RUN: cp %s %t.dir/net.mlir
// RUN: tpuc-opt %t.dir/net.mlir --decompose --mlir-print-debuginfo --mlir-print-local-scope -o %t.dir/parts.mlir
// RUN: FileCheck %s --input-file %t.dir/parts.mlir
// CHECK-DAG: "tpu.CumSum"({{.*}}axis = 1 : i64{{.*}} (tensor<3x40xi32>, none) -> tensor<3x40xi32>
// CHECK-DAG: "tpu.Mul"({{.*}} : (tensor<3x40xi32>, tensor<3x40xi32>) -> tensor<3x40xi32>
// CHECK-DAG: "tpu.Sub"({{.*}} : (tensor<3x40xi32>, tensor<1xi32>) -> tensor<3x40xi32>
// CHECK-DAG: "tpu.Add"({{.*}} : (tensor<120xi32>, tensor<1xi32>) -> tensor<120xi32>
// CHECK-DAG: "tpu.Mul"({{.*}} : (tensor<3x40xi64>, tensor<3x40xi64>) -> tensor<3x40xi64> loc("square")
// CHECK-DAG: "tpu.Add"({{.*}} : (tensor<3x40xi64>, tensor<3x40xi64>) -> tensor<3x40xi64> loc("sum")
// RUN: tpuc-opt %t.dir/net.mlir --decompose --subnet-divide -o %t.dir/divided.mlir
// RUN: grep -c subnet_reason %t.dir/divided.mlir | FileCheck %s --check-prefix=HOST
// HOST: 2
// RUN: tpuc-opt %t.dir/net.mlir --decompose --subnet-divide --weight-reorder --op-reorder --layer-group --address-assign --codegen=model=%t.dir/net.model -o %t.dir/none.mlir
// RUN: %python %S/Inputs/ramp.py %t.dir/in.npz m:bits=3,40 k:i64=3,40
// RUN: model_runner --model %t.dir/net.mlir --input %t.dir/in.npz --output %t.dir/lowered.npz
// RUN: model_runner --model %t.dir/net.model --input %t.dir/in.npz --output %t.dir/file.npz
// RUN: npz_tool compare %t.dir/file.npz %t.dir/lowered.npz --tolerance 1,1 | FileCheck %s --check-prefix=EQUAL
// EQUAL: 4 equal
module attributes {module.name = "net", module.chip = "bm1684x", module.state = "TPU_LOWERED", module.weight_file = "net.npz"} {
  func.func @main(%arg0: tensor<3x40xi64>, %arg1: tensor<3x40xi64>) -> (tensor<120x8xf32>, tensor<3x40xi32>, tensor<3x40xf32>, tensor<3x40xi64>) {
    %n = "top.None"() : () -> none
    %m = "top.Input"(%arg0) : (tensor<3x40xi64>) -> tensor<3x40xi64> loc("m")
    %k = "top.Input"(%arg1) : (tensor<3x40xi64>) -> tensor<3x40xi64> loc("k")
    %axis = "top.Weight"() : () -> tensor<i32> loc("one")
    %two = "top.Weight"() : () -> tensor<1xi32> loc("two")
    %two64 = "tpu.DtypeCast"(%two) {to = i64} : (tensor<1xi32>) -> tensor<1xi64> loc("two64")
    %table = "top.Weight"() : () -> tensor<64x8xf32> loc("table")
    %0 = "tpu.CumSum"(%m, %axis) : (tensor<3x40xi64>, tensor<i32>) -> tensor<3x40xi64> loc("count")
    %1 = "tpu.Mul"(%0, %m) : (tensor<3x40xi64>, tensor<3x40xi64>) -> tensor<3x40xi64> loc("masked")
    %2 = "tpu.Sub"(%1, %two64) : (tensor<3x40xi64>, tensor<1xi64>) -> tensor<3x40xi64> loc("place")
    %3 = "tpu.Reshape"(%2, %n) {shape = [120]} : (tensor<3x40xi64>, none) -> tensor<120xi64> loc("row")
    %4 = "tpu.Add"(%3, %two64) : (tensor<120xi64>, tensor<1xi64>) -> tensor<120xi64> loc("shifted")
    %5 = "tpu.Gather"(%table, %4) {axis = 0 : i64} : (tensor<64x8xf32>, tensor<120xi64>) -> tensor<120x8xf32> loc("rows")
    // These wrap: their lowest 32 bits are the output.
    %6 = "tpu.Mul"(%k, %k) : (tensor<3x40xi64>, tensor<3x40xi64>) -> tensor<3x40xi64> loc("power")
    %7 = "tpu.DtypeCast"(%6) {to = i32} : (tensor<3x40xi64>) -> tensor<3x40xi32> loc("low")
    // What is cast to floats and what is an output is needed in full.
    %8 = "tpu.Mul"(%m, %m) : (tensor<3x40xi64>, tensor<3x40xi64>) -> tensor<3x40xi64> loc("square")
    %9 = "tpu.DtypeCast"(%8) {to = f32} : (tensor<3x40xi64>) -> tensor<3x40xf32> loc("number")
    %10 = "tpu.Add"(%k, %m) : (tensor<3x40xi64>, tensor<3x40xi64>) -> tensor<3x40xi64> loc("sum")
    return %5, %7, %9, %10 : tensor<120x8xf32>, tensor<3x40xi32>, tensor<3x40xf32>, tensor<3x40xi64>
  }
}

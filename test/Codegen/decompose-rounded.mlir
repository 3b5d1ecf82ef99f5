// Sums and products of 64-bit integers that become floats, as positions do that an attention mask gives, are
// computed in floats and in 32 bits: what 30 bits hold is exact, and what is larger is what the floats say.
// REQUIRES: chip-bm1684x
// RUN: rm -rf %t.dir && mkdir -p %t.dir
// RUN: %python %S/Inputs/ramp.py %t.dir/net.npz one:all1=
// RUN: cp %s %t.dir/net.mlir
// RUN: tpuc-opt %t.dir/net.mlir --decompose --mlir-print-debuginfo --mlir-print-local-scope -o %t.dir/parts.mlir
// RUN: FileCheck %s --input-file %t.dir/parts.mlir
// CHECK-DAG: "tpu.CumSum"({{.*}} (tensor<3x40xi32>, none) -> tensor<3x40xi32>
// CHECK-DAG: "tpu.Where"({{.*}} -> tensor<3x40xf32> loc("count_rounded")
// CHECK-DAG: "tpu.Where"({{.*}} -> tensor<3x40xf32> loc("before_rounded")
// CHECK-DAG: "tpu.Where"({{.*}} -> tensor<3x40xf32> loc("masked_rounded")
// CHECK-DAG: "tpu.Where"({{.*}} -> tensor<3x40xf32> loc("large_rounded")
// What is off by more than that in a factor is left to the host.
// CHECK-DAG: "tpu.Mul"({{.*}} -> tensor<3x40xi64> loc("third")
// RUN: tpuc-opt %t.dir/net.mlir --decompose --subnet-divide -o %t.dir/divided.mlir
// RUN: grep -c subnet_reason %t.dir/divided.mlir | FileCheck %s --check-prefix=HOST
// HOST: 3
// RUN: tpuc-opt %t.dir/net.mlir --decompose --subnet-divide --weight-reorder --op-reorder --layer-group --address-assign --codegen=model=%t.dir/net.model -o %t.dir/none.mlir
// RUN: %python %S/Inputs/ramp.py %t.dir/in.npz m:bits=3,40 b:all1000000000=3,40
// RUN: model_runner --model %t.dir/net.mlir --input %t.dir/in.npz --output %t.dir/lowered.npz
// RUN: model_runner --model %t.dir/net.model --input %t.dir/in.npz --output %t.dir/file.npz
// RUN: npz_tool compare %t.dir/file.npz %t.dir/lowered.npz --tolerance 0.9999999,0.999999 | FileCheck %s --check-prefix=EQUAL
// EQUAL: 3 equal
module attributes {module.name = "net", module.chip = "bm1684x", module.state = "TPU_LOWERED", module.weight_file = "net.npz"} {
  func.func @main(%arg0: tensor<3x40xi64>, %arg1: tensor<3x40xi32>) -> (tensor<3x1x40xf32>, tensor<3x40xf32>, tensor<3x40xf32>, tensor<3x40xf32>) {
    %n = "top.None"() : () -> none
    %m = "top.Input"(%arg0) : (tensor<3x40xi64>) -> tensor<3x40xi64> loc("m")
    %b = "top.Input"(%arg1) : (tensor<3x40xi32>) -> tensor<3x40xi32> loc("b")
    %one = "top.Weight"() : () -> tensor<i32> loc("one")
    %one64 = "tpu.DtypeCast"(%one) {to = i64} : (tensor<i32>) -> tensor<i64> loc("one64")
    %0 = "tpu.CumSum"(%m, %n) {axis = -1 : i64} : (tensor<3x40xi64>, none) -> tensor<3x40xi64> loc("count")
    %1 = "tpu.Sub"(%0, %one64) : (tensor<3x40xi64>, tensor<i64>) -> tensor<3x40xi64> loc("before")
    %2 = "tpu.Mul"(%1, %m) : (tensor<3x40xi64>, tensor<3x40xi64>) -> tensor<3x40xi64> loc("masked")
    %3 = "tpu.Unsqueeze"(%2, %n) {axes = [1]} : (tensor<3x40xi64>, none) -> tensor<3x1x40xi64> loc("row")
    %4 = "tpu.DtypeCast"(%3) {to = f32} : (tensor<3x1x40xi64>) -> tensor<3x1x40xf32> loc("positions")
    %5 = "tpu.DtypeCast"(%b) {to = i64} : (tensor<3x40xi32>) -> tensor<3x40xi64> loc("wide")
    %6 = "tpu.CumSum"(%5, %n) {axis = -1 : i64} : (tensor<3x40xi64>, none) -> tensor<3x40xi64> loc("large")
    %7 = "tpu.DtypeCast"(%6) {to = f32} : (tensor<3x40xi64>) -> tensor<3x40xf32> loc("sums")
    %8 = "tpu.Mul"(%m, %m) : (tensor<3x40xi64>, tensor<3x40xi64>) -> tensor<3x40xi64> loc("second")
    %9 = "tpu.Mul"(%8, %m) : (tensor<3x40xi64>, tensor<3x40xi64>) -> tensor<3x40xi64> loc("third")
    %10 = "tpu.DtypeCast"(%9) {to = f32} : (tensor<3x40xi64>) -> tensor<3x40xf32> loc("powers")
    %11 = "tpu.DtypeCast"(%m) {to = f32} : (tensor<3x40xi64>) -> tensor<3x40xf32> loc("mask")
    return %4, %7, %10, %11 : tensor<3x1x40xf32>, tensor<3x40xf32>, tensor<3x40xf32>, tensor<3x40xf32>
  }
}

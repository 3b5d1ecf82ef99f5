// Masks of 64-bit integers are cast and compared by their low words, and moved as words: nothing of
// it is left to the host.
// RUN: rm -rf %t.dir && mkdir -p %t.dir
// RUN: sed s/bm1684x/%chip/ %s > %t.dir/net.mlir
// RUN: tpuc-opt %t.dir/net.mlir --decompose --mlir-print-debuginfo --mlir-print-local-scope -o %t.dir/parts.mlir
// RUN: FileCheck %s --input-file %t.dir/parts.mlir
// CHECK: "tpu.DtypeCast"(%{{.*}}) {saturate = true, to = i32} : (tensor<2x5xi64>) -> tensor<2x5xi32> loc("number_low")
// CHECK: "tpu.DtypeCast"(%{{.*}}) {saturate = true, to = f32} : (tensor<2x5xi32>) -> tensor<2x5xf32> loc("number")
// CHECK: "tpu.CompareConst"{{.*}} : (tensor<2x5xi32>) -> tensor<2x5xi1> loc("is_two")
// CHECK: "tpu.Compare"{{.*}} : (tensor<2x5xi32>, tensor<2x5xi32>) -> tensor<2x5xi1> loc("is_less")
// RUN: tpuc-opt %t.dir/parts.mlir --subnet-divide --weight-reorder --op-reorder --layer-group --address-assign --mlir-print-debuginfo --mlir-print-local-scope -o %t.dir/final.mlir
// RUN: %if model-file %{ not grep subnet_reason %t.dir/final.mlir %}
// RUN: %if model-file %{ tpuc-opt %t.dir/final.mlir --codegen=model=%t.dir/net.model -o %t.dir/none.mlir %}
// RUN: %python %S/Inputs/ramp.py %t.dir/in.npz m:i64=2,5 k:i64=2,5 x=2,5
// RUN: model_runner --model %t.dir/net.mlir --input %t.dir/in.npz --output %t.dir/lowered.npz
// RUN: model_runner --model %t.dir/final.mlir --input %t.dir/in.npz --output %t.dir/final.npz
// RUN: npz_tool compare %t.dir/final.npz %t.dir/lowered.npz --tolerance 1,1 | FileCheck %s --check-prefix=EQUAL
// RUN: %if model-file %{ model_runner --model %t.dir/net.model --input %t.dir/in.npz --output %t.dir/net.npz %}
// RUN: %if model-file %{ npz_tool compare %t.dir/net.npz %t.dir/lowered.npz --tolerance 1,1 | FileCheck %s --check-prefix=EQUAL %}
// EQUAL: 4 equal
module attributes {module.name = "net", module.chip = "bm1684x", module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: tensor<2x5xi64>, %arg1: tensor<2x5xi64>, %arg2: tensor<2x5xf32>) -> (tensor<2x5xf32>, tensor<2x5xf32>, tensor<2x5xf32>, tensor<5x2x3xi64>) {
    %n = "top.None"() : () -> none
    %m = "top.Input"(%arg0) : (tensor<2x5xi64>) -> tensor<2x5xi64> loc("m")
    %k = "top.Input"(%arg1) : (tensor<2x5xi64>) -> tensor<2x5xi64> loc("k")
    %x = "top.Input"(%arg2) : (tensor<2x5xf32>) -> tensor<2x5xf32> loc("x")
    %0 = "tpu.DtypeCast"(%m) {to = f32} : (tensor<2x5xi64>) -> tensor<2x5xf32> loc("number")
    %1 = "tpu.Sub"(%0, %x) : (tensor<2x5xf32>, tensor<2x5xf32>) -> tensor<2x5xf32> loc("difference")
    %2 = "tpu.CompareConst"(%m) {const_val = 2.0 : f64, mode = "Equal"} : (tensor<2x5xi64>) -> tensor<2x5xi1> loc("is_two")
    %3 = "tpu.Where"(%2, %x, %0) : (tensor<2x5xi1>, tensor<2x5xf32>, tensor<2x5xf32>) -> tensor<2x5xf32> loc("chosen")
    %4 = "tpu.Compare"(%m, %k) {mode = "Less"} : (tensor<2x5xi64>, tensor<2x5xi64>) -> tensor<2x5xi1> loc("is_less")
    %5 = "tpu.Where"(%4, %0, %x) : (tensor<2x5xi1>, tensor<2x5xf32>, tensor<2x5xf32>) -> tensor<2x5xf32> loc("lesser")
    %6 = "tpu.Permute"(%m) {order = [1, 0]} : (tensor<2x5xi64>) -> tensor<5x2xi64> loc("turned")
    %7 = "tpu.Reshape"(%6, %n) {shape = [5, 2, 1]} : (tensor<5x2xi64>, none) -> tensor<5x2x1xi64> loc("column")
    %8 = "tpu.Expand"(%7, %n) {shape = [5, 2, 3]} : (tensor<5x2x1xi64>, none) -> tensor<5x2x3xi64> loc("repeated")
    return %1, %3, %5, %8 : tensor<2x5xf32>, tensor<2x5xf32>, tensor<2x5xf32>, tensor<5x2x3xi64>
  }
}

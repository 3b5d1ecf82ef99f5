// Integers of 64 bits are cast and compared by their words, and moved as words: nothing of it is left
// to the host, and numbers that 32 bits do not hold are those of the lowered network, too.
// RUN: rm -rf %t.dir && mkdir -p %t.dir
// RUN: sed s/bm1684x/%chip/ %s > %t.dir/net.mlir
// RUN: tpuc-opt %t.dir/net.mlir --decompose --mlir-print-debuginfo --mlir-print-local-scope -o %t.dir/parts.mlir
// RUN: FileCheck %s --input-file %t.dir/parts.mlir
// CHECK: "tpu.DtypeCast"(%{{.*}}) {from_bit = 32 : i64, saturate = true, to = i32} : (tensor<6x40xi64>) -> tensor<6x40xi32> loc("number_high_word")
// CHECK: "tpu.DtypeCast"(%{{.*}}) {{.*}} : (tensor<6x40xi64>) -> tensor<6x40xi32> loc("number_low_word")
// Each word is taken once.
// CHECK-NOT: loc("is_two_number_high_word")
// CHECK: "tpu.Add"({{.*}} -> tensor<6x40xf32> loc("number")
// CHECK: "tpu.LogicalBinary"({{.*}} {mode = "And"} {{.*}} loc("is_two")
// CHECK: "tpu.LogicalBinary"({{.*}} {mode = "Or"} {{.*}} loc("is_less")
// CHECK: "tpu.LogicalBinary"({{.*}} {mode = "Or"} {{.*}} loc("is_small")
// CHECK: "tpu.LogicalBinary"({{.*}} {mode = "Or"} {{.*}} loc("is_large")
// CHECK: "tpu.LogicalBinary"({{.*}} {mode = "Or"} {{.*}} loc("is_set")
// RUN: tpuc-opt %t.dir/parts.mlir --subnet-divide --weight-reorder --op-reorder --layer-group --address-assign --mlir-print-debuginfo --mlir-print-local-scope -o %t.dir/final.mlir
// RUN: %if model-file %{ not grep subnet_reason %t.dir/final.mlir %}
// RUN: %if model-file %{ tpuc-opt %t.dir/final.mlir --codegen=model=%t.dir/net.model -o %t.dir/none.mlir %}
// RUN: %python %S/Inputs/ramp.py %t.dir/in.npz m:i64=6,40 k:i64=6,40 x=6,40
// RUN: model_runner --model %t.dir/net.mlir --input %t.dir/in.npz --output %t.dir/lowered.npz
// RUN: model_runner --model %t.dir/final.mlir --input %t.dir/in.npz --output %t.dir/final.npz
// RUN: npz_tool compare %t.dir/final.npz %t.dir/lowered.npz --tolerance 1,1 | FileCheck %s --check-prefix=EQUAL
// RUN: %if model-file %{ model_runner --model %t.dir/net.model --input %t.dir/in.npz --output %t.dir/net.npz %}
// RUN: %if model-file %{ npz_tool compare %t.dir/net.npz %t.dir/lowered.npz --tolerance 1,1 | FileCheck %s --check-prefix=EQUAL %}
// EQUAL: 7 equal
module attributes {module.name = "net", module.chip = "bm1684x", module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: tensor<6x40xi64>, %arg1: tensor<6x40xi64>, %arg2: tensor<6x40xf32>) -> (tensor<6x40xf32>, tensor<6x40xf32>, tensor<6x40xf32>, tensor<40x6x3xi64>, tensor<6x40xf32>, tensor<6x40xf32>, tensor<6x40xf32>) {
    %n = "top.None"() : () -> none
    %m = "top.Input"(%arg0) : (tensor<6x40xi64>) -> tensor<6x40xi64> loc("m")
    %k = "top.Input"(%arg1) : (tensor<6x40xi64>) -> tensor<6x40xi64> loc("k")
    %x = "top.Input"(%arg2) : (tensor<6x40xf32>) -> tensor<6x40xf32> loc("x")
    %0 = "tpu.DtypeCast"(%m) {to = f32} : (tensor<6x40xi64>) -> tensor<6x40xf32> loc("number")
    %1 = "tpu.Sub"(%0, %x) : (tensor<6x40xf32>, tensor<6x40xf32>) -> tensor<6x40xf32> loc("difference")
    %2 = "tpu.CompareConst"(%m) {const_val = 2.0 : f64, mode = "Equal"} : (tensor<6x40xi64>) -> tensor<6x40xi1> loc("is_two")
    %3 = "tpu.Where"(%2, %x, %0) : (tensor<6x40xi1>, tensor<6x40xf32>, tensor<6x40xf32>) -> tensor<6x40xf32> loc("chosen")
    %4 = "tpu.Compare"(%m, %k) {mode = "Less"} : (tensor<6x40xi64>, tensor<6x40xi64>) -> tensor<6x40xi1> loc("is_less")
    %5 = "tpu.Where"(%4, %0, %x) : (tensor<6x40xi1>, tensor<6x40xf32>, tensor<6x40xf32>) -> tensor<6x40xf32> loc("lesser")
    %6 = "tpu.Permute"(%m) {order = [1, 0]} : (tensor<6x40xi64>) -> tensor<40x6xi64> loc("turned")
    %7 = "tpu.Reshape"(%6, %n) {shape = [40, 6, 1]} : (tensor<40x6xi64>, none) -> tensor<40x6x1xi64> loc("column")
    %8 = "tpu.Expand"(%7, %n) {shape = [40, 6, 3]} : (tensor<40x6x1xi64>, none) -> tensor<40x6x3xi64> loc("repeated")
    %9 = "tpu.CompareConst"(%m) {const_val = -1.0 : f64, mode = "LessOrEqual"} : (tensor<6x40xi64>) -> tensor<6x40xi1> loc("is_small")
    %10 = "tpu.Where"(%9, %x, %0) : (tensor<6x40xi1>, tensor<6x40xf32>, tensor<6x40xf32>) -> tensor<6x40xf32> loc("small")
    %11 = "tpu.CompareConst"(%m) {const_val = 4294967296.0 : f64, mode = "Less", inversed = true} : (tensor<6x40xi64>) -> tensor<6x40xi1> loc("is_large")
    %12 = "tpu.Where"(%11, %x, %0) : (tensor<6x40xi1>, tensor<6x40xf32>, tensor<6x40xf32>) -> tensor<6x40xf32> loc("large")
    %13 = "tpu.DtypeCast"(%k) {to = i1} : (tensor<6x40xi64>) -> tensor<6x40xi1> loc("is_set")
    %14 = "tpu.Where"(%13, %x, %0) : (tensor<6x40xi1>, tensor<6x40xf32>, tensor<6x40xf32>) -> tensor<6x40xf32> loc("set")
    return %1, %3, %5, %8, %10, %12, %14 : tensor<6x40xf32>, tensor<6x40xf32>, tensor<6x40xf32>, tensor<40x6x3xi64>, tensor<6x40xf32>, tensor<6x40xf32>, tensor<6x40xf32>
  }
}

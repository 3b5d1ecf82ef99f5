// Inputs of 64-bit integers become inputs of 32 bits where all that reads them can have that: indices,
// casts, comparisons, moves, and the host's layers, which get them widened. A file refuses numbers
// that 32 bits do not hold. An input that is moved to an output keeps its 64 bits.
// RUN: rm -rf %t.dir && mkdir -p %t.dir
// RUN: sed s/bm1684x/%chip/ %s > %t.dir/net.mlir
// RUN: tpuc-opt %t.dir/net.mlir --decompose --mlir-print-debuginfo --mlir-print-local-scope -o %t.dir/parts.mlir
// RUN: FileCheck %s --input-file %t.dir/parts.mlir
// CHECK: func.func @main(%arg0: tensor<2x5xi32>{{.*}}, %arg1: tensor<2x5xi64>{{.*}}, %arg2: tensor<2x5xf32>
// CHECK: "tpu.DtypeCast"({{.*}} : (tensor<2x5xi32>) -> tensor<2x5xi64> loc("m_wide")
// CHECK: "tpu.Reshape"({{.*}} : (tensor<2x5xi32>, none) -> tensor<5x2xi32> loc("column")
// CHECK: "tpu.DtypeCast"({{.*}} : (tensor<5x2xi32>) -> tensor<5x2xf32> loc("number")
// CHECK: "tpu.CompareConst"({{.*}} : (tensor<2x5xi32>) -> tensor<2x5xi1> loc("is_two")
// CHECK: "tpu.Mul"({{.*}} : (tensor<2x5xi64>, tensor<2x5xi64>) -> tensor<2x5xi64> loc("square")
// RUN: tpuc-opt %t.dir/parts.mlir --subnet-divide --weight-reorder --op-reorder --layer-group --address-assign --mlir-print-debuginfo --mlir-print-local-scope -o %t.dir/final.mlir
// RUN: %if model-file %{ tpuc-opt %t.dir/final.mlir --codegen=model=%t.dir/net.model -o %t.dir/none.mlir %}
// RUN: %python %S/Inputs/ramp.py %t.dir/in.npz m:small=2,5 k:i64=2,5 x=2,5
// RUN: model_runner --model %t.dir/net.mlir --input %t.dir/in.npz --output %t.dir/lowered.npz
// RUN: %if model-file %{ model_runner --model %t.dir/net.model --input %t.dir/in.npz --output %t.dir/net.npz %}
// RUN: %if model-file %{ npz_tool compare %t.dir/net.npz %t.dir/lowered.npz --tolerance 1,1 | FileCheck %s --check-prefix=EQUAL %}
// EQUAL: 4 equal
// RUN: %python %S/Inputs/ramp.py %t.dir/far.npz m:i64=2,5 k:i64=2,5 x=2,5
// RUN: %if model-file %{ not model_runner --model %t.dir/net.model --input %t.dir/far.npz --output %t.dir/none.npz 2>&1 | FileCheck %s --check-prefix=FAR %}
// FAR: m: element {{[0-9]+}} is beyond i32; expected numbers that i32 holds
module attributes {module.name = "net", module.chip = "bm1684x", module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: tensor<2x5xi64>, %arg1: tensor<2x5xi64>, %arg2: tensor<2x5xf32>) -> (tensor<5x2xf32>, tensor<2x5xf32>, tensor<2x5xi64>, tensor<5x2xi64>) {
    %n = "top.None"() : () -> none
    %m = "top.Input"(%arg0) : (tensor<2x5xi64>) -> tensor<2x5xi64> loc("m")
    %k = "top.Input"(%arg1) : (tensor<2x5xi64>) -> tensor<2x5xi64> loc("k")
    %x = "top.Input"(%arg2) : (tensor<2x5xf32>) -> tensor<2x5xf32> loc("x")
    %0 = "tpu.Reshape"(%m, %n) {shape = [5, 2]} : (tensor<2x5xi64>, none) -> tensor<5x2xi64> loc("column")
    %1 = "tpu.DtypeCast"(%0) {to = f32} : (tensor<5x2xi64>) -> tensor<5x2xf32> loc("number")
    %2 = "tpu.CompareConst"(%m) {const_val = 2.0 : f64, mode = "Equal"} : (tensor<2x5xi64>) -> tensor<2x5xi1> loc("is_two")
    %3 = "tpu.Where"(%2, %x, %x) : (tensor<2x5xi1>, tensor<2x5xf32>, tensor<2x5xf32>) -> tensor<2x5xf32> loc("chosen")
    %4 = "tpu.Mul"(%m, %m) : (tensor<2x5xi64>, tensor<2x5xi64>) -> tensor<2x5xi64> loc("square")
    %5 = "tpu.Permute"(%k) {order = [1, 0]} : (tensor<2x5xi64>) -> tensor<5x2xi64> loc("turned")
    return %1, %3, %4, %5 : tensor<5x2xf32>, tensor<2x5xf32>, tensor<2x5xi64>, tensor<5x2xi64>
  }
}

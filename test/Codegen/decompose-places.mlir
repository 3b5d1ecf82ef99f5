// Places of extremes, and what is computed of them, are on the chip: quotients and rests by a
// constant, tuples that are joined of them, and what tuples gather.
// UNSUPPORTED: chip-bm1684
// RUN: rm -rf %t.dir && mkdir -p %t.dir
// RUN: sed s/bm1684x/%chip/ %s > %t.dir/net.mlir
// RUN: %python %S/Inputs/ramp.py %t.dir/net.npz ten:all10= thirty:all30= one:all1=5,1 ends:all1=3,3
// RUN: %if model-file %{ tpuc-opt %t.dir/net.mlir --decompose --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s %}
// CHECK-NOT: {{"tpu.(Arg|GatherND|Mod)"}}
// CHECK-NOT: -> tensor<{{.*}}xi64>
// CHECK: "tpu.Floor"
// CHECK-NOT: {{"tpu.(Arg|GatherND|Mod)"}}
// CHECK-NOT: -> tensor<{{.*}}xi64>
// CHECK: return
// RUN: tpuc-opt %t.dir/net.mlir --decompose --subnet-divide -o %t.dir/divided.mlir
// RUN: %if model-file %{ not grep subnet_reason %t.dir/divided.mlir %}
// RUN: %if model-file %{ tpuc-opt %t.dir/net.mlir --decompose --subnet-divide --weight-reorder --op-reorder --layer-group --address-assign --codegen=model=%t.dir/net.model -o %t.dir/none.mlir %}
// RUN: %python %S/Inputs/ramp.py %t.dir/in.npz x:whole=1,60,5 t=2,6,10,7 i:i32=4,3,2
// RUN: model_runner --model %t.dir/net.mlir --input %t.dir/in.npz --output %t.dir/lowered.npz
// RUN: %if model-file %{ model_runner --model %t.dir/net.model --input %t.dir/in.npz --output %t.dir/file.npz %}
// RUN: %if model-file %{ npz_tool compare %t.dir/file.npz %t.dir/lowered.npz --tolerance 1,1 | FileCheck %s --check-prefix=EQUAL %}
// EQUAL: 5 equal
module attributes {module.name = "net", module.chip = "bm1684x", module.state = "TPU_LOWERED", module.weight_file = "net.npz"} {
  func.func @main(%arg0: tensor<1x60x5xf32>, %arg1: tensor<2x6x10x7xf32>, %arg2: tensor<4x3x2xi32>) -> (tensor<5x7xf32>, tensor<5x6x10x7xf32>, tensor<4x3x10x7xf32>, tensor<1x5xf32>, tensor<3x7xf32>) {
    %none = "top.None"() : () -> none
    %x = "top.Input"(%arg0) : (tensor<1x60x5xf32>) -> tensor<1x60x5xf32> loc("x")
    %t = "top.Input"(%arg1) : (tensor<2x6x10x7xf32>) -> tensor<2x6x10x7xf32> loc("t")
    %i = "top.Input"(%arg2) : (tensor<4x3x2xi32>) -> tensor<4x3x2xi32> loc("i")
    %ten = "top.Weight"() : () -> tensor<i32> loc("ten")
    %one = "top.Weight"() : () -> tensor<5x1xi32> loc("one")
    %ends = "top.Weight"() : () -> tensor<3x3xi32> loc("ends")
    // The first of equal ones: every number occurs several times.
    %p, %v = "tpu.Arg"(%x) {axis = 1 : i64, keepdims = false, mode = "ArgMax"} : (tensor<1x60x5xf32>) -> (tensor<1x5xi64>, none) loc(fused["place", "value"])
    %p32 = "tpu.DtypeCast"(%p) {to = i32} : (tensor<1x5xi64>) -> tensor<1x5xi32> loc("place32")
    %rest = "tpu.Mod"(%p32, %ten) {fmod = false} : (tensor<1x5xi32>, tensor<i32>) -> tensor<1x5xi32> loc("rest")
    %whole = "tpu.Sub"(%p32, %rest) : (tensor<1x5xi32>, tensor<1x5xi32>) -> tensor<1x5xi32> loc("whole")
    %row = "tpu.Div"(%whole, %ten) : (tensor<1x5xi32>, tensor<i32>) -> tensor<1x5xi32> loc("row")
    %rows = "tpu.Reshape"(%row, %none) {shape = [5, 1]} : (tensor<1x5xi32>, none) -> tensor<5x1xi32> loc("rows")
    %columns = "tpu.Reshape"(%rest, %none) {shape = [5, 1]} : (tensor<1x5xi32>, none) -> tensor<5x1xi32> loc("columns")
    %tuples = "tpu.Concat"(%one, %rows, %columns) {axis = 1 : i64} : (tensor<5x1xi32>, tensor<5x1xi32>, tensor<5x1xi32>) -> tensor<5x3xi32> loc("tuples")
    %0 = "tpu.GatherND"(%t, %tuples) : (tensor<2x6x10x7xf32>, tensor<5x3xi32>) -> tensor<5x7xf32> loc("found")
    // The last of equal ones, kept as a dimension.
    %q, %w = "tpu.Arg"(%x) {axis = -2 : i64, keepdims = true, mode = "ArgMin", select_last_index = true} : (tensor<1x60x5xf32>) -> (tensor<1x1x5xi64>, none) loc(fused["last", "least"])
    %q32 = "tpu.DtypeCast"(%q) {to = i32} : (tensor<1x1x5xi64>) -> tensor<1x1x5xi32> loc("last32")
    %thirty = "top.Weight"() : () -> tensor<i32> loc("thirty")
    %half = "tpu.Div"(%q32, %thirty) : (tensor<1x1x5xi32>, tensor<i32>) -> tensor<1x1x5xi32> loc("half")
    %halves = "tpu.Reshape"(%half, %none) {shape = [5, 1]} : (tensor<1x1x5xi32>, none) -> tensor<5x1xi32> loc("halves")
    %1 = "tpu.GatherND"(%t, %halves) : (tensor<2x6x10x7xf32>, tensor<5x1xi32>) -> tensor<5x6x10x7xf32> loc("pictures")
    // Tuples of an input, some of which count from the end.
    %2 = "tpu.GatherND"(%t, %i) : (tensor<2x6x10x7xf32>, tensor<4x3x2xi32>) -> tensor<4x3x10x7xf32> loc("named")
    %3 = "tpu.DtypeCast"(%rest) {to = f32} : (tensor<1x5xi32>) -> tensor<1x5xf32> loc("numbers")
    %4 = "tpu.GatherND"(%t, %ends) : (tensor<2x6x10x7xf32>, tensor<3x3xi32>) -> tensor<3x7xf32> loc("constant")
    return %0, %1, %2, %3, %4 : tensor<5x7xf32>, tensor<5x6x10x7xf32>, tensor<4x3x10x7xf32>, tensor<1x5xf32>, tensor<3x7xf32>
  }
}

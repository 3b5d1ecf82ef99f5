// Comparisons, choices, truth values, casts and places of extremes are on the chip. So are rows of a
// small constant table by computed indices: a product of the table with ones where the indices are.
// RUN: rm -rf %t.dir && mkdir -p %t.dir && cp %s %t.dir/net.mlir
// RUN: %python %S/../../Codegen/Inputs/ramp.py %t.dir/net.npz table=5,70
// RUN: tpuc-opt %t.dir/net.mlir --decompose --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s
// RUN: tpuc-opt %t.dir/net.mlir --decompose --subnet-divide --weight-reorder --op-reorder --layer-group --address-assign --codegen=model=%t.dir/net.bmodel -o %t.dir/final.mlir
// RUN: not grep subnet_reason %t.dir/final.mlir
// RUN: %python %S/../../Codegen/Inputs/ramp.py %t.dir/in.npz x:whole=2,66,5,7 y:whole=2,66,5,1 i:i32=2,3 k:i32=6,66,3,5 b:u8=6,1,3,5
// RUN: model_runner --model %t.dir/net.mlir --input %t.dir/in.npz --output %t.dir/lowered.npz
// RUN: model_runner --model %t.dir/net.bmodel --input %t.dir/in.npz --output %t.dir/file.npz
// RUN: npz_tool compare %t.dir/file.npz %t.dir/lowered.npz --tolerance 1,1 | FileCheck %s --check-prefix=EQUAL
// EQUAL: 6 equal

// CHECK-NOT: {{"tpu.(Arg|Gather)"}}
// CHECK-DAG: %[[THERE:.*]] = "tpu.Compare"({{.*}}{mode = "Equal"}{{.*}} -> tensor<6x5xi1>
// CHECK-DAG: %[[ONES:.*]] = "tpu.DtypeCast"(%[[THERE]]){{.*}} -> tensor<6x5xf32>
// CHECK-DAG: "tpu.MatMul"(%[[ONES]], %{{.*}}) {{.*}} -> tensor<6x70xf32>
// CHECK-NOT: {{"tpu.(Arg|Gather)"}}
// CHECK: return
module attributes {module.name = "net", module.chip = "bm1684", module.state = "TPU_LOWERED", module.weight_file = "net.npz"} {
  func.func @main(%arg0: tensor<2x66x5x7xf32>, %arg1: tensor<2x66x5x1xf32>, %arg2: tensor<2x3xi32>, %arg3: tensor<6x66x3x5xi32>, %arg4: tensor<6x1x3x5xui8>) -> (tensor<2x66x5x7xf32>, tensor<2x66x5x7xf32>, tensor<2x66x7xf32>, tensor<2x3x70xf32>, tensor<6x66x3x5xf32>, tensor<6x66x3x5xf32>) {
    %x = "top.Input"(%arg0) : (tensor<2x66x5x7xf32>) -> tensor<2x66x5x7xf32> loc("x")
    %y = "top.Input"(%arg1) : (tensor<2x66x5x1xf32>) -> tensor<2x66x5x1xf32> loc("y")
    %i = "top.Input"(%arg2) : (tensor<2x3xi32>) -> tensor<2x3xi32> loc("i")
    %k = "top.Input"(%arg3) : (tensor<6x66x3x5xi32>) -> tensor<6x66x3x5xi32> loc("k")
    %b = "top.Input"(%arg4) : (tensor<6x1x3x5xui8>) -> tensor<6x1x3x5xui8> loc("b")
    %table = "top.Weight"() : () -> tensor<5x70xf32> loc("table")
    %above = "tpu.Compare"(%x, %y) {mode = "Greater"} : (tensor<2x66x5x7xf32>, tensor<2x66x5x1xf32>) -> tensor<2x66x5x7xi1> loc("above")
    %0 = "tpu.Where"(%above, %x, %y) : (tensor<2x66x5x7xi1>, tensor<2x66x5x7xf32>, tensor<2x66x5x1xf32>) -> tensor<2x66x5x7xf32> loc("larger")
    %even = "tpu.CompareConst"(%x) {const_val = 2.0 : f64, mode = "NotEqual"} : (tensor<2x66x5x7xf32>) -> tensor<2x66x5x7xi1> loc("not_two")
    %not = "tpu.LogicalNot"(%above) : (tensor<2x66x5x7xi1>) -> tensor<2x66x5x7xi1> loc("below")
    %both = "tpu.LogicalBinary"(%even, %not) {mode = "And"} : (tensor<2x66x5x7xi1>, tensor<2x66x5x7xi1>) -> tensor<2x66x5x7xi1> loc("both")
    %1 = "tpu.DtypeCast"(%both) {to = f32} : (tensor<2x66x5x7xi1>) -> tensor<2x66x5x7xf32> loc("truth")
    %p, %v = "tpu.Arg"(%x) {axis = 2 : i64, keepdims = false, mode = "ArgMax"} : (tensor<2x66x5x7xf32>) -> (tensor<2x66x7xi64>, none) loc(fused["place", "value"])
    %2 = "tpu.DtypeCast"(%p) {to = f32} : (tensor<2x66x7xi64>) -> tensor<2x66x7xf32> loc("place_number")
    %3 = "tpu.Gather"(%table, %i) {axis = 0 : i64} : (tensor<5x70xf32>, tensor<2x3xi32>) -> tensor<2x3x70xf32> loc("rows")
    %number = "tpu.DtypeCast"(%k) {to = f32} : (tensor<6x66x3x5xi32>) -> tensor<6x66x3x5xf32> loc("number")
    %bytes = "tpu.DtypeCast"(%b) {to = f32} : (tensor<6x1x3x5xui8>) -> tensor<6x1x3x5xf32> loc("bytes")
    %is = "tpu.CompareConst"(%k) {const_val = -1.0 : f64, mode = "LessOrEqual"} : (tensor<6x66x3x5xi32>) -> tensor<6x66x3x5xi1> loc("is")
    %4 = "tpu.Where"(%is, %number, %bytes) : (tensor<6x66x3x5xi1>, tensor<6x66x3x5xf32>, tensor<6x1x3x5xf32>) -> tensor<6x66x3x5xf32> loc("by_integers")
    %set = "tpu.DtypeCast"(%b) {to = i1} : (tensor<6x1x3x5xui8>) -> tensor<6x1x3x5xi1> loc("set")
    %5 = "tpu.Where"(%set, %number, %bytes) : (tensor<6x1x3x5xi1>, tensor<6x66x3x5xf32>, tensor<6x1x3x5xf32>) -> tensor<6x66x3x5xf32> loc("by_bytes")
    return %0, %1, %2, %3, %4, %5 : tensor<2x66x5x7xf32>, tensor<2x66x5x7xf32>, tensor<2x66x7xf32>, tensor<2x3x70xf32>, tensor<6x66x3x5xf32>, tensor<6x66x3x5xf32>
  }
}

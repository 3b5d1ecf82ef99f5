// The groups as a file: figure 5 of the paper, where n and h are cut in two. 20 rows of the sum need 20
// of the second convolution, 21 of the first and 22 of the input. Filters and biases are short rows.
// RUN: rm -rf %t.dir && mkdir -p %t.dir
// DEFINE: %{opt} = tpuc-opt %s --shape-infer --chip-assign=chip=%chip --convert-top-to-tpu=mode=F32 --weight-reorder --subnet-divide --mlir-print-debuginfo --mlir-print-local-scope
// RUN: echo '{"groups": [{"layers": ["first", "second", "sum"], "n": 2, "h": 2}]}' > %t.dir/groups.json
// RUN: %{opt} "--layer-group=load-groups=%t.dir/groups.json save-groups=%t.dir/saved.json" --address-assign --mlir-print-debuginfo --mlir-print-local-scope -o %t.dir/final.mlir
// RUN: FileCheck %s < %t.dir/final.mlir
// CHECK: "tpu.Group"
// CHECK-DAG: "tpu.Load"({{.*}}h_idx = [0, 18], h_slice = [22, 22]{{.*}}n_idx = [0, 1], n_slice = [1, 1]{{.*}}stage = 0{{.*}}tensor<2x32x40x2xf32
// CHECK-DAG: "tpu.Load"({{.*}}loc("e_packed")
// CHECK: "tpu.Conv"({{.*}}h_idx = [0, 19], h_slice = [21, 21]{{.*}}stage = 1 : i64, step = 0{{.*}}loc("first")
// CHECK-NEXT: "tpu.Conv"({{.*}}h_idx = [0, 20], h_slice = [20, 20]{{.*}}stage = 1 : i64, step = 1{{.*}}loc("second")
// CHECK-NEXT: "tpu.Add"({{.*}}h_idx = [0, 20], h_slice = [20, 20]{{.*}}stage = 1 : i64, step = 2{{.*}}loc("sum")
// CHECK-NEXT: "tpu.Store"({{.*}}h_idx = [0, 20], h_slice = [20, 20]{{.*}}stage = 2 : i64, step = 3

// What is saved is what was asked for, and gives the same again.
// RUN: FileCheck %s --check-prefix=SAVED < %t.dir/saved.json
// SAVED: "groups": [
// SAVED: "h": 2,
// SAVED-NEXT: "layers": [
// SAVED-NEXT: "first",
// SAVED-NEXT: "second",
// SAVED-NEXT: "sum"
// SAVED: "n": 2
// RUN: %{opt} --layer-group=load-groups=%t.dir/saved.json --address-assign --mlir-print-debuginfo --mlir-print-local-scope -o %t.dir/again.mlir
// RUN: cmp %t.dir/final.mlir %t.dir/again.mlir

// Files that ask for what cannot be.
// RUN: not %{opt} --layer-group=load-groups=%t.dir/none.json 2>&1 | FileCheck %s --check-prefix=MISSING
// MISSING: none.json: No such file or directory
// RUN: echo '{"groups": [' > %t.dir/bad.json
// RUN: not %{opt} --layer-group=load-groups=%t.dir/bad.json 2>&1 | FileCheck %s --check-prefix=JSON
// JSON: bad.json: is no JSON: {{.*}}; expected what save-groups writes
// RUN: echo '[1]' > %t.dir/bad.json
// RUN: not %{opt} --layer-group=load-groups=%t.dir/bad.json 2>&1 | FileCheck %s --check-prefix=ROOT
// ROOT: bad.json: has no groups; expected what save-groups writes
// RUN: echo '{"groups": [{"layers": ["first", "third"]}]}' > %t.dir/bad.json
// RUN: not %{opt} --layer-group=load-groups=%t.dir/bad.json 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: bad.json: group 0: there is no layer 'third'; expected a layer that computes in local memory
// RUN: echo '{"groups": [{"layers": ["first", "second"]}]}' > %t.dir/bad.json
// RUN: not %{opt} --layer-group=load-groups=%t.dir/bad.json 2>&1 | FileCheck %s --check-prefix=FORGOTTEN
// FORGOTTEN: bad.json: layer 'sum' is in no group; expected every layer in one
// RUN: echo '{"groups": [{"layers": ["first"]}, {"layers": ["first"]}]}' > %t.dir/bad.json
// RUN: not %{opt} --layer-group=load-groups=%t.dir/bad.json 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: bad.json: group 1: layer 'first' is in two groups; expected one
// RUN: echo '{"groups": [{"layers": ["second", "first"]}]}' > %t.dir/bad.json
// RUN: not %{opt} --layer-group=load-groups=%t.dir/bad.json 2>&1 | FileCheck %s --check-prefix=LATE
// LATE: bad.json: group 0: layer 'first' comes too late; expected layers in the order in which they are computed
// RUN: echo '{"groups": [{"layers": ["first", "sum"]}]}' > %t.dir/bad.json
// RUN: not %{opt} --layer-group=load-groups=%t.dir/bad.json 2>&1 | FileCheck %s --check-prefix=BETWEEN
// BETWEEN: bad.json: group 0: something between its layers reads one of them and is none of them
// RUN: echo '{"groups": [{"layers": ["first", "second", "sum"], "h": 0}]}' > %t.dir/bad.json
// RUN: not %{opt} --layer-group=load-groups=%t.dir/bad.json 2>&1 | FileCheck %s --check-prefix=PARTS
// PARTS: bad.json: group 0: h is no number of parts; expected at least 1
// Eight slices of 5 rows: 8 times 9 rows of the input, or less at the edges, are 28 more than there are.
// RUN: echo '{"groups": [{"layers": ["first", "second", "sum"], "h": 8}]}' > %t.dir/bad.json
// RUN: not %{opt} --layer-group=load-groups=%t.dir/bad.json 2>&1 | FileCheck %s --check-prefix=OVERLAP
// OVERLAP: bad.json: group 0: layer 'first': its slices along h repeat 28 of 40 elements
module attributes {module.name = "net"} {
  func.func @main(%arg0: tensor<2x32x40x2xf32>) -> tensor<2x32x40x2xf32> {
    %none = "top.None"() : () -> none
    %x = "top.Input"(%arg0) : (tensor<2x32x40x2xf32>) -> tensor<2x32x40x2xf32> loc("x")
    %w = "top.ConstantFill"(%none) {shape = [32, 1, 3, 3], value = 0.03125 : f32} : (none) -> tensor<32x1x3x3xf32> loc("w")
    %e = "top.ConstantFill"(%none) {shape = [32], value = 0.25 : f32} : (none) -> tensor<32xf32> loc("e")
    %0 = "top.Conv"(%x, %w, %e) {kernel_shape = [3, 3], pads = [1, 1, 1, 1], group = 32 : i64} : (tensor<2x32x40x2xf32>, tensor<32x1x3x3xf32>, tensor<32xf32>) -> tensor<2x32x40x2xf32> loc("first")
    %1 = "top.Conv"(%0, %w, %e) {kernel_shape = [3, 3], pads = [1, 1, 1, 1], group = 32 : i64} : (tensor<2x32x40x2xf32>, tensor<32x1x3x3xf32>, tensor<32xf32>) -> tensor<2x32x40x2xf32> loc("second")
    %2 = "top.Add"(%0, %1) : (tensor<2x32x40x2xf32>, tensor<2x32x40x2xf32>) -> tensor<2x32x40x2xf32> loc("sum")
    return %2 : tensor<2x32x40x2xf32>
  }
}

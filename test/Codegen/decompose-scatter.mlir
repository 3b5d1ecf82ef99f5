// Scatters by constants are put together around what is written, where that is a box, or gathered
// from the rows of both tensors. Indices that are computed are left to the host. What is overwritten
// as a whole is a copy: what is written keeps its name.
// RUN: rm -rf %t.dir && mkdir -p %t.dir
// RUN: tpuc-opt %s --shape-infer --chip-assign=chip=%chip --convert-top-to-tpu=mode=F32 --decompose -o %t.dir/parts.mlir --mlir-print-debuginfo --mlir-print-local-scope
// RUN: FileCheck %s --input-file %t.dir/parts.mlir
// RUN: tpuc-opt %t.dir/parts.mlir --subnet-divide | FileCheck %s --check-prefix=CHIP

// CHECK: %[[T:.*]] = "tpu.Slice"{{.*}}ends = [3], offset = [2]{{.*}} -> tensor<1x3xf32> loc("box_there0")
// CHECK: %[[R:.*]] = "tpu.Add"(%[[T]], %{{.*}} -> tensor<1x3xf32>
// CHECK: %[[B:.*]] = "tpu.Slice"{{.*}}ends = [2], offset = [0]{{.*}} -> tensor<2x3xf32>
// CHECK: %[[E:.*]] = "tpu.Slice"{{.*}}ends = [4], offset = [3]{{.*}} -> tensor<1x3xf32>
// CHECK: "tpu.Concat"(%[[B]], %[[R]], %[[E]]) {axis = 0 : i64{{.*}} -> tensor<4x3xf32> loc("box")

// CHECK-DAG: %[[BOTH:.*]] = "tpu.Concat"{{.*}} -> tensor<6x3xf32> loc("rows_both")
// CHECK-DAG: %[[I:.*]] = "top.Weight"() : () -> tensor<4xui32> loc("rows_gathered_numbers")
// CHECK: "tpu.Gather"(%[[BOTH]], %[[I]]) {axis = 0 : i64{{.*}} loc("rows")

// CHECK: "tpu.ScatterND"{{.*}} loc("computed")
// CHECK: "top.Input"{{.*}} loc("all_new")
// CHECK: "tpu.Copy"{{.*}} loc("overwritten")
// CHECK-NOT: tpu.Scatter
// CHIP: "tpu.ScatterND"{{.*}}subnet_mode = "CPU"
module attributes {module.name = "net"} {
  func.func @main(%arg0: tensor<4x3xf32>, %arg1: tensor<1x3xf32>, %arg2: tensor<2x3xf32>, %arg3: tensor<2x1xi64>, %arg4: tensor<1x3xf32>) -> (tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x3xf32>, tensor<1x3xf32>) {
    %none = "top.None"() : () -> none
    %x = "top.Input"(%arg0) : (tensor<4x3xf32>) -> tensor<4x3xf32> loc("x")
    %u = "top.Input"(%arg1) : (tensor<1x3xf32>) -> tensor<1x3xf32> loc("u")
    %v = "top.Input"(%arg2) : (tensor<2x3xf32>) -> tensor<2x3xf32> loc("v")
    %j = "top.Input"(%arg3) : (tensor<2x1xi64>) -> tensor<2x1xi64> loc("j")
    %i = "top.ConstantFill"(%none) {shape = [1, 1], value = -2 : i64} : (none) -> tensor<1x1xi64> loc("i")
    %k = "top.ConstantFill"(%none) {shape = [2, 1], value = 1 : i64} : (none) -> tensor<2x1xi64> loc("k")
    %0 = "top.ScatterND"(%x, %i, %u) {reduction = "add"} : (tensor<4x3xf32>, tensor<1x1xi64>, tensor<1x3xf32>) -> tensor<4x3xf32> loc("box")
    %1 = "top.ScatterND"(%x, %k, %v) : (tensor<4x3xf32>, tensor<2x1xi64>, tensor<2x3xf32>) -> tensor<4x3xf32> loc("rows")
    %2 = "top.ScatterND"(%x, %j, %v) : (tensor<4x3xf32>, tensor<2x1xi64>, tensor<2x3xf32>) -> tensor<4x3xf32> loc("computed")
    %w = "top.Input"(%arg4) : (tensor<1x3xf32>) -> tensor<1x3xf32> loc("all_new")
    %front = "top.ConstantFill"(%none) {shape = [1, 1], value = 0 : i64} : (none) -> tensor<1x1xi64> loc("front")
    %3 = "top.ScatterND"(%u, %front, %w) : (tensor<1x3xf32>, tensor<1x1xi64>, tensor<1x3xf32>) -> tensor<1x3xf32> loc("overwritten")
    return %0, %1, %2, %3 : tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x3xf32>, tensor<1x3xf32>
  }
}

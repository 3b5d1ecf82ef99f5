// Indices that may count from the end are counted from the front, as ui32; those of 64 bits come in as
// 32, and others keep all bits where they are: the chip does all of it.
// RUN: rm -rf %t.dir && mkdir -p %t.dir
// RUN: tpuc-opt %s --decompose -o %t.dir/decomposed.mlir --mlir-print-debuginfo --mlir-print-local-scope
// RUN: FileCheck %s --input-file %t.dir/decomposed.mlir
// RUN: tpuc-opt %t.dir/decomposed.mlir --subnet-divide | FileCheck %s --check-prefix=CHIP
// CHIP-NOT: subnet_reason

// CHECK: %[[NARROW:.*]] = "top.Input"{{.*}} -> tensor<2x3xi32> loc("i")
// CHECK: %[[F:.*]] = "tpu.DtypeCast"(%[[NARROW]]){{.*}} -> tensor<2x3xf32>
// CHECK: %[[END:.*]] = "tpu.AddConst"(%[[F]]) {const_val = 5.0
// CHECK: %[[BELOW:.*]] = "tpu.CompareConst"(%[[F]]) {const_val = 0.0{{.*}}mode = "Less"
// CHECK: %[[FRONT:.*]] = "tpu.Where"(%[[BELOW]], %[[END]], %[[F]])
// CHECK: %[[WHOLE:.*]] = "tpu.DtypeCast"(%[[FRONT]]){{.*}} -> tensor<2x3xi32>
// CHECK: %[[U:.*]] = "tpu.DtypeCast"(%[[WHOLE]]){{.*}} -> tensor<2x3xui32>
// CHECK: "tpu.Gather"(%{{.*}}, %[[U]]) {axis = 0 : i64} {{.*}} loc("g")
// CHECK: "tpu.AddConst"{{.*}}const_val = 3.0
// CHECK: "tpu.Gather"{{.*}} (tensor<5x3xf32>, tensor<ui32>) -> tensor<5xf32> loc("h")
module attributes {module.name = "net", module.chip = "bm1684x", module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: tensor<5x3xf32>, %arg1: tensor<2x3xi64>, %arg2: tensor<i32>) -> (tensor<2x3x3xf32>, tensor<5xf32>) {
    %x = "top.Input"(%arg0) : (tensor<5x3xf32>) -> tensor<5x3xf32> loc("x")
    %i = "top.Input"(%arg1) : (tensor<2x3xi64>) -> tensor<2x3xi64> loc("i")
    %j = "top.Input"(%arg2) : (tensor<i32>) -> tensor<i32> loc("j")
    %0 = "tpu.Gather"(%x, %i) {axis = 0 : i64} : (tensor<5x3xf32>, tensor<2x3xi64>) -> tensor<2x3x3xf32> loc("g")
    %1 = "tpu.Gather"(%x, %j) {axis = 1 : i64} : (tensor<5x3xf32>, tensor<i32>) -> tensor<5xf32> loc("h")
    return %0, %1 : tensor<2x3x3xf32>, tensor<5xf32>
  }
}

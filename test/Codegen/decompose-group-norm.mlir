// Where a matrix over channels costs less than the elements, groups are put together from channels:
// elements keep their places, and all is local. Else groups become rows.
// UNSUPPORTED: chip-bm1684
// RUN: tpuc-opt %s --shape-infer --chip-assign=chip=%chip --convert-top-to-tpu=mode=F16 --decompose -o %t --mlir-print-debuginfo --mlir-print-local-scope
// RUN: FileCheck %s --input-file %t
// RUN: tpuc-opt %t --subnet-divide | FileCheck %s --check-prefix=CHIP
// CHIP-NOT: subnet_reason

// CHECK: "tpu.Reduce"{{.*}}mode = "ReduceMean"{{.*}} -> tensor<1x8x1x1xf32> loc("wide_f16_mean")
// CHECK: "tpu.Reduce"{{.*}}mode = "ReduceMean"{{.*}} -> tensor<1x8x1x1xf32> loc("wide_f16_variance")
// CHECK: "tpu.Conv"{{.*}} -> tensor<1x8x1x1xf32> loc("wide_f16_group_mean")
// CHECK: "tpu.Conv"{{.*}} -> tensor<1x8x1x1xf32> loc("wide_f16_group_variance")
// CHECK: "tpu.Rsqrt"{{.*}} -> tensor<1x8x1x1xf32>
// CHECK-NOT: "wide_f16_norms"
// CHECK: "tpu.LayerNorm"{{.*}} -> (tensor<4x8xf32>{{.*}} loc("narrow_f16_norms")
module attributes {module.name = "net"} {
  func.func @main(%arg0: tensor<1x8x16x16xf32>, %arg1: tensor<1x8x2x2xf32>) -> (tensor<1x8x16x16xf32>, tensor<1x8x2x2xf32>) {
    %none = "top.None"() : () -> none
    %x = "top.Input"(%arg0) : (tensor<1x8x16x16xf32>) -> tensor<1x8x16x16xf32> loc("x")
    %y = "top.Input"(%arg1) : (tensor<1x8x2x2xf32>) -> tensor<1x8x2x2xf32> loc("y")
    %w = "top.GroupNorm"(%x, %none, %none) {num_groups = 4 : i64} : (tensor<1x8x16x16xf32>, none, none) -> tensor<1x8x16x16xf32> loc("wide")
    %n = "top.GroupNorm"(%y, %none, %none) {num_groups = 4 : i64} : (tensor<1x8x2x2xf32>, none, none) -> tensor<1x8x2x2xf32> loc("narrow")
    return %w, %n : tensor<1x8x16x16xf32>, tensor<1x8x2x2xf32>
  }
}

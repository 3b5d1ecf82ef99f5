// One group of all channels has one mean, of the means of channels. So it is where a row of all
// elements is too long for a lane, as long as local memory holds them: nothing is stored meanwhile.
// DEFINE: %{lower} = tpuc-opt %s --shape-infer --chip-assign=chip=bm1684x --convert-top-to-tpu=mode=F16 --decompose --mlir-print-debuginfo --mlir-print-local-scope
// RUN: %{lower} | FileCheck %s
// RUN: %{lower} --subnet-divide --weight-reorder --layer-group | FileCheck %s --check-prefix=GROUPED

// CHECK: "tpu.Reduce"{{.*}}mode = "ReduceMean"{{.*}} -> tensor<1x64x1x1xf32> loc("whole_f16_mean")
// CHECK: %[[M:.*]] = "tpu.Conv"{{.*}} -> tensor<1x1x1x1xf32> loc("whole_f16_group_mean")
// CHECK: "tpu.Sub"(%{{.*}}, %[[M]]) {{.*}} -> tensor<1x64x1x1xf32> loc("whole_f16_apart")
// CHECK: %[[R:.*]] = "tpu.Rsqrt"{{.*}} -> tensor<1x1x1x1xf32>
// CHECK: %[[F:.*]] = "tpu.Conv"(%[[R]], %{{.*}} -> tensor<1x64x1x1xf32> loc("whole_f16_factor")
// CHECK: "tpu.Mul"(%{{.*}}, %[[F]]) {{.*}} -> tensor<1x64x10x10xf32> loc("whole_f16_scaled")
// CHECK-NOT: loc("long_f16_sum0")
// CHECK: "tpu.Conv"{{.*}} -> tensor<1x1x1x1xf32> loc("long_f16_group_mean")
// Too few elements, and too many of them.
// CHECK: "tpu.LayerNorm"{{.*}} loc("short_f16_norms")
// CHECK: loc("large_f16_sum0")

// GROUPED: "tpu.Reduce"{{.*}} loc("long_f16_mean")
// GROUPED-NOT: "tpu.Yield"
// GROUPED: "tpu.Mul"{{.*}} loc("long_f16_scaled")
module attributes {module.name = "net"} {
  func.func @main(%arg0: tensor<1x64x10x10xf32>, %arg1: tensor<1x64x40x40xf32>, %arg2: tensor<1x64x4x4xf32>, %arg3: tensor<1x64x300x300xf32>) -> (tensor<1x64x10x10xf32>, tensor<1x64x40x40xf32>, tensor<1x64x4x4xf32>, tensor<1x64x300x300xf32>) {
    %none = "top.None"() : () -> none
    %c = "top.Input"(%arg0) : (tensor<1x64x10x10xf32>) -> tensor<1x64x10x10xf32> loc("c")
    %d = "top.Input"(%arg1) : (tensor<1x64x40x40xf32>) -> tensor<1x64x40x40xf32> loc("d")
    %e = "top.Input"(%arg2) : (tensor<1x64x4x4xf32>) -> tensor<1x64x4x4xf32> loc("e")
    %f = "top.Input"(%arg3) : (tensor<1x64x300x300xf32>) -> tensor<1x64x300x300xf32> loc("f")
    %s = "top.ConstantFill"(%none) {shape = [64], value = 0.5 : f32} : (none) -> tensor<64xf32> loc("s")
    %one = "top.GroupNorm"(%c, %s, %s) {num_groups = 1 : i64} : (tensor<1x64x10x10xf32>, tensor<64xf32>, tensor<64xf32>) -> tensor<1x64x10x10xf32> loc("whole")
    %long = "top.GroupNorm"(%d, %s, %none) {num_groups = 1 : i64} : (tensor<1x64x40x40xf32>, tensor<64xf32>, none) -> tensor<1x64x40x40xf32> loc("long")
    %short = "top.GroupNorm"(%e, %s, %s) {num_groups = 1 : i64} : (tensor<1x64x4x4xf32>, tensor<64xf32>, tensor<64xf32>) -> tensor<1x64x4x4xf32> loc("short")
    %large = "top.GroupNorm"(%f, %s, %s) {num_groups = 1 : i64} : (tensor<1x64x300x300xf32>, tensor<64xf32>, tensor<64xf32>) -> tensor<1x64x300x300xf32> loc("large")
    return %one, %long, %short, %large : tensor<1x64x10x10xf32>, tensor<1x64x40x40xf32>, tensor<1x64x4x4xf32>, tensor<1x64x300x300xf32>
  }
}

// Heads may be put back into the rows of all samples.
// RUN: tpuc-opt %s --shape-infer --fold-head-reshapes --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s
// RUN: rm -rf %t.dir && mkdir -p %t.dir
// RUN: tpuc-opt %s --shape-infer --fold-head-reshapes --mlir-print-debuginfo --mlir-print-local-scope -o %t.dir/rows.mlir
// RUN: %python %tpuc_src/test/Codegen/Inputs/ramp.py %t.dir/in.npz x=2,5,32
// RUN: model_runner --model %s --input %t.dir/in.npz --output %t.dir/heads.npz
// RUN: model_runner --model %t.dir/rows.mlir --input %t.dir/in.npz --output %t.dir/rows.npz
// RUN: npz_tool compare %t.dir/rows.npz %t.dir/heads.npz --tolerance 0.999999,0.9999

// CHECK: %[[X:.*]] = "top.Input"{{.*}} loc("x")
// CHECK-NOT: tpu.Permute
// CHECK: %[[A:[a-z]+]], %{{.*}} = "tpu.ScaleDotProductAttention"(%[[X]], %[[X]], %[[X]], {{.*}}kv_num_heads = 2 : i64{{.*}}q_num_heads = 2 : i64{{.*}} -> (tensor<2x5x32xf16>, none, none, none) loc("attended_rows")
// CHECK: "tpu.Reshape"(%[[A]], {{.*}} -> tensor<10x32xf16> loc("joined")
module attributes {module.name = "net", module.chip = "bm1684x", module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: tensor<2x5x32xf16>) -> tensor<10x32xf16> {
    %none = "top.None"() : () -> none
    %x = "top.Input"(%arg0) : (tensor<2x5x32xf16>) -> tensor<2x5x32xf16> loc("x")
    %s = "tpu.Reshape"(%x, %none) {shape = [2, 5, 2, 16]} : (tensor<2x5x32xf16>, none) -> tensor<2x5x2x16xf16> loc("split")
    %h = "tpu.Permute"(%s) {order = [0, 2, 1, 3]} : (tensor<2x5x2x16xf16>) -> tensor<2x2x5x16xf16> loc("heads")
    %0:4 = "tpu.ScaleDotProductAttention"(%h, %h, %h, %none, %none, %none, %none) : (tensor<2x2x5x16xf16>, tensor<2x2x5x16xf16>, tensor<2x2x5x16xf16>, none, none, none, none) -> (tensor<2x2x5x16xf16>, none, none, none) loc("attended")
    %1 = "tpu.Permute"(%0#0) {order = [0, 2, 1, 3]} : (tensor<2x2x5x16xf16>) -> tensor<2x5x2x16xf16> loc("turned")
    %2 = "tpu.Reshape"(%1, %none) {shape = [10, 32]} : (tensor<2x5x2x16xf16>, none) -> tensor<10x32xf16> loc("joined")
    return %2 : tensor<10x32xf16>
  }
}

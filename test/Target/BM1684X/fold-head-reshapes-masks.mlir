// What hides keys becomes numbers in front of the attention on rows that adds them, once for all
// attentions of one mask.
// RUN: tpuc-opt %s --shape-infer --fold-head-reshapes --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s
// RUN: rm -rf %t.dir && mkdir -p %t.dir
// RUN: tpuc-opt %s --shape-infer --fold-head-reshapes --mlir-print-debuginfo --mlir-print-local-scope -o %t.dir/rows.mlir
// RUN: %python %tpuc_src/test/Codegen/Inputs/ramp.py %t.dir/in.npz x=1,5,32 m=1,1,5,5
// RUN: model_runner --model %s --input %t.dir/in.npz --output %t.dir/heads.npz
// RUN: model_runner --model %t.dir/rows.mlir --input %t.dir/in.npz --output %t.dir/rows.npz
// RUN: npz_tool compare %t.dir/rows.npz %t.dir/heads.npz --tolerance 0.999999,0.9999

// CHECK-LABEL: func.func @main
// CHECK: %[[X:.*]] = "top.Input"{{.*}} loc("x")
// CHECK: %[[M:.*]] = "tpu.Cast"{{.*}} loc("m_bf16")
// CHECK-NOT: "tpu.Permute"
// CHECK: %[[W:.*]] = "tpu.DtypeCast"(%[[M]]){{.*}} -> tensor<1x1x5x5xf16>
// CHECK-NOT: "tpu.DtypeCast"
// CHECK: %[[A:[a-z_0-9]+]], %{{.*}} = "tpu.ScaleDotProductAttention"(%[[X]], %[[X]], %[[X]], %[[W]], {{.*}}q_num_heads = 2 : i64{{.*}} loc("joined")
// CHECK: "tpu.ScaleDotProductAttention"(%[[A]], %[[A]], %[[A]], %[[W]], {{.*}}q_num_heads = 2 : i64{{.*}} loc("joined_again")
module attributes {module.name = "net", module.chip = "bm1684x", module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: tensor<1x5x32xf16>, %arg1: tensor<1x1x5x5xf32>) -> tensor<1x5x32xf16> {
    %none = "top.None"() : () -> none
    %x = "top.Input"(%arg0) : (tensor<1x5x32xf16>) -> tensor<1x5x32xf16> loc("x")
    %n = "top.Input"(%arg1) : (tensor<1x1x5x5xf32>) -> tensor<1x1x5x5xf32> loc("m")
    %m = "tpu.Cast"(%n) : (tensor<1x1x5x5xf32>) -> tensor<1x1x5x5xbf16> loc("m_bf16")
    %s = "tpu.Reshape"(%x, %none) {shape = [1, 5, 2, 16]} : (tensor<1x5x32xf16>, none) -> tensor<1x5x2x16xf16> loc("split")
    %h = "tpu.Permute"(%s) {order = [0, 2, 1, 3]} : (tensor<1x5x2x16xf16>) -> tensor<1x2x5x16xf16> loc("heads")
    %0:4 = "tpu.ScaleDotProductAttention"(%h, %h, %h, %m, %none, %none, %none) : (tensor<1x2x5x16xf16>, tensor<1x2x5x16xf16>, tensor<1x2x5x16xf16>, tensor<1x1x5x5xbf16>, none, none, none) -> (tensor<1x2x5x16xf16>, none, none, none) loc("attended")
    %1 = "tpu.Permute"(%0#0) {order = [0, 2, 1, 3]} : (tensor<1x2x5x16xf16>) -> tensor<1x5x2x16xf16> loc("turned")
    %2 = "tpu.Reshape"(%1, %none) {shape = [1, 5, 32]} : (tensor<1x5x2x16xf16>, none) -> tensor<1x5x32xf16> loc("joined")
    %3 = "tpu.Reshape"(%2, %none) {shape = [1, 5, 2, 16]} : (tensor<1x5x32xf16>, none) -> tensor<1x5x2x16xf16> loc("split_again")
    %4 = "tpu.Permute"(%3) {order = [0, 2, 1, 3]} : (tensor<1x5x2x16xf16>) -> tensor<1x2x5x16xf16> loc("heads_again")
    %5:4 = "tpu.ScaleDotProductAttention"(%4, %4, %4, %m, %none, %none, %none) : (tensor<1x2x5x16xf16>, tensor<1x2x5x16xf16>, tensor<1x2x5x16xf16>, tensor<1x1x5x5xbf16>, none, none, none) -> (tensor<1x2x5x16xf16>, none, none, none) loc("attended_again")
    %6 = "tpu.Permute"(%5#0) {order = [0, 2, 1, 3]} : (tensor<1x2x5x16xf16>) -> tensor<1x5x2x16xf16> loc("turned_again")
    %7 = "tpu.Reshape"(%6, %none) {shape = [1, 5, 32]} : (tensor<1x5x2x16xf16>, none) -> tensor<1x5x32xf16> loc("joined_again")
    return %7 : tensor<1x5x32xf16>
  }
}

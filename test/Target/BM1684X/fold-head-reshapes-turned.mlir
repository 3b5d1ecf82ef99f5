// Rows of one sample may stand in front of it, as [T, 1, W] or [T, W]: the products that make and
// read them take [1, T, W], and the reshapes between go away.
// RUN: tpuc-opt %s --shape-infer --fold-head-reshapes --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s
// RUN: rm -rf %t.dir && mkdir -p %t.dir
// RUN: tpuc-opt %s --shape-infer --fold-head-reshapes --subnet-divide --weight-reorder --layer-group --address-assign --codegen=model=%t.dir/rows.bmodel -o %t.dir/rows.mlir
// RUN: %python %tpuc_src/test/Codegen/Inputs/ramp.py %t.dir/in.npz x=1,5,32 m=7,1,32
// RUN: model_runner --model %s --input %t.dir/in.npz --output %t.dir/heads.npz
// RUN: model_runner --model %t.dir/rows.bmodel --input %t.dir/in.npz --output %t.dir/rows.npz
// RUN: npz_tool compare %t.dir/rows.npz %t.dir/heads.npz --tolerance 0.999999,0.9999

// CHECK-DAG: %[[X:.*]] = "top.Input"{{.*}} loc("x")
// CHECK-DAG: %[[M:.*]] = "top.Input"{{.*}} loc("m")
// CHECK-DAG: %[[S:.*]] = "tpu.Reshape"(%[[M]], {{.*}} -> tensor<1x7x32xf32> loc("m_sample")
// CHECK-NOT: tpu.Permute
// CHECK: %[[Q:.*]] = "tpu.MatMul"(%[[X]], {{.*}} -> tensor<1x5x32xf32> loc("q_sample")
// CHECK: %[[KV:.*]] = "tpu.MatMul"(%[[S]], {{.*}} -> tensor<1x7x64xf32> loc("kv_sample")
// CHECK-DAG: %[[K:.*]] = "tpu.Slice"(%[[KV]], {{.*}}ends = [32], offset = [0]
// CHECK-DAG: %[[V:.*]] = "tpu.Slice"(%[[KV]], {{.*}}ends = [64], offset = [32]
// CHECK: %[[A:[a-z]+]], %{{.*}} = "tpu.ScaleDotProductAttention"(%[[Q]], %[[K]], %[[V]], {{.*}} -> (tensor<1x5x32xf32>, none, none, none)
// CHECK-NOT: tpu.Reshape
// CHECK: %[[O:.*]] = "tpu.MatMul"(%[[A]], {{.*}} -> tensor<1x5x32xf32> loc("o_sample")
// CHECK: "tpu.Add"(%[[X]], %[[O]])
module attributes {module.name = "net", module.chip = "bm1684x", module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: tensor<1x5x32xf32>, %arg1: tensor<7x1x32xf32>) -> tensor<1x5x32xf32> {
    %none = "top.None"() : () -> none
    %x = "top.Input"(%arg0) : (tensor<1x5x32xf32>) -> tensor<1x5x32xf32> loc("x")
    %m = "top.Input"(%arg1) : (tensor<7x1x32xf32>) -> tensor<7x1x32xf32> loc("m")
    %wq = "top.ConstantFill"(%none) {shape = [32, 32], value = 0.0625 : f32} : (none) -> tensor<32x32xf32> loc("wq")
    %wkv = "top.ConstantFill"(%none) {shape = [32, 64], value = 0.03125 : f32} : (none) -> tensor<32x64xf32> loc("wkv")
    %wo = "top.ConstantFill"(%none) {shape = [32, 32], value = 0.0625 : f32} : (none) -> tensor<32x32xf32> loc("wo")
    %t = "tpu.Reshape"(%x, %none) {shape = [5, 1, 32]} : (tensor<1x5x32xf32>, none) -> tensor<5x1x32xf32> loc("t")
    %q = "tpu.MatMul"(%t, %wq, %none) : (tensor<5x1x32xf32>, tensor<32x32xf32>, none) -> tensor<5x1x32xf32> loc("q")
    %kv = "tpu.MatMul"(%m, %wkv, %none) : (tensor<7x1x32xf32>, tensor<32x64xf32>, none) -> tensor<7x1x64xf32> loc("kv")
    %k = "tpu.Slice"(%kv, %none, %none, %none, %none) {axes = [-1], ends = [32], offset = [0]} : (tensor<7x1x64xf32>, none, none, none, none) -> tensor<7x1x32xf32> loc("k")
    %v = "tpu.Slice"(%kv, %none, %none, %none, %none) {axes = [2], ends = [64], offset = [32]} : (tensor<7x1x64xf32>, none, none, none, none) -> tensor<7x1x32xf32> loc("v")
    %qs = "tpu.Reshape"(%q, %none) {shape = [1, 5, 2, 16]} : (tensor<5x1x32xf32>, none) -> tensor<1x5x2x16xf32> loc("qs")
    %ks = "tpu.Reshape"(%k, %none) {shape = [1, 7, 2, 16]} : (tensor<7x1x32xf32>, none) -> tensor<1x7x2x16xf32> loc("ks")
    %vs = "tpu.Reshape"(%v, %none) {shape = [1, 7, 2, 16]} : (tensor<7x1x32xf32>, none) -> tensor<1x7x2x16xf32> loc("vs")
    %qh = "tpu.Permute"(%qs) {order = [0, 2, 1, 3]} : (tensor<1x5x2x16xf32>) -> tensor<1x2x5x16xf32> loc("qh")
    %kh = "tpu.Permute"(%ks) {order = [0, 2, 1, 3]} : (tensor<1x7x2x16xf32>) -> tensor<1x2x7x16xf32> loc("kh")
    %vh = "tpu.Permute"(%vs) {order = [0, 2, 1, 3]} : (tensor<1x7x2x16xf32>) -> tensor<1x2x7x16xf32> loc("vh")
    %0:4 = "tpu.ScaleDotProductAttention"(%qh, %kh, %vh, %none, %none, %none, %none) : (tensor<1x2x5x16xf32>, tensor<1x2x7x16xf32>, tensor<1x2x7x16xf32>, none, none, none, none) -> (tensor<1x2x5x16xf32>, none, none, none) loc("attended")
    %1 = "tpu.Permute"(%0#0) {order = [0, 2, 1, 3]} : (tensor<1x2x5x16xf32>) -> tensor<1x5x2x16xf32> loc("turned")
    %2 = "tpu.Reshape"(%1, %none) {shape = [5, 32]} : (tensor<1x5x2x16xf32>, none) -> tensor<5x32xf32> loc("joined")
    %o = "tpu.MatMul"(%2, %wo, %none) : (tensor<5x32xf32>, tensor<32x32xf32>, none) -> tensor<5x32xf32> loc("o")
    %3 = "tpu.Reshape"(%o, %none) {shape = [1, 5, 32]} : (tensor<5x32xf32>, none) -> tensor<1x5x32xf32> loc("back")
    %y = "tpu.Add"(%x, %3) : (tensor<1x5x32xf32>, tensor<1x5x32xf32>) -> tensor<1x5x32xf32> loc("y")
    return %y : tensor<1x5x32xf32>
  }
}

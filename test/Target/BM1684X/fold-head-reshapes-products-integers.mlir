// Products of keys and values of stored integers are of all heads, too: each number is rounded as
// before. Sums for each head are products with ones.
// RUN: rm -rf %t.dir && mkdir -p %t.dir
// RUN: tpuc-opt %s --fold-head-reshapes --mlir-print-debuginfo --mlir-print-local-scope -o %t.dir/rows.mlir
// RUN: FileCheck %s < %t.dir/rows.mlir
// RUN: tpuc-opt %s --fold-head-reshapes --transpose-in-groups --decompose --sums-to-conv --subnet-divide --weight-reorder --layer-group --address-assign --codegen=model=%t.dir/net.bmodel -o %t.dir/none.mlir
// RUN: %python %tpuc_src/test/Codegen/Inputs/ramp.py %t.dir/in.npz x=1,120,96
// RUN: model_runner --model %s --input %t.dir/in.npz --output %t.dir/heads.npz
// RUN: model_runner --model %t.dir/net.bmodel --input %t.dir/in.npz --output %t.dir/net.npz
// RUN: npz_tool compare %t.dir/net.npz %t.dir/heads.npz --tolerance 1,1
// So are those of integers without a sign.
// RUN: sed 's/^!matrix = .*/!matrix = tensor<1x4x8x8x!quant.uniform<u8:f32, 0.01>>/' %s > %t.dir/unsigned.mlir
// RUN: tpuc-opt %t.dir/unsigned.mlir --fold-head-reshapes | FileCheck %s --check-prefix=UNSIGNED
// RUN: tpuc-opt %t.dir/unsigned.mlir --fold-head-reshapes --transpose-in-groups --decompose --sums-to-conv --subnet-divide --weight-reorder --layer-group --address-assign --codegen=model=%t.dir/unsigned.bmodel -o %t.dir/none.mlir
// RUN: model_runner --model %t.dir/unsigned.mlir --input %t.dir/in.npz --output %t.dir/unsigned-heads.npz
// RUN: model_runner --model %t.dir/unsigned.bmodel --input %t.dir/in.npz --output %t.dir/unsigned.npz
// RUN: npz_tool compare %t.dir/unsigned.npz %t.dir/unsigned-heads.npz --tolerance 1,1
// UNSIGNED: "tpu.Mul"({{.*}} : (tensor<1x32x32x!quant.uniform<u8:f32, 1.000000e-02>>, tensor<1x32x32x!quant.uniform<u8:f32, 1.000000e+00>>)

// CHECK: %[[M:.*]] = "tpu.MatMul"({{.*}} -> tensor<1x32x32x!quant.uniform<i8:f32, 1.000000e-02>> loc("memory_matrix")
// CHECK: "tpu.Mul"(%[[M]], {{.*}} : (tensor<1x32x32x!quant.uniform<i8:f32, 1.000000e-02>>, tensor<1x32x32x!quant.uniform<i8:f32, 1.000000e+00>>)
// CHECK: %[[T:.*]] = "tpu.Reduce"({{.*}} -> tensor<1x32x1x!quant{{.*}} loc("total_columns")
// CHECK: %[[S:.*]] = "tpu.Mul"({{.*}} -> tensor<1x120x32x!quant{{.*}} loc("scaled_rows")
// CHECK: "tpu.MatMul"(%[[S]], {{.*}}multiplier = [1073741824]{{.*}} tensor<32x32xi8>, none) -> tensor<1x120x32x!quant{{.*}} loc("sums_rows")
// CHECK-NOT: tensor<1x4x120x8x!quant
!i = !quant.uniform<i8:f32, 0.01>
!rows = tensor<1x120x96x!i>
!parts = tensor<1x120x3x4x8x!i>
!turned = tensor<3x1x4x120x8x!i>
!part = tensor<1x1x4x120x8x!i>
!heads = tensor<1x4x120x8x!i>
!matrix = tensor<1x4x8x8x!i>
!row = tensor<1x4x1x8x!i>
!number = tensor<1x4x120x1x!i>
module attributes {module.name = "net", module.chip = "bm1684x", module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: !rows) -> tensor<1x120x32x!i> {
    %none = "top.None"() : () -> none
    %x = "top.Input"(%arg0) : (!rows) -> !rows loc("x")
    %0 = "tpu.Reshape"(%x, %none) {shape = [1, 120, 3, 4, 8]} : (!rows, none) -> !parts loc("parts")
    %1 = "tpu.Permute"(%0) {order = [2, 0, 3, 1, 4]} : (!parts) -> !turned loc("turned")
    %2:3 = "tpu.Split"(%1, %none) {axis = 0 : i64, split_size = [1, 1, 1]} : (!turned, none) -> (!part, !part, !part) loc(fused["qp", "kp", "vp"])
    %q = "tpu.Squeeze"(%2#0, %none) {axes = [0]} : (!part, none) -> !heads loc("q")
    %k = "tpu.Squeeze"(%2#1, %none) {axes = [0]} : (!part, none) -> !heads loc("k")
    %v = "tpu.Squeeze"(%2#2, %none) {axes = [0]} : (!part, none) -> !heads loc("v")
    %m = "tpu.MatMul"(%k, %v, %none) {left_transpose = true, multiplier = [1073741824], rshift = [38], round_mode = "HalfUp"} : (!heads, !heads, none) -> !matrix loc("memory")
    %r = "tpu.MatMul"(%q, %m, %none) {multiplier = [1073741824], rshift = [36], round_mode = "HalfUp"} : (!heads, !matrix, none) -> !heads loc("read")
    %t = "tpu.Reduce"(%k, %none) {axes = [2], keepdims = true, mode = "ReduceSum", multiplier = [1073741824], rshift = [33], round_mode = "HalfUp"} : (!heads, none) -> !row loc("total")
    %u = "tpu.Mul"(%q, %t) {multiplier = 1073741824 : i64, rshift = 35 : i64, round_mode = "HalfUp"} : (!heads, !row) -> !heads loc("scaled")
    %y = "tpu.Reduce"(%u, %none) {axes = [3], keepdims = true, mode = "ReduceSum", multiplier = [1073741824], rshift = [31], round_mode = "HalfUp"} : (!heads, none) -> !number loc("sums")
    %s = "tpu.Mul"(%r, %y) {multiplier = 1073741824 : i64, rshift = 34 : i64, round_mode = "HalfUp"} : (!heads, !number) -> !heads loc("product")
    %3 = "tpu.Permute"(%s) {order = [0, 2, 1, 3]} : (!heads) -> tensor<1x120x4x8x!i> loc("back")
    %4 = "tpu.Reshape"(%3, %none) {shape = [1, 120, 32]} : (tensor<1x120x4x8x!i>, none) -> tensor<1x120x32x!i> loc("joined")
    return %4 : tensor<1x120x32x!i>
  }
}

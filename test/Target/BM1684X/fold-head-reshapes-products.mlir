// Keys are multiplied with values first, for each head. Rows of all heads are multiplied instead, and
// what is of two heads becomes 0. Softmaxes over rows, sums for each head, parts of rows, and pictures
// whose channels heads are, are of rows, too.
// RUN: rm -rf %t.dir && mkdir -p %t.dir
// DEFINE: %{lower} = tpuc-opt %s --shape-infer --chip-assign=chip=bm1684x --convert-top-to-tpu=mode=F16 --mlir-print-debuginfo --mlir-print-local-scope
// DEFINE: %{file} = --decompose-attention --decompose --subnet-divide --weight-reorder --layer-group --address-assign --codegen=model=%t.dir
// RUN: %{lower} --fold-head-reshapes | FileCheck %s
// RUN: %{lower} %{file}/apart.bmodel -o %t.dir/apart.mlir
// RUN: %{lower} --fold-head-reshapes %{file}/together.bmodel -o %t.dir/together.mlir
// RUN: %python %tpuc_src/test/Codegen/Inputs/ramp.py %t.dir/in.npz x=1,301,96
// RUN: model_runner --model %t.dir/apart.bmodel --input %t.dir/in.npz --output %t.dir/apart.npz
// RUN: model_runner --model %t.dir/together.bmodel --input %t.dir/in.npz --output %t.dir/together.npz
// RUN: npz_tool compare %t.dir/together.npz %t.dir/apart.npz --tolerance 0.9999,0.99

// CHECK-DAG: %[[Q:.*]] = "tpu.Slice"({{.*}} -> tensor<1x301x32xf16> loc("q_rows")
// CHECK-DAG: %[[V:.*]] = "tpu.Slice"({{.*}} -> tensor<1x301x32xf16> loc("v_rows")
// CHECK: %[[S:.*]] = "tpu.Softmax"({{.*}} -> tensor<1x32x301xf16> loc("weights_columns")
// CHECK: %[[M:.*]] = "tpu.MatMul"(%[[S]], %[[V]], {{.*}} -> tensor<1x32x32xf16> loc("memory_matrix")
// CHECK: %[[B:.*]] = "tpu.Where"({{.*}}%[[M]]{{.*}} -> tensor<1x32x32xf16>
// CHECK: %[[R:.*]] = "tpu.MatMul"(%[[Q]], %[[B]], {{.*}} -> tensor<1x301x32xf16> loc("read_rows")
// The picture is made of rows, and becomes rows.
// CHECK: "tpu.Permute"({{.*}} -> tensor<1x32x300xf16> loc("picture_of_rows")
// CHECK: "tpu.Add"({{.*}} -> tensor<1x301x32xf16> loc("joined_f16")
// Sums of rows are columns, and each of them a row of zeros beside its own head's.
// CHECK: %[[T:.*]] = "tpu.Reduce"({{.*}} -> tensor<1x32x1xf16> loc("total_columns")
// CHECK: %[[Z:.*]] = "tpu.Where"({{.*}}%[[T]]{{.*}} -> tensor<1x32x32xf16>
// CHECK: "tpu.MatMul"({{.*}}%[[Z]], {{.*}} -> tensor<1x301x32xf16> loc("sums_rows")
// CHECK: "tpu.Div"({{.*}} -> tensor<1x301x32xf16> loc("shared_f16")
// CHECK-NOT: tensor<1x4x301x8xf16>
!rows = tensor<1x301x96xf32>
!any = tensor<*xf32>
module attributes {module.name = "net"} {
  func.func @main(%arg0: !rows) -> (!any, !any) {
    %none = "top.None"() : () -> none
    %x = "top.Input"(%arg0) : (!rows) -> !rows loc("x")
    %0 = "top.Reshape"(%x, %none) {shape = [1, 301, 3, 4, 8]} : (!rows, none) -> !any loc("parts")
    %1 = "top.Permute"(%0) {order = [2, 0, 3, 1, 4]} : (!any) -> !any loc("turned")
    %2:3 = "top.Split"(%1, %none) {axis = 0 : i64, split_size = [1, 1, 1]} : (!any, none) -> (!any, !any, !any) loc(fused["qp", "kp", "vp"])
    %q = "top.Squeeze"(%2#0, %none) {axes = [0]} : (!any, none) -> !any loc("q")
    %k = "top.Squeeze"(%2#1, %none) {axes = [0]} : (!any, none) -> !any loc("k")
    %v = "top.Squeeze"(%2#2, %none) {axes = [0]} : (!any, none) -> !any loc("v")
    %w = "top.Softmax"(%k) {axis = 2 : i64} : (!any) -> !any loc("weights")
    %m = "top.MatMul"(%w, %v, %none) {left_transpose = true} : (!any, !any, none) -> !any loc("memory")
    %r = "top.MatMul"(%q, %m, %none) : (!any, !any, none) -> !any loc("read")
    %p0 = "top.Slice"(%v, %none, %none, %none, %none) {axes = [2], offset = [1], ends = [301], steps = [1]} : (!any, none, none, none, none) -> !any loc("behind_first")
    %p1 = "top.Permute"(%p0) {order = [0, 1, 3, 2]} : (!any) -> !any loc("channels")
    %p2 = "top.Reshape"(%p1, %none) {shape = [1, 32, 15, 20]} : (!any, none) -> !any loc("picture")
    %p3 = "top.Sigmoid"(%p2) : (!any) -> !any loc("changed")
    %p4 = "top.Reshape"(%p3, %none) {shape = [1, 4, 8, 300]} : (!any, none) -> !any loc("changed_channels")
    %p5 = "top.Permute"(%p4) {order = [0, 1, 3, 2]} : (!any) -> !any loc("changed_heads")
    %p6 = "top.Pad"(%p5, %none, %none, %none) {mode = "constant", paddings = [0, 0, 1, 0, 0, 0, 0, 0], val = 0.0 : f64} : (!any, none, none, none) -> !any loc("padded")
    %s = "top.Add"(%r, %p6) : (!any, !any) -> !any loc("sum")
    %3 = "top.Permute"(%s) {order = [0, 2, 1, 3]} : (!any) -> !any loc("back")
    %4 = "top.Reshape"(%3, %none) {shape = [1, 301, 32]} : (!any, none) -> !any loc("joined")
    %e = "top.Elu"(%q) {alpha = 1.0 : f64} : (!any) -> !any loc("features")
    %f = "top.Sigmoid"(%k) : (!any) -> !any loc("positive")
    %t = "top.Reduce"(%f, %none) {axes = [2], keepdims = true, mode = "ReduceSum"} : (!any, none) -> !any loc("total")
    %u = "top.Mul"(%e, %t) : (!any, !any) -> !any loc("scaled")
    %y = "top.Reduce"(%u, %none) {axes = [3], keepdims = true, mode = "ReduceSum"} : (!any, none) -> !any loc("sums")
    %z = "top.AddConst"(%y) {const_val = 1000.0 : f64} : (!any) -> !any loc("away")
    %ft = "top.Permute"(%f) {order = [0, 1, 3, 2]} : (!any) -> !any loc("positive_turned")
    %m2 = "top.MatMul"(%ft, %v, %none) : (!any, !any, none) -> !any loc("second_memory")
    %r2 = "top.MatMul"(%e, %m2, %none) : (!any, !any, none) -> !any loc("second_read")
    %d = "top.Div"(%r2, %z) : (!any, !any) -> !any loc("quotient")
    %5 = "top.Permute"(%d) {order = [0, 2, 1, 3]} : (!any) -> !any loc("second_back")
    %6 = "top.Reshape"(%5, %none) {shape = [1, 301, 32]} : (!any, none) -> !any loc("shared")
    return %4, %6 : !any, !any
  }
}

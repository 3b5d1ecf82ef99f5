// Heads that are normalized, and multiplied with a number each, for attention: so are parts of rows,
// and attention takes the rows. Of one head, rows are its rows.
// RUN: rm -rf %t.dir && mkdir -p %t.dir
// DEFINE: %{lower} = tpuc-opt %s --shape-infer --chip-assign=chip=bm1684x --convert-top-to-tpu=mode=F16 --mlir-print-debuginfo --mlir-print-local-scope
// DEFINE: %{file} = --decompose-attention --decompose --subnet-divide --weight-reorder --layer-group --address-assign --codegen=model=%t.dir
// RUN: %{lower} --fold-head-reshapes | FileCheck %s
// RUN: %{lower} %{file}/apart.bmodel -o %t.dir/apart.mlir
// RUN: %{lower} --fold-head-reshapes %{file}/together.bmodel -o %t.dir/together.mlir
// RUN: %python %tpuc_src/test/Codegen/Inputs/ramp.py %t.dir/in.npz x=2,9,72
// RUN: model_runner --model %t.dir/apart.bmodel --input %t.dir/in.npz --output %t.dir/apart.npz
// RUN: model_runner --model %t.dir/together.bmodel --input %t.dir/in.npz --output %t.dir/together.npz
// RUN: npz_tool compare %t.dir/together.npz %t.dir/apart.npz --tolerance 0.9999,0.995

// CHECK: %[[C:.*]] = "tpu.Slice"(%{{.*}} offset = [0]{{.*}} -> tensor<2x9x24xf16> loc("q_rows")
// CHECK: %[[N:.*]] = "tpu.RMSNorm"(%[[C]], {{.*}}num_heads = 2 : i64} : (tensor<2x9x24xf16>, tensor<24xf32>)
// CHECK: %[[K:.*]] = "tpu.RMSNorm"({{.*}}num_heads = 2 : i64
// CHECK: %[[Q:.*]] = "tpu.Mul"(%[[N]], {{.*}} : (tensor<2x9x24xf16>, tensor<24xf{{16|32}}>)
// CHECK: "tpu.ScaleDotProductAttention"(%[[Q]], %[[K]], {{.*}}q_num_heads = 2
// CHECK-NOT: "tpu.Permute"
// CHECK: "tpu.ScaleDotProductAttention"(%{{.*}}q_num_heads = 1 {{.*}} -> (tensor<2x9x72xf16>
// Something else reads these.
// CHECK: "tpu.RMSNorm"(%{{.*}} -> tensor<2x2x9x36xf16> loc("read_f16")
!rows = tensor<2x9x72xf32>
!heads = tensor<2x2x9x12xf32>
!one = tensor<2x1x9x72xf32>
module attributes {module.name = "net"} {
  func.func @main(%arg0: !rows) -> (tensor<2x9x24xf32>, !rows, tensor<2x2x9x36xf32>) {
    %none = "top.None"() : () -> none
    %x = "top.Input"(%arg0) : (!rows) -> !rows loc("x")
    %g = "top.ConstantFill"(%none) {shape = [12], value = 0.25 : f32} : (none) -> tensor<12xf32> loc("g")
    %0 = "top.Reshape"(%x, %none) {shape = [2, 9, 3, 2, 12]} : (!rows, none) -> tensor<2x9x3x2x12xf32> loc("parts")
    %1 = "top.Permute"(%0) {order = [2, 0, 3, 1, 4]} : (tensor<2x9x3x2x12xf32>) -> tensor<3x2x2x9x12xf32> loc("turned")
    %2:3 = "top.Split"(%1, %none) {axis = 0 : i64, split_size = [1, 1, 1]} : (tensor<3x2x2x9x12xf32>, none) -> (tensor<1x2x2x9x12xf32>, tensor<1x2x2x9x12xf32>, tensor<1x2x2x9x12xf32>) loc(fused["qp", "kp", "vp"])
    %q = "top.Squeeze"(%2#0, %none) {axes = [0]} : (tensor<1x2x2x9x12xf32>, none) -> !heads loc("q")
    %k = "top.Squeeze"(%2#1, %none) {axes = [0]} : (tensor<1x2x2x9x12xf32>, none) -> !heads loc("k")
    %v = "top.Squeeze"(%2#2, %none) {axes = [0]} : (tensor<1x2x2x9x12xf32>, none) -> !heads loc("v")
    %qn = "top.RMSNorm"(%q, %g) {axis = -1 : i64, eps = 1.0e-6 : f64} : (!heads, tensor<12xf32>) -> !heads loc("qn")
    %kn = "top.RMSNorm"(%k, %none) {axis = 3 : i64, eps = 1.0e-6 : f64} : (!heads, none) -> !heads loc("kn")
    %s = "top.ConstantFill"(%none) {shape = [2, 1, 1], value = 2.0 : f32} : (none) -> tensor<2x1x1xf32> loc("s")
    %qs = "top.Mul"(%qn, %s) : (!heads, tensor<2x1x1xf32>) -> !heads loc("qs")
    %a:4 = "top.ScaleDotProductAttention"(%qs, %kn, %v, %none, %none, %none, %none) {scale = 1.0 : f64} : (!heads, !heads, !heads, none, none, none, none) -> (!heads, none, none, none) loc("attended")
    %3 = "top.Permute"(%a#0) {order = [0, 2, 1, 3]} : (!heads) -> tensor<2x9x2x12xf32> loc("back")
    %4 = "top.Reshape"(%3, %none) {shape = [2, 9, 24]} : (tensor<2x9x2x12xf32>, none) -> tensor<2x9x24xf32> loc("joined")
    %one = "top.Unsqueeze"(%x, %none) {axes = [1]} : (!rows, none) -> !one loc("one")
    %b:4 = "top.ScaleDotProductAttention"(%one, %one, %one, %none, %none, %none, %none) : (!one, !one, !one, none, none, none, none) -> (!one, none, none, none) loc("alone")
    %5 = "top.Squeeze"(%b#0, %none) {axes = [1]} : (!one, none) -> !rows loc("rows")
    %6 = "top.Reshape"(%x, %none) {shape = [2, 9, 2, 36]} : (!rows, none) -> tensor<2x9x2x36xf32> loc("split")
    %7 = "top.Permute"(%6) {order = [0, 2, 1, 3]} : (tensor<2x9x2x36xf32>) -> tensor<2x2x9x36xf32> loc("others")
    %8 = "top.RMSNorm"(%7, %none) {axis = -1 : i64, eps = 1.0e-6 : f64} : (tensor<2x2x9x36xf32>, none) -> tensor<2x2x9x36xf32> loc("read")
    return %4, %5, %8 : tensor<2x9x24xf32>, !rows, tensor<2x2x9x36xf32>
  }
}

// What divides linear attention is a product with a row of sums, to which a number is added: of rows
// of all heads, it is one number for each column of a head.
// RUN: rm -rf %t.dir && mkdir -p %t.dir
// DEFINE: %{lower} = tpuc-opt %s --shape-infer --chip-assign=chip=bm1684x --convert-top-to-tpu=mode=F16 --mlir-print-debuginfo --mlir-print-local-scope
// DEFINE: %{file} = --transpose-in-groups --decompose --subnet-divide --weight-reorder --layer-group --address-assign --codegen=model=%t.dir
// RUN: %{lower} --fold-head-reshapes | FileCheck %s
// RUN: %{lower} %{file}/apart.bmodel -o %t.dir/apart.mlir
// RUN: %{lower} --fold-head-reshapes %{file}/together.bmodel -o %t.dir/together.mlir
// RUN: %python %tpuc_src/test/Codegen/Inputs/ramp.py %t.dir/in.npz x=2,200,32
// RUN: model_runner --model %t.dir/apart.bmodel --input %t.dir/in.npz --output %t.dir/apart.npz
// RUN: model_runner --model %t.dir/together.bmodel --input %t.dir/in.npz --output %t.dir/together.npz
// RUN: npz_tool compare %t.dir/together.npz %t.dir/apart.npz --tolerance 0.9999,0.99

// CHECK: %[[T:.*]] = "tpu.Reduce"({{.*}} -> tensor<2x32x1xf16> loc("total_columns")
// CHECK: %[[Z:.*]] = "tpu.Where"({{.*}}%[[T]]{{.*}} -> tensor<2x32x32xf16>
// CHECK: "tpu.MatMul"({{.*}}%[[Z]], {{.*}} tensor<32xf{{16|32}}>) -> tensor<2x200x32xf16> loc("shares_rows")
// CHECK: "tpu.Div"({{.*}} -> tensor<2x200x32xf16>
// CHECK-NOT: "tpu.Permute"({{.*}} -> tensor<2x4x200x8xf16>
!rows = tensor<2x200x32xf32>
!any = tensor<*xf32>
module attributes {module.name = "net"} {
  func.func @main(%arg0: !rows) -> !any {
    %none = "top.None"() : () -> none
    %x = "top.Input"(%arg0) : (!rows) -> !rows loc("x")
    %0 = "top.Reshape"(%x, %none) {shape = [2, 200, 4, 8]} : (!rows, none) -> !any loc("split")
    %1 = "top.Permute"(%0) {order = [0, 2, 1, 3]} : (!any) -> !any loc("heads")
    %q = "top.Sigmoid"(%1) : (!any) -> !any loc("q")
    %k = "top.Abs"(%1) : (!any) -> !any loc("k")
    %m = "top.MatMul"(%k, %1, %none) {left_transpose = true} : (!any, !any, none) -> !any loc("memory")
    %t = "top.Reduce"(%k, %none) {axes = [2], keepdims = true, mode = "ReduceSum"} : (!any, none) -> !any loc("total")
    %c = "top.Reshape"(%t, %none) {shape = [2, 4, 8, 1]} : (!any, none) -> !any loc("column")
    %b = "top.ConstantFill"(%none) {shape = [1], value = 3.0 : f32} : (none) -> tensor<1xf32> loc("b")
    %s = "top.MatMul"(%q, %c, %b) : (!any, !any, tensor<1xf32>) -> !any loc("shares")
    %r = "top.MatMul"(%q, %m, %none) : (!any, !any, none) -> !any loc("read")
    %d = "top.Div"(%r, %s) : (!any, !any) -> !any loc("quotient")
    %2 = "top.Permute"(%d) {order = [0, 2, 1, 3]} : (!any) -> !any loc("back")
    %3 = "top.Reshape"(%2, %none) {shape = [2, 200, 32]} : (!any, none) -> !any loc("joined")
    return %3 : !any
  }
}

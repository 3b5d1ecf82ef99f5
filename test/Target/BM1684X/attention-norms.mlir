// Attention over channels: heads are no rows that hold all heads, so each is a sample. Norms of their
// rows, and a product with a number for each head, are of samples, too, and in one group with the
// attention.
// RUN: rm -rf %t.dir && mkdir -p %t.dir
// DEFINE: %{lower} = tpuc-opt %s --shape-infer --chip-assign=chip=bm1684x --convert-top-to-tpu=mode=F16 --mlir-print-debuginfo --mlir-print-local-scope
// DEFINE: %{file} = --decompose-attention --decompose --subnet-divide --weight-reorder --layer-group --address-assign --codegen=model=%t.dir
// RUN: %{lower} --fold-head-reshapes --decompose-attention --decompose | FileCheck %s
// RUN: %{lower} %{file}/apart.bmodel -o %t.dir/apart.mlir
// RUN: %{lower} --fold-head-reshapes --decompose-attention --decompose %{file}/together.bmodel -o %t.dir/together.mlir
// RUN: %python %tpuc_src/test/Codegen/Inputs/ramp.py %t.dir/in.npz x=2,3,12,40
// RUN: model_runner --model %t.dir/apart.bmodel --input %t.dir/in.npz --output %t.dir/apart.npz
// RUN: model_runner --model %t.dir/together.bmodel --input %t.dir/in.npz --output %t.dir/together.npz
// RUN: npz_tool compare %t.dir/together.npz %t.dir/apart.npz --tolerance 0.99999,0.999

// CHECK: %[[N:.*]] = "tpu.RMSNorm"({{.*}} -> tensor<6x12x40xf16>
// CHECK: %[[Q:.*]] = "tpu.Mul"(%[[N]], {{.*}} : (tensor<6x12x40xf16>, tensor<6x1x1xf{{16|32}}>)
// CHECK: %[[K:.*]] = "tpu.RMSNorm"({{.*}} -> tensor<6x12x40xf16>
// CHECK: "tpu.ScaleDotProductAttention"(%[[Q]], %[[K]]
!any = tensor<*xf32>
!heads = tensor<2x3x12x40xf32>
module attributes {module.name = "net"} {
  func.func @main(%arg0: !heads) -> !any {
    %none = "top.None"() : () -> none
    %x = "top.Input"(%arg0) : (!heads) -> !heads loc("x")
    %a = "top.Abs"(%x) : (!heads) -> !any loc("a")
    %b = "top.Sigmoid"(%x) : (!heads) -> !any loc("b")
    %q = "top.RMSNorm"(%a, %none) {eps = 1.0e-6 : f64} : (!any, none) -> !any loc("q")
    %k = "top.RMSNorm"(%b, %none) {eps = 1.0e-6 : f64} : (!any, none) -> !any loc("k")
    %s = "top.ConstantFill"(%none) {shape = [3, 1, 1], value = 2.0 : f32} : (none) -> tensor<3x1x1xf32> loc("s")
    %qs = "top.Mul"(%q, %s) : (!any, tensor<3x1x1xf32>) -> !any loc("qs")
    %o:4 = "top.ScaleDotProductAttention"(%qs, %k, %x, %none, %none, %none, %none) {scale = 1.0 : f64} : (!any, !any, !heads, none, none, none, none) -> (!any, none, none, none) loc("attended")
    return %o#0 : !any
  }
}

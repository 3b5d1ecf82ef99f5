// Norms and products over the last dimension of pictures compute rows, and so does what reads them
// element by element. Then channels in front of the pixels are rows in the same group.
// RUN: rm -rf %t.dir && mkdir -p %t.dir
// DEFINE: %{lower} = tpuc-opt %s --shape-infer --chip-assign=chip=bm1684x --convert-top-to-tpu=mode=F16 --mlir-print-debuginfo --mlir-print-local-scope
// DEFINE: %{file} = --decompose-attention --decompose --subnet-divide --weight-reorder --layer-group --address-assign --codegen=model=%t.dir
// RUN: %{lower} --transpose-in-groups | FileCheck %s
// RUN: %{lower} %{file}/apart.bmodel -o %t.dir/apart.mlir
// RUN: %{lower} --transpose-in-groups %{file}/together.bmodel -o %t.dir/together.mlir
// RUN: %python %tpuc_src/test/Codegen/Inputs/ramp.py %t.dir/in.npz x=1,70,9,7 y=1,50,36
// RUN: model_runner --model %t.dir/apart.bmodel --input %t.dir/in.npz --output %t.dir/apart.npz
// RUN: model_runner --model %t.dir/together.bmodel --input %t.dir/in.npz --output %t.dir/together.npz
// RUN: npz_tool compare %t.dir/together.npz %t.dir/apart.npz --tolerance 1,1

// CHECK: %[[R:.*]] = "tpu.Transpose"(%{{.*}}) : (tensor<1x70x9x7xf16>) -> tensor<1x63x70xf16>
// CHECK: %[[N:[a-z0-9_]+]], %{{.*}} = "tpu.LayerNorm"(%[[R]]{{.*}} -> (tensor<1x63x70xf16>, none, none)
// CHECK: %[[G:.*]] = "tpu.Mul"(%[[N]], {{.*}} : (tensor<1x63x70xf16>, tensor<1x1x70xf{{16|32}}>)
// CHECK: %[[S:.*]] = "tpu.Add"(%[[G]], %[[R]])
// CHECK: "tpu.Transpose"(%[[S]]) : (tensor<1x63x70xf16>) -> tensor<1x70x9x7xf16>
// Dimensions of one element do not matter, and heads are reshaped rows.
// CHECK: %[[T:.*]] = "tpu.Transpose"(%{{.*}}) : (tensor<1x50x36xf16>) -> tensor<1x36x50xf16>
// CHECK: "tpu.Reshape"(%[[T]], {{.*}} -> tensor<3x1x4x3x50xf16>
// CHECK-NOT: "tpu.Permute"
!any = tensor<*xf32>
module attributes {module.name = "net"} {
  func.func @main(%arg0: tensor<1x70x9x7xf32>, %arg1: tensor<1x50x36xf32>) -> (!any, !any) {
    %none = "top.None"() : () -> none
    %x = "top.Input"(%arg0) : (tensor<1x70x9x7xf32>) -> tensor<1x70x9x7xf32> loc("x")
    %y = "top.Input"(%arg1) : (tensor<1x50x36xf32>) -> tensor<1x50x36xf32> loc("y")
    %c = "top.Sigmoid"(%x) : (tensor<1x70x9x7xf32>) -> !any loc("changed")
    %p = "top.Permute"(%c) {order = [0, 2, 3, 1]} : (!any) -> !any loc("pixels")
    %n, %m, %r = "top.LayerNorm"(%p, %none, %none) {axis = -1 : i64} : (!any, none, none) -> (!any, none, none) loc("normalized")
    %g = "top.ConstantFill"(%none) {shape = [1, 1, 1, 70], value = 0.5 : f32} : (none) -> tensor<1x1x1x70xf32> loc("gamma")
    %s = "top.Mul"(%n, %g) : (!any, tensor<1x1x1x70xf32>) -> !any loc("scaled")
    %a = "top.Add"(%s, %p) : (!any, !any) -> !any loc("sum")
    %b = "top.Permute"(%a) {order = [0, 3, 1, 2]} : (!any) -> !any loc("back")
    %d = "top.Sigmoid"(%b) : (!any) -> !any loc("last")
    %e = "top.Sigmoid"(%y) : (tensor<1x50x36xf32>) -> !any loc("rows")
    %f = "top.Reshape"(%e, %none) {shape = [1, 50, 3, 4, 3]} : (!any, none) -> !any loc("heads")
    %h = "top.Permute"(%f) {order = [2, 0, 3, 4, 1]} : (!any) -> !any loc("channels")
    return %d, %h : !any, !any
  }
}

// Of several results, those that are there early are stored early; one that has to be converted
// becomes parts between the layers behind, in the form of its own.
// DEFINE: %{early} = tpuc-opt %s --hoist-outputs --mlir-print-debuginfo --mlir-print-local-scope
// RUN: %{early} | FileCheck %s
// RUN: %{early} -o %t.mlir
// RUN: rm -rf %t.dir && mkdir -p %t.dir
// RUN: %python %tpuc_src/test/Codegen/Inputs/ramp.py %t.dir/in.npz x=1,16,256,256
// RUN: model_runner --model %s --input %t.dir/in.npz --output %t.dir/one.npz
// RUN: model_runner --model %t.mlir --input %t.dir/in.npz --output %t.dir/parts.npz
// RUN: npz_tool compare %t.dir/one.npz %t.dir/parts.npz --tolerance 1,1

// CHECK: "tpu.MaxPool"{{.*}} loc("s")
// CHECK: "tpu.Permute"{{.*}} loc("turned")
// CHECK: %[[F:.*]] = "tpu.Reshape"(%{{.*}}) {{.*}}shape = [2, 131072]
// CHECK: %[[S:.*]]:2 = "tpu.Split"(%[[F]]
// CHECK: "tpu.MaxPool"{{.*}} loc("a")
// CHECK: "tpu.MaxPool"{{.*}} loc("b")
// CHECK: %[[A:.*]] = "tpu.Cast"(%[[S]]#0) : (tensor<1x131072xf16>) -> tensor<1x131072xf32> loc("big_part0")
// CHECK: "tpu.MaxPool"{{.*}} loc("c")
// CHECK: %[[B:.*]] = "tpu.Cast"(%[[S]]#1)
// What takes no time to store stays where it is.
// CHECK: "tpu.Cast"{{.*}} loc("small")
// CHECK: %[[J:.*]] = "tpu.Concat"(%[[A]], %[[B]])
// CHECK: %[[R:.*]] = "tpu.Reshape"(%[[J]]{{.*}} -> tensor<1x128x128x16xf32> loc("big")
// CHECK: return %{{.*}}, %[[R]], %{{.*}}, %{{.*}}
!x = tensor<1x16x256x256xf16>
!s = tensor<1x16x128x128xf16>
!p = tensor<1x16x64x64xf16>
!q = tensor<1x16x32x32xf16>
!r = tensor<1x16x16x16xf16>
!t = tensor<1x128x128x16xf16>
!w = tensor<32x512xf16>
!z = tensor<1x16x32x32xf32>
!y = tensor<1x128x128x16xf32>
module attributes {module.name = "net", module.chip = "bm1684x", module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: !x) -> (!r, !y, !z, !w) {
    %x = "top.Input"(%arg0) : (!x) -> !x loc("x")
    %s = "tpu.MaxPool"(%x) {kernel_shape = [2, 2], strides = [2, 2]} : (!x) -> !s loc("s")
    %a = "tpu.MaxPool"(%s) {kernel_shape = [2, 2], strides = [2, 2]} : (!s) -> !p loc("a")
    %b = "tpu.MaxPool"(%a) {kernel_shape = [2, 2], strides = [2, 2]} : (!p) -> !q loc("b")
    %c = "tpu.MaxPool"(%b) {kernel_shape = [2, 2], strides = [2, 2]} : (!q) -> !r loc("c")
    %t = "tpu.Permute"(%s) {order = [0, 2, 3, 1]} : (!s) -> !t loc("turned")
    %y = "tpu.Cast"(%t) : (!t) -> !y loc("big")
    %z = "tpu.Cast"(%b) : (!q) -> !z loc("small")
    %none = "top.None"() : () -> none
    %w = "tpu.Reshape"(%b, %none) {shape = [32, 512]} : (!q, none) -> !w loc("flat")
    return %c, %y, %z, %w : !r, !y, !z, !w
  }
}

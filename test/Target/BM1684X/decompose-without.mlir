// What only saves cycles in --decompose can be left out by its name.
// DEFINE: %{lower} = tpuc-opt %s --shape-infer --chip-assign=chip=bm1684x --convert-top-to-tpu=mode=F16
// RUN: %{lower} --decompose | FileCheck %s
// RUN: %{lower} --decompose=without=narrow-concat | FileCheck %s --check-prefixes=WIDE,GATHERED
// RUN: %{lower} --decompose=without=column-gather | FileCheck %s --check-prefix=LEFT
// RUN: not %{lower} --decompose=without=magic 2>&1 | FileCheck %s --check-prefix=WRONG
// CHECK: "tpu.Concat"{{.*}}axis = 2 : i64{{.*}}(tensor<1x32x5xf16>, tensor<1x32x5xf16>) -> tensor<1x32x10xf16>
// CHECK-NOT: "tpu.Gather"
// WIDE: "tpu.Concat"{{.*}}(tensor<2x16x5x1xf16>, tensor<2x16x5x1xf16>) -> tensor<2x16x10x1xf16>
// GATHERED-NOT: "tpu.Gather"
// LEFT: "tpu.Concat"{{.*}}-> tensor<1x32x10xf16>
// LEFT: "tpu.Gather"
// WRONG: error: --decompose: without: 'magic'; expected some of {{.*}}narrow-concat, column-gather, fold-depths
!x = tensor<2x16x5x1xf32>
module attributes {module.name = "net"} {
  func.func @main(%arg0: !x, %arg1: !x, %arg2: tensor<1x16x64xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
    %none = "top.None"() : () -> none
    %a = "top.Input"(%arg0) : (!x) -> !x loc("a")
    %b = "top.Input"(%arg1) : (!x) -> !x loc("b")
    %r = "top.Input"(%arg2) : (tensor<1x16x64xf32>) -> tensor<1x16x64xf32> loc("r")
    %0 = "top.Concat"(%a, %b) {axis = 2 : i64} : (!x, !x) -> tensor<*xf32> loc("c")
    %i = "top.ConstantFill"(%none) {shape = [5], value = 3 : i64} : (none) -> tensor<5xi64> loc("i")
    %1 = "top.Gather"(%r, %i) {axis = 2 : i64} : (tensor<1x16x64xf32>, tensor<5xi64>) -> tensor<*xf32> loc("g")
    return %0, %1 : tensor<*xf32>, tensor<*xf32>
  }
}

// Parts of a convolution's channels that are read apart are convolutions of their own where that
// saves transfers: what reads them is in one group with them then.
// DEFINE: %{lower} = tpuc-opt %s --shape-infer --chip-assign=chip=bm1684x --convert-top-to-tpu=mode=F16 --mlir-print-debuginfo --mlir-print-local-scope
// RUN: %{lower} --split-convolutions | FileCheck %s
// RUN: %{lower} --split-convolutions --subnet-divide --weight-reorder --layer-group | FileCheck %s --check-prefix=GROUPED

// CHECK: %[[X:.*]] = "tpu.Cast"{{.*}} loc("x_f16")
// CHECK: "tpu.Conv"(%[[X]], %{{.*}}kernel_shape = [2]{{.*}}tensor<32x32x2xf16>{{.*}} -> tensor<1x32x1000xf16> loc("a")
// CHECK: "tpu.Conv"(%[[X]], %{{.*}}kernel_shape = [2]{{.*}}tensor<24x32x2xf16>{{.*}} -> tensor<1x24x1000xf16> loc("b")
// The result has channels that both parts read.
// CHECK: "tpu.Conv"{{.*}} -> tensor<1x64x1000xf16> loc("shared")
// CHECK: "tpu.Slice"{{.*}} loc("shared_front")
// Something reads all of it.
// CHECK: "tpu.Conv"{{.*}} -> tensor<1x64x1000xf16> loc("whole")
// CHECK: "tpu.Slice"{{.*}} loc("whole_front")
// Two of half the channels take twice as long, which is longer than the transfers here.
// CHECK: "tpu.Conv"{{.*}} -> tensor<1x64x1000xf16> loc("long")

// GROUPED: "tpu.Group"
// GROUPED-NOT: "tpu.Yield"
// GROUPED: "tpu.Conv"{{.*}} loc("a")
// GROUPED-NOT: "tpu.Yield"
// GROUPED: "tpu.Mul"
!x = tensor<1x32x1000xf32>
!y = tensor<1x64x1000xf32>
!z = tensor<1x24x1000xf32>
module attributes {module.name = "net"} {
  func.func @main(%arg0: !x) -> (!z, !x, !x, !x, !y, !x, !x) {
    %none = "top.None"() : () -> none
    %x = "top.Input"(%arg0) : (!x) -> !x loc("x")
    %w = "top.ConstantFill"(%none) {shape = [64, 32, 2], value = 0.5 : f32} : (none) -> tensor<64x32x2xf32> loc("w")
    %c = "top.ConstantFill"(%none) {shape = [64], value = 0.5 : f32} : (none) -> tensor<64xf32> loc("c")
    %0 = "top.Conv"(%x, %w, %c) {kernel_shape = [2], pads = [1, 0]} : (!x, tensor<64x32x2xf32>, tensor<64xf32>) -> !y loc("parts")
    %a = "top.Slice"(%0, %none, %none, %none, %none) {axes = [1], offset = [0], ends = [32], steps = [1]} : (!y, none, none, none, none) -> !x loc("a")
    %b = "top.Slice"(%0, %none, %none, %none, %none) {axes = [1], offset = [-24], ends = [64], steps = [1]} : (!y, none, none, none, none) -> !z loc("b")
    %b1 = "top.Tanh"(%b) : (!z) -> !z loc("b1")
    %a2 = "top.Mul"(%a, %a) : (!x, !x) -> !x loc("a2")
    %1 = "top.Conv"(%x, %w, %c) {kernel_shape = [2], pads = [1, 0]} : (!x, tensor<64x32x2xf32>, tensor<64xf32>) -> !y loc("shared")
    %d = "top.Slice"(%1, %none, %none, %none, %none) {axes = [1], offset = [0], ends = [32], steps = [1]} : (!y, none, none, none, none) -> !x loc("shared_front")
    %e = "top.Slice"(%1, %none, %none, %none, %none) {axes = [1], offset = [16], ends = [48], steps = [1]} : (!y, none, none, none, none) -> !x loc("shared_middle")
    %d1 = "top.Mul"(%d, %e) : (!x, !x) -> !x loc("d1")
    %2 = "top.Conv"(%x, %w, %c) {kernel_shape = [2], pads = [1, 0]} : (!x, tensor<64x32x2xf32>, tensor<64xf32>) -> !y loc("whole")
    %f = "top.Slice"(%2, %none, %none, %none, %none) {axes = [1], offset = [0], ends = [32], steps = [1]} : (!y, none, none, none, none) -> !x loc("whole_front")
    %f1 = "top.Tanh"(%f) : (!x) -> !x loc("f1")
    %g1 = "top.Tanh"(%2) : (!y) -> !y loc("g1")
    %v = "top.ConstantFill"(%none) {shape = [64, 32, 15], value = 0.5 : f32} : (none) -> tensor<64x32x15xf32> loc("v")
    %3 = "top.Conv"(%x, %v, %c) {kernel_shape = [15], pads = [14, 0]} : (!x, tensor<64x32x15xf32>, tensor<64xf32>) -> !y loc("long")
    %h = "top.Slice"(%3, %none, %none, %none, %none) {axes = [1], offset = [0], ends = [32], steps = [1]} : (!y, none, none, none, none) -> !x loc("h")
    %i = "top.Slice"(%3, %none, %none, %none, %none) {axes = [1], offset = [32], ends = [64], steps = [1]} : (!y, none, none, none, none) -> !x loc("i")
    return %b1, %a2, %d1, %f1, %g1, %h, %i : !z, !x, !x, !x, !y, !x, !x
  }
}

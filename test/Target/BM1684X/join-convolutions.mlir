// Convolutions of parts of the channels, whose results are joined, are one: transfers need not bring
// parts that begin amid the lanes to their places.
// DEFINE: %{lower} = tpuc-opt %s --shape-infer --chip-assign=chip=bm1684x --convert-top-to-tpu=mode=F16 --mlir-print-debuginfo --mlir-print-local-scope
// RUN: %{lower} --join-convolutions | FileCheck %s
// RUN: %{lower} --join-convolutions --subnet-divide --weight-reorder --layer-group | FileCheck %s --check-prefix=GROUPED

// Windows of 3 and of 5, padded by 1 and by 2.
// CHECK: %[[T:.*]] = "tpu.Tanh"{{.*}} loc("t")
// CHECK: "tpu.Conv"(%[[T]], %{{.*}}group = 80 : i64, kernel_shape = [5, 5]{{.*}}pads = [2, 2, 1, 1]{{.*}}strides = [2, 2]{{.*}}tensor<80x1x5x5xf16>, tensor<80xf32>) -> tensor<1x80x24x24xf16> loc("mixed")
// Groups of 40 channels.
// CHECK: %[[S:.*]] = "tpu.Sin"{{.*}} loc("s")
// CHECK: "tpu.Conv"(%[[S]], %{{.*}} -> tensor<1x80x48x48xf16> loc("halves")
// Parts in another order, parts that something else reads, and only some of the channels.
// CHECK: "tpu.Concat"{{.*}} loc("swapped")
// CHECK: "tpu.Concat"{{.*}} loc("shared")
// CHECK: "tpu.Concat"{{.*}} loc("some")

// GROUPED: "tpu.Group"
// GROUPED-NOT: "tpu.Yield"
// GROUPED: "tpu.Conv"{{.*}} loc("mixed")
!x = tensor<1x80x48x48xf32>
!p = tensor<1x40x48x48xf32>
!h = tensor<1x40x24x24xf32>
!y = tensor<1x80x24x24xf32>
module attributes {module.name = "net"} {
  func.func @main(%arg0: !x) -> (!y, !x, !y, !y, !h, !y) {
    %none = "top.None"() : () -> none
    %x = "top.Input"(%arg0) : (!x) -> !x loc("x")
    %3 = "top.ConstantFill"(%none) {shape = [40, 1, 3, 3], value = 0.5 : f32} : (none) -> tensor<40x1x3x3xf32> loc("w3")
    %5 = "top.ConstantFill"(%none) {shape = [40, 1, 5, 5], value = 0.25 : f32} : (none) -> tensor<40x1x5x5xf32> loc("w5")
    %1 = "top.ConstantFill"(%none) {shape = [40, 40, 1, 1], value = 0.125 : f32} : (none) -> tensor<40x40x1x1xf32> loc("w1")
    %c = "top.ConstantFill"(%none) {shape = [40], value = 0.5 : f32} : (none) -> tensor<40xf32> loc("c")
    %t = "top.Tanh"(%x) : (!x) -> !x loc("t")
    %ta = "top.Slice"(%t, %none, %none, %none, %none) {axes = [1], offset = [0], ends = [40], steps = [1]} : (!x, none, none, none, none) -> !p loc("ta")
    %tb = "top.Slice"(%t, %none, %none, %none, %none) {axes = [1], offset = [40], ends = [80], steps = [1]} : (!x, none, none, none, none) -> !p loc("tb")
    %a3 = "top.Conv"(%ta, %3, %c) {kernel_shape = [3, 3], group = 40, pads = [1, 1, 1, 1], strides = [2, 2]} : (!p, tensor<40x1x3x3xf32>, tensor<40xf32>) -> !h loc("a3")
    %b5 = "top.Conv"(%tb, %5, %c) {kernel_shape = [5, 5], group = 40, pads = [2, 2, 2, 2], strides = [2, 2]} : (!p, tensor<40x1x5x5xf32>, tensor<40xf32>) -> !h loc("b5")
    %y = "top.Concat"(%a3, %b5) {axis = 1 : i64} : (!h, !h) -> !y loc("mixed")
    %y1 = "top.Sigmoid"(%y) : (!y) -> !y loc("y1")
    %s = "top.Sin"(%x) : (!x) -> !x loc("s")
    %sa = "top.Slice"(%s, %none, %none, %none, %none) {axes = [1], offset = [0], ends = [40], steps = [1]} : (!x, none, none, none, none) -> !p loc("sa")
    %sb = "top.Slice"(%s, %none, %none, %none, %none) {axes = [1], offset = [40], ends = [80], steps = [1]} : (!x, none, none, none, none) -> !p loc("sb")
    %a1 = "top.Conv"(%sa, %1, %none) {kernel_shape = [1, 1]} : (!p, tensor<40x40x1x1xf32>, none) -> !p loc("a1")
    %b1 = "top.Conv"(%sb, %1, %none) {kernel_shape = [1, 1]} : (!p, tensor<40x40x1x1xf32>, none) -> !p loc("b1")
    %halves = "top.Concat"(%a1, %b1) {axis = -3 : i64} : (!p, !p) -> !x loc("halves")
    %z1 = "top.Sigmoid"(%halves) : (!x) -> !x loc("z1")
    %a = "top.Slice"(%t, %none, %none, %none, %none) {axes = [1], offset = [0], ends = [40], steps = [1]} : (!x, none, none, none, none) -> !p loc("a")
    %b = "top.Slice"(%t, %none, %none, %none, %none) {axes = [1], offset = [40], ends = [80], steps = [1]} : (!x, none, none, none, none) -> !p loc("b")
    %d3 = "top.Conv"(%a, %3, %c) {kernel_shape = [3, 3], group = 40, pads = [1, 1, 1, 1], strides = [2, 2], do_relu = true} : (!p, tensor<40x1x3x3xf32>, tensor<40xf32>) -> !h loc("d3")
    %d5 = "top.Conv"(%b, %5, %c) {kernel_shape = [5, 5], group = 40, pads = [2, 2, 2, 2], strides = [2, 2], do_relu = true} : (!p, tensor<40x1x5x5xf32>, tensor<40xf32>) -> !h loc("d5")
    %swapped = "top.Concat"(%d5, %d3) {axis = 1 : i64} : (!h, !h) -> !y loc("swapped")
    %swapped1 = "top.Tanh"(%swapped) : (!y) -> !y loc("swapped1")
    %e3 = "top.Conv"(%a, %3, %none) {kernel_shape = [3, 3], group = 40, pads = [1, 1, 1, 1], strides = [2, 2]} : (!p, tensor<40x1x3x3xf32>, none) -> !h loc("e3")
    %e5 = "top.Conv"(%b, %5, %none) {kernel_shape = [5, 5], group = 40, pads = [2, 2, 2, 2], strides = [2, 2]} : (!p, tensor<40x1x5x5xf32>, none) -> !h loc("e5")
    %shared = "top.Concat"(%e3, %e5) {axis = 1 : i64} : (!h, !h) -> !y loc("shared")
    %shared1 = "top.Tanh"(%shared) : (!y) -> !y loc("shared1")
    %front = "top.Slice"(%x, %none, %none, %none, %none) {axes = [1], offset = [0], ends = [20], steps = [1]} : (!x, none, none, none, none) -> tensor<1x20x48x48xf32> loc("front")
    %w = "top.ConstantFill"(%none) {shape = [40, 20, 3, 3], value = 0.5 : f32} : (none) -> tensor<40x20x3x3xf32> loc("w")
    %f3 = "top.Conv"(%front, %w, %c) {kernel_shape = [3, 3], pads = [1, 1, 1, 1], strides = [2, 2]} : (tensor<1x20x48x48xf32>, tensor<40x20x3x3xf32>, tensor<40xf32>) -> !h loc("f3")
    %f5 = "top.Conv"(%b, %5, %c) {kernel_shape = [5, 5], group = 40, pads = [2, 2, 2, 2], strides = [2, 2]} : (!p, tensor<40x1x5x5xf32>, tensor<40xf32>) -> !h loc("f5")
    %some = "top.Concat"(%f3, %f5) {axis = 1 : i64} : (!h, !h) -> !y loc("some")
    %some1 = "top.Tanh"(%some) : (!y) -> !y loc("some1")
    return %y1, %z1, %swapped1, %shared1, %e3, %some1 : !y, !x, !y, !y, !h, !y
  }
}

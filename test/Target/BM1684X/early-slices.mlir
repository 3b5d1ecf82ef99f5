// A filter that does not fit local memory comes in slices. The first one is loaded while the layers in
// front compute, long before the others of the group; without early constants it is not.
// RUN: rm -rf %t.dir && mkdir -p %t.dir
// DEFINE: %{without} =
// DEFINE: %{name} =
// DEFINE: %{opt} = tpuc-opt %s --shape-infer=max-folded=5000000 --chip-assign=chip=bm1684x --convert-top-to-tpu=mode=F32 --subnet-divide --weight-reorder "--layer-group=%{without}" --address-assign --codegen=model=%t.dir/%{name}.bmodel -o %t.dir/%{name}.mlir && model_tool --profile --json %t.dir/%{name}.bmodel > %t.dir/%{name}.txt
// REDEFINE: %{name} = late
// REDEFINE: %{without} = without=early-constants
// RUN: %{opt}
// REDEFINE: %{name} = early
// REDEFINE: %{without} = opt=1
// RUN: %{opt}
// RUN: FileCheck %s < %t.dir/early.mlir
// RUN: %python %tpuc_src/test/Codegen/Inputs/fewer_cycles.py %t.dir/late.txt %t.dir/early.txt
// CHECK: "tpu.Load"{{.*}}c_idx = [0, {{.*}}first_step = -{{[2-9]}} : i64{{.*}}step = -1 : i64
module attributes {module.name = "net"} {
  func.func @main(%arg0: tensor<1x64x32x32xf32>) -> tensor<1x2048x1x1xf32> {
    %none = "top.None"() : () -> none
    %x = "top.Input"(%arg0) : (tensor<1x64x32x32xf32>) -> tensor<1x64x32x32xf32> loc("x")
    %u = "top.ConstantFill"(%none) {shape = [64, 64, 3, 3], value = 0.5 : f32} : (none) -> tensor<64x64x3x3xf32> loc("u")
    %w = "top.ConstantFill"(%none) {shape = [2048, 64, 32, 1], value = 0.5 : f32} : (none) -> tensor<2048x64x32x1xf32> loc("w")
    %0 = "top.Conv"(%x, %u, %none) {kernel_shape = [3, 3], pads = [1, 1, 1, 1]} : (tensor<1x64x32x32xf32>, tensor<64x64x3x3xf32>, none) -> tensor<1x64x32x32xf32> loc("0")
    %1 = "top.Conv"(%0, %u, %none) {kernel_shape = [3, 3], pads = [1, 1, 1, 1]} : (tensor<1x64x32x32xf32>, tensor<64x64x3x3xf32>, none) -> tensor<1x64x32x32xf32> loc("1")
    %2 = "top.MaxPool"(%1) {kernel_shape = [1, 32], strides = [1, 1]} : (tensor<1x64x32x32xf32>) -> tensor<1x64x32x1xf32> loc("2")
    %3 = "top.Conv"(%2, %w, %none) {kernel_shape = [32, 1]} : (tensor<1x64x32x1xf32>, tensor<2048x64x32x1xf32>, none) -> tensor<1x2048x1x1xf32> loc("3")
    return %3 : tensor<1x2048x1x1xf32>
  }
}

// Groups of few channels are computed together as far as their channels make one block, with zeros
// where they do not meet. Depthwise convolutions, full blocks and F32 stay as they are.
// DEFINE: %{mode} = F16
// DEFINE: %{lower} = tpuc-opt %s --shape-infer --chip-assign=chip=bm1684x --convert-top-to-tpu=mode=%{mode}
// RUN: %{lower} --merge-groups --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s
// REDEFINE: %{mode} = F32
// RUN: %{lower} --merge-groups | FileCheck %s --check-prefix=F32

// CHECK: %[[W:.*]] = "top.Weight"() : () -> tensor<24x24x3x3xf16> loc("w_f16_merged")
// CHECK: "tpu.Conv"(%{{.*}}, %[[W]], %{{.*}}group = 1{{.*}} loc("all_f16")
// Four of eight groups are a block of 32 channels.
// CHECK: "tpu.Conv"(%{{.*}}group = 2{{.*}}tensor<16x32x1x1xf16>{{.*}} loc("half_f16")
// CHECK: "tpu.Conv"(%{{.*}}group = 2{{.*}}tensor<64x32x1x1xf16>{{.*}} loc("full_f16")
// CHECK: "tpu.Conv"(%{{.*}}group = 64{{.*}}tensor<64x1x3x3xf16>{{.*}} loc("one_f16")
// F32-COUNT-2: "tpu.Conv"(%{{.*}}group = {{[48]}} :

// The same numbers as with the groups apart, in fewer cycles.
// DEFINE: %{file} = --subnet-divide --weight-reorder --layer-group --address-assign --codegen=model=%t.dir
// RUN: rm -rf %t.dir && mkdir -p %t.dir
// RUN: %python %tpuc_src/test/Codegen/Inputs/ramp.py %t.dir/in.npz x=2,24,6,7 y=1,64,6,7
// REDEFINE: %{mode} = F16
// RUN: %{lower} %{file}/apart.bmodel -o %t.dir/apart.mlir
// RUN: %{lower} --merge-groups %{file}/merged.bmodel -o %t.dir/merged.mlir
// RUN: model_runner --model %t.dir/apart.bmodel --input %t.dir/in.npz --output %t.dir/apart.npz
// RUN: model_runner --model %t.dir/merged.bmodel --input %t.dir/in.npz --output %t.dir/merged.npz
// RUN: npz_tool compare %t.dir/merged.npz %t.dir/apart.npz --tolerance 1,1
// RUN: model_tool --profile --json %t.dir/apart.bmodel > %t.dir/apart.txt
// RUN: model_tool --profile --json %t.dir/merged.bmodel > %t.dir/merged.txt
// RUN: %python %tpuc_src/test/Codegen/Inputs/fewer_cycles.py %t.dir/apart.txt %t.dir/merged.txt
module attributes {module.name = "net"} {
  func.func @main(%arg0: tensor<2x24x6x7xf32>, %arg1: tensor<1x64x6x7xf32>) -> (tensor<2x24x4x5xf32>, tensor<1x16x6x7xf32>, tensor<1x64x6x7xf32>, tensor<1x64x6x7xf32>) {
    %none = "top.None"() : () -> none
    %x = "top.Input"(%arg0) : (tensor<2x24x6x7xf32>) -> tensor<2x24x6x7xf32> loc("x")
    %y = "top.Input"(%arg1) : (tensor<1x64x6x7xf32>) -> tensor<1x64x6x7xf32> loc("y")
    %w = "top.ConstantFill"(%none) {shape = [24, 6, 3, 3], value = 0.5 : f32} : (none) -> tensor<24x6x3x3xf32> loc("w")
    %v = "top.ConstantFill"(%none) {shape = [16, 8, 1, 1], value = 0.25 : f32} : (none) -> tensor<16x8x1x1xf32> loc("v")
    %u = "top.ConstantFill"(%none) {shape = [64, 32, 1, 1], value = 0.125 : f32} : (none) -> tensor<64x32x1x1xf32> loc("u")
    %t = "top.ConstantFill"(%none) {shape = [64, 1, 3, 3], value = 0.5 : f32} : (none) -> tensor<64x1x3x3xf32> loc("t")
    %0 = "top.Conv"(%x, %w, %none) {kernel_shape = [3, 3], group = 4} : (tensor<2x24x6x7xf32>, tensor<24x6x3x3xf32>, none) -> tensor<2x24x4x5xf32> loc("all")
    %1 = "top.Conv"(%y, %v, %none) {kernel_shape = [1, 1], group = 8} : (tensor<1x64x6x7xf32>, tensor<16x8x1x1xf32>, none) -> tensor<1x16x6x7xf32> loc("half")
    %2 = "top.Conv"(%y, %u, %none) {kernel_shape = [1, 1], group = 2} : (tensor<1x64x6x7xf32>, tensor<64x32x1x1xf32>, none) -> tensor<1x64x6x7xf32> loc("full")
    %3 = "top.Conv"(%y, %t, %none) {kernel_shape = [3, 3], pads = [1, 1, 1, 1], group = 64} : (tensor<1x64x6x7xf32>, tensor<64x1x3x3xf32>, none) -> tensor<1x64x6x7xf32> loc("one")
    return %0, %1, %2, %3 : tensor<2x24x4x5xf32>, tensor<1x16x6x7xf32>, tensor<1x64x6x7xf32>, tensor<1x64x6x7xf32>
  }
}

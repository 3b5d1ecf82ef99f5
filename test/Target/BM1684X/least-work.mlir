// Estimates of groups do not know what is loaded beside them: here the filters that stay in local
// memory. Groups with less work of both engines take fewer cycles by the timing simulator. A search
// sets out from them, so that it takes no more cycles.
// RUN: rm -rf %t.dir && mkdir -p %t.dir
// DEFINE: %{without} =
// DEFINE: %{name} =
// DEFINE: %{opt} = tpuc-opt %s --shape-infer --chip-assign=chip=bm1684x --convert-top-to-tpu=mode=F16 --subnet-divide --weight-reorder "--layer-group=%{without}" --address-assign --codegen=model=%t.dir/%{name}.bmodel -o %t.dir/%{name}.mlir && model_tool --profile --json %t.dir/%{name}.bmodel > %t.dir/%{name}.txt
// REDEFINE: %{name} = estimated
// REDEFINE: %{without} = without=least-work
// RUN: %{opt}
// REDEFINE: %{name} = simulated
// REDEFINE: %{without} = opt=1
// RUN: %{opt}
// REDEFINE: %{name} = searched
// REDEFINE: %{without} = opt=2
// RUN: %{opt}
// REDEFINE: %{name} = searched-long
// REDEFINE: %{without} = opt=3
// RUN: %{opt}
// RUN: %python %tpuc_src/test/Codegen/Inputs/fewer_cycles.py %t.dir/estimated.txt %t.dir/simulated.txt %t.dir/searched.txt %t.dir/searched-long.txt
module attributes {module.name = "net"} {
  func.func @main(%arg0: tensor<1x3x32x384xf32>) -> tensor<1x192x4x48xf32> {
    %none = "top.None"() : () -> none
    %x = "top.Input"(%arg0) : (tensor<1x3x32x384xf32>) -> tensor<1x3x32x384xf32> loc("x")
    %ws0 = "top.ConstantFill"(%none) {shape = [8, 3, 3, 3], value = 0.03125 : f32} : (none) -> tensor<8x3x3x3xf32> loc("ws0")
    %s0 = "top.Conv"(%x, %ws0, %none) {kernel_shape = [3, 3], pads = [1, 1, 1, 1], strides = [2, 2], group = 1 : i64, do_relu = true} : (tensor<1x3x32x384xf32>, tensor<8x3x3x3xf32>, none) -> tensor<1x8x16x192xf32> loc("cs0")
    %a0 = "top.HardSwish"(%s0) : (tensor<1x8x16x192xf32>) -> tensor<1x8x16x192xf32> loc("a0")
    %a1 = "top.HardSwish"(%a0) : (tensor<1x8x16x192xf32>) -> tensor<1x8x16x192xf32> loc("a1")
    %a2 = "top.HardSwish"(%a1) : (tensor<1x8x16x192xf32>) -> tensor<1x8x16x192xf32> loc("a2")
    %ws1 = "top.ConstantFill"(%none) {shape = [8, 1, 3, 3], value = 0.03125 : f32} : (none) -> tensor<8x1x3x3xf32> loc("ws1")
    %s1 = "top.Conv"(%a2, %ws1, %none) {kernel_shape = [3, 3], pads = [1, 1, 1, 1], strides = [1, 1], group = 8 : i64, do_relu = true} : (tensor<1x8x16x192xf32>, tensor<8x1x3x3xf32>, none) -> tensor<1x8x16x192xf32> loc("cs1")
    %ws2 = "top.ConstantFill"(%none) {shape = [16, 8, 1, 1], value = 0.03125 : f32} : (none) -> tensor<16x8x1x1xf32> loc("ws2")
    %s2 = "top.Conv"(%s1, %ws2, %none) {kernel_shape = [1, 1], pads = [0, 0, 0, 0], strides = [1, 1], group = 1 : i64, do_relu = true} : (tensor<1x8x16x192xf32>, tensor<16x8x1x1xf32>, none) -> tensor<1x16x16x192xf32> loc("cs2")
    %ws3 = "top.ConstantFill"(%none) {shape = [16, 1, 3, 3], value = 0.03125 : f32} : (none) -> tensor<16x1x3x3xf32> loc("ws3")
    %s3 = "top.Conv"(%s2, %ws3, %none) {kernel_shape = [3, 3], pads = [1, 1, 1, 1], strides = [2, 2], group = 16 : i64, do_relu = true} : (tensor<1x16x16x192xf32>, tensor<16x1x3x3xf32>, none) -> tensor<1x16x8x96xf32> loc("cs3")
    %ws4 = "top.ConstantFill"(%none) {shape = [16, 1, 3, 3], value = 0.03125 : f32} : (none) -> tensor<16x1x3x3xf32> loc("ws4")
    %s4 = "top.Conv"(%s3, %ws4, %none) {kernel_shape = [3, 3], pads = [1, 1, 1, 1], strides = [2, 2], group = 16 : i64, do_relu = true} : (tensor<1x16x8x96xf32>, tensor<16x1x3x3xf32>, none) -> tensor<1x16x4x48xf32> loc("cs4")
    %ws5 = "top.ConstantFill"(%none) {shape = [192, 16, 1, 1], value = 0.03125 : f32} : (none) -> tensor<192x16x1x1xf32> loc("ws5")
    %s5 = "top.Conv"(%s4, %ws5, %none) {kernel_shape = [1, 1], pads = [0, 0, 0, 0], strides = [1, 1], group = 1 : i64, do_relu = true} : (tensor<1x16x4x48xf32>, tensor<192x16x1x1xf32>, none) -> tensor<1x192x4x48xf32> loc("cs5")
    %ws6 = "top.ConstantFill"(%none) {shape = [192, 192, 1, 1], value = 0.03125 : f32} : (none) -> tensor<192x192x1x1xf32> loc("ws6")
    %s6 = "top.Conv"(%s5, %ws6, %none) {kernel_shape = [1, 1], pads = [0, 0, 0, 0], strides = [1, 1], group = 1 : i64, do_relu = true} : (tensor<1x192x4x48xf32>, tensor<192x192x1x1xf32>, none) -> tensor<1x192x4x48xf32> loc("cs6")
    %ws7 = "top.ConstantFill"(%none) {shape = [192, 192, 1, 1], value = 0.03125 : f32} : (none) -> tensor<192x192x1x1xf32> loc("ws7")
    %s7 = "top.Conv"(%s6, %ws7, %none) {kernel_shape = [1, 1], pads = [0, 0, 0, 0], strides = [1, 1], group = 1 : i64, do_relu = true} : (tensor<1x192x4x48xf32>, tensor<192x192x1x1xf32>, none) -> tensor<1x192x4x48xf32> loc("cs7")
    %ws8 = "top.ConstantFill"(%none) {shape = [192, 192, 1, 1], value = 0.03125 : f32} : (none) -> tensor<192x192x1x1xf32> loc("ws8")
    %s8 = "top.Conv"(%s7, %ws8, %none) {kernel_shape = [1, 1], pads = [0, 0, 0, 0], strides = [1, 1], group = 1 : i64, do_relu = true} : (tensor<1x192x4x48xf32>, tensor<192x192x1x1xf32>, none) -> tensor<1x192x4x48xf32> loc("cs8")
    %ws9 = "top.ConstantFill"(%none) {shape = [192, 192, 1, 1], value = 0.03125 : f32} : (none) -> tensor<192x192x1x1xf32> loc("ws9")
    %s9 = "top.Conv"(%s8, %ws9, %none) {kernel_shape = [1, 1], pads = [0, 0, 0, 0], strides = [1, 1], group = 1 : i64, do_relu = true} : (tensor<1x192x4x48xf32>, tensor<192x192x1x1xf32>, none) -> tensor<1x192x4x48xf32> loc("cs9")
    %ws10 = "top.ConstantFill"(%none) {shape = [192, 192, 1, 1], value = 0.03125 : f32} : (none) -> tensor<192x192x1x1xf32> loc("ws10")
    %s10 = "top.Conv"(%s9, %ws10, %none) {kernel_shape = [1, 1], pads = [0, 0, 0, 0], strides = [1, 1], group = 1 : i64, do_relu = true} : (tensor<1x192x4x48xf32>, tensor<192x192x1x1xf32>, none) -> tensor<1x192x4x48xf32> loc("cs10")
    %ws11 = "top.ConstantFill"(%none) {shape = [192, 192, 1, 1], value = 0.03125 : f32} : (none) -> tensor<192x192x1x1xf32> loc("ws11")
    %s11 = "top.Conv"(%s10, %ws11, %none) {kernel_shape = [1, 1], pads = [0, 0, 0, 0], strides = [1, 1], group = 1 : i64, do_relu = true} : (tensor<1x192x4x48xf32>, tensor<192x192x1x1xf32>, none) -> tensor<1x192x4x48xf32> loc("cs11")
    return %s11 : tensor<1x192x4x48xf32>
  }
}

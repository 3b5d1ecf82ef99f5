// Groups that the timing simulator finds better than those that are best by estimate.
// RUN: rm -rf %t.dir && mkdir -p %t.dir
// DEFINE: %{low} = --shape-infer --chip-assign=chip=bm1684x --convert-top-to-tpu=mode=F32 --subnet-divide --weight-reorder
// RUN: tpuc-opt %s %{low} "--layer-group=opt=1 save-groups=%t.dir/1.json" --address-assign --codegen=model=%t.dir/1.bmodel -o %t.dir/1.mlir
// RUN: tpuc-opt %s %{low} "--layer-group=opt=2 save-groups=%t.dir/2.json" --address-assign --codegen=model=%t.dir/2.bmodel -o %t.dir/2.mlir
// RUN: tpuc-opt %s %{low} --layer-group=opt=3 --address-assign --codegen=model=%t.dir/3.bmodel -o %t.dir/3.mlir
// RUN: not cmp -s %t.dir/1.json %t.dir/2.json
// RUN: model_tool --profile --json %t.dir/1.bmodel > %t.dir/1.txt
// RUN: model_tool --profile --json %t.dir/2.bmodel > %t.dir/2.txt
// RUN: model_tool --profile --json %t.dir/3.bmodel > %t.dir/3.txt
// RUN: %python %tpuc_src/test/Codegen/Inputs/fewer_cycles.py %t.dir/1.txt %t.dir/2.txt %t.dir/3.txt

// The same with any number of threads, and in every run. The groups that are found can be asked for, and no address of the search is left.
// RUN: tpuc-opt %s %{low} --layer-group=opt=2 --address-assign --codegen=model=%t.dir/again.bmodel -o %t.dir/again.mlir
// RUN: cmp %t.dir/2.bmodel %t.dir/again.bmodel
// RUN: cmp %t.dir/2.mlir %t.dir/again.mlir
// DEFINE: %{opt} = 1
// DEFINE: %{threads} = 1
// DEFINE: %{same} = tpuc-opt %s %{low} "--layer-group=opt=%{opt} num-threads=%{threads}" --address-assign --codegen=model=%t.dir/threads.bmodel -o %t.dir/threads.mlir && cmp %t.dir/threads.bmodel %t.dir/%{opt}.bmodel
// RUN: %{same}
// REDEFINE: %{opt} = 2
// RUN: %{same}
// REDEFINE: %{opt} = 3
// RUN: %{same}
// REDEFINE: %{threads} = 2
// RUN: %{same}
// REDEFINE: %{threads} = 8
// RUN: %{same}
// REDEFINE: %{opt} = 2
// RUN: %{same}
// REDEFINE: %{opt} = 1
// RUN: %{same}
// RUN: tpuc-opt %s %{low} --layer-group=load-groups=%t.dir/2.json --address-assign --codegen=model=%t.dir/loaded.bmodel -o %t.dir/loaded.mlir
// RUN: cmp %t.dir/2.bmodel %t.dir/loaded.bmodel
// RUN: tpuc-opt %s %{low} --layer-group=opt=2 | FileCheck %s --check-prefix=TYPES
// TYPES: "tpu.Group"
// TYPES-NOT: tensor<{{[^>]*}} : i64>

// A search that may not take any time gives groups all the same.
// RUN: tpuc-opt %s %{low} "--layer-group=opt=3 seconds=1" | FileCheck %s --check-prefix=TYPES

// Each heuristic can be left out alone.
// RUN: tpuc-opt %s %{low} --layer-group | FileCheck %s --check-prefix=ALL
// ALL: resident = 1
// RUN: tpuc-opt %s %{low} --layer-group=without=resident-constants | FileCheck %s --check-prefix=LEAN --implicit-check-not="resident = 1"
// LEAN: "tpu.Group"

// RUN: not tpuc-opt %s %{low} --layer-group=without=magic 2>&1 | FileCheck %s --check-prefix=WITHOUT
// WITHOUT: error: --layer-group: without: 'magic'; expected some of fold-head-reshapes, join-convolutions, split-convolutions, op-reorder, hoist-outputs, narrow-concat, column-gather, fold-depths, late-permutes, resident-constants, in-place-concat, early-constants, overlap, least-work, urgent-transfers, sums-to-conv, merge-groups, gemv-to-conv, lut-to-arith, pack-rows, transpose-in-groups, fold-transpose-into-store, gather-rows, permute-by-transposes
module attributes {module.name = "net"} {
  func.func @main(%arg0: tensor<1x32x128x128xf32>) -> tensor<1x384x16x16xf32> {
    %none = "top.None"() : () -> none
    %x = "top.Input"(%arg0) : (tensor<1x32x128x128xf32>) -> tensor<1x32x128x128xf32> loc("x")
    %w_c0 = "top.ConstantFill"(%none) {shape = [64, 32, 1, 1], value = 0.03125 : f32} : (none) -> tensor<64x32x1x1xf32> loc("w_c0")
    %b_c0 = "top.ConstantFill"(%none) {shape = [64], value = 0.03125 : f32} : (none) -> tensor<64xf32> loc("b_c0")
    %c0 = "top.Conv"(%x, %w_c0, %b_c0) {kernel_shape = [1, 1], pads = [0, 0, 0, 0], strides = [1, 1], group = 1 : i64, do_relu = true} : (tensor<1x32x128x128xf32>, tensor<64x32x1x1xf32>, tensor<64xf32>) -> tensor<1x64x128x128xf32> loc("c0")
    %w_c1 = "top.ConstantFill"(%none) {shape = [64, 64, 3, 3], value = 0.03125 : f32} : (none) -> tensor<64x64x3x3xf32> loc("w_c1")
    %b_c1 = "top.ConstantFill"(%none) {shape = [64], value = 0.03125 : f32} : (none) -> tensor<64xf32> loc("b_c1")
    %c1 = "top.Conv"(%c0, %w_c1, %b_c1) {kernel_shape = [3, 3], pads = [1, 1, 1, 1], strides = [1, 1], group = 1 : i64, do_relu = true} : (tensor<1x64x128x128xf32>, tensor<64x64x3x3xf32>, tensor<64xf32>) -> tensor<1x64x128x128xf32> loc("c1")
    %w_c2 = "top.ConstantFill"(%none) {shape = [64, 64, 1, 1], value = 0.03125 : f32} : (none) -> tensor<64x64x1x1xf32> loc("w_c2")
    %b_c2 = "top.ConstantFill"(%none) {shape = [64], value = 0.03125 : f32} : (none) -> tensor<64xf32> loc("b_c2")
    %c2 = "top.Conv"(%c1, %w_c2, %b_c2) {kernel_shape = [1, 1], pads = [0, 0, 0, 0], strides = [1, 1], group = 1 : i64, do_relu = true} : (tensor<1x64x128x128xf32>, tensor<64x64x1x1xf32>, tensor<64xf32>) -> tensor<1x64x128x128xf32> loc("c2")
    %a1 = "top.Add"(%c2, %c0) : (tensor<1x64x128x128xf32>, tensor<1x64x128x128xf32>) -> tensor<1x64x128x128xf32> loc("a1")
    %w_c3 = "top.ConstantFill"(%none) {shape = [96, 64, 3, 3], value = 0.03125 : f32} : (none) -> tensor<96x64x3x3xf32> loc("w_c3")
    %b_c3 = "top.ConstantFill"(%none) {shape = [96], value = 0.03125 : f32} : (none) -> tensor<96xf32> loc("b_c3")
    %c3 = "top.Conv"(%a1, %w_c3, %b_c3) {kernel_shape = [3, 3], pads = [1, 1, 1, 1], strides = [2, 2], group = 1 : i64, do_relu = true} : (tensor<1x64x128x128xf32>, tensor<96x64x3x3xf32>, tensor<96xf32>) -> tensor<1x96x64x64xf32> loc("c3")
    %w_c4 = "top.ConstantFill"(%none) {shape = [96, 96, 3, 3], value = 0.03125 : f32} : (none) -> tensor<96x96x3x3xf32> loc("w_c4")
    %b_c4 = "top.ConstantFill"(%none) {shape = [96], value = 0.03125 : f32} : (none) -> tensor<96xf32> loc("b_c4")
    %c4 = "top.Conv"(%c3, %w_c4, %b_c4) {kernel_shape = [3, 3], pads = [1, 1, 1, 1], strides = [1, 1], group = 1 : i64, do_relu = true} : (tensor<1x96x64x64xf32>, tensor<96x96x3x3xf32>, tensor<96xf32>) -> tensor<1x96x64x64xf32> loc("c4")
    %a2 = "top.Add"(%c4, %c3) : (tensor<1x96x64x64xf32>, tensor<1x96x64x64xf32>) -> tensor<1x96x64x64xf32> loc("a2")
    %w_c5 = "top.ConstantFill"(%none) {shape = [192, 96, 3, 3], value = 0.03125 : f32} : (none) -> tensor<192x96x3x3xf32> loc("w_c5")
    %b_c5 = "top.ConstantFill"(%none) {shape = [192], value = 0.03125 : f32} : (none) -> tensor<192xf32> loc("b_c5")
    %c5 = "top.Conv"(%a2, %w_c5, %b_c5) {kernel_shape = [3, 3], pads = [1, 1, 1, 1], strides = [2, 2], group = 1 : i64, do_relu = true} : (tensor<1x96x64x64xf32>, tensor<192x96x3x3xf32>, tensor<192xf32>) -> tensor<1x192x32x32xf32> loc("c5")
    %w_c6 = "top.ConstantFill"(%none) {shape = [192, 192, 3, 3], value = 0.03125 : f32} : (none) -> tensor<192x192x3x3xf32> loc("w_c6")
    %b_c6 = "top.ConstantFill"(%none) {shape = [192], value = 0.03125 : f32} : (none) -> tensor<192xf32> loc("b_c6")
    %c6 = "top.Conv"(%c5, %w_c6, %b_c6) {kernel_shape = [3, 3], pads = [1, 1, 1, 1], strides = [1, 1], group = 1 : i64, do_relu = true} : (tensor<1x192x32x32xf32>, tensor<192x192x3x3xf32>, tensor<192xf32>) -> tensor<1x192x32x32xf32> loc("c6")
    %w_c7 = "top.ConstantFill"(%none) {shape = [192, 192, 1, 1], value = 0.03125 : f32} : (none) -> tensor<192x192x1x1xf32> loc("w_c7")
    %b_c7 = "top.ConstantFill"(%none) {shape = [192], value = 0.03125 : f32} : (none) -> tensor<192xf32> loc("b_c7")
    %c7 = "top.Conv"(%c6, %w_c7, %b_c7) {kernel_shape = [1, 1], pads = [0, 0, 0, 0], strides = [1, 1], group = 1 : i64, do_relu = true} : (tensor<1x192x32x32xf32>, tensor<192x192x1x1xf32>, tensor<192xf32>) -> tensor<1x192x32x32xf32> loc("c7")
    %a3 = "top.Add"(%c7, %c5) : (tensor<1x192x32x32xf32>, tensor<1x192x32x32xf32>) -> tensor<1x192x32x32xf32> loc("a3")
    %w_c8 = "top.ConstantFill"(%none) {shape = [384, 192, 3, 3], value = 0.03125 : f32} : (none) -> tensor<384x192x3x3xf32> loc("w_c8")
    %b_c8 = "top.ConstantFill"(%none) {shape = [384], value = 0.03125 : f32} : (none) -> tensor<384xf32> loc("b_c8")
    %c8 = "top.Conv"(%a3, %w_c8, %b_c8) {kernel_shape = [3, 3], pads = [1, 1, 1, 1], strides = [2, 2], group = 1 : i64, do_relu = true} : (tensor<1x192x32x32xf32>, tensor<384x192x3x3xf32>, tensor<384xf32>) -> tensor<1x384x16x16xf32> loc("c8")
    %w_c9 = "top.ConstantFill"(%none) {shape = [384, 384, 3, 3], value = 0.03125 : f32} : (none) -> tensor<384x384x3x3xf32> loc("w_c9")
    %b_c9 = "top.ConstantFill"(%none) {shape = [384], value = 0.03125 : f32} : (none) -> tensor<384xf32> loc("b_c9")
    %c9 = "top.Conv"(%c8, %w_c9, %b_c9) {kernel_shape = [3, 3], pads = [1, 1, 1, 1], strides = [1, 1], group = 1 : i64, do_relu = true} : (tensor<1x384x16x16xf32>, tensor<384x384x3x3xf32>, tensor<384xf32>) -> tensor<1x384x16x16xf32> loc("c9")
    return %c9 : tensor<1x384x16x16xf32>
  }
}

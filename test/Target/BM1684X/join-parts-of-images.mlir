// Channels of several images are joined in a group whose tiles have one image each: in place, and by
// a move where a part does not begin at a whole round of lanes.
// RUN: rm -rf %t.dir && mkdir -p %t.dir
// RUN: %python %tpuc_src/test/Codegen/Inputs/ramp.py %t.dir/in.npz x=3,64,12,10
// RUN: model_runner --model %s --input %t.dir/in.npz --output %t.dir/lowered.npz
// DEFINE: %{groups} =
// DEFINE: %{opt} = tpuc-opt %s --subnet-divide "--layer-group=%{groups}" --address-assign --codegen=model=%t.dir/net.bmodel --mlir-print-debuginfo --mlir-print-local-scope -o %t.dir/final.mlir
// DEFINE: %{run} = model_runner --model %t.dir/net.bmodel --input %t.dir/in.npz --output %t.dir/net.npz && npz_tool compare %t.dir/net.npz %t.dir/lowered.npz --tolerance 1,1

// RUN: echo '{"groups": [{"layers": ["a", "b", "c", "joined", "r"], "n": 3, "h": 2}]}' > %t.dir/groups.json
// REDEFINE: %{groups} = load-groups=%t.dir/groups.json
// RUN: %{opt}
// RUN: FileCheck %s < %t.dir/final.mlir
// RUN: %{run}
// CHECK: "tpu.Concat"{{.*}}n_idx = [0, 1, 2], n_slice = [1, 1, 1]{{.*}} loc("joined")

// Chosen by cost.
// REDEFINE: %{groups} =
// RUN: %{opt}
// RUN: FileCheck %s < %t.dir/final.mlir
// RUN: %{run}

// The next image of a part does not lie where that of the whole does.
// RUN: echo '{"groups": [{"layers": ["a", "b", "c", "joined", "r"], "n": 2}]}' > %t.dir/groups.json
// RUN: not tpuc-opt %s --subnet-divide --layer-group=load-groups=%t.dir/groups.json -o - 2>&1 | FileCheck %s --check-prefix=SEVERAL
// SEVERAL: a tile has several images, whose parts lie apart
// RUN: sed 's/n_idx = \[0, 1, 2\], n_slice = \[1, 1, 1\]/n_idx = [0], n_slice = [3]/g' %t.dir/final.mlir > %t.dir/several.mlir
// RUN: not tpuc-opt %t.dir/several.mlir --codegen=model=%t.dir/several.bmodel -o - 2>&1 | FileCheck %s --check-prefix=FILE
// FILE: joins channels of several images in one tile

!x = tensor<3x64x12x10xf32>
!n = tensor<3x16x12x10xf32>
!j = tensor<3x208x12x10xf32>
module attributes {module.name = "net", module.chip = "bm1684x", module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: !x) -> !j {
    %x = "top.Input"(%arg0) : (!x) -> !x loc("x")
    %n = "top.None"() : () -> none
    %few = "tpu.Slice"(%x, %n, %n, %n, %n) {offset = [0, 3, 0, 0], steps = [1, 1, 1, 1], ends = [3, 19, 12, 10], axes = [0, 1, 2, 3]} : (!x, none, none, none, none) -> !n loc("few")
    %a = "tpu.MaxPool"(%x) {kernel_shape = [3, 3], pads = [1, 1, 1, 1], strides = [1, 1]} : (!x) -> !x loc("a")
    %b = "tpu.MaxPool"(%a) {kernel_shape = [5, 5], pads = [2, 2, 2, 2], strides = [1, 1]} : (!x) -> !x loc("b")
    %c = "tpu.Abs"(%few) : (!n) -> !n loc("c")
    %j = "tpu.Concat"(%b, %c, %x, %a) {axis = 1 : i64} : (!x, !n, !x, !x) -> !j loc("joined")
    %r = "tpu.Abs"(%j) : (!j) -> !j loc("r")
    return %r : !j
  }
}

// Groups of several layers compute what the network computes, after each phase: slices along n and h
// whose halos differ, a sum that reads a part of what it is given, a concatenation that lies where it
// is made, and one that moves data between groups.
// RUN: rm -rf %t.dir && mkdir -p %t.dir
// RUN: sed s/bm1684x/%chip/ %s > %t.dir/net.mlir
// RUN: %python %S/Inputs/ramp.py %t.dir/in.npz x=2,70,40,3 y=1,64,33,2
// RUN: model_runner --model %t.dir/net.mlir --input %t.dir/in.npz --output %t.dir/lowered.npz
// DEFINE: %{groups} =
// DEFINE: %{name} =
// DEFINE: %{opt} = tpuc-opt %t.dir/net.mlir --subnet-divide "--layer-group=%{groups}" --mlir-print-debuginfo --mlir-print-local-scope -o %t.dir/%{name}.mlir && tpuc-opt %t.dir/%{name}.mlir --address-assign --mlir-print-debuginfo --mlir-print-local-scope -o %t.dir/%{name}_final.mlir
// DEFINE: %{run} = model_runner --model %t.dir/%{name}.mlir --input %t.dir/in.npz --output %t.dir/grouped.npz && model_runner --model %t.dir/%{name}_final.mlir --input %t.dir/in.npz --output %t.dir/final.npz
// DEFINE: %{compare} = npz_tool compare %t.dir/grouped.npz %t.dir/lowered.npz --tolerance 1,1 && npz_tool compare %t.dir/final.npz %t.dir/lowered.npz --tolerance 1,1

// Chosen by cost.
// REDEFINE: %{name} = best
// REDEFINE: %{groups} = save-groups=%t.dir/best.json
// RUN: %{opt}
// RUN: %{run}
// RUN: %{compare}

// Cut finer than memory asks for.
// RUN: echo '{"groups": [{"layers": ["x1", "x2", "x3", "x4"], "n": 2, "h": 3}, {"layers": ["y1", "y2", "y3", "y4", "y5"], "h": 4}, {"layers": ["y6"]}, {"layers": ["z1"], "h": 2}, {"layers": ["z2"], "h": 2}]}' > %t.dir/groups.json
// REDEFINE: %{name} = sliced
// REDEFINE: %{groups} = load-groups=%t.dir/groups.json
// RUN: %{opt}
// RUN: FileCheck %s < %t.dir/sliced.mlir
// CHECK: "tpu.Load"{{.*}}h_idx = [0, 9, 22], h_slice = [17, 21, 18]
// CHECK: "tpu.MaxPool"{{.*}}h_idx = [0, 10, 23], h_slice = [16, 19, 17]{{.*}}loc("x1")
// CHECK: "tpu.Add"{{.*}}h_idx = [0, 13, 26], h_slice = [13, 13, 14]{{.*}}loc("x4")
// CHECK: "tpu.Concat"{{.*}}stage = 1{{.*}}loc("y4")
// CHECK: "tpu.Concat"{{.*}}time = {{.*}}loc("both")
// RUN: %{run}
// RUN: %{compare}

// One by one.
// REDEFINE: %{name} = single
// REDEFINE: %{groups} = opt=0
// RUN: %{opt}
// RUN: %{run}
// RUN: %{compare}
module attributes {module.name = "net", module.chip = "bm1684x", module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: tensor<2x70x40x3xf32>, %arg1: tensor<1x64x33x2xf32>) -> (tensor<2x70x40x3xf32>, tensor<1x256x33x2xf32>, tensor<1x144x33x2xf32>, tensor<1x144x33x2xf32>, tensor<1x64x33x2xf32>) {
    %x = "top.Input"(%arg0) : (tensor<2x70x40x3xf32>) -> tensor<2x70x40x3xf32> loc("x")
    %y = "top.Input"(%arg1) : (tensor<1x64x33x2xf32>) -> tensor<1x64x33x2xf32> loc("y")
    %0 = "tpu.MaxPool"(%x) {kernel_shape = [3, 3], pads = [1, 1, 1, 1], strides = [1, 1]} : (tensor<2x70x40x3xf32>) -> tensor<2x70x40x3xf32> loc("x1")
    %1 = "tpu.MaxPool"(%0) {kernel_shape = [5, 5], pads = [2, 2, 2, 2], strides = [1, 1]} : (tensor<2x70x40x3xf32>) -> tensor<2x70x40x3xf32> loc("x2")
    %2 = "tpu.MaxPool"(%1) {kernel_shape = [3, 1], pads = [1, 0, 1, 0], strides = [1, 1]} : (tensor<2x70x40x3xf32>) -> tensor<2x70x40x3xf32> loc("x3")
    %3 = "tpu.Add"(%0, %2) : (tensor<2x70x40x3xf32>, tensor<2x70x40x3xf32>) -> tensor<2x70x40x3xf32> loc("x4")
    %4 = "tpu.Neg"(%y) : (tensor<1x64x33x2xf32>) -> tensor<1x64x33x2xf32> loc("y1")
    %5 = "tpu.Add"(%y, %4) : (tensor<1x64x33x2xf32>, tensor<1x64x33x2xf32>) -> tensor<1x64x33x2xf32> loc("y2")
    %6 = "tpu.Abs"(%5) : (tensor<1x64x33x2xf32>) -> tensor<1x64x33x2xf32> loc("y3")
    %7 = "tpu.Concat"(%4, %6, %y, %5) {axis = 1 : i64} : (tensor<1x64x33x2xf32>, tensor<1x64x33x2xf32>, tensor<1x64x33x2xf32>, tensor<1x64x33x2xf32>) -> tensor<1x256x33x2xf32> loc("y4")
    %8 = "tpu.Relu"(%7) : (tensor<1x256x33x2xf32>) -> tensor<1x256x33x2xf32> loc("y5")
    %9 = "tpu.MaxPool"(%6) {kernel_shape = [1, 1], strides = [1, 1]} : (tensor<1x64x33x2xf32>) -> tensor<1x64x33x2xf32> loc("y6")
    %10 = "top.None"() : () -> none
    %11 = "tpu.Slice"(%9, %10, %10, %10, %10) {offset = [0, 0, 0, 0], steps = [1, 1, 1, 1], ends = [1, 16, 33, 2], axes = [0, 1, 2, 3]} : (tensor<1x64x33x2xf32>, none, none, none, none) -> tensor<1x16x33x2xf32> loc("few")
    %12 = "tpu.Concat"(%11, %9, %6) {axis = 1 : i64} : (tensor<1x16x33x2xf32>, tensor<1x64x33x2xf32>, tensor<1x64x33x2xf32>) -> tensor<1x144x33x2xf32> loc("both")
    %13 = "tpu.Relu"(%12) : (tensor<1x144x33x2xf32>) -> tensor<1x144x33x2xf32> loc("z1")
    %14 = "tpu.MaxPool"(%9) {kernel_shape = [3, 1], pads = [1, 0, 1, 0], strides = [1, 1]} : (tensor<1x64x33x2xf32>) -> tensor<1x64x33x2xf32> loc("z2")
    return %3, %8, %12, %13, %14 : tensor<2x70x40x3xf32>, tensor<1x256x33x2xf32>, tensor<1x144x33x2xf32>, tensor<1x144x33x2xf32>, tensor<1x64x33x2xf32>
  }
}

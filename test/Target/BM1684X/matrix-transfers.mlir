// What follows itself in global memory is transferred as a matrix: images as rows, or rounds of lanes
// where an image has too many elements for a row. Rows of a tile leave gaps, so they are a tensor.
// RUN: rm -rf %t.dir && mkdir -p %t.dir
// RUN: %python %tpuc_src/test/Codegen/Inputs/ramp.py %t.dir/in.npz x=2,48,5,7 y=1,192,30,32 z=1,64,40,32
// RUN: model_runner --model %s --input %t.dir/in.npz --output %t.dir/lowered.npz
// RUN: echo '{"groups": [{"layers": ["a"]}, {"layers": ["b"]}, {"layers": ["c"], "h": 2}]}' > %t.dir/groups.json
// RUN: tpuc-opt %s --subnet-divide --layer-group=load-groups=%t.dir/groups.json --address-assign --codegen=model=%t.dir/net.bmodel -o %t.dir/final.mlir
// RUN: model_runner --model %t.dir/net.bmodel --input %t.dir/in.npz --output %t.dir/net.npz
// RUN: npz_tool compare %t.dir/net.npz %t.dir/lowered.npz --tolerance 1,1
// RUN: model_tool --profile --csv %t.dir/net.csv %t.dir/net.bmodel
// RUN: grep GDMA %t.dir/net.csv | FileCheck %s --implicit-check-not=dma.copy

// CHECK-DAG: dma.matrix,{{.*}},S2L,13440,0,a
// CHECK-DAG: dma.matrix,{{.*}},L2S,13440,0,a
// CHECK-DAG: dma.matrix,{{.*}},S2L,737280,0,b
// CHECK-DAG: dma.matrix,{{.*}},L2S,737280,0,b
// CHECK-DAG: dma.copy,{{.*}},S2L,163840,0,c
// CHECK-DAG: dma.copy,{{.*}},S2L,163840,0,c
// CHECK-DAG: dma.copy,{{.*}},L2S,163840,0,c
// CHECK-DAG: dma.copy,{{.*}},L2S,163840,0,c
!x = tensor<2x48x5x7xf32>
!y = tensor<1x192x30x32xf32>
!z = tensor<1x64x40x32xf32>
module attributes {module.name = "net", module.chip = "bm1684x", module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: !x, %arg1: !y, %arg2: !z) -> (!x, !y, !z) {
    %x = "top.Input"(%arg0) : (!x) -> !x loc("x")
    %y = "top.Input"(%arg1) : (!y) -> !y loc("y")
    %z = "top.Input"(%arg2) : (!z) -> !z loc("z")
    %a = "tpu.MaxPool"(%x) {kernel_shape = [3, 3], pads = [1, 1, 1, 1], strides = [1, 1]} : (!x) -> !x loc("a")
    %b = "tpu.MaxPool"(%y) {kernel_shape = [3, 3], pads = [1, 1, 1, 1], strides = [1, 1]} : (!y) -> !y loc("b")
    %c = "tpu.MaxPool"(%z) {kernel_shape = [1, 3], pads = [0, 1, 0, 1], strides = [1, 1]} : (!z) -> !z loc("c")
    return %a, %b, %c : !x, !y, !z
  }
}

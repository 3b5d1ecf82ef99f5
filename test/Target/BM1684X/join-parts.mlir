// A part of a concatenation that does not begin at a whole round of lanes is brought to its lanes
// while layers behind its own are computed; one that is made last, behind it.
// RUN: rm -rf %t.dir && mkdir -p %t.dir
// RUN: %python %tpuc_src/test/Codegen/Inputs/ramp.py %t.dir/in.npz x=1,48,24,24
// RUN: model_runner --model %s --input %t.dir/in.npz --output %t.dir/lowered.npz
// RUN: echo '{"groups": [{"layers": ["skip", "0", "1", "2", "3", "4", "joined", "r"]}]}' > %t.dir/groups.json
// RUN: tpuc-opt %s --subnet-divide --layer-group=load-groups=%t.dir/groups.json --address-assign --codegen=model=%t.dir/net.bmodel --mlir-print-debuginfo --mlir-print-local-scope -o %t.dir/final.mlir
// RUN: FileCheck %s < %t.dir/final.mlir
// RUN: model_runner --model %t.dir/net.bmodel --input %t.dir/in.npz --output %t.dir/net.npz
// RUN: npz_tool compare %t.dir/net.npz %t.dir/lowered.npz --tolerance 1,1
// RUN: model_tool --profile --csv %t.dir/net.csv %t.dir/net.bmodel
// RUN: FileCheck %s --check-prefix=ORDER < %t.dir/net.csv

// CHECK: "tpu.Concat"{{.*}}part_steps = [-1, {{[0-3]}}, -1]{{.*}} step = 6 : i64{{.*}} loc("joined")
// The skipped layers' part is there when the last part follows it.
// ORDER: GDMA,{{.*}},L2L,{{.*}},joined
// ORDER-NEXT: GDMA,{{.*}},L2L,{{.*}},joined
// ORDER-NOT: L2L
!x = tensor<1x48x24x24xf32>
module attributes {module.name = "net", module.chip = "bm1684x", module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: !x) -> tensor<1x144x24x24xf32> {
    %x = "top.Input"(%arg0) : (!x) -> !x loc("x")
    %skip = "tpu.MaxPool"(%x) {kernel_shape = [3, 3], pads = [1, 1, 1, 1], strides = [1, 1]} : (!x) -> !x loc("skip")
    %0 = "tpu.MaxPool"(%x) {kernel_shape = [5, 5], pads = [2, 2, 2, 2], strides = [1, 1]} : (!x) -> !x loc("0")
    %1 = "tpu.MaxPool"(%0) {kernel_shape = [7, 7], pads = [3, 3, 3, 3], strides = [1, 1]} : (!x) -> !x loc("1")
    %2 = "tpu.MaxPool"(%1) {kernel_shape = [7, 7], pads = [3, 3, 3, 3], strides = [1, 1]} : (!x) -> !x loc("2")
    %3 = "tpu.MaxPool"(%2) {kernel_shape = [7, 7], pads = [3, 3, 3, 3], strides = [1, 1]} : (!x) -> !x loc("3")
    %4 = "tpu.Abs"(%3) : (!x) -> !x loc("4")
    %j = "tpu.Concat"(%3, %skip, %4) {axis = 1 : i64} : (!x, !x, !x) -> tensor<1x144x24x24xf32> loc("joined")
    %r = "tpu.Abs"(%j) : (tensor<1x144x24x24xf32>) -> tensor<1x144x24x24xf32> loc("r")
    return %r : tensor<1x144x24x24xf32>
  }
}

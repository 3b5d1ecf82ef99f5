// Steps under taps, each with weights of its own, are a sum of products of shifted channels. The taps
// are two steps apart; the last one sees the step itself.
// RUN: rm -rf %t.dir && mkdir -p %t.dir
// RUN: %python %tpuc_src/test/Codegen/Inputs/ramp.py %t.dir/in.npz x=2,6,4 w=2,6,6
// RUN: tpuc-opt %s --shape-infer --top-fuse --mlir-print-debuginfo --mlir-print-local-scope -o %t.dir/fused.mlir
// RUN: FileCheck %s < %t.dir/fused.mlir
// RUN: tpuc-opt %s --shape-infer --top-fuse=disable=unfolded-taps | FileCheck %s --check-prefix=OFF
// RUN: tpuc-opt %s --shape-infer --top-fuse --chip-assign=chip=bm1684x --convert-top-to-tpu=mode=F32 --decompose --subnet-divide --weight-reorder --layer-group --address-assign --codegen=model=%t.dir/fused.bmodel -o %t.dir/none.mlir
// RUN: model_runner --model %s --input %t.dir/in.npz --output %t.dir/written.npz
// RUN: model_runner --model %t.dir/fused.bmodel --input %t.dir/in.npz --output %t.dir/fused.npz
// RUN: npz_tool compare %t.dir/fused.npz %t.dir/written.npz --tolerance 0.999999,0.99999
// OFF-NOT: "top.Conv"
// OFF: "top.Gather"
// CHECK-LABEL: func.func @main
// CHECK: "top.Conv"({{.*}}kernel_shape = [5], pads = [4, 0]{{.*}} loc("y_tap0_shifted")
// CHECK: "top.Conv"({{.*}}group = 1 {{.*}}(tensor<2x6x6xf32>, tensor<4x6x1xf32>, none) -> tensor<2x4x6xf32> loc("y_tap0_weights")
// CHECK: "top.Conv"({{.*}}kernel_shape = [3], pads = [2, 0]{{.*}} loc("y_tap1_shifted")
// CHECK-NOT: loc("y_tap2_shifted")
// CHECK-COUNT-2: "top.Add"
// CHECK: "top.Permute"({{.*}} -> tensor<2x6x4xf32>
// CHECK: "top.Reshape"({{.*}} -> tensor<24x2x1xf32> loc("y")
module attributes {module.name = "net", module.chip = "ALL", module.state = "TOP_F32"} {
  func.func @main(%arg0: tensor<2x6x4xf32>, %arg1: tensor<2x6x6xf32>) -> tensor<24x2x1xf32> {
    %n = "top.None"() : () -> none
    %x = "top.Input"(%arg0) : (tensor<2x6x4xf32>) -> tensor<2x6x4xf32> loc("x")
    %w = "top.Input"(%arg1) : (tensor<2x6x6xf32>) -> tensor<2x6x6xf32> loc("w")
    %c0 = "top.ConstantFill"(%n) {shape = [], value = 0 : i64} : (none) -> tensor<i64>
    %c1 = "top.ConstantFill"(%n) {shape = [], value = 1 : i64} : (none) -> tensor<i64>
    %c2 = "top.ConstantFill"(%n) {shape = [], value = 2 : i64} : (none) -> tensor<i64>
    %c6 = "top.ConstantFill"(%n) {shape = [], value = 6 : i64} : (none) -> tensor<i64>
    %i0 = "top.Range"(%c0, %c6, %c2) : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<3xi64>
    %i1 = "top.Unsqueeze"(%i0, %n) {axes = [1]} : (tensor<3xi64>, none) -> tensor<3x1xi64>
    %j0 = "top.Range"(%c0, %c6, %c1) : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<6xi64>
    %i = "top.Add"(%i1, %j0) : (tensor<3x1xi64>, tensor<6xi64>) -> tensor<3x6xi64>
    %t = "top.Permute"(%x) {order = [0, 2, 1]} : (tensor<2x6x4xf32>) -> tensor<2x4x6xf32> loc("t")
    %p = "top.Pad"(%t, %n, %n, %n) {paddings = [0, 0, 4, 0, 0, 0]} : (tensor<2x4x6xf32>, none, none, none) -> tensor<2x4x10xf32> loc("p")
    %g = "top.Gather"(%p, %i) {axis = 2 : i64} : (tensor<2x4x10xf32>, tensor<3x6xi64>) -> tensor<2x4x3x6xf32> loc("g")
    %u = "top.Reshape"(%g, %n) {shape = [2, 12, 6]} : (tensor<2x4x3x6xf32>, none) -> tensor<2x12x6xf32> loc("u")
    %v = "top.Permute"(%u) {order = [0, 2, 1]} : (tensor<2x12x6xf32>) -> tensor<2x6x12xf32> loc("v")
    %m = "top.Reshape"(%v, %n) {shape = [24, 2, 3]} : (tensor<2x6x12xf32>, none) -> tensor<24x2x3xf32> loc("m")
    %c = "top.Reshape"(%w, %n) {shape = [24, 3, 1]} : (tensor<2x6x6xf32>, none) -> tensor<24x3x1xf32> loc("c")
    %y = "top.MatMul"(%m, %c, %n) : (tensor<24x2x3xf32>, tensor<24x3x1xf32>, none) -> tensor<24x2x1xf32> loc("y")
    return %y : tensor<24x2x1xf32>
  }
}

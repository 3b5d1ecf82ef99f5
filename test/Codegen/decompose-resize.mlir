// What a resize weighs otherwise than two neighbours becomes products with constants on the chip: cubic
// kernels, edges that weigh nothing, volumes. Fewer elements come first. Linear planes are the chip's own.
// RUN: rm -rf %t.dir && mkdir -p %t.dir
// RUN: sed s/bm1684x/%chip/ %s > %t.dir/net.mlir
// RUN: %python %S/Inputs/ramp.py %t.dir/net.npz unused=1
// RUN: %if model-file %{ tpuc-opt %t.dir/net.mlir --decompose --mlir-print-debuginfo --mlir-print-local-scope -o %t.dir/parts.mlir %}
// RUN: %if model-file %{ FileCheck %s --input-file=%t.dir/parts.mlir %}
// CHECK: "tpu.MatMul"{{.*}} -> tensor<120x7xf32> loc("small_axis_3_part_0")
// CHECK: "tpu.Conv"{{.*}} -> tensor<6x30x1x7xf32>
// CHECK: loc("small")
// CHECK: "tpu.Conv"{{.*}} loc("edges_axis_2_part_0")
// CHECK: loc("edges")
// CHECK-COUNT-3: loc("long_axis_1_part_{{[0-9]+}}")
// CHECK: "tpu.Concat"{{.*}} loc("long_axis_1_parts")
// CHECK: loc("volume")
// CHECK: "tpu.Copy"{{.*}} loc("same")
// CHECK: "tpu.Interp"{{.*}} loc("linear")
// CHECK-NOT: "tpu.Interp"
// RUN: %if model-file %{ tpuc-opt %t.dir/net.mlir --decompose --subnet-divide --weight-reorder --op-reorder --layer-group --address-assign --codegen=model=%t.dir/net.model -o %t.dir/none.mlir %}
// RUN: %python %S/Inputs/ramp.py %t.dir/in.npz x=2,3,20,12 y=2,200,3 v=1,2,4,5,6
// RUN: model_runner --model %t.dir/net.mlir --input %t.dir/in.npz --output %t.dir/lowered.npz
// RUN: %if model-file %{ model_runner --model %t.dir/net.model --input %t.dir/in.npz --output %t.dir/file.npz %}
// RUN: %if model-file %{ npz_tool compare %t.dir/file.npz %t.dir/lowered.npz --tolerance 0.999999,0.99999 %}
module attributes {module.name = "net", module.chip = "bm1684x", module.state = "TPU_LOWERED", module.weight_file = "net.npz"} {
  func.func @main(%arg0: tensor<2x3x20x12xf32>, %arg1: tensor<2x200x3xf32>, %arg2: tensor<1x2x4x5x6xf32>) -> (tensor<2x3x30x7xf32>, tensor<2x3x33x12xf32>, tensor<2x600x3xf32>, tensor<1x2x8x10x12xf32>, tensor<2x3x20x12xf32>, tensor<2x3x40x24xf32>) {
    %n = "top.None"() : () -> none
    %x = "top.Input"(%arg0) : (tensor<2x3x20x12xf32>) -> tensor<2x3x20x12xf32> loc("x")
    %y = "top.Input"(%arg1) : (tensor<2x200x3xf32>) -> tensor<2x200x3xf32> loc("y")
    %v = "top.Input"(%arg2) : (tensor<1x2x4x5x6xf32>) -> tensor<1x2x4x5x6xf32> loc("v")
    %0 = "tpu.Interp"(%x, %n, %n, %n) {mode = "cubic", sizes = [2, 3, 30, 7]} : (tensor<2x3x20x12xf32>, none, none, none) -> tensor<2x3x30x7xf32> loc("small")
    %1 = "tpu.Interp"(%x, %n, %n, %n) {mode = "cubic", coord_mode = "align_corners", cubic_coeff_a = -0.5, exclude_outside = true, axes = [2], sizes = [33]} : (tensor<2x3x20x12xf32>, none, none, none) -> tensor<2x3x33x12xf32> loc("edges")
    %2 = "tpu.Interp"(%y, %n, %n, %n) {mode = "linear", scales = [1.0, 3.0, 1.0]} : (tensor<2x200x3xf32>, none, none, none) -> tensor<2x600x3xf32> loc("long")
    %3 = "tpu.Interp"(%v, %n, %n, %n) {mode = "linear", scales = [1.0, 1.0, 2.0, 2.0, 2.0]} : (tensor<1x2x4x5x6xf32>, none, none, none) -> tensor<1x2x8x10x12xf32> loc("volume")
    %4 = "tpu.Interp"(%x, %n, %n, %n) {mode = "cubic", sizes = [2, 3, 20, 12]} : (tensor<2x3x20x12xf32>, none, none, none) -> tensor<2x3x20x12xf32> loc("same")
    %5 = "tpu.Interp"(%x, %n, %n, %n) {mode = "linear", scales = [1.0, 1.0, 2.0, 2.0]} : (tensor<2x3x20x12xf32>, none, none, none) -> tensor<2x3x40x24xf32> loc("linear")
    return %0, %1, %2, %3, %4, %5 : tensor<2x3x30x7xf32>, tensor<2x3x33x12xf32>, tensor<2x600x3xf32>, tensor<1x2x8x10x12xf32>, tensor<2x3x20x12xf32>, tensor<2x3x40x24xf32>
  }
}

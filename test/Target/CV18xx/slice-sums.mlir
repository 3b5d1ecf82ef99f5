// Sums whose products do not fit the lanes are computed by slices of the input channels: sums of 32 bits stay in local
// memory until the last slice has come. Integers have the bits of the lowered network.
// RUN: rm -rf %t.dir && mkdir -p %t.dir
// RUN: split-file %s %t.dir

// RUN: %python %S/../../Codegen/Inputs/ramp.py %t.dir/integers.npz filter:s8=5,3000,3,3
// RUN: %python %S/../../Codegen/Inputs/ramp.py %t.dir/in.npz x=1,3000,4,3
// RUN: tpuc-opt %t.dir/integers.mlir --slice-sums --subnet-divide --weight-reorder --op-reorder --layer-group --address-assign --codegen=model=%t.dir/integers.cvimodel | FileCheck %s
// CHECK: "tpu.Conv"
// CHECK-SAME: slice_plan
// RUN: model_tool --dump_commands %t.dir/integers.cvimodel | FileCheck %s --check-prefix=COMMANDS
// COMMANDS: conv {{.*}}partial=store
// COMMANDS: conv {{.*}}partial=both
// COMMANDS: conv {{.*}}partial=add
// RUN: model_runner --model %t.dir/integers.mlir --input %t.dir/in.npz --output %t.dir/lowered.npz
// RUN: model_runner --model %t.dir/integers.cvimodel --input %t.dir/in.npz --output %t.dir/file.npz
// RUN: npz_tool compare %t.dir/file.npz %t.dir/lowered.npz --tolerance 1,1 | FileCheck %s --check-prefix=EQUAL
// EQUAL: 1 equal, 0 similar

// More columns of a matrix than a command takes, groups of channels, and matrices that are computed.
// RUN: %python %S/../../Codegen/Inputs/ramp.py %t.dir/floats.npz matrix=9000,20 bias=20 filter=4,1100,3,3 addend=4
// RUN: %python %S/../../Codegen/Inputs/ramp.py %t.dir/in.npz x=2,9000 z=1,2200,3,3 u=2,13,5000 v=2,11,5000
// RUN: model_deploy --mlir %t.dir/floats.mlir --chip cv180x --quantize BF16 --skip_validation --model %t.dir/floats.cvimodel
// RUN: FileCheck %s --check-prefix=FLOATS --implicit-check-not=CPU < %t.dir/floats_cv180x_bf16_final.mlir
// FLOATS-DAG: "tpu.MatMul"{{.*}}slice_plan
// FLOATS-DAG: "tpu.Conv"{{.*}}slice_plan
// FLOATS-DAG: "tpu.MatMul"{{.*}}right_transpose = true{{.*}}slice_plan
// RUN: model_runner --model %t.dir/floats_cv180x_bf16_tpu.mlir --input %t.dir/in.npz --output %t.dir/lowered.npz
// RUN: model_runner --model %t.dir/floats.cvimodel --input %t.dir/in.npz --output %t.dir/file.npz
// RUN: npz_tool compare %t.dir/file.npz %t.dir/lowered.npz --tolerance 0.999,0.97

//--- integers.mlir
!in = tensor<1x3000x4x3x!quant.uniform<i8:f32, 0.5>>
!out = tensor<1x5x2x3x!quant.uniform<i8:f32, 0.25>>
module attributes {module.name = "net", module.chip = "cv180x", module.mode = "INT8", module.state = "TPU_LOWERED", module.weight_file = "integers.npz"} {
  func.func @main(%arg0: !in) -> !out {
    %none = "top.None"() : () -> none
    %x = "top.Input"(%arg0) : (!in) -> !in loc("x")
    %filter = "top.Weight"() : () -> tensor<5x3000x3x3xi8> loc("filter")
    %y = "tpu.Conv"(%x, %filter, %none) {kernel_shape = [3, 3], strides = [2, 1], pads = [1, 1, 1, 1], dilations = [1, 1], group = 1, do_relu = true, relu_limit = 20.0, multiplier = [1073741824, 1680714299, 1230000000, 2000000000, 1073741825], rshift = [11, 12, 11, 12, 11], quant_mode = "TFLite"} : (!in, tensor<5x3000x3x3xi8>, none) -> !out loc("y")
    return %y : !out
  }
}

//--- floats.mlir
!x = tensor<2x9000xf32>
!y = tensor<2x20xf32>
!z = tensor<1x2200x3x3xf32>
!w = tensor<1x4x3x3xf32>
!u = tensor<2x13x5000xf32>
!v = tensor<2x11x5000xf32>
!p = tensor<2x13x11xf32>
module attributes {module.name = "net", module.chip = "ALL", module.state = "TOP_F32", module.weight_file = "floats.npz"} {
  func.func @main(%arg0: !x, %arg1: !z, %arg2: !u, %arg3: !v) -> (!y, !w, !p) {
    %none = "top.None"() : () -> none
    %x = "top.Input"(%arg0) : (!x) -> !x loc("x")
    %z = "top.Input"(%arg1) : (!z) -> !z loc("z")
    %matrix = "top.Weight"() : () -> tensor<9000x20xf32> loc("matrix")
    %bias = "top.Weight"() : () -> tensor<20xf32> loc("bias")
    %y = "top.MatMul"(%x, %matrix, %bias) {do_relu = true} : (!x, tensor<9000x20xf32>, tensor<20xf32>) -> !y loc("y")
    %filter = "top.Weight"() : () -> tensor<4x1100x3x3xf32> loc("filter")
    %addend = "top.Weight"() : () -> tensor<4xf32> loc("addend")
    %w = "top.Conv"(%z, %filter, %addend) {kernel_shape = [3, 3], strides = [1, 1], pads = [1, 1, 1, 1], dilations = [1, 1], group = 2} : (!z, tensor<4x1100x3x3xf32>, tensor<4xf32>) -> !w loc("w")
    %u = "top.Input"(%arg2) : (!u) -> !u loc("u")
    %v = "top.Input"(%arg3) : (!v) -> !v loc("v")
    %p = "top.MatMul"(%u, %v, %none) {right_transpose = true, do_relu = true} : (!u, !v, none) -> !p loc("p")
    return %y, %w, %p : !y, !w, !p
  }
}

// What follows from the chip: its precisions, how it scales, the floats that it has.
// DEFINE: %{to} =
// DEFINE: %{lower} = tpuc-opt %s --shape-infer --import-calibration-table=file=%S/Inputs/chips.cali --chip-assign=chip=%{to}
// REDEFINE: %{to} = cv183x --convert-top-to-tpu=mode=INT8
// RUN: %{lower} | FileCheck %s --check-prefix=CV183X
// REDEFINE: %{to} = bm1684 --convert-top-to-tpu=mode=INT8
// RUN: %{lower} | FileCheck %s --check-prefix=BM1684
// REDEFINE: %{to} = cv183x --convert-top-to-tpu=mode=F16
// RUN: not %{lower} 2>&1 | FileCheck %s --check-prefix=F16
// REDEFINE: %{to} = bm1684 "--convert-top-to-tpu=mode=INT8 asymmetric=true"
// RUN: not %{lower} 2>&1 | FileCheck %s --check-prefix=ASYMMETRIC
// REDEFINE: %{to} = bm1684x --convert-top-to-tpu=mode=INT4
// RUN: not %{lower} 2>&1 | FileCheck %s --check-prefix=MODE
// REDEFINE: %{to} = bm1684x --convert-top-to-tpu --convert-top-to-tpu
// RUN: not %{lower} 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: sed 's/0.5 : f32/0.5e6 : f32/' %s > %t.mlir
// RUN: tpuc-opt %t.mlir --shape-infer --import-calibration-table=file=%S/Inputs/chips.cali --chip-assign=chip=cv183x --convert-top-to-tpu=mode=INT8 | FileCheck %s --check-prefix=LARGE
// RUN: echo 'conv INT8' > %t.table
// RUN: not tpuc-opt %t.mlir --shape-infer --import-calibration-table=file=%S/Inputs/chips.cali --chip-assign=chip=cv183x "--convert-top-to-tpu=mode=INT8 qtable=%t.table" 2>&1 | FileCheck %s --check-prefix=TABLE

// Both roundings inside the convolution; 31 bits are shifted before `rshift` counts.
// CV183X: "tpu.Conv"{{.*}}multiplier = [1442928645], {{.*}}quant_mode = "TFLite", {{.*}}round_mode = "HalfUp", rshift = [7]}
// The chip has no f32.
// CV183X: "tpu.Exp"{{.*}}storage_reason = "top.Exp has no form on integers"{{.*}} -> tensor<1x3x4x4xbf16>
// A filter whose integers hold all but a power of two.
// BM1684: "tpu.Conv"{{.*}}multiplier = [1], {{.*}}quant_mode = "OnlyShift", {{.*}}rshift = [7]}
// A product of two tensors has no filter: an operand gets a scale that leaves a power of two.
// BM1684: %[[LEFT:.*]] = "tpu.RequantInt"(%{{.*}}) {multiplier = [77], round_mode = "HalfUp", rshift = [7]}{{.*}} -> tensor<1x3x4x4x!quant.uniform<i8:f32, 3.906250e-02>>
// BM1684: "tpu.MatMul"(%[[LEFT]], {{.*}}multiplier = [1], quant_mode = "OnlyShift", {{.*}}rshift = [7]}{{.*}} -> tensor<1x3x4x4x!quant.uniform<i8:f32, 1.562500e-01>>
// BM1684: "tpu.Exp"{{.*}} -> tensor<1x3x4x4xf32>
// F16: error: --chip cv183x: F16 does not exist; expected BF16 or INT8
// ASYMMETRIC: error: --chip bm1684: {{.*}}symmetric
// MODE: error: mode: 'INT4'; expected F32, F16, BF16, INT8 or INT16
// TWICE: error: module: is lowered already; expected a module of top ops
// LARGE: "tpu.Conv"{{.*}}storage_reason = "its sums would be multiplied by {{.*}}, and cv183x multiplies them by less than 1"{{.*}} -> tensor<1x3x4x4xbf16>
// TABLE: error: layer 'conv': its sums are to be multiplied by {{.*}}; expected less than 1, as cv183x scales them
module attributes {module.name = "net"} {
  func.func @main(%arg0: tensor<1x3x4x4xf32>) -> tensor<1x3x4x4xf32> {
    %none = "top.None"() : () -> none
    %x = "top.Input"(%arg0) : (tensor<1x3x4x4xf32>) -> tensor<1x3x4x4xf32> loc("x")
    %w = "top.ConstantFill"(%none) {shape = [3, 3, 1, 1], value = 0.5 : f32} : (none) -> tensor<3x3x1x1xf32> loc("w")
    %0 = "top.Conv"(%x, %w, %none) {kernel_shape = [1, 1]} : (tensor<1x3x4x4xf32>, tensor<3x3x1x1xf32>, none) -> tensor<1x3x4x4xf32> loc("conv")
    %1 = "top.MatMul"(%0, %x, %none) : (tensor<1x3x4x4xf32>, tensor<1x3x4x4xf32>, none) -> tensor<1x3x4x4xf32> loc("product")
    %2 = "top.Exp"(%1) : (tensor<1x3x4x4xf32>) -> tensor<1x3x4x4xf32> loc("exp")
    return %2 : tensor<1x3x4x4xf32>
  }
}

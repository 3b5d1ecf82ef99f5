// Casts between stored integers and floats of 32 bits, which a chip without F32 leaves to the host:
// the file computes what the interpreter does, to the bit.
// RUN: rm -rf %t.dir && mkdir -p %t.dir
// RUN: tpuc-opt %s --subnet-divide --weight-reorder --op-reorder --layer-group --address-assign --mlir-print-debuginfo --mlir-print-local-scope -o %t.dir/final.mlir
// RUN: tpuc-opt %t.dir/final.mlir --codegen=model=%t.dir/net.model -o %t.dir/none.mlir
// RUN: model_tool --info %t.dir/net.model | FileCheck %s --check-prefix=INFO
// INFO: host: tpuc
// RUN: %python %S/Inputs/ramp.py %t.dir/in.npz x=1,6,5,7
// RUN: model_runner --model %s --input %t.dir/in.npz --output %t.dir/lowered.npz
// RUN: model_runner --model %t.dir/net.model --input %t.dir/in.npz --output %t.dir/net.npz
// RUN: npz_tool compare %t.dir/net.npz %t.dir/lowered.npz --tolerance 1,1 | FileCheck %s --check-prefix=EQUAL
// EQUAL: 2 equal
!stored = tensor<1x6x5x7x!quant.uniform<i8:f32, 0.03125>>
!angle = tensor<1x6x5x7x!quant.uniform<i8:f32, 0.0117>>
!bytes = tensor<1x6x5x7x!quant.uniform<u8:f32, 0.0131:117>>
module attributes {module.name = "net", module.chip = "cv181x", module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: !stored) -> (!angle, !angle) {
    %0 = "top.Input"(%arg0) : (!stored) -> !stored loc("x")
    %1 = "tpu.Cast"(%0) : (!stored) -> tensor<1x6x5x7xf32> loc("wide")
    %2 = "tpu.Arctan"(%1) : (tensor<1x6x5x7xf32>) -> tensor<1x6x5x7xf32> loc("angle")
    %3 = "tpu.Cast"(%2) : (tensor<1x6x5x7xf32>) -> !angle loc("narrow")
    %4 = "tpu.Cast"(%2) : (tensor<1x6x5x7xf32>) -> !bytes loc("bytes")
    %5 = "tpu.Cast"(%4) : (!bytes) -> tensor<1x6x5x7xf32> loc("wide_again")
    %6 = "tpu.Cast"(%5) : (tensor<1x6x5x7xf32>) -> !angle loc("again")
    return %3, %6 : !angle, !angle
  }
}

// Modules compute what the network computes, after each phase; so does the file, where the chip has one.
// RUN: rm -rf %t.dir && mkdir -p %t.dir
// RUN: sed s/bm1684x/%chip/ %s > %t.dir/net.mlir
// RUN: tpuc-opt %t.dir/net.mlir --subnet-divide --op-reorder --layer-group --mlir-print-debuginfo --mlir-print-local-scope -o %t.dir/grouped.mlir
// RUN: tpuc-opt %t.dir/grouped.mlir --address-assign --mlir-print-debuginfo --mlir-print-local-scope -o %t.dir/final.mlir
// RUN: %if model-file %{ tpuc-opt %t.dir/final.mlir --codegen=model=%t.dir/net.model -o %t.dir/none.mlir %}
// RUN: %if model-file %{ model_tool --info %t.dir/net.model | FileCheck %s %}
// CHECK: chans
// RUN: %if model-file %{ not tpuc-opt %t.dir/grouped.mlir --codegen=model=%t.dir/net2.model 2>&1 | FileCheck %s --check-prefix=EARLY %}
// EARLY: module: has no module.neuron_addr; expected --address-assign first
// RUN: not ls %t.dir/net2.model
// RUN: not tpuc-opt %t.dir/final.mlir --codegen 2>&1 | FileCheck %s --check-prefix=NAMELESS
// NAMELESS: --codegen: no model; expected the file to write
// RUN: %python %S/Inputs/ramp.py %t.dir/in.npz chans=2,70,30,50
// RUN: model_runner --model %t.dir/net.mlir --input %t.dir/in.npz --output %t.dir/lowered.npz
// RUN: model_runner --model %t.dir/grouped.mlir --input %t.dir/in.npz --output %t.dir/grouped.npz
// RUN: model_runner --model %t.dir/final.mlir --input %t.dir/in.npz --output %t.dir/final.npz
// RUN: %if model-file %{ model_runner --model %t.dir/net.model --input %t.dir/in.npz --output %t.dir/net.npz %}
// RUN: npz_tool compare %t.dir/grouped.npz %t.dir/lowered.npz --tolerance 1,1 | FileCheck %s --check-prefix=EQUAL
// RUN: npz_tool compare %t.dir/final.npz %t.dir/lowered.npz --tolerance 1,1 | FileCheck %s --check-prefix=EQUAL
// RUN: %if model-file %{ npz_tool compare %t.dir/net.npz %t.dir/lowered.npz --tolerance 0.999999,0.99999 %}
// EQUAL: 3 equal
module attributes {module.name = "net", module.chip = "bm1684x", module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: tensor<2x70x30x50xf32>) -> (tensor<2x70x15x25xf32>, tensor<2x50x70x30xf32>, tensor<2x140x30x50xf32>) {
    %x = "top.Input"(%arg0) : (tensor<2x70x30x50xf32>) -> tensor<2x70x30x50xf32> loc("chans")
    %0 = "tpu.MaxPool"(%x) {kernel_shape = [3, 3], pads = [1, 1, 0, 0], strides = [2, 2]} : (tensor<2x70x30x50xf32>) -> tensor<2x70x15x25xf32> loc("pooled")
    %1 = "tpu.Relu"(%x) : (tensor<2x70x30x50xf32>) -> tensor<2x70x30x50xf32> loc("relu")
    %2 = "tpu.Permute"(%1) {order = [0, 3, 1, 2]} : (tensor<2x70x30x50xf32>) -> tensor<2x50x70x30xf32> loc("turned")
    %3 = "tpu.Add"(%x, %1) : (tensor<2x70x30x50xf32>, tensor<2x70x30x50xf32>) -> tensor<2x70x30x50xf32> loc("sum")
    %4 = "tpu.Concat"(%3, %1) {axis = 1 : i64} : (tensor<2x70x30x50xf32>, tensor<2x70x30x50xf32>) -> tensor<2x140x30x50xf32> loc("both")
    return %0, %2, %4 : tensor<2x70x15x25xf32>, tensor<2x50x70x30xf32>, tensor<2x140x30x50xf32>
  }
}

// What a group stores may lie where its operand was, also where both are cut, if the operand is loaded
// before: two slices of three layers, of which the second is loaded while the first one computes. Of
// eight slices, the last ones are loaded while others are stored.
// RUN: rm -rf %t.dir && mkdir -p %t.dir
// RUN: %python %tpuc_src/test/Codegen/Inputs/ramp.py %t.dir/in.npz x=1,64,32,32
// RUN: model_runner --model %s --input %t.dir/in.npz --output %t.dir/lowered.npz
// DEFINE: %{parts} =
// DEFINE: %{run} = echo '{"groups": [{"layers": ["a", "b", "c"], "h": %{parts}}]}' > %t.dir/groups.json && tpuc-opt %s --subnet-divide "--layer-group=load-groups=%t.dir/groups.json" --address-assign --codegen=model=%t.dir/net.bmodel --mlir-print-debuginfo --mlir-print-local-scope -o %t.dir/final.mlir && model_runner --model %t.dir/net.bmodel --input %t.dir/in.npz --output %t.dir/out.npz && npz_tool compare %t.dir/out.npz %t.dir/lowered.npz --tolerance 1,1

// REDEFINE: %{parts} = 2
// RUN: %{run}
// RUN: FileCheck %s --check-prefix=TWO < %t.dir/final.mlir
// TWO: module.neuron_size = 262144 : i64
// TWO: "tpu.Load"{{.*}} : (tensor<1x64x32x32xf32, [[A:[0-9]+]] : i64>)
// TWO: "tpu.Store"{{.*}} -> tensor<1x64x32x32xf32, [[A]] : i64>

// REDEFINE: %{parts} = 8
// RUN: %{run}
// RUN: FileCheck %s --check-prefix=EIGHT < %t.dir/final.mlir
// EIGHT: module.neuron_size = 524288 : i64
module attributes {module.name = "net", module.chip = "bm1684x", module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: tensor<1x64x32x32xf32>) -> tensor<1x64x32x32xf32> {
    %x = "top.Input"(%arg0) : (tensor<1x64x32x32xf32>) -> tensor<1x64x32x32xf32> loc("x")
    %0 = "tpu.MaxPool"(%x) {kernel_shape = [3, 3], pads = [1, 1, 1, 1], strides = [1, 1]} : (tensor<1x64x32x32xf32>) -> tensor<1x64x32x32xf32> loc("a")
    %1 = "tpu.Neg"(%0) : (tensor<1x64x32x32xf32>) -> tensor<1x64x32x32xf32> loc("b")
    %2 = "tpu.Abs"(%1) : (tensor<1x64x32x32xf32>) -> tensor<1x64x32x32xf32> loc("c")
    return %2 : tensor<1x64x32x32xf32>
  }
}

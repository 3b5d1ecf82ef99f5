// What an array does not compute, the host does, between programs of the array.
// REQUIRES: mlir
// RUN: rm -rf %t.dir && mkdir -p %t.dir/samples && cp %s %t.dir/net.mlir
// RUN: %python %S/../../Codegen/Inputs/ramp.py %t.dir/samples/x.npz x=1,5,9,8
// RUN: run_calibration %t.dir/net.mlir --dataset %t.dir/samples -o %t.dir/net.cali --cali_method max
// DEFINE: %{kind} = INT8 --asymmetric
// DEFINE: %{deploy} = model_deploy --mlir %t.dir/net.mlir --chip dnnweaver --quantize %{kind} --calibration_table %t.dir/net.cali --model %t.dir/m.tpum
// RUN: %{deploy} --test_input %t.dir/samples/x.npz --tolerance 0.999,0.97 | FileCheck %s
// CHECK-DAG: 'sum' (Add): the host computes it, in float
// CHECK-DAG: 'gate' (Sigmoid): the host computes it, in float
// CHECK-DAG: pool {{.*}} similar
// CHECK: m.tpum: {{.*}} MB of activations

// RUN: model_runner --model %t.dir/m.tpum --input %t.dir/samples/x.npz --output %t.dir/out.npz --dump_all_tensors
// RUN: npz_tool list %t.dir/out.npz | FileCheck %s --check-prefix=OUT
// OUT-DAG: gate
// OUT-DAG: pool
// OUT-DAG: sum

// REDEFINE: %{kind} = INT16
// RUN: %{deploy} --test_input %t.dir/samples/x.npz --tolerance 0.99999,0.999 | FileCheck %s

// RUN: not %{deploy} --without host-layers 2>&1 | FileCheck %s --check-prefix=WITHOUT
// WITHOUT: error: 'sum' (top.Add): the array does not compute it; expected convolutions,

module @net attributes {module.state = "TOP_F32", module.chip = "ALL"} {
  func.func @main(%arg0: tensor<1x5x9x8xf32> loc("x")) -> tensor<1x5x4x4xf32> {
    %x = "top.Input"(%arg0) : (tensor<1x5x9x8xf32>) -> tensor<1x5x9x8xf32> loc("x")
    %a = "top.LeakyRelu"(%x) {alpha = 0.1 : f64} : (tensor<1x5x9x8xf32>) -> tensor<1x5x9x8xf32> loc("leaky")
    %s = "top.Add"(%a, %x) : (tensor<1x5x9x8xf32>, tensor<1x5x9x8xf32>) -> tensor<1x5x9x8xf32> loc("sum")
    %g = "top.Sigmoid"(%s) : (tensor<1x5x9x8xf32>) -> tensor<1x5x9x8xf32> loc("gate")
    %p = "top.MaxPool"(%g) {kernel_shape = [2, 2], strides = [2, 2], pads = [0, 0, 0, 0]} : (tensor<1x5x9x8xf32>) -> tensor<1x5x4x4xf32> loc("pool")
    return %p : tensor<1x5x4x4xf32>
  }
}

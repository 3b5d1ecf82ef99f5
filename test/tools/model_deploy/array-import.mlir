// What an array repeats, cuts and joins means the same as in float; what it would get wrong is the
// host's.
// REQUIRES: mlir
// RUN: rm -rf %t.dir && mkdir -p %t.dir/samples && cp %s %t.dir/net.mlir
// RUN: %python %S/../../Codegen/Inputs/ramp.py %t.dir/samples/x.npz x=1,6,5,4
// RUN: run_calibration %t.dir/net.mlir --dataset %t.dir/samples -o %t.dir/net.cali --cali_method max
// RUN: model_deploy --mlir %t.dir/net.mlir --chip dnnweaver --quantize INT16 --calibration_table %t.dir/net.cali \
// RUN:   --model %t.dir/m.tpum --test_input %t.dir/samples/x.npz --tolerance 0.999999,0.999 | FileCheck %s
// CHECK-NOT: 'limited' (Relu): the host
// CHECK: 'by_floor' (Interp): the host computes it, in float
// CHECK-NOT: (Upsample): the host
// CHECK-NOT: 'by_half' (Interp): the host
// CHECK-NOT: 'by_edge' (Interp): the host

module @net attributes {module.state = "TOP_F32", module.chip = "ALL"} {
  func.func @main(%arg0: tensor<1x6x5x4xf32> loc("x")) -> (tensor<1x6x5x4xf32>, tensor<1x6x10x8xf32>, tensor<1x6x10x8xf32>, tensor<1x6x10x8xf32>, tensor<1x6x10x8xf32>) {
    %n = "top.None"() : () -> none
    %x = "top.Input"(%arg0) : (tensor<1x6x5x4xf32>) -> tensor<1x6x5x4xf32> loc("x")
    %l = "top.Relu"(%x) {relu_limit = 0.25 : f64} : (tensor<1x6x5x4xf32>) -> tensor<1x6x5x4xf32> loc("limited")
    %u = "top.Upsample"(%x) {scale_h = 2 : i64, scale_w = 2 : i64, do_relu = true} : (tensor<1x6x5x4xf32>) -> tensor<1x6x10x8xf32> loc("up")
    %h = "top.Interp"(%x, %n, %n, %n) {mode = "nearest", coord_mode = "half_pixel", nearest_mode = "round_prefer_floor", scales = [1.0, 1.0, 2.0, 2.0]} : (tensor<1x6x5x4xf32>, none, none, none) -> tensor<1x6x10x8xf32> loc("by_half")
    %f = "top.Interp"(%x, %n, %n, %n) {mode = "nearest", coord_mode = "half_pixel", nearest_mode = "floor", scales = [1.0, 1.0, 2.0, 2.0]} : (tensor<1x6x5x4xf32>, none, none, none) -> tensor<1x6x10x8xf32> loc("by_floor")
    %e = "top.Interp"(%x, %n, %n, %n) {mode = "nearest", coord_mode = "asymmetric", nearest_mode = "round_prefer_floor", scales = [1.0, 1.0, 2.0, 2.0]} : (tensor<1x6x5x4xf32>, none, none, none) -> tensor<1x6x10x8xf32> loc("by_edge")
    return %l, %u, %h, %f, %e : tensor<1x6x5x4xf32>, tensor<1x6x10x8xf32>, tensor<1x6x10x8xf32>, tensor<1x6x10x8xf32>, tensor<1x6x10x8xf32>
  }
}

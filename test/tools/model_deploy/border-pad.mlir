// Rows and columns around pictures are made in local memory, in the groups of the layers around: nothing
// moves in global memory. Also mirrored ones, and in groups of several tiles, of which some are at the
// edge and others are not. Sequences have columns alone.
// REQUIRES: mlir
// RUN: rm -rf %t.dir && mkdir -p %t.dir/samples && cp %s %t.dir/net.mlir
// RUN: %python %S/../../Codegen/Inputs/ramp.py %t.dir/samples/in.npz x=1,20,420,99 y=2,70,31
// RUN: model_deploy --mlir %t.dir/net.mlir --chip BM1684X --quantize F32 --model %t.dir/f32.bmodel --opt 2
// RUN: FileCheck %s < %t.dir/net_bm1684x_f32_final.mlir
// RUN: model_tool --profile %t.dir/f32.bmodel | FileCheck %s --check-prefix=BYTES
// RUN: model_runner --model %t.dir/net.mlir --input %t.dir/samples/in.npz --output %t.dir/top.npz
// RUN: model_runner --model %t.dir/f32.bmodel --input %t.dir/samples/in.npz --output %t.dir/f32.npz
// RUN: npz_tool compare %t.dir/f32.npz %t.dir/top.npz --tolerance 1,1 | FileCheck %s --check-prefix=SAME
// RUN: run_calibration %t.dir/net.mlir --dataset %t.dir/samples -o %t.dir/table --cali_method max
// RUN: model_deploy --mlir %t.dir/net.mlir --chip BM1684X --quantize INT8 --asymmetric --strict_int8 --calibration_table %t.dir/table --model %t.dir/i8.bmodel --opt 2
// RUN: model_tool --profile %t.dir/i8.bmodel | FileCheck %s --check-prefix=BYTES
// RUN: model_runner --model %t.dir/net_bm1684x_int8_asym_tpu.mlir --input %t.dir/samples/in.npz --output %t.dir/lowered.npz
// RUN: model_runner --model %t.dir/i8.bmodel --input %t.dir/samples/in.npz --output %t.dir/i8.npz
// RUN: npz_tool compare %t.dir/i8.npz %t.dir/lowered.npz --tolerance 1,1 | FileCheck %s --check-prefix=SAME
// CHECK: "tpu.Pad"{{.*}}h_idx = [0, {{.*}}mode = "reflect"
// BYTES: S2S 0 bytes
// SAME: 2 equal

module @net attributes {module.state = "TOP_F32", module.chip = "ALL"} {
  func.func @main(%arg0: tensor<1x20x420x99xf32> loc("x"), %arg1: tensor<2x70x31xf32> loc("y")) -> (tensor<1x20x428x107xf32>, tensor<2x70x41xf32>) {
    %n = "top.None"() : () -> none
    %x = "top.Input"(%arg0) : (tensor<1x20x420x99xf32>) -> tensor<1x20x420x99xf32> loc("x")
    %y = "top.Input"(%arg1) : (tensor<2x70x31xf32>) -> tensor<2x70x31xf32> loc("y")
    %r = "top.Relu"(%x) : (tensor<1x20x420x99xf32>) -> tensor<1x20x420x99xf32> loc("r")
    %p = "top.Pad"(%r, %n, %n, %n) {paddings = [0, 0, 3, 1, 0, 0, 2, 5], mode = "reflect"} : (tensor<1x20x420x99xf32>, none, none, none) -> tensor<1x20x425x105xf32> loc("p")
    %q = "top.Pad"(%p, %n, %n, %n) {paddings = [0, 0, 1, 2, 0, 0, 2, 0], mode = "edge"} : (tensor<1x20x425x105xf32>, none, none, none) -> tensor<1x20x428x107xf32> loc("q")
    %s = "top.Relu"(%q) : (tensor<1x20x428x107xf32>) -> tensor<1x20x428x107xf32> loc("s")
    %t = "top.Relu"(%y) : (tensor<2x70x31xf32>) -> tensor<2x70x31xf32> loc("t")
    %u = "top.Pad"(%t, %n, %n, %n) {paddings = [0, 0, 6, 0, 0, 4], mode = "reflect"} : (tensor<2x70x31xf32>, none, none, none) -> tensor<2x70x41xf32> loc("u")
    return %s, %u : tensor<1x20x428x107xf32>, tensor<2x70x41xf32>
  }
}

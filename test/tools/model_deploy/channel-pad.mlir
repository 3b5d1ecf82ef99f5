// Constant channels behind those of a picture are made in local memory, beside what reads them: nothing
// moves in global memory. Also where they begin in the middle of the lanes, and for several samples.
// REQUIRES: mlir
// RUN: rm -rf %t.dir && mkdir -p %t.dir/samples && cp %s %t.dir/net.mlir
// RUN: %python %S/../../Codegen/Inputs/ramp.py %t.dir/samples/in.npz x=2,70,9,8 y=2,150,9,8
// RUN: model_deploy --mlir %t.dir/net.mlir --chip BM1684X --quantize F32 --model %t.dir/f32.bmodel --opt 2
// RUN: FileCheck %s < %t.dir/net_bm1684x_f32_final.mlir
// RUN: model_runner --model %t.dir/net.mlir --input %t.dir/samples/in.npz --output %t.dir/top.npz
// RUN: model_runner --model %t.dir/f32.bmodel --input %t.dir/samples/in.npz --output %t.dir/f32.npz
// RUN: npz_tool compare %t.dir/f32.npz %t.dir/top.npz --tolerance 1,1 | FileCheck %s --check-prefix=SAME
// RUN: run_calibration %t.dir/net.mlir --dataset %t.dir/samples -o %t.dir/table --cali_method max
// RUN: model_deploy --mlir %t.dir/net.mlir --chip BM1684X --quantize INT8 --asymmetric --strict_int8 --calibration_table %t.dir/table --model %t.dir/i8.bmodel --opt 2
// RUN: FileCheck %s < %t.dir/net_bm1684x_int8_asym_final.mlir
// RUN: model_runner --model %t.dir/net_bm1684x_int8_asym_tpu.mlir --input %t.dir/samples/in.npz --output %t.dir/lowered.npz
// RUN: model_runner --model %t.dir/i8.bmodel --input %t.dir/samples/in.npz --output %t.dir/i8.npz
// RUN: npz_tool compare %t.dir/i8.npz %t.dir/lowered.npz --tolerance 1,1 | FileCheck %s --check-prefix=SAME
// CHECK-NOT: "tpu.Pad"{{.*}}time =
// CHECK: "tpu.Pad"
// CHECK-NOT: "tpu.Pad"{{.*}}time =
// SAME: 1 equal

module @net attributes {module.state = "TOP_F32", module.chip = "ALL"} {
  func.func @main(%arg0: tensor<2x70x9x8xf32> loc("x"), %arg1: tensor<2x150x9x8xf32> loc("y")) -> tensor<2x150x9x8xf32> {
    %n = "top.None"() : () -> none
    %x = "top.Input"(%arg0) : (tensor<2x70x9x8xf32>) -> tensor<2x70x9x8xf32> loc("x")
    %y = "top.Input"(%arg1) : (tensor<2x150x9x8xf32>) -> tensor<2x150x9x8xf32> loc("y")
    %r = "top.Abs"(%x) : (tensor<2x70x9x8xf32>) -> tensor<2x70x9x8xf32> loc("r")
    %p = "top.Pad"(%r, %n, %n, %n) {paddings = [0, 0, 0, 0, 0, 80, 0, 0], val = 0.5 : f64} : (tensor<2x70x9x8xf32>, none, none, none) -> tensor<2x150x9x8xf32> loc("p")
    %s = "top.Add"(%p, %y) : (tensor<2x150x9x8xf32>, tensor<2x150x9x8xf32>) -> tensor<2x150x9x8xf32> loc("s")
    return %s : tensor<2x150x9x8xf32>
  }
}

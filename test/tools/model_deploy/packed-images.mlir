// Where words hold a byte of each of several images, results are packed for their store and operands
// unpacked behind their load, of one image and of five: the numbers are those of the lowered network.
// REQUIRES: mlir
// RUN: rm -rf %t.dir && mkdir -p %t.dir/samples && cp %s %t.dir/net.mlir
// RUN: %python %S/../../Codegen/Inputs/ramp.py %t.dir/samples/x.npz x=5,16,48,48 y=5,16,48,48
// RUN: run_calibration %t.dir/net.mlir --dataset %t.dir/samples -o %t.dir/net.cali --cali_method max
// DEFINE: %{opt} = 0
// DEFINE: %{deploy} = model_deploy --mlir %t.dir/net.mlir --chip bm1684 --quantize INT8 --strict_int8 --calibration_table %t.dir/net.cali --model %t.dir/m.bmodel --opt %{opt}
// DEFINE: %{compare} = model_runner --model %t.dir/m.bmodel --input %t.dir/samples/x.npz --output %t.dir/out.npz --dump_all_tensors --out_fixed && npz_tool compare %t.dir/out.npz %t.dir/ref.npz --tolerance 1,1
// RUN: %{deploy} > /dev/null
// RUN: model_runner --model %t.dir/net_bm1684_int8_sym_tpu.mlir --input %t.dir/samples/x.npz --output %t.dir/ref.npz --dump_all_tensors --out_fixed
// RUN: %{compare} | FileCheck %s
// CHECK-NOT: {{similar|different}}
// CHECK-DAG: sum i8 {{.*}} equal
// CHECK-DAG: most_i8 i8 {{.*}} equal
// CHECK-DAG: most f32 {{.*}} equal
// RUN: model_tool --dump_commands %t.dir/m.bmodel | FileCheck %s --check-prefix=COMMANDS

// The cast of one image packs it in a room of its own: the last of four columns goes to all bytes.
// COMMANDS-LABEL: # layer x_i8
// COMMANDS: ar.or {{.*}}opd0_neq1=1
// A store whose bytes follow each other in the lanes, and such a load.
// COMMANDS: # layer x_i8
// COMMANDS: dma.copy {{.*}}direction=l2s dst_format=3 src_format=3 src_stride=[{{[^]]*}} w1]

// REDEFINE: %{opt} = 2
// RUN: %{deploy} > /dev/null && %{compare} | FileCheck %s --check-prefix=GROUPS
// GROUPS-NOT: {{similar|different}}
// GROUPS: most f32 {{.*}} equal

!x = tensor<5x16x48x48xf32>
!y = tensor<5x16x24x24xf32>
module @net attributes {module.state = "TOP_F32", module.chip = "ALL"} {
  func.func @main(%arg0: !x loc("x"), %arg1: !x loc("y")) -> !y {
    %x = "top.Input"(%arg0) : (!x) -> !x loc("x")
    %y = "top.Input"(%arg1) : (!x) -> !x loc("y")
    %0 = "top.Add"(%x, %y) : (!x, !x) -> !x loc("sum")
    %1 = "top.MaxPool"(%0) {kernel_shape = [2, 2], strides = [2, 2], pads = [0, 0, 0, 0]} : (!x) -> !y loc("most")
    return %1 : !y
  }
}

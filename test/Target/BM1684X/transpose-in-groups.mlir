// Pixels become rows, and rows pictures, in the group of the layers around them.
// RUN: rm -rf %t.dir && mkdir -p %t.dir
// RUN: %python %tpuc_src/test/Codegen/Inputs/ramp.py %t.dir/in.npz x=2,70,9,7 y=2,12,35
// RUN: tpuc-opt %s --transpose-in-groups --mlir-print-debuginfo --mlir-print-local-scope -o %t.dir/turned.mlir
// RUN: FileCheck %s < %t.dir/turned.mlir
// RUN: tpuc-opt %t.dir/turned.mlir --subnet-divide --weight-reorder --layer-group=opt=1 --mlir-print-debuginfo --mlir-print-local-scope -o %t.dir/groups.mlir
// RUN: FileCheck %s --check-prefix=GROUPS < %t.dir/groups.mlir
// RUN: tpuc-opt %t.dir/groups.mlir --address-assign --codegen=model=%t.dir/net.bmodel -o %t.dir/none.mlir
// RUN: model_runner --model %s --input %t.dir/in.npz --output %t.dir/lowered.npz
// RUN: model_runner --model %t.dir/turned.mlir --input %t.dir/in.npz --output %t.dir/turned.npz
// RUN: npz_tool compare %t.dir/turned.npz %t.dir/lowered.npz --tolerance 1,1
// RUN: model_runner --model %t.dir/net.bmodel --input %t.dir/in.npz --output %t.dir/net.npz
// RUN: npz_tool compare %t.dir/net.npz %t.dir/lowered.npz --tolerance 0.9999,0.999

// CHECK: %[[P:.*]] = "tpu.Relu"{{.*}} loc("picture")
// CHECK: %[[R:.*]] = "tpu.Transpose"(%[[P]]) : (tensor<2x70x9x7xf16>) -> tensor<2x63x70xf16> loc("rows")
// CHECK: %[[S:.*]] = "tpu.Softmax"(%[[R]])
// CHECK: "tpu.Transpose"(%[[S]]) : (tensor<2x63x70xf16>) -> tensor<2x70x9x7xf16> loc("back")
// Integers, too.
// CHECK: "tpu.Transpose"{{.*}} -> tensor<2x35x12x!quant.uniform<i8:f32, {{.*}}>> loc("bytes")
// Another order is none of rows and columns.
// CHECK: "tpu.Permute"{{.*}} loc("others")

// GROUPS: "tpu.Group"
// GROUPS: "tpu.Relu"
// GROUPS-NEXT: "tpu.Transpose"
// GROUPS-NEXT: "tpu.Softmax"
// GROUPS-NEXT: "tpu.Transpose"
// GROUPS-NEXT: "tpu.Relu"
// GROUPS-NEXT: "tpu.Store"
!x = tensor<2x70x9x7xf16>
!r = tensor<2x63x70xf16>
!q = !quant.uniform<i8:f32, 1.0>
module attributes {module.name = "net", module.chip = "bm1684x", module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: !x, %arg1: tensor<2x12x35x!q>) -> (!x, tensor<2x35x12xf32>, tensor<2x9x70x7xf16>) {
    %n = "top.None"() : () -> none
    %x = "top.Input"(%arg0) : (!x) -> !x loc("x")
    %y = "top.Input"(%arg1) : (tensor<2x12x35x!q>) -> tensor<2x12x35x!q> loc("y")
    %picture = "tpu.Relu"(%x) {relu_limit = 100.0 : f64} : (!x) -> !x loc("picture")
    %flat = "tpu.Reshape"(%picture, %n) {shape = [2, 70, 63]} : (!x, none) -> tensor<2x70x63xf16> loc("flat")
    %rows = "tpu.Permute"(%flat) {order = [0, 2, 1]} : (tensor<2x70x63xf16>) -> !r loc("rows")
    %soft = "tpu.Softmax"(%rows) {axis = 2 : i64, beta = 0.0625 : f64} : (!r) -> !r loc("soft")
    %columns = "tpu.Permute"(%soft) {order = [0, 2, 1]} : (!r) -> tensor<2x70x63xf16> loc("columns")
    %back = "tpu.Reshape"(%columns, %n) {shape = [2, 70, 9, 7]} : (tensor<2x70x63xf16>, none) -> !x loc("back")
    %last = "tpu.Relu"(%back) : (!x) -> !x loc("last")
    %bytes = "tpu.Permute"(%y) {order = [0, 2, 1]} : (tensor<2x12x35x!q>) -> tensor<2x35x12x!q> loc("bytes")
    %end = "tpu.Cast"(%bytes) : (tensor<2x35x12x!q>) -> tensor<2x35x12xf32> loc("end")
    %other = "tpu.Permute"(%last) {order = [0, 2, 1, 3]} : (!x) -> tensor<2x9x70x7xf16> loc("others")
    return %last, %end, %other : !x, tensor<2x35x12xf32>, tensor<2x9x70x7xf16>
  }
}

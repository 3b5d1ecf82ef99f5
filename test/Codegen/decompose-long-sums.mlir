// Products with sums that local memory cannot hold the terms of are added up in parts, whose sums
// are F32 until the last one.
// UNSUPPORTED: chip-bm1684
// RUN: rm -rf %t.dir && mkdir -p %t.dir
// RUN: tpuc-opt %s --shape-infer --chip-assign=chip=%chip --convert-top-to-tpu=mode=F16 -o %t.dir/whole.mlir --mlir-print-debuginfo --mlir-print-local-scope
// RUN: tpuc-opt %t.dir/whole.mlir --decompose -o %t.dir/parts.mlir --mlir-print-debuginfo --mlir-print-local-scope
// RUN: FileCheck %s --input-file %t.dir/parts.mlir
// RUN: tpuc-opt %t.dir/parts.mlir --subnet-divide | FileCheck %s --check-prefix=CHIP
// RUN: %python %S/Inputs/ramp.py %t.dir/in.npz x=1,70001,3 y=1,3,70001
// RUN: model_runner --model %t.dir/whole.mlir --input %t.dir/in.npz --output %t.dir/whole.npz
// RUN: model_runner --model %t.dir/parts.mlir --input %t.dir/in.npz --output %t.dir/parts.npz
// RUN: npz_tool compare %t.dir/parts.npz %t.dir/whole.npz --tolerance 0.99999,0.999
// CHIP-NOT: subnet_reason

// Both operands are computed; the left one lies turned.
// CHECK: %[[L:.*]] = "tpu.Slice"(%{{.*}}ends = [[[K:[0-9]+]]]{{.*}}offset = [0]{{.*}} -> tensor<1x[[K]]x3xf16>
// CHECK: %[[R:.*]] = "tpu.Slice"(%{{.*}}ends = [[[K]]]{{.*}}offset = [0]{{.*}} -> tensor<1x3x[[K]]xf16>
// CHECK: %[[A:.*]] = "tpu.MatMul"(%[[L]], %[[R]], %{{.*}}) {do_relu = false
// CHECK-SAME: -> tensor<1x3x3xf32> loc("m{{.*}}_part0")
// CHECK: %[[B:.*]] = "tpu.MatMul"{{.*}} -> tensor<1x3x3xf32> loc("m{{.*}}_part1")
// CHECK: "tpu.MatMul"{{.*}} -> tensor<1x3x3xf32> loc("m{{.*}}_part2")
// CHECK: "tpu.Add"(%[[A]], %[[B]]) {do_relu = false{{.*}} -> tensor<1x3x3xf32>
// The last of them has the activation.
// CHECK: "tpu.Add"({{.*}}do_relu = true{{.*}} -> tensor<1x3x3xf32>
// CHECK-NOT: "tpu.Add"
// CHECK: "tpu.Cast"{{.*}} -> tensor<1x3x3xf16>
module attributes {module.name = "net"} {
  func.func @main(%arg0: tensor<1x70001x3xf32>, %arg1: tensor<1x3x70001xf32>) -> tensor<1x3x3xf32> {
    %none = "top.None"() : () -> none
    %x = "top.Input"(%arg0) : (tensor<1x70001x3xf32>) -> tensor<1x70001x3xf32> loc("x")
    %y = "top.Input"(%arg1) : (tensor<1x3x70001xf32>) -> tensor<1x3x70001xf32> loc("y")
    %m = "top.MatMul"(%x, %y, %none) {left_transpose = true, right_transpose = true, do_relu = true} : (tensor<1x70001x3xf32>, tensor<1x3x70001xf32>, none) -> tensor<1x3x3xf32> loc("m")
    return %m : tensor<1x3x3xf32>
  }
}

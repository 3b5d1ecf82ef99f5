// Of convolutions over three dimensions, taps along the depth become input channels, those of a
// group together; depthwise ones are added up tap by tap.
// RUN: tpuc-opt %s --shape-infer --chip-assign=chip=bm1684x --convert-top-to-tpu=mode=F16 --decompose=without=fold-depths -o %t.mlir --mlir-print-debuginfo --mlir-print-local-scope
// RUN: FileCheck %s --input-file %t.mlir
// RUN: tpuc-opt %t.mlir --subnet-divide | FileCheck %s --check-prefix=CHIP
// CHIP-NOT: subnet_reason

// CHECK: "tpu.Concat"{{.*}}axis = 2 : i64{{.*}} -> tensor<1x3x12x4x4xf16> loc("g{{.*}}_taps")
// CHECK: "tpu.Permute"{{.*}}order = [0, 2, 1, 3]{{.*}} -> tensor<3x2x3x32xf16>
// CHECK: %[[F:.*]] = "top.Weight"() : () -> tensor<6x6x3x3xf16> loc("g{{.*}}_flat_filter")
// CHECK: "tpu.Conv"(%{{.*}}, %[[F]], {{.*}}group = 2 : i64{{.*}} -> tensor<3x6x2x2xf16>

// CHECK: "tpu.Conv"{{.*}}do_relu = false, group = 4 : i64{{.*}} -> tensor<4x4x2x2xf32>
// CHECK: %[[P:.*]] = "tpu.Conv"{{.*}}group = 4 : i64{{.*}} -> tensor<4x4x2x2xf32>
// CHECK: "tpu.Add"(%{{.*}}, %[[P]]) {do_relu = true{{.*}} -> tensor<4x4x2x2xf32>
// CHECK: "tpu.Cast"{{.*}} -> tensor<1x4x4x2x2xf16>
// CHECK-NOT: tpu.Conv
module attributes {module.name = "net"} {
  func.func @main(%arg0: tensor<1x4x5x4x4xf32>) -> (tensor<1x6x3x2x2xf32>, tensor<1x4x4x2x2xf32>) {
    %none = "top.None"() : () -> none
    %x = "top.Input"(%arg0) : (tensor<1x4x5x4x4xf32>) -> tensor<1x4x5x4x4xf32> loc("x")
    %f = "top.ConstantFill"(%none) {shape = [6, 2, 3, 3, 3], value = 0.5 : f32} : (none) -> tensor<6x2x3x3x3xf32> loc("f")
    %d = "top.ConstantFill"(%none) {shape = [4, 1, 2, 3, 3], value = 0.5 : f32} : (none) -> tensor<4x1x2x3x3xf32> loc("d")
    %0 = "top.Conv"(%x, %f, %none) {kernel_shape = [3, 3, 3], group = 2 : i64} : (tensor<1x4x5x4x4xf32>, tensor<6x2x3x3x3xf32>, none) -> tensor<1x6x3x2x2xf32> loc("g")
    %1 = "top.Conv"(%x, %d, %none) {kernel_shape = [2, 3, 3], group = 4 : i64, do_relu = true} : (tensor<1x4x5x4x4xf32>, tensor<4x1x2x3x3xf32>, none) -> tensor<1x4x4x2x2xf32> loc("d1")
    return %0, %1 : tensor<1x6x3x2x2xf32>, tensor<1x4x4x2x2xf32>
  }
}

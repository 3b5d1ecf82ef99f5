// Convolutions with filters that are computed: products with what lies under the taps, or of a
// depthwise one with each tap; where the bias alone is computed, it is added behind.
// UNSUPPORTED: chip-bm1684
// RUN: rm -rf %t.dir && mkdir -p %t.dir
// RUN: sed s/bm1684x/%chip/ %s | tpuc-opt --decompose -o %t.dir/parts.mlir --mlir-print-debuginfo --mlir-print-local-scope
// RUN: FileCheck %s --input-file %t.dir/parts.mlir
// RUN: tpuc-opt %t.dir/parts.mlir --subnet-divide | FileCheck %s --check-prefix=CHIP
// RUN: %python %S/Inputs/ramp.py %t.dir/in.npz x=2,4,6,5 w=6,2,3,2 d=4,1,3,2 b=6
// RUN: model_runner --model %s --input %t.dir/in.npz --output %t.dir/whole.npz
// RUN: model_runner --model %t.dir/parts.mlir --input %t.dir/in.npz --output %t.dir/parts.npz
// RUN: npz_tool compare %t.dir/parts.npz %t.dir/whole.npz --tolerance 0.99999,0.999
// CHIP-NOT: subnet_reason

// CHECK: "tpu.Pad"{{.*}}paddings = [0, 1, 0, 0, 2, 0]{{.*}} -> tensor<8x9x5xf16>
// CHECK: "tpu.Slice"{{.*}}axes = [1], ends = [7], offset = [0], steps = [2]{{.*}} -> tensor<8x4x5xf16>
// CHECK: "tpu.Concat"
// CHECK: %[[TERMS:.*]] = "tpu.Reshape"({{.*}} -> tensor<2x2x12x16xf16>
// CHECK: "tpu.MatMul"(%{{.*}}, %[[TERMS]], {{.*}} -> tensor<2x2x3x16xf32>
// CHECK: "tpu.Add"{{.*}} : (tensor<2x6x16xf32>, tensor<1x6x1xf32>) -> tensor<2x6x16xf32>
// CHECK: "tpu.Relu"
// CHECK: "tpu.Cast"{{.*}} -> tensor<2x6x16xf16>
// CHECK: -> tensor<2x6x4x4xf16> loc("c")

// CHECK: "tpu.Slice"{{.*}}axes = [2], ends = [6], offset = [5]{{.*}} -> tensor<1x4x1xf32>
// CHECK: "tpu.Mul"{{.*}} : (tensor<2x4x16xf32>, tensor<1x4x1xf32>) -> tensor<2x4x16xf32>
// CHECK: -> tensor<2x4x4x4xf16> loc("by_channel")
// CHECK-NOT: tpu.Conv
module attributes {module.name = "net", module.chip = "bm1684x", module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: tensor<2x4x6x5xf16>, %arg1: tensor<6x2x3x2xf16>, %arg2: tensor<4x1x3x2xf16>, %arg3: tensor<6xf32>) -> (tensor<2x6x4x4xf16>, tensor<2x4x4x4xf16>) {
    %none = "top.None"() : () -> none
    %x = "top.Input"(%arg0) : (tensor<2x4x6x5xf16>) -> tensor<2x4x6x5xf16> loc("x")
    %w = "top.Input"(%arg1) : (tensor<6x2x3x2xf16>) -> tensor<6x2x3x2xf16> loc("w")
    %d = "top.Input"(%arg2) : (tensor<4x1x3x2xf16>) -> tensor<4x1x3x2xf16> loc("d")
    %b = "top.Input"(%arg3) : (tensor<6xf32>) -> tensor<6xf32> loc("b")
    %0 = "tpu.Conv"(%x, %w, %b) {kernel_shape = [3, 2], pads = [1, 0, 2, 0], strides = [2, 1], dilations = [1, 1], group = 2 : i64, do_relu = true, relu_limit = 6.0 : f64} : (tensor<2x4x6x5xf16>, tensor<6x2x3x2xf16>, tensor<6xf32>) -> tensor<2x6x4x4xf16> loc("c")
    %1 = "tpu.Conv"(%x, %d, %none) {kernel_shape = [3, 2], group = 4 : i64} : (tensor<2x4x6x5xf16>, tensor<4x1x3x2xf16>, none) -> tensor<2x4x4x4xf16> loc("by_channel")
    return %0, %1 : tensor<2x6x4x4xf16>, tensor<2x4x4x4xf16>
  }
}

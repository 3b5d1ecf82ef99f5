// Rows that no tile holds are cut into parts. What the parts give is put together in F32, and
// rounded once, where the row is done. CompiledLayers compare the numbers.
// UNSUPPORTED: chip-bm1684
// RUN: tpuc-opt %s --shape-infer --chip-assign=chip=%chip --convert-top-to-tpu=mode=F16 --decompose -o %t --mlir-print-debuginfo --mlir-print-local-scope
// RUN: FileCheck %s --input-file %t
// RUN: tpuc-opt %t --subnet-divide | FileCheck %s --check-prefix=CHIP
// CHIP-NOT: subnet_reason

// A sum: parts in F32, then rows of parts.
// CHECK: "tpu.Reduce"{{.*}}mode = "ReduceSum"{{.*}} -> tensor<{{.*}}xf32> loc("m{{.*}}_part0")
// CHECK: "tpu.Reduce"{{.*}}mode = "ReduceSum"{{.*}} -> tensor<{{.*}}xf32> loc("m{{.*}}_total")
// CHECK: "tpu.MulConst"{{.*}}const_val = 1.428551{{.*}} loc("m{{.*}}_mean")
// CHECK: "tpu.Cast"{{.*}} -> tensor<{{.*}}xf16>
// A softmax: maxima and sums of the parts, then of the rows; the input is read once more. The
// conversion of the result is one of its pieces.
// CHECK: loc("s{{.*}}_most0")
// CHECK: "tpu.Exp"{{.*}} loc("s{{.*}}_term0")
// CHECK: "tpu.Exp"{{.*}} loc("s{{.*}}_share")
// CHECK: "tpu.Cast"{{.*}}xf16>) -> tensor<{{.*}}xf32> loc("s{{.*}}_wide_again0")
// CHECK: "tpu.Exp"{{.*}} loc("s{{.*}}_powers0")
// CHECK: "tpu.Cast"{{.*}}xf32>) -> tensor<{{.*}}xf16> loc("s{{.*}}_narrow0")
// CHECK: "tpu.Cast"{{.*}}xf16>) -> tensor<{{.*}}xf32> loc("s{{.*}}_converted0")
// A norm: sums of squares around the means of the parts.
// CHECK: loc("g{{.*}}_mean0")
// CHECK: loc("g{{.*}}_centred0")
// CHECK: loc("g{{.*}}_squares0")
// CHECK: "tpu.Rsqrt"{{.*}} loc("g{{.*}}_factor")
// CHECK-NOT: "tpu.GroupNorm"
module attributes {module.name = "net"} {
  func.func @main(%arg0: tensor<2x70001xf32>, %arg1: tensor<1x4x300x301xf32>) -> (tensor<2x1xf32>, tensor<2x70001xf32>, tensor<1x4x300x301xf32>) {
    %none = "top.None"() : () -> none
    %x = "top.Input"(%arg0) : (tensor<2x70001xf32>) -> tensor<2x70001xf32> loc("x")
    %p = "top.Input"(%arg1) : (tensor<1x4x300x301xf32>) -> tensor<1x4x300x301xf32> loc("p")
    %m = "top.Reduce"(%x, %none) {axes = [1], mode = "ReduceMean"} : (tensor<2x70001xf32>, none) -> tensor<2x1xf32> loc("m")
    %s = "top.Softmax"(%x) {axis = 1 : i64} : (tensor<2x70001xf32>) -> tensor<2x70001xf32> loc("s")
    %g = "top.GroupNorm"(%p, %none, %none) {num_groups = 2 : i64} : (tensor<1x4x300x301xf32>, none, none) -> tensor<1x4x300x301xf32> loc("g")
    return %m, %s, %g : tensor<2x1xf32>, tensor<2x70001xf32>, tensor<1x4x300x301xf32>
  }
}

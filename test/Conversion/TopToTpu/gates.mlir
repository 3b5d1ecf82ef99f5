// The numbers that scale whole channels stay f32 in a bf16 network, but for what pools them.
// RUN: tpuc-opt %s --chip-assign=chip=bm1684x "--convert-top-to-tpu=mode=BF16" --canonicalize --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s
// RUN: printf 'squeezed BF16\n' > %t.qtable
// RUN: tpuc-opt %s --chip-assign=chip=bm1684x "--convert-top-to-tpu=mode=BF16 qtable=%t.qtable" --canonicalize --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s --check-prefix=TABLE
// RUN: tpuc-opt %s --chip-assign=chip=bm1684x "--convert-top-to-tpu=mode=F16" --canonicalize --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s --check-prefix=F16

// CHECK: "tpu.AvgPool"{{.*}} -> tensor<1x4x1x1xbf16> loc("pooled")
// CHECK: "tpu.Relu"{{.*}}storage_reason = "it is small, and its result scales whole channels"{{.*}} -> tensor<1x4x1x1xf32> loc("squeezed")
// CHECK: %[[GATE:.*]] = "tpu.HardSigmoid"{{.*}}storage_reason = "it is small, and its result scales whole channels"{{.*}} -> tensor<1x4x1x1xf32> loc("gate")
// CHECK: %[[NARROW:.*]] = "tpu.Cast"(%[[GATE]]) : (tensor<1x4x1x1xf32>) -> tensor<1x4x1x1xbf16>
// CHECK: "tpu.Mul"(%{{.*}}, %[[NARROW]]) {{.*}} -> tensor<1x4x5x5xbf16> loc("scaled_bf16")
// What scales nothing is no gate.
// CHECK: "tpu.Relu"{{.*}} -> tensor<1x4x1x1xbf16> loc("other_bf16")
// TABLE: "tpu.Relu"{{.*}} -> tensor<1x4x1x1xbf16> loc("squeezed")
// TABLE: "tpu.HardSigmoid"{{.*}} -> tensor<1x4x1x1xf32> loc("gate")
// F16: "tpu.HardSigmoid"{{.*}} -> tensor<1x4x1x1xf16> loc("gate")
module {
  func.func @main(%arg0: tensor<1x4x5x5xf32>) -> (tensor<1x4x5x5xf32>, tensor<1x4x1x1xf32>) {
    %x = "top.Input"(%arg0) : (tensor<1x4x5x5xf32>) -> tensor<1x4x5x5xf32> loc("x")
    %pooled = "top.AvgPool"(%x) {kernel_shape = [5, 5]} : (tensor<1x4x5x5xf32>) -> tensor<1x4x1x1xf32> loc("pooled")
    %squeezed = "top.Relu"(%pooled) : (tensor<1x4x1x1xf32>) -> tensor<1x4x1x1xf32> loc("squeezed")
    %gate = "top.HardSigmoid"(%squeezed) : (tensor<1x4x1x1xf32>) -> tensor<1x4x1x1xf32> loc("gate")
    %scaled = "top.Mul"(%x, %gate) : (tensor<1x4x5x5xf32>, tensor<1x4x1x1xf32>) -> tensor<1x4x5x5xf32> loc("scaled")
    %other = "top.Relu"(%pooled) : (tensor<1x4x1x1xf32>) -> tensor<1x4x1x1xf32> loc("other")
    return %scaled, %other : tensor<1x4x5x5xf32>, tensor<1x4x1x1xf32>
  }
}

// Short runs are moved by two transposes of matrices where these take fewer cycles; long ones are
// copied, and so is what would be transposed anyway.
// RUN: tpuc-opt %s --permute-by-transposes --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s

// CHECK: %[[R:.*]] = "tpu.Reshape"(%{{.*}} -> tensor<12x64x6x10xf16> loc("short_exchanged")
// CHECK: %[[T:.*]] = "tpu.Permute"(%[[R]]) {order = [0, 2, 3, 1]} : {{.*}} -> tensor<12x6x10x64xf16> loc("short_turned")
// CHECK: %[[B:.*]] = "tpu.Permute"(%[[T]]) {order = [0, 1, 3, 2]} : {{.*}} -> tensor<12x6x64x10xf16> loc("short_turned_back")
// CHECK: "tpu.Reshape"(%[[B]]{{.*}} -> tensor<3x4x6x64x2x5xf16> loc("short")
// CHECK: "tpu.Permute"{{.*}}order = [0, 2, 1, 3]{{.*}} loc("long")
// CHECK: "tpu.Permute"{{.*}}order = [0, 2, 1]{{.*}} loc("matrix")
// CHECK: "tpu.Permute"{{.*}}order = [2, 1, 0, 3]{{.*}} loc("reversed")
!x = tensor<3x4x64x6x2x5xf16>
!y = tensor<12x64x6x640xf16>
!z = tensor<64x64x10xf16>
!w = tensor<12x64x6x10xf16>
module attributes {module.name = "net", module.chip = "bm1684x", module.state = "TPU_LOWERED"} {
  func.func @main(%x: !x, %y: !y, %z: !z, %w: !w) -> (tensor<3x4x6x64x2x5xf16>, tensor<12x6x64x640xf16>, tensor<64x10x64xf16>, tensor<6x64x12x10xf16>) {
    %0 = "top.Input"(%x) : (!x) -> !x loc("x")
    %1 = "top.Input"(%y) : (!y) -> !y loc("y")
    %2 = "top.Input"(%z) : (!z) -> !z loc("z")
    %3 = "top.Input"(%w) : (!w) -> !w loc("w")
    %4 = "tpu.Permute"(%0) {order = [0, 1, 3, 2, 4, 5]} : (!x) -> tensor<3x4x6x64x2x5xf16> loc("short")
    %5 = "tpu.Permute"(%1) {order = [0, 2, 1, 3]} : (!y) -> tensor<12x6x64x640xf16> loc("long")
    %6 = "tpu.Permute"(%2) {order = [0, 2, 1]} : (!z) -> tensor<64x10x64xf16> loc("matrix")
    %7 = "tpu.Permute"(%3) {order = [2, 1, 0, 3]} : (!w) -> tensor<6x64x12x10xf16> loc("reversed")
    return %4, %5, %6, %7 : tensor<3x4x6x64x2x5xf16>, tensor<12x6x64x640xf16>, tensor<64x10x64xf16>, tensor<6x64x12x10xf16>
  }
}

// What reads only constants has no ranges to be on integers with: it stays on floats.
// RUN: tpuc-opt %s "--convert-top-to-tpu=mode=INT8" --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s

// CHECK: "tpu.Interp"{{.*}}storage_reason = "its operands are constants without ranges"{{.*}} -> tensor<2x4x8x8xf32> loc("y")
!y = tensor<2x4x8x8x!quant.calibrated<f32<-1.0:1.0>>>
module attributes {module.chip = "bm1684x"} {
  func.func @main() -> !y {
    %n = "top.None"() : () -> none
    %x = "top.Weight"() : () -> tensor<2x4x4x4xf32> loc("x")
    %0 = "top.Interp"(%x, %n, %n, %n) {coord_mode = "pytorch_half_pixel", mode = "linear", scales = [1.0, 1.0, 2.0, 2.0]} : (tensor<2x4x4x4xf32>, none, none, none) -> !y loc("y")
    return %0 : !y
  }
}

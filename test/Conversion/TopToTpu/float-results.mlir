// Products on integers give floats straight from their sums where all readers are on floats.
// RUN: printf 'first F16\nsecond F32\nthird F16\n' > %t.qtable
// RUN: tpuc-opt %s --chip-assign=chip=bm1684x "--convert-top-to-tpu=mode=INT8 qtable=%t.qtable" --canonicalize --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s
// RUN: tpuc-opt %s --chip-assign=chip=cv183x --convert-top-to-tpu=mode=INT8 --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s --check-prefix=PACKED

// One reader in f16.
// CHECK: "tpu.MatMul"{{.*}}dequant_scale = [{{[^,]*}}]{{.*}} -> tensor<2x4xf16> loc("product")
// CHECK: "tpu.Sigmoid"(%{{.*}}) {{.*}} : (tensor<2x4xf16>) -> tensor<2x4xf16> loc("first_f16")
// Readers in f16 and f32: the wider type.
// CHECK: "tpu.MatMul"{{.*}}dequant_scale = {{.*}} -> tensor<2x4xf32> loc("shared")
// One reader is on integers.
// CHECK: "tpu.MatMul"{{.*}}multiplier = {{.*}} -> tensor<2x4x!quant.uniform<{{.*}}>> loc("mixed")
// No table is needed: a reader may have no form on integers.
// CHECK: "tpu.MatMul"{{.*}}dequant_scale = {{.*}} -> tensor<2x4xf32> loc("scores")
// What the network gives is stored in integers.
// CHECK: "tpu.MatMul"{{.*}}multiplier = {{.*}} -> tensor<2x4x!quant.uniform<{{.*}}>> loc("given_i8")
// Chips that scale inside the convolution have no sums to give.
// PACKED-NOT: dequant_scale
// PACKED: "tpu.MatMul"{{.*}}multiplier = {{.*}} loc("scores")
// PACKED-NOT: dequant_scale
!x = tensor<2x4x!quant.calibrated<f32<-2.0:2.0>>>
module {
  func.func @main(%arg0: !x) -> (!x, !x, !x, !x, !x) {
    %none = "top.None"() : () -> none
    %x = "top.Input"(%arg0) : (!x) -> !x loc("x")
    %y = "top.Relu"(%x) : (!x) -> !x loc("y")
    %0 = "top.MatMul"(%x, %y, %none) {right_transpose = true} : (!x, !x, none) -> tensor<2x2x!quant.calibrated<f32<-2.0:2.0>>> loc("inner")
    %product = "top.MatMul"(%0, %y, %none) : (tensor<2x2x!quant.calibrated<f32<-2.0:2.0>>>, !x, none) -> !x loc("product")
    %first = "top.Sigmoid"(%product) : (!x) -> !x loc("first")
    %shared = "top.MatMul"(%0, %x, %none) : (tensor<2x2x!quant.calibrated<f32<-2.0:2.0>>>, !x, none) -> !x loc("shared")
    %second = "top.Add"(%shared, %first) : (!x, !x) -> !x loc("second")
    %third = "top.Exp"(%shared) : (!x) -> !x loc("third")
    %mixed = "top.MatMul"(%0, %second, %none) : (tensor<2x2x!quant.calibrated<f32<-2.0:2.0>>>, !x, none) -> !x loc("mixed")
    %fourth = "top.Exp"(%mixed) : (!x) -> !x loc("fourth")
    %fifth = "top.Sigmoid"(%mixed) : (!x) -> !x loc("fifth")
    %scores = "top.MatMul"(%0, %second, %none) : (tensor<2x2x!quant.calibrated<f32<-2.0:2.0>>>, !x, none) -> !x loc("scores")
    %sixth = "top.Exp"(%scores) : (!x) -> !x loc("sixth")
    %given = "top.MatMul"(%0, %third, %none) : (tensor<2x2x!quant.calibrated<f32<-2.0:2.0>>>, !x, none) -> !x loc("given")
    return %fourth, %fifth, %sixth, %given, %first : !x, !x, !x, !x, !x
  }
}

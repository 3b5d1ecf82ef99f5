// Sums of integers are multiplied by their scale in F32: in F16 they may be infinite before.
// RUN: tpuc-opt %s --shape-infer --chip-assign=chip=bm1684x --convert-top-to-tpu=mode=F16 --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s --check-prefixes=CHECK,F16
// RUN: tpuc-opt %s --shape-infer --chip-assign=chip=bm1684x --convert-top-to-tpu=mode=BF16 --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s --check-prefixes=CHECK,BF16

// CHECK: "tpu.DtypeCast"{{.*}} -> tensor<4x3xf32> loc("sums")
// F16-NEXT: "tpu.MulConst"(%{{.*}}) {{{.*}}storage_reason = "sums of integers may leave the range of f16"} : (tensor<4x3xf32>) -> tensor<4x3xf32> loc("numbers")
// F16: "tpu.Relu"(%{{.*}}) {{{.*}}} : (tensor<4x3xf16>) -> tensor<4x3xf16>
// BF16: "tpu.MulConst"{{.*}} : (tensor<4x3xbf16>) -> tensor<4x3xbf16> loc("numbers")
module attributes {module.name = "net"} {
  func.func @main(%arg0: tensor<4x8xui8>, %arg1: tensor<8x3xi8>) -> tensor<4x3xf32> {
    %none = "top.None"() : () -> none
    %a = "top.Input"(%arg0) : (tensor<4x8xui8>) -> tensor<4x8xui8> loc("a")
    %b = "top.Input"(%arg1) : (tensor<8x3xi8>) -> tensor<8x3xi8> loc("b")
    %0 = "top.MatMulInteger"(%a, %b, %none, %none) : (tensor<4x8xui8>, tensor<8x3xi8>, none, none) -> tensor<4x3xi32> loc("product")
    %1 = "top.Cast"(%0) {to = f32} : (tensor<4x3xi32>) -> tensor<4x3xf32> loc("sums")
    %2 = "top.MulConst"(%1) {const_val = 0.001 : f64} : (tensor<4x3xf32>) -> tensor<4x3xf32> loc("numbers")
    %3 = "top.Relu"(%2) : (tensor<4x3xf32>) -> tensor<4x3xf32> loc("y")
    return %3 : tensor<4x3xf32>
  }
}

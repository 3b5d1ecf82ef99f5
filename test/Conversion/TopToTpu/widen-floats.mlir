// Floats of other widths become f32, and lowering goes back to what callers give and get.
// RUN: tpuc-opt %s --shape-infer --widen-floats --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s
// RUN: tpuc-opt %s --shape-infer --widen-floats=types=f64 --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s --check-prefix=LONG
// RUN: tpuc-opt %s --shape-infer --widen-floats --chip-assign=chip=bm1684x --convert-top-to-tpu=mode=F32 --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s --check-prefix=F32
// RUN: tpuc-opt %s --shape-infer --widen-floats --chip-assign=chip=bm1684x --convert-top-to-tpu=mode=F16 --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s --check-prefix=F16

// CHECK: func.func @main(%{{.*}}: tensor<2x3xf32> {top.given_type = f16}{{.*}}: tensor<3xf32> {top.given_type = f64}{{.*}}) -> (tensor<2x3xf32> {top.given_type = f16}, tensor<2x3xf32>, tensor<3xi16>, tensor<70x70xf32> {top.given_type = bf16})
// CHECK: "top.Weight"() : () -> tensor<3xf32> loc("w_f32")
// CHECK: "top.Add"{{.*}} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32> loc("single")
// The cast to f32 is none any more, and its name stays that of the result.
// CHECK-NOT: loc("single")
// Bits are those of f16.
// CHECK: %[[HALF:.*]] = "top.Cast"(%{{.*}}) {{.*}}to = f16{{.*}} : (tensor<3xf32>) -> tensor<3xf16> loc("bits_input")
// CHECK: "top.BitCast"(%[[HALF]]) {to = i16} : (tensor<3xf16>) -> tensor<3xi16> loc("bits")
// CHECK: "top.ConstantFill"{{.*}} value = 1.000000e+00 : f32{{.*}} -> tensor<70x70xf32>
// CHECK: "top.Relu"{{.*}} -> tensor<70x70xf32> loc("short")

// LONG: func.func @main(%{{.*}}: tensor<2x3xf16>{{.*}}: tensor<3xf32> {top.given_type = f64}{{.*}}) -> (tensor<2x3xf16>, tensor<2x3xf32>, tensor<3xi16>, tensor<70x70xbf16>)

// F32: func.func @main(%[[X:[^:]*]]: tensor<2x3xf16>{{.*}}: tensor<3xf64>{{.*}}) -> (tensor<2x3xf16>, tensor<2x3xf32>, tensor<3xi16>, tensor<70x70xbf16>)
// F32: %[[INPUT:.*]] = "top.Input"(%[[X]]) {{.*}}: (tensor<2x3xf16>) -> tensor<2x3xf16> loc("x")
// F32: "tpu.Cast"(%[[INPUT]]) : (tensor<2x3xf16>) -> tensor<2x3xf32> loc("x_f32")
// F32: "tpu.Cast"{{.*}} : (tensor<2x3xf32>) -> tensor<2x3xf16> loc("half")
// F32-NOT: top.given_type

// In F16, what is given in f16 needs no cast.
// F16: %[[INPUT:.*]] = "top.Input"(%{{.*}}) {{.*}}: (tensor<2x3xf16>) -> tensor<2x3xf16> loc("x")
// F16-NOT: "tpu.Cast"(%[[INPUT]])
// F16: "tpu.Relu"(%[[INPUT]]) {{.*}} : (tensor<2x3xf16>) -> tensor<2x3xf16> loc("half")
// F16-NOT: loc("half_f16")
module attributes {module.name = "net"} {
  func.func @main(%arg0: tensor<2x3xf16>, %arg1: tensor<3xf64>) -> (tensor<2x3xf16>, tensor<2x3xf32>, tensor<3xi16>, tensor<70x70xbf16>) {
    %none = "top.None"() : () -> none
    %x = "top.Input"(%arg0) : (tensor<2x3xf16>) -> tensor<2x3xf16> loc("x")
    %l = "top.Input"(%arg1) : (tensor<3xf64>) -> tensor<3xf64> loc("l")
    %w = "top.ConstantFill"(%none) {shape = [3], value = 0.5 : f16} : (none) -> tensor<3xf16> loc("w")
    %half = "top.Relu"(%x) : (tensor<2x3xf16>) -> tensor<2x3xf16> loc("half")
    %sum = "top.Add"(%half, %w) : (tensor<2x3xf16>, tensor<3xf16>) -> tensor<2x3xf16> loc("sum")
    %single = "top.Cast"(%sum) {to = f32} : (tensor<2x3xf16>) -> tensor<2x3xf32> loc("single")
    %h = "top.Cast"(%l) {to = f16} : (tensor<3xf64>) -> tensor<3xf16> loc("h")
    %bits = "top.BitCast"(%h) {to = i16} : (tensor<3xf16>) -> tensor<3xi16> loc("bits")
    %ones = "top.ConstantFill"(%none) {shape = [70, 70], value = 1.0 : bf16} : (none) -> tensor<70x70xbf16> loc("ones")
    %short = "top.Relu"(%ones) : (tensor<70x70xbf16>) -> tensor<70x70xbf16> loc("short")
    return %half, %single, %bits, %short : tensor<2x3xf16>, tensor<2x3xf32>, tensor<3xi16>, tensor<70x70xbf16>
  }
}

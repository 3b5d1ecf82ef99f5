// Which type each tensor gets, and the reason where it is not the mode's: exceptions of a quantize
// table, neighbours of ops that move, scales that these share.
// RUN: printf '# op_name quantize_mode\nb F16\nd BF16\n' > %t.qtable
// DEFINE: %{options} = mode=INT8
// DEFINE: %{lower} = tpuc-opt %s "--convert-top-to-tpu=%{options}" --canonicalize --chip-tpu-optimize --mlir-print-debuginfo --mlir-print-local-scope
// RUN: %{lower} | FileCheck %s
// REDEFINE: %{options} = mode=INT8 qtable=%t.qtable
// RUN: %{lower} | FileCheck %s --check-prefix=TABLE
// REDEFINE: %{options} = mode=F16 avoid-f16-overflow=true
// RUN: %{lower} | FileCheck %s --check-prefix=AVOID
// REDEFINE: %{options} = mode=INT8 faster-in-f16=b,c,d faster-in-f32=a
// RUN: %{lower} | FileCheck %s --check-prefix=FASTER
// REDEFINE: %{options} = mode=INT8 qtable=%t.qtable faster-in-f32=b
// RUN: %{lower} | FileCheck %s --check-prefix=TABLE
// REDEFINE: %{options} = mode=F16 faster-in-f16=a faster-in-f32=b
// RUN: %{lower} | FileCheck %s --check-prefix=FASTER16

// CHECK: %[[A:.*]] = "tpu.Lut"{{.*}} -> tensor<1x2x4x4x!quant.uniform<u8:f32, {{[^>]*}}>> loc("a")
// Operands of a Concat have its scale where nobody else reads them.
// CHECK: %[[AI:.*]] = "tpu.RequantInt"(%[[A]]) {{.*}} -> tensor<1x2x4x4x!quant.uniform<i8:f32, 3.125000e-02>> loc("a_i8")
// CHECK: %[[B:.*]] = "tpu.Lut"(%[[A]]{{.*}} -> tensor<1x2x4x4x!quant.uniform<i8:f32, 3.125000e-02>> loc("b")
// CHECK: %[[C:.*]] = "tpu.Concat"(%[[AI]], %[[B]]) {{.*}} -> tensor<1x4x4x4x!quant.uniform<i8:f32, 3.125000e-02>> loc("concat_i8")
// The filling is one of the stored integers.
// CHECK: "tpu.Pad"(%[[C]], {{.*}}val = -4.800000e+01 : f64{{.*}} -> tensor<1x4x6x6x!quant.uniform<i8:f32, 3.125000e-02>> loc("pad_i8")
// CHECK: "tpu.Exp"{{.*}}storage_reason = "top.Exp has no form on integers"{{.*}} -> tensor<1x2x4x4xf32> loc("c")
// CHECK: "tpu.Permute"{{.*}}storage_reason = "it moves floats between ops on floats"{{.*}} -> tensor<1x4x2x4xf32> loc("moved")
// CHECK: "tpu.Mul"{{.*}} -> tensor<1x2x4x4x!quant.uniform<u8:f32, {{[^>]*}}>> loc("d_u8")
// Indices are no affair of the mode.
// CHECK: "tpu.Gather"(%{{.*}}, %{{.*}}) {axis = 0 : i64} : {{.*}} -> tensor<2xi64> loc("gathered")

// TABLE: %[[A:.*]] = "tpu.Lut"{{.*}} loc("a")
// TABLE: %[[BF:.*]] = "tpu.Cast"(%[[A]]) : {{.*}} -> tensor<1x2x4x4xbf16> loc("a_bf16")
// TABLE: %[[H:.*]] = "tpu.Cast"(%[[A]]) : {{.*}} -> tensor<1x2x4x4xf16> loc("a_f16")
// TABLE: %[[B:.*]] = "tpu.Tanh"(%[[H]]) {storage_reason = "the quantize table says so"} : (tensor<1x2x4x4xf16>) -> tensor<1x2x4x4xf16> loc("b")
// TABLE: %[[BI:.*]] = "tpu.Cast"(%[[B]]) : (tensor<1x2x4x4xf16>) -> tensor<1x2x4x4x!quant.uniform<i8:f32, 3.125000e-02>> loc("b_i8")
// TABLE: "tpu.Concat"(%{{.*}}, %[[BI]])
// TABLE: "tpu.Mul"(%{{.*}}, %[[BF]]) {{{.*}}storage_reason = "the quantize table says so"} : (tensor<1x2x4x4xbf16>, tensor<1x2x4x4xbf16>) -> tensor<1x2x4x4xbf16> loc("d_bf16")
// TABLE: "tpu.Cast"(%{{.*}}) : (tensor<1x2x4x4xbf16>) -> tensor<1x2x4x4xf32> loc("d")

// AVOID: "tpu.Tanh"{{.*}} -> tensor<1x2x4x4xf16> loc("b")
// AVOID: "tpu.Exp"{{.*}}storage_reason = "values are beyond the range of f16"{{.*}} -> tensor<1x2x4x4xf32> loc("c")
// AVOID: "tpu.Mul"{{.*}}storage_reason = "values are beyond the range of f16"{{.*}} loc("d")

// Layers that are faster in wider floats are so, where their ranges are far from the ends of F16.
// FASTER: "tpu.{{.*}}"{{.*}}storage_reason = "it takes fewer cycles so"{{.*}} -> tensor<1x2x4x4xf32> loc("a")
// FASTER: "tpu.Tanh"{{.*}}storage_reason = "it takes fewer cycles so"{{.*}} -> tensor<1x2x4x4xf16> loc("b")
// FASTER: "tpu.Exp"{{.*}}storage_reason = "top.Exp has no form on integers"{{.*}} -> tensor<1x2x4x4xf32> loc("c")
// FASTER: "tpu.Mul"{{.*}} -> tensor<1x2x4x4x!quant.uniform<u8:f32, {{[^>]*}}>> loc("d_u8")
// FASTER16-NOT: storage_reason
// FASTER16: "tpu.{{.*}}"{{.*}} -> tensor<1x2x4x4xf16> loc("a")
// FASTER16: "tpu.Tanh"{{.*}}storage_reason = "it takes fewer cycles so"{{.*}} -> tensor<1x2x4x4xf32> loc("b")

// What may be wrong in a table.
// DEFINE: %{lines} = b F16\nbb F16\n
// DEFINE: %{fails} = printf '%{lines}' > %t.bad && not tpuc-opt %s "--convert-top-to-tpu=mode=INT8 qtable=%t.bad" 2>&1 | FileCheck %s
// RUN: %{fails} --check-prefix=UNKNOWN
// REDEFINE: %{lines} = b F8\n
// RUN: %{fails} --check-prefix=MODE
// REDEFINE: %{lines} = b\n
// RUN: %{fails} --check-prefix=FIELDS
// RUN: printf 'b F16\n' > %t.bad && not tpuc-opt %s --chip-assign=chip=cv183x "--convert-top-to-tpu=mode=INT8 qtable=%t.bad" 2>&1 | FileCheck %s --check-prefix=CHIP
// RUN: not tpuc-opt %s "--convert-top-to-tpu=mode=INT8 qtable=%t.none" 2>&1 | FileCheck %s --check-prefix=NONE
// UNKNOWN: error: {{.*}}.bad:2: the network has no layer 'bb'; expected a layer of it; did you mean 'b'?
// MODE: error: {{.*}}.bad:1: mode 'F8'; expected F32, F16, BF16, INT8 or INT16
// FIELDS: error: {{.*}}.bad:1: has 1 field; expected a layer's name and F32, F16, BF16, INT8 or INT16
// CHIP: error: {{.*}}.bad:1: mode F16; expected a precision that cv183x has
// NONE: error: {{.*}}.none: cannot be read
!x = tensor<1x2x4x4x!quant.calibrated<f32<-2.0:2.0>>>
!e = tensor<1x2x4x4x!quant.calibrated<f32<-2.0:70000.0>>>
!c = tensor<1x4x4x4x!quant.calibrated<f32<-4.0:4.0>>>
module attributes {module.chip = "bm1684x"} {
  func.func @main(%arg0: !x, %arg1: tensor<3xi64>) -> (!c, tensor<1x4x6x6x!quant.calibrated<f32<-6.0:6.0>>>, tensor<1x4x2x4xf32>, !x, tensor<2xi64>) {
    %n = "top.None"() : () -> none
    %x = "top.Input"(%arg0) : (!x) -> !x loc("x")
    %i = "top.Input"(%arg1) : (tensor<3xi64>) -> tensor<3xi64> loc("i")
    %1 = "top.Sigmoid"(%x) : (!x) -> !x loc("a")
    %2 = "top.Tanh"(%1) : (!x) -> !x loc("b")
    %3 = "top.Concat"(%1, %2) {axis = 1 : i64} : (!x, !x) -> !c loc("concat")
    %4 = "top.Pad"(%3, %n, %n, %n) {paddings = [0, 0, 1, 1, 0, 0, 1, 1], val = -1.5 : f64} : (!c, none, none, none) -> tensor<1x4x6x6x!quant.calibrated<f32<-6.0:6.0>>> loc("pad")
    %5 = "top.Exp"(%x) : (!x) -> !e loc("c")
    %6 = "top.Permute"(%5) {order = [0, 2, 1, 3]} : (!e) -> tensor<1x4x2x4x!quant.calibrated<f32<-2.0:70000.0>>> loc("moved")
    %7 = "top.Exp"(%6) : (tensor<1x4x2x4x!quant.calibrated<f32<-2.0:70000.0>>>) -> tensor<1x4x2x4xf32> loc("exp")
    %8 = "top.Mul"(%5, %1) : (!e, !x) -> !x loc("d")
    %9 = "top.Slice"(%i, %n, %n, %n, %n) {offset = [0], ends = [2], steps = [1]} : (tensor<3xi64>, none, none, none, none) -> tensor<2xi64> loc("sliced")
    %10 = "top.Gather"(%i, %9) {axis = 0 : i64} : (tensor<3xi64>, tensor<2xi64>) -> tensor<2xi64> loc("gathered")
    return %3, %4, %7, %8, %10 : !c, tensor<1x4x6x6x!quant.calibrated<f32<-6.0:6.0>>>, tensor<1x4x2x4xf32>, !x, tensor<2xi64>
  }
}

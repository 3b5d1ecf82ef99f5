// Lowering to floats: one twin for each op, casts where a tensor is wanted in another type.
// RUN: tpuc-opt %s --shape-infer --chip-assign=chip=bm1684x --convert-top-to-tpu=mode=F32 --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s --check-prefix=F32
// RUN: tpuc-opt %s --shape-infer --chip-assign=chip=bm1684x --convert-top-to-tpu=mode=F16 --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s --check-prefixes=NARROW,F16 -DT=f16
// RUN: tpuc-opt %s --shape-infer --chip-assign=chip=bm1684x --convert-top-to-tpu=mode=BF16 --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s --check-prefixes=NARROW,BF16 -DT=bf16

// F32: module.asymmetric = false, module.chip = "bm1684x", module.mode = "F32"{{.*}}module.state = "TPU_LOWERED", module.weight_file = "net_bm1684x_f32_tpu_weight.npz"
// F32: func.func @main({{.*}}) -> (tensor<1x3x4x4xf32>, tensor<1x3x1x1xf32>, tensor<2xi64>)
// F32-NOT: tpu.Cast
// F32: "tpu.Conv"(%{{.*}}, %{{.*}}, %{{.*}}) {{{.*}}do_relu = true{{.*}}} : (tensor<1x2x4x4xf32>, tensor<3x2x1x1xf32>, tensor<3xf32>) -> tensor<1x3x4x4xf32> loc("conv")
// F32: "tpu.AddConst"{{.*}} loc("huge")
// F32: "tpu.Interp"{{.*}} loc("resize")
// F32: "tpu.Add"{{.*}}-> tensor<2xi64> loc("index")
// F32-NOT: storage_reason
// F32-NOT: "top.{{[^IWN]}}

// NARROW: module.weight_file = "net_bm1684x_[[T]]_tpu_weight.npz"
// Inputs and outputs keep their types.
// NARROW: func.func @main({{.*}}) -> (tensor<1x3x4x4xf32>, tensor<1x3x1x1xf32>, tensor<2xi64>)
// NARROW: "tpu.Cast"(%{{.*}}) : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4x[[T]]> loc("x_[[T]]")
// The filter is rounded, the bias is not.
// NARROW-DAG: "top.Weight"() : () -> tensor<3x2x1x1x[[T]]> loc("w_[[T]]")
// NARROW-DAG: "top.Weight"() : () -> tensor<3xf32> loc("b")
// NARROW: "tpu.Conv"(%{{.*}}, %{{.*}}, %{{.*}}) {{{.*}}} : (tensor<1x2x4x4x[[T]]>, tensor<3x2x1x1x[[T]]>, tensor<3xf32>) -> tensor<1x3x4x4x[[T]]> loc("conv")
// F16: %[[WIDE:.*]] = "tpu.Cast"(%{{.*}}) : (tensor<1x3x4x4xf16>) -> tensor<1x3x4x4xf32> loc("conv_f32")
// F16: "tpu.AddConst"(%[[WIDE]]) {const_val = 1.000000e+05 : f64, {{.*}}storage_reason = "a constant is beyond the range of f16"} : {{.*}} -> tensor<1x3x4x4xf32> loc("huge")
// BF16: "tpu.AddConst"(%{{.*}}) {const_val = 1.000000e+05 : f64, do_relu = false, relu_limit = -1.000000e+00 : f64} : {{.*}} -> tensor<1x3x4x4xbf16> loc("huge_bf16")
// NARROW: "tpu.Reduce"{{.*}} -> tensor<1x3x1x1x[[T]]> loc("mean")
// Scales stay exact.
// NARROW: "tpu.Interp"{{.*}} : (tensor<1x3x1x1x[[T]]>, none, tensor<4xf32>, none) -> tensor<1x3x1x1x[[T]]> loc("resize_[[T]]")
// Integers are no affair of the mode.
// NARROW: "tpu.Add"(%{{.*}}, %{{.*}}) {{{.*}}} : (tensor<2xi64>, tensor<2xi64>) -> tensor<2xi64> loc("index")
// BF16: "tpu.Cast"(%{{.*}}) : (tensor<1x3x4x4xbf16>) -> tensor<1x3x4x4xf32> loc("huge")
// NARROW: "tpu.Cast"(%{{.*}}) : (tensor<1x3x1x1x[[T]]>) -> tensor<1x3x1x1xf32> loc("resize")
// NARROW-NOT: "top.{{[^IWN]}}
module attributes {module.name = "net"} {
  func.func @main(%arg0: tensor<1x2x4x4xf32>, %arg1: tensor<2xi64>) -> (tensor<1x3x4x4xf32>, tensor<1x3x1x1xf32>, tensor<2xi64>) {
    %none = "top.None"() : () -> none
    %x = "top.Input"(%arg0) : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32> loc("x")
    %i = "top.Input"(%arg1) : (tensor<2xi64>) -> tensor<2xi64> loc("i")
    %w = "top.ConstantFill"(%none) {shape = [3, 2, 1, 1], value = 0.3 : f32} : (none) -> tensor<3x2x1x1xf32> loc("w")
    %b = "top.ConstantFill"(%none) {shape = [3], value = 0.1 : f32} : (none) -> tensor<3xf32> loc("b")
    %0 = "top.Conv"(%x, %w, %b) {kernel_shape = [1, 1], do_relu = true} : (tensor<1x2x4x4xf32>, tensor<3x2x1x1xf32>, tensor<3xf32>) -> tensor<1x3x4x4xf32> loc("conv")
    %1 = "top.AddConst"(%0) {const_val = 1.0e5 : f64} : (tensor<1x3x4x4xf32>) -> tensor<1x3x4x4xf32> loc("huge")
    %2 = "top.Reduce"(%0, %none) {axes = [2, 3], mode = "ReduceMean"} : (tensor<1x3x4x4xf32>, none) -> tensor<1x3x1x1xf32> loc("mean")
    %s = "top.Weight"() : () -> tensor<4xf32> loc("s")
    %3 = "top.Interp"(%2, %none, %s, %none) {mode = "linear"} : (tensor<1x3x1x1xf32>, none, tensor<4xf32>, none) -> tensor<1x3x1x1xf32> loc("resize")
    %4 = "top.Add"(%i, %i) : (tensor<2xi64>, tensor<2xi64>) -> tensor<2xi64> loc("index")
    return %1, %3, %4 : tensor<1x3x4x4xf32>, tensor<1x3x1x1xf32>, tensor<2xi64>
  }
}

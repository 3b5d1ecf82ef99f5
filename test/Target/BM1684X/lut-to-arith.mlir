// A table that arithmetic gives in fewer cycles gets its steps where the tensor is large enough;
// what has no such steps is looked up. The results are those of the table.
// DEFINE: %{lower} = tpuc-opt %s --shape-infer --chip-assign=chip=bm1684x --convert-top-to-tpu=mode=INT8 --canonicalize --chip-tpu-optimize --subnet-divide --mlir-print-debuginfo --mlir-print-local-scope
// RUN: %{lower} --lut-to-arith | FileCheck %s
// RUN: %{lower} | FileCheck %s --check-prefix=WITHOUT

// Operation, operands (-1 is the constant), constant, entry of a correction, shift, rounding, what a
// product is added to and its shift, type.
// CHECK: "tpu.Lut"(%{{.*}}) {steps = [20, 0, -1, {{.*}}loc("swish_i8")
// CHECK: "tpu.Lut"(%{{[^{]*}}) : {{.*}} loc("bent_i8")
// CHECK: "tpu.Lut"(%{{[^{]*}}) : {{.*}} loc("small_i8")
// CHECK: "tpu.Lut"(%{{.*}}) {steps = [20, 0, -1, {{.*}}loc("leaky_i8")
// WITHOUT-NOT: steps =
// WITHOUT: "tpu.LeakyRelu"
!x = tensor<1x64x32x32x!quant.calibrated<f32<-8.0:8.0>>>
!p = tensor<1x64x1x1x!quant.calibrated<f32<-8.0:8.0>>>
module attributes {module.name = "net"} {
  func.func @main(%arg0: !x) -> (!x, !x, !p, !x) {
    %x = "top.Input"(%arg0) : (!x) -> !x loc("x")
    %0 = "top.HardSwish"(%x) : (!x) -> !x loc("swish")
    %1 = "top.Tanh"(%x) : (!x) -> !x loc("bent")
    %2 = "top.MaxPool"(%x) {kernel_shape = [32, 32]} : (!x) -> !p loc("pool")
    %3 = "top.HardSwish"(%2) : (!p) -> !p loc("small")
    %4 = "top.LeakyRelu"(%x) {alpha = 0.1} : (!x) -> !x loc("leaky")
    return %0, %1, %3, %4 : !x, !x, !p, !x
  }
}

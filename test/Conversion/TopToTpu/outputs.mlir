// Outputs that are inputs, that are given twice, that are read inside as well; --strip-io-quant.
// DEFINE: %{mode} = INT8
// DEFINE: %{lower} = tpuc-opt %s --convert-top-to-tpu=mode=%{mode} --canonicalize
// DEFINE: %{print} = --mlir-print-debuginfo --mlir-print-local-scope
// RUN: %{lower} --chip-tpu-optimize %{print} | FileCheck %s --check-prefixes=CHECK,INT8
// RUN: %{lower} "--strip-io-quant=quant_input=true quant_output=true" --chip-tpu-optimize %{print} | FileCheck %s --check-prefix=STRIPPED
// RUN: %{lower} --strip-io-quant=quant_input=true %{print} | FileCheck %s --check-prefix=INPUTS
// RUN: %{lower} --strip-io-quant=quant_output=true %{print} | FileCheck %s --check-prefix=OUTPUTS
// RUN: %{lower} --strip-io-quant %{print} | FileCheck %s --check-prefixes=CHECK,INT8
// REDEFINE: %{mode} = F32
// RUN: %{lower} %{print} | FileCheck %s --check-prefixes=CHECK,F32

// CHECK: func.func @main(%arg0: tensor<4xf32> {{.*}}, %arg1: tensor<4xf32> {{.*}}, %arg2: tensor<4xf32> {{.*}}) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
// CHECK: %[[X:.*]] = "top.Input"(%arg0) {{.*}} loc("x")
// What is stored has a name of its own; the outputs keep theirs, and two of one tensor are one.
// INT8: %[[A:.*]] = "tpu.Lut"{{.*}} loc("a_u8")
// INT8: %[[B:.*]] = "tpu.Add"(%[[A]], {{.*}} loc("b_i8")
// INT8: %[[AF:.*]] = "tpu.Cast"(%[[A]]) {{.*}} loc("a")
// INT8: %[[BF:.*]] = "tpu.Cast"(%[[B]]) {{.*}} loc("b")
// F32: %[[AF:.*]] = "tpu.Relu"{{.*}} loc("a")
// F32: %[[BF:.*]] = "tpu.Add"{{.*}} loc("b")
// CHECK: return %[[X]], %[[AF]], %[[BF]], %[[BF]], %arg2

// x is given, too, and stays; y is only stored as integers.
// STRIPPED: func.func @main(%arg0: tensor<4xf32> {{.*}}, %arg1: tensor<4x!quant.uniform<i8:f32, 1.562500e-02>> {{.*}}, %arg2: tensor<4xf32> {{.*}}) -> (tensor<4xf32>, tensor<4x!quant.uniform<u8:f32, {{[^>]*}}>>, tensor<4x!quant.uniform<i8:f32, {{[^>]*}}>>, tensor<4x!quant.uniform<i8:f32, {{[^>]*}}>>, tensor<4xf32>)
// STRIPPED-NOT: "tpu.Cast"{{.*}} loc("y
// STRIPPED: %[[A:.*]] = "tpu.Lut"{{.*}} loc("a")
// STRIPPED: %[[B:.*]] = "tpu.Add"(%[[A]], {{.*}} loc("b")
// STRIPPED: return %{{.*}}, %[[A]], %[[B]], %[[B]], %arg2

// INPUTS: func.func @main({{.*}}%arg1: tensor<4x!quant.uniform<i8:f32, 1.562500e-02>>{{.*}}) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
// OUTPUTS: func.func @main(%arg0: tensor<4xf32> {{.*}}, %arg1: tensor<4xf32> {{.*}}, %arg2: tensor<4xf32> {{.*}}) -> (tensor<4xf32>, tensor<4x!quant
!x = tensor<4x!quant.calibrated<f32<-2.0:2.0>>>
module attributes {module.chip = "bm1684x"} {
  func.func @main(%arg0: !x, %arg1: !x, %arg2: tensor<4xf32>) -> (!x, !x, !x, !x, tensor<4xf32>) {
    %0 = "top.Input"(%arg0) : (!x) -> !x loc("x")
    %1 = "top.Input"(%arg1) : (!x) -> !x loc("y")
    %2 = "top.Relu"(%0) : (!x) -> !x loc("a")
    %3 = "top.Add"(%2, %1) : (!x, !x) -> !x loc("b")
    return %0, %2, %3, %3, %arg2 : !x, !x, !x, !x, tensor<4xf32>
  }
}

// RUN: tpuc-opt %s --top-fuse --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s
// RUN: tpuc-opt %s --top-fuse=disable=relu-into-producer,mul-to-silu,erf-to-gelu,tanh-to-gelu,log-to-softplus | FileCheck %s --check-prefix=OFF
// RUN: not tpuc-opt %s --top-fuse=disable=no-such 2>&1 | FileCheck %s --check-prefix=NAME
// NAME: there is no pattern 'no-such'; expected one of add-into-conv

// CHECK-LABEL: func.func @relu
// CHECK: "top.Add"({{.*}}) {do_relu = true, relu_limit = 6.000000e+00 : f64} : {{.*}} loc("y")
// CHECK-NOT: top.
// CHECK: return
// OFF-LABEL: func.func @relu
// OFF: "top.Relu"
func.func @relu(%0: tensor<4xf32>) -> tensor<4xf32> {
  %1 = "top.Add"(%0, %0) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> loc("x")
  %2 = "top.Relu"(%1) {relu_limit = 6.0 : f64} : (tensor<4xf32>) -> tensor<4xf32> loc("y")
  return %2 : tensor<4xf32>
}

// Both are read.
// CHECK-LABEL: func.func @relu_read_twice
// CHECK: "top.Add"
// CHECK: "top.Relu"
func.func @relu_read_twice(%0: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %1 = "top.Add"(%0, %0) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = "top.Relu"(%1) : (tensor<4xf32>) -> tensor<4xf32>
  return %1, %2 : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @clip
// CHECK: "top.Relu"(%arg0) {relu_limit = 6.000000e+00 : f64}
// CHECK: "top.Clip"
func.func @clip(%0: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %1 = "top.Clip"(%0) {min = 0.0 : f64, max = 6.0 : f64} : (tensor<4xf32>) -> tensor<4xf32>
  %2 = "top.Clip"(%0) {min = -1.0 : f64, max = 6.0 : f64} : (tensor<4xf32>) -> tensor<4xf32>
  return %1, %2 : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @silu
// CHECK-NOT: top.Sigmoid
// CHECK: "top.SiLU"(%arg0) {{.*}} loc("y")
// OFF-LABEL: func.func @silu
// OFF: "top.Mul"
func.func @silu(%0: tensor<4xf32>) -> tensor<4xf32> {
  %1 = "top.Sigmoid"(%0) : (tensor<4xf32>) -> tensor<4xf32> loc("x")
  %2 = "top.Mul"(%1, %0) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> loc("y")
  return %2 : tensor<4xf32>
}

// Of another tensor, of another scale.
// CHECK-LABEL: func.func @no_silu
// CHECK-NOT: "top.SiLU"
// CHECK: return
func.func @no_silu(%0: tensor<4xf32>, %1: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %2 = "top.Sigmoid"(%0) : (tensor<4xf32>) -> tensor<4xf32>
  %3 = "top.Mul"(%1, %2) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %4 = "top.Sigmoid"(%0) {scale = 2.0 : f64} : (tensor<4xf32>) -> tensor<4xf32>
  %5 = "top.Mul"(%0, %4) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %3, %5 : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @hard_swish
// CHECK-NOT: top.HardSigmoid
// CHECK: "top.HardSwish"(%arg0)
func.func @hard_swish(%0: tensor<4xf32>) -> tensor<4xf32> {
  %1 = "top.HardSigmoid"(%0) {alpha = 0.16666666666666666 : f64} : (tensor<4xf32>) -> tensor<4xf32>
  %2 = "top.Mul"(%0, %1) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// CHECK-LABEL: func.func @clip_to_hard_sigmoid
// CHECK: "top.HardSigmoid"(%arg0) {alpha = 0.16666666666666666 : f64, beta = 5.000000e-01 : f64} {{.*}} loc("y")
// CHECK-NEXT: return
func.func @clip_to_hard_sigmoid(%x: tensor<4xf32>) -> tensor<4xf32> {
  %none = "top.None"() : () -> none
  %s = "top.AddConst"(%x) {const_val = 3.0 : f64} : (tensor<4xf32>) -> tensor<4xf32>
  %c = "top.Clip"(%s) {min = 0.0 : f64, max = 6.0 : f64} : (tensor<4xf32>) -> tensor<4xf32>
  %y = "top.DivConst"(%c) {const_val = 6.0 : f64} : (tensor<4xf32>) -> tensor<4xf32> loc("y")
  return %y : tensor<4xf32>
}

// CHECK-LABEL: func.func @clip_to_hard_swish
// CHECK: "top.HardSwish"(%arg0) {{.*}} loc("y")
// CHECK-NEXT: return
func.func @clip_to_hard_swish(%x: tensor<4xf32>) -> tensor<4xf32> {
  %none = "top.None"() : () -> none
  %s = "top.AddConst"(%x) {const_val = 3.0 : f64} : (tensor<4xf32>) -> tensor<4xf32>
  %c = "top.Clip"(%s) {min = 0.0 : f64, max = 6.0 : f64} : (tensor<4xf32>) -> tensor<4xf32>
  %m = "top.Mul"(%x, %c) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %y = "top.MulConst"(%m) {const_val = 0.16666667 : f64} : (tensor<4xf32>) -> tensor<4xf32> loc("y")
  return %y : tensor<4xf32>
}

// Another divisor; the clipped sum is read by both.
// CHECK-LABEL: func.func @no_hard_swish
// CHECK-NOT: "top.Hard
// CHECK: return
func.func @no_hard_swish(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %none = "top.None"() : () -> none
  %s = "top.AddConst"(%x) {const_val = 3.0 : f64} : (tensor<4xf32>) -> tensor<4xf32>
  %c = "top.Clip"(%s) {min = 0.0 : f64, max = 6.0 : f64} : (tensor<4xf32>) -> tensor<4xf32>
  %y = "top.DivConst"(%c) {const_val = 5.0 : f64} : (tensor<4xf32>) -> tensor<4xf32>
  %m = "top.Mul"(%x, %c) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %z = "top.DivConst"(%m) {const_val = 6.0 : f64} : (tensor<4xf32>) -> tensor<4xf32>
  return %y, %z : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @erf_to_gelu_0
// CHECK: "top.GELU"(%arg0) {approx_mode = "none"} {{.*}} loc("y")
// CHECK-NEXT: return
// OFF-LABEL: func.func @erf_to_gelu_0
// OFF: "top.Erf"
func.func @erf_to_gelu_0(%x: tensor<4xf32>) -> tensor<4xf32> {
  %none = "top.None"() : () -> none
  %a = "top.DivConst"(%x) {const_val = 1.4142135623730951 : f64} : (tensor<4xf32>) -> tensor<4xf32>
  %b = "top.Erf"(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %g = "top.AddConst"(%b) {const_val = 1.0 : f64} : (tensor<4xf32>) -> tensor<4xf32>
  %m = "top.Mul"(%x, %g) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %y = "top.MulConst"(%m) {const_val = 0.5 : f64} : (tensor<4xf32>) -> tensor<4xf32> loc("y")
  return %y : tensor<4xf32>
}

// CHECK-LABEL: func.func @erf_to_gelu_1
// CHECK: "top.GELU"(%arg0) {approx_mode = "none"} {{.*}} loc("y")
// CHECK-NEXT: return
func.func @erf_to_gelu_1(%x: tensor<4xf32>) -> tensor<4xf32> {
  %none = "top.None"() : () -> none
  %a = "top.DivConst"(%x) {const_val = 1.4142135623730951 : f64} : (tensor<4xf32>) -> tensor<4xf32>
  %b = "top.Erf"(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %g = "top.AddConst"(%b) {const_val = 1.0 : f64} : (tensor<4xf32>) -> tensor<4xf32>
  %m = "top.MulConst"(%x) {const_val = 0.5 : f64} : (tensor<4xf32>) -> tensor<4xf32>
  %y = "top.Mul"(%m, %g) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> loc("y")
  return %y : tensor<4xf32>
}

// CHECK-LABEL: func.func @erf_to_gelu_2
// CHECK: "top.GELU"(%arg0) {approx_mode = "none"} {{.*}} loc("y")
// CHECK-NEXT: return
func.func @erf_to_gelu_2(%x: tensor<4xf32>) -> tensor<4xf32> {
  %none = "top.None"() : () -> none
  %a = "top.DivConst"(%x) {const_val = 1.4142135623730951 : f64} : (tensor<4xf32>) -> tensor<4xf32>
  %b = "top.Erf"(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %g = "top.AddConst"(%b) {const_val = 1.0 : f64} : (tensor<4xf32>) -> tensor<4xf32>
  %m = "top.MulConst"(%g) {const_val = 0.5 : f64} : (tensor<4xf32>) -> tensor<4xf32>
  %y = "top.Mul"(%x, %m) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> loc("y")
  return %y : tensor<4xf32>
}

// CHECK-LABEL: func.func @tanh_to_gelu
// CHECK: "top.GELU"(%arg0) {approx_mode = "tanh"} {{.*}} loc("y")
// CHECK-NEXT: return
// OFF-LABEL: func.func @tanh_to_gelu
// OFF: "top.Tanh"
func.func @tanh_to_gelu(%x: tensor<4xf32>) -> tensor<4xf32> {
  %none = "top.None"() : () -> none
  %k = "top.PowConst"(%x) {const_val = 3.0 : f64} : (tensor<4xf32>) -> tensor<4xf32>
  %l = "top.MulConst"(%k) {const_val = 4.471500e-02 : f64} : (tensor<4xf32>) -> tensor<4xf32>
  %o = "top.Add"(%x, %l) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %a = "top.MulConst"(%o) {const_val = 0.79788456 : f64} : (tensor<4xf32>) -> tensor<4xf32>
  %b = "top.Tanh"(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %g = "top.AddConst"(%b) {const_val = 1.0 : f64} : (tensor<4xf32>) -> tensor<4xf32>
  %m = "top.Mul"(%x, %g) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %y = "top.MulConst"(%m) {const_val = 0.5 : f64} : (tensor<4xf32>) -> tensor<4xf32> loc("y")
  return %y : tensor<4xf32>
}

// CHECK-LABEL: func.func @no_gelu_constant
// CHECK-NOT: "top.GELU"
// CHECK: return
func.func @no_gelu_constant(%x: tensor<4xf32>) -> tensor<4xf32> {
  %none = "top.None"() : () -> none
  %a = "top.DivConst"(%x) {const_val = 2.0 : f64} : (tensor<4xf32>) -> tensor<4xf32>
  %b = "top.Erf"(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %g = "top.AddConst"(%b) {const_val = 1.0 : f64} : (tensor<4xf32>) -> tensor<4xf32>
  %m = "top.Mul"(%x, %g) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %y = "top.MulConst"(%m) {const_val = 0.5 : f64} : (tensor<4xf32>) -> tensor<4xf32> loc("y")
  return %y : tensor<4xf32>
}

// CHECK-LABEL: func.func @no_tanh_gelu_constant
// CHECK-NOT: "top.GELU"
// CHECK: return
func.func @no_tanh_gelu_constant(%x: tensor<4xf32>) -> tensor<4xf32> {
  %none = "top.None"() : () -> none
  %k = "top.PowConst"(%x) {const_val = 3.0 : f64} : (tensor<4xf32>) -> tensor<4xf32>
  %l = "top.MulConst"(%k) {const_val = 0.05 : f64} : (tensor<4xf32>) -> tensor<4xf32>
  %o = "top.Add"(%x, %l) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %a = "top.MulConst"(%o) {const_val = 0.79788456 : f64} : (tensor<4xf32>) -> tensor<4xf32>
  %b = "top.Tanh"(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %g = "top.AddConst"(%b) {const_val = 1.0 : f64} : (tensor<4xf32>) -> tensor<4xf32>
  %m = "top.Mul"(%x, %g) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %y = "top.MulConst"(%m) {const_val = 0.5 : f64} : (tensor<4xf32>) -> tensor<4xf32> loc("y")
  return %y : tensor<4xf32>
}

// CHECK-LABEL: func.func @no_gelu_of_two
// CHECK-NOT: "top.GELU"
// CHECK: return
func.func @no_gelu_of_two(%x: tensor<4xf32>, %z: tensor<4xf32>) -> tensor<4xf32> {
  %none = "top.None"() : () -> none
  %a = "top.DivConst"(%x) {const_val = 1.4142135623730951 : f64} : (tensor<4xf32>) -> tensor<4xf32>
  %b = "top.Erf"(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %g = "top.AddConst"(%b) {const_val = 1.0 : f64} : (tensor<4xf32>) -> tensor<4xf32>
  %m = "top.Mul"(%z, %g) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %y = "top.MulConst"(%m) {const_val = 0.5 : f64} : (tensor<4xf32>) -> tensor<4xf32> loc("y")
  return %y : tensor<4xf32>
}

// CHECK-LABEL: func.func @gelu_read_within
// CHECK-NOT: "top.GELU"
// CHECK: return
func.func @gelu_read_within(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %none = "top.None"() : () -> none
  %a = "top.DivConst"(%x) {const_val = 1.4142135623730951 : f64} : (tensor<4xf32>) -> tensor<4xf32>
  %b = "top.Erf"(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %g = "top.AddConst"(%b) {const_val = 1.0 : f64} : (tensor<4xf32>) -> tensor<4xf32>
  %m = "top.Mul"(%x, %g) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %y = "top.MulConst"(%m) {const_val = 0.5 : f64} : (tensor<4xf32>) -> tensor<4xf32> loc("y")
  return %y, %b : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @log_to_softplus
// CHECK: "top.Softplus"(%arg0) {{.*}} loc("l")
// CHECK-NEXT: return
// OFF-LABEL: func.func @log_to_softplus
// OFF: "top.Log"
func.func @log_to_softplus(%x: tensor<4xf32>) -> tensor<4xf32> {
  %none = "top.None"() : () -> none
  %a = "top.Exp"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %b = "top.AddConst"(%a) {const_val = 1.0 : f64} : (tensor<4xf32>) -> tensor<4xf32>
  %l = "top.Log"(%b) : (tensor<4xf32>) -> tensor<4xf32> loc("l")
  return %l : tensor<4xf32>
}

// CHECK-LABEL: func.func @no_softplus
// CHECK-NOT: "top.Softplus"
// CHECK: return
func.func @no_softplus(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %none = "top.None"() : () -> none
  %a = "top.Exp"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %b = "top.AddConst"(%a) {const_val = 2.0 : f64} : (tensor<4xf32>) -> tensor<4xf32>
  %l = "top.Log"(%b) : (tensor<4xf32>) -> tensor<4xf32> loc("l")
  return %l, %b : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @mul_to_mish
// CHECK: "top.Mish"(%arg0) {{.*}} loc("y")
// CHECK-NEXT: return
func.func @mul_to_mish(%x: tensor<4xf32>) -> tensor<4xf32> {
  %none = "top.None"() : () -> none
  %a = "top.Exp"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %b = "top.AddConst"(%a) {const_val = 1.0 : f64} : (tensor<4xf32>) -> tensor<4xf32>
  %l = "top.Log"(%b) : (tensor<4xf32>) -> tensor<4xf32> loc("l")
  %t = "top.Tanh"(%l) : (tensor<4xf32>) -> tensor<4xf32>
  %y = "top.Mul"(%x, %t) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> loc("y")
  return %y : tensor<4xf32>
}

// CHECK-LABEL: func.func @no_mish
// CHECK-NOT: "top.Mish"
// CHECK: return
func.func @no_mish(%x: tensor<4xf32>, %z: tensor<4xf32>) -> tensor<4xf32> {
  %none = "top.None"() : () -> none
  %a = "top.Exp"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %b = "top.AddConst"(%a) {const_val = 1.0 : f64} : (tensor<4xf32>) -> tensor<4xf32>
  %l = "top.Log"(%b) : (tensor<4xf32>) -> tensor<4xf32> loc("l")
  %t = "top.Tanh"(%l) : (tensor<4xf32>) -> tensor<4xf32>
  %y = "top.Mul"(%z, %t) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> loc("y")
  return %y : tensor<4xf32>
}

// CHECK-LABEL: func.func @tanh_to_gelu_of_products
// CHECK: "top.GELU"(%arg0) {approx_mode = "tanh"} {{.*}} loc("y")
// CHECK-NEXT: return
func.func @tanh_to_gelu_of_products(%x: tensor<4xf32>) -> tensor<4xf32> {
  %none = "top.None"() : () -> none
  %j = "top.MulConst"(%x) {const_val = 4.471500e-02 : f64} : (tensor<4xf32>) -> tensor<4xf32>
  %k = "top.Mul"(%x, %j) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %l = "top.Mul"(%x, %k) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %o = "top.Add"(%x, %l) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %a = "top.MulConst"(%o) {const_val = 0.79788456 : f64} : (tensor<4xf32>) -> tensor<4xf32>
  %b = "top.Tanh"(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %g = "top.AddConst"(%b) {const_val = 1.0 : f64} : (tensor<4xf32>) -> tensor<4xf32>
  %m = "top.MulConst"(%g) {const_val = 0.5 : f64} : (tensor<4xf32>) -> tensor<4xf32>
  %y = "top.Mul"(%x, %m) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> loc("y")
  return %y : tensor<4xf32>
}

// CHECK-LABEL: func.func @mul_to_swish
// CHECK: "top.Swish"(%arg0) {beta = 1.702000e+00 : f64} {{.*}} loc("y")
// CHECK-NEXT: return
func.func @mul_to_swish(%x: tensor<4xf32>) -> tensor<4xf32> {
  %none = "top.None"() : () -> none
  %s = "top.MulConst"(%x) {const_val = 1.702 : f64} : (tensor<4xf32>) -> tensor<4xf32>
  %t = "top.Sigmoid"(%s) : (tensor<4xf32>) -> tensor<4xf32>
  %y = "top.Mul"(%x, %t) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> loc("y")
  return %y : tensor<4xf32>
}

// CHECK-LABEL: func.func @no_swish
// CHECK-NOT: "top.Swish"
// CHECK: return
func.func @no_swish(%x: tensor<4xf32>, %z: tensor<4xf32>) -> tensor<4xf32> {
  %none = "top.None"() : () -> none
  %s = "top.MulConst"(%x) {const_val = 1.702 : f64} : (tensor<4xf32>) -> tensor<4xf32>
  %t = "top.Sigmoid"(%s) : (tensor<4xf32>) -> tensor<4xf32>
  %y = "top.Mul"(%z, %t) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> loc("y")
  return %y : tensor<4xf32>
}

// CHECK-LABEL: func.func @mul_into_softmax
// CHECK: "top.Softmax"(%arg0) {axis = 1 : i64, beta = 5.000000e-01 : f64{{.*}} loc("y")
// CHECK-NEXT: return
func.func @mul_into_softmax(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %none = "top.None"() : () -> none
  %s = "top.DivConst"(%x) {const_val = 4.0 : f64} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %y = "top.Softmax"(%s) {axis = 1 : i64, beta = 2.0 : f64} : (tensor<2x4xf32>) -> tensor<2x4xf32> loc("y")
  return %y : tensor<2x4xf32>
}

// The largest element would be the smallest one.
// CHECK-LABEL: func.func @negative_into_softmax
// CHECK: "top.MulConst"
func.func @negative_into_softmax(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %none = "top.None"() : () -> none
  %s = "top.MulConst"(%x) {const_val = -4.0 : f64} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %y = "top.Softmax"(%s) {axis = 1 : i64} : (tensor<2x4xf32>) -> tensor<2x4xf32> loc("y")
  return %y : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @div_to_softmax
// CHECK: "top.Softmax"(%arg0) {axis = 1 : i64{{.*}} loc("y")
// CHECK-NEXT: return
func.func @div_to_softmax(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %none = "top.None"() : () -> none
  %m = "top.Reduce"(%x, %none) {axes = [-1], mode = "ReduceMax"} : (tensor<2x4xf32>, none) -> tensor<2x1xf32>
  %d = "top.Sub"(%x, %m) : (tensor<2x4xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>
  %e = "top.Exp"(%d) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %s = "top.Reduce"(%e, %none) {axes = [1], mode = "ReduceSum"} : (tensor<2x4xf32>, none) -> tensor<2x1xf32>
  %y = "top.Div"(%e, %s) : (tensor<2x4xf32>, tensor<2x1xf32>) -> tensor<2x4xf32> loc("y")
  return %y : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @div_to_softmax_alone
// CHECK: "top.Softmax"(%arg0) {axis = 1 : i64{{.*}} loc("y")
// CHECK-NEXT: return
func.func @div_to_softmax_alone(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %none = "top.None"() : () -> none
  %e = "top.Exp"(%x) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %s = "top.Reduce"(%e, %none) {axes = [1], mode = "ReduceSum"} : (tensor<2x4xf32>, none) -> tensor<2x1xf32>
  %y = "top.Div"(%e, %s) : (tensor<2x4xf32>, tensor<2x1xf32>) -> tensor<2x4xf32> loc("y")
  return %y : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @sum_read_twice
// CHECK-NOT: "top.Softmax"
// CHECK: return
func.func @sum_read_twice(%x: tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x1xf32>) {
  %none = "top.None"() : () -> none
  %e = "top.Exp"(%x) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %s = "top.Reduce"(%e, %none) {axes = [1], mode = "ReduceSum"} : (tensor<2x4xf32>, none) -> tensor<2x1xf32>
  %y = "top.Div"(%e, %s) : (tensor<2x4xf32>, tensor<2x1xf32>) -> tensor<2x4xf32> loc("y")
  return %y, %s : tensor<2x4xf32>, tensor<2x1xf32>
}

// Reduced dimensions come back by reshapes; the maximum is limited to what limits nothing.
// CHECK-LABEL: func.func @softmax_reshaped
// CHECK-NEXT: "top.Softmax"(%arg0) {axis = 1 : i64{{.*}} loc("y")
// CHECK-NEXT: return
func.func @softmax_reshaped(%x: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %none = "top.None"() : () -> none
  %m = "top.Reduce"(%x, %none) {axes = [1], keepdims = false, mode = "ReduceMax"} : (tensor<2x8xf32>, none) -> tensor<2xf32>
  %l = "top.MaxConst"(%m) {const_val = 0xFFF0000000000000 : f64} : (tensor<2xf32>) -> tensor<2xf32>
  %k = "top.Reshape"(%l, %none) {shape = [2, 1]} : (tensor<2xf32>, none) -> tensor<2x1xf32>
  %d = "top.Sub"(%x, %k) : (tensor<2x8xf32>, tensor<2x1xf32>) -> tensor<2x8xf32>
  %e = "top.Exp"(%d) : (tensor<2x8xf32>) -> tensor<2x8xf32>
  %s = "top.Reduce"(%e, %none) {axes = [1], keepdims = false, mode = "ReduceSum"} : (tensor<2x8xf32>, none) -> tensor<2xf32>
  %t = "top.Reshape"(%s, %none) {shape = [2, 1]} : (tensor<2xf32>, none) -> tensor<2x1xf32>
  %y = "top.Div"(%e, %t) : (tensor<2x8xf32>, tensor<2x1xf32>) -> tensor<2x8xf32> loc("y")
  return %y : tensor<2x8xf32>
}

// The sums of the rows divide the columns.
// CHECK-LABEL: func.func @softmax_turned
// CHECK-NOT: "top.Softmax"
// CHECK: return
func.func @softmax_turned(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %none = "top.None"() : () -> none
  %e = "top.Exp"(%x) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %s = "top.Reduce"(%e, %none) {axes = [1], keepdims = false, mode = "ReduceSum"} : (tensor<8x8xf32>, none) -> tensor<8xf32>
  %y = "top.Div"(%e, %s) : (tensor<8x8xf32>, tensor<8xf32>) -> tensor<8x8xf32>
  return %y : tensor<8x8xf32>
}

// RUN: tpuc-opt %s --shape-infer --top-fuse --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s
// RUN: tpuc-opt %s --shape-infer --top-fuse=disable=to-layernorm,to-rmsnorm,to-pixelnorm,to-groupnorm,to-instancenorm | FileCheck %s --check-prefix=OFF
// RUN: tpuc-opt %s --shape-infer --top-fuse=disable=mul-into-norm,add-into-norm | FileCheck %s --check-prefix=BARE

// CHECK-LABEL: func.func @layernorm
// CHECK: "top.LayerNorm"(%arg0, {{.*}}axis = -1 : i64, eps = {{.*}}(tensor<2x5x8xf32>, tensor<8xf32>, tensor<8xf32>){{.*}} loc("y")
// CHECK-NEXT: return
// OFF-LABEL: func.func @layernorm
// OFF: "top.Sqrt"
// BARE-LABEL: func.func @layernorm
// BARE: "top.LayerNorm"
// BARE: "top.Mul"
// BARE: "top.Add"
func.func @layernorm(%x: tensor<2x5x8xf32>) -> tensor<2x5x8xf32> {
  %none = "top.None"() : () -> none
  %m = "top.Reduce"(%x, %none) {axes = [-1], keepdims = true, mode = "ReduceMean"} : (tensor<2x5x8xf32>, none) -> tensor<2x5x1xf32>
  %d = "top.Sub"(%x, %m) : (tensor<2x5x8xf32>, tensor<2x5x1xf32>) -> tensor<2x5x8xf32>
  %q = "top.Mul"(%d, %d) : (tensor<2x5x8xf32>, tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
  %v = "top.Reduce"(%q, %none) {axes = [-1], keepdims = true, mode = "ReduceMean"} : (tensor<2x5x8xf32>, none) -> tensor<2x5x1xf32>
  %e = "top.AddConst"(%v) {const_val = 9.9999999999999995E-6 : f64} : (tensor<2x5x1xf32>) -> tensor<2x5x1xf32>
  %r = "top.Sqrt"(%e) : (tensor<2x5x1xf32>) -> tensor<2x5x1xf32>
  %n = "top.Div"(%d, %r) : (tensor<2x5x8xf32>, tensor<2x5x1xf32>) -> tensor<2x5x8xf32> loc("n")
  %w = "top.ConstantFill"(%none) {shape = [8], value = 2.0 : f32} : (none) -> tensor<8xf32>
  %b = "top.ConstantFill"(%none) {shape = [8], value = 1.0 : f32} : (none) -> tensor<8xf32>
  %s = "top.Mul"(%n, %w) : (tensor<2x5x8xf32>, tensor<8xf32>) -> tensor<2x5x8xf32> loc("s")
  %y = "top.Add"(%s, %b) : (tensor<2x5x8xf32>, tensor<8xf32>) -> tensor<2x5x8xf32> loc("y")
  return %y : tensor<2x5x8xf32>
}

// CHECK-LABEL: func.func @layernorm_of_two
// CHECK: "top.LayerNorm"(%arg0, {{.*}}axis = -2 : i64{{.*}}(tensor<2x5x8xf32>, none, none){{.*}} loc("n")
func.func @layernorm_of_two(%x: tensor<2x5x8xf32>) -> tensor<2x5x8xf32> {
  %none = "top.None"() : () -> none
  %m = "top.Reduce"(%x, %none) {axes = [1, 2], keepdims = true, mode = "ReduceMean"} : (tensor<2x5x8xf32>, none) -> tensor<2x1x1xf32>
  %d = "top.Sub"(%x, %m) : (tensor<2x5x8xf32>, tensor<2x1x1xf32>) -> tensor<2x5x8xf32>
  %q = "top.Mul"(%d, %d) : (tensor<2x5x8xf32>, tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
  %v = "top.Reduce"(%q, %none) {axes = [1, 2], keepdims = true, mode = "ReduceMean"} : (tensor<2x5x8xf32>, none) -> tensor<2x1x1xf32>
  %e = "top.AddConst"(%v) {const_val = 9.9999999999999995E-6 : f64} : (tensor<2x1x1xf32>) -> tensor<2x1x1xf32>
  %r = "top.Sqrt"(%e) : (tensor<2x1x1xf32>) -> tensor<2x1x1xf32>
  %n = "top.Div"(%d, %r) : (tensor<2x5x8xf32>, tensor<2x1x1xf32>) -> tensor<2x5x8xf32> loc("n")
  return %n : tensor<2x5x8xf32>
}

// CHECK-LABEL: func.func @layernorm_dynamic
// CHECK: "top.LayerNorm"(%arg0, {{.*}} loc("y")
// CHECK-NEXT: return
func.func @layernorm_dynamic(%x: tensor<?x5x8xf32>) -> tensor<?x5x8xf32> {
  %none = "top.None"() : () -> none
  %m = "top.Reduce"(%x, %none) {axes = [2], keepdims = true, mode = "ReduceMean"} : (tensor<?x5x8xf32>, none) -> tensor<?x5x1xf32>
  %d = "top.Sub"(%x, %m) : (tensor<?x5x8xf32>, tensor<?x5x1xf32>) -> tensor<?x5x8xf32>
  %q = "top.Mul"(%d, %d) : (tensor<?x5x8xf32>, tensor<?x5x8xf32>) -> tensor<?x5x8xf32>
  %v = "top.Reduce"(%q, %none) {axes = [2], keepdims = true, mode = "ReduceMean"} : (tensor<?x5x8xf32>, none) -> tensor<?x5x1xf32>
  %e = "top.AddConst"(%v) {const_val = 9.9999999999999995E-6 : f64} : (tensor<?x5x1xf32>) -> tensor<?x5x1xf32>
  %r = "top.Sqrt"(%e) : (tensor<?x5x1xf32>) -> tensor<?x5x1xf32>
  %n = "top.Div"(%d, %r) : (tensor<?x5x8xf32>, tensor<?x5x1xf32>) -> tensor<?x5x8xf32> loc("n")
  %w = "top.ConstantFill"(%none) {shape = [8], value = 2.0 : f32} : (none) -> tensor<8xf32>
  %b = "top.ConstantFill"(%none) {shape = [8], value = 1.0 : f32} : (none) -> tensor<8xf32>
  %s = "top.Mul"(%n, %w) : (tensor<?x5x8xf32>, tensor<8xf32>) -> tensor<?x5x8xf32> loc("s")
  %y = "top.Add"(%s, %b) : (tensor<?x5x8xf32>, tensor<8xf32>) -> tensor<?x5x8xf32> loc("y")
  return %y : tensor<?x5x8xf32>
}

// The variance is an output.
// CHECK-LABEL: func.func @variance_read_twice
// CHECK-NOT: "top.LayerNorm"
// CHECK: return
func.func @variance_read_twice(%x: tensor<2x5x8xf32>) -> (tensor<2x5x8xf32>, tensor<2x5x1xf32>) {
  %none = "top.None"() : () -> none
  %m = "top.Reduce"(%x, %none) {axes = [-1], keepdims = true, mode = "ReduceMean"} : (tensor<2x5x8xf32>, none) -> tensor<2x5x1xf32>
  %d = "top.Sub"(%x, %m) : (tensor<2x5x8xf32>, tensor<2x5x1xf32>) -> tensor<2x5x8xf32>
  %q = "top.Mul"(%d, %d) : (tensor<2x5x8xf32>, tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
  %v = "top.Reduce"(%q, %none) {axes = [-1], keepdims = true, mode = "ReduceMean"} : (tensor<2x5x8xf32>, none) -> tensor<2x5x1xf32>
  %e = "top.AddConst"(%v) {const_val = 9.9999999999999995E-6 : f64} : (tensor<2x5x1xf32>) -> tensor<2x5x1xf32>
  %r = "top.Sqrt"(%e) : (tensor<2x5x1xf32>) -> tensor<2x5x1xf32>
  %n = "top.Div"(%d, %r) : (tensor<2x5x8xf32>, tensor<2x5x1xf32>) -> tensor<2x5x8xf32> loc("n")
  return %n, %v : tensor<2x5x8xf32>, tensor<2x5x1xf32>
}

// CHECK-LABEL: func.func @norm_of_the_first_axis
// CHECK-NOT: "top.LayerNorm"
// CHECK: "top.Sqrt"
func.func @norm_of_the_first_axis(%x: tensor<2x5x8xf32>) -> tensor<2x5x8xf32> {
  %none = "top.None"() : () -> none
  %m = "top.Reduce"(%x, %none) {axes = [0], keepdims = true, mode = "ReduceMean"} : (tensor<2x5x8xf32>, none) -> tensor<1x5x8xf32>
  %d = "top.Sub"(%x, %m) : (tensor<2x5x8xf32>, tensor<1x5x8xf32>) -> tensor<2x5x8xf32>
  %q = "top.Mul"(%d, %d) : (tensor<2x5x8xf32>, tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
  %v = "top.Reduce"(%q, %none) {axes = [0], keepdims = true, mode = "ReduceMean"} : (tensor<2x5x8xf32>, none) -> tensor<1x5x8xf32>
  %e = "top.AddConst"(%v) {const_val = 9.9999999999999995E-6 : f64} : (tensor<1x5x8xf32>) -> tensor<1x5x8xf32>
  %r = "top.Sqrt"(%e) : (tensor<1x5x8xf32>) -> tensor<1x5x8xf32>
  %n = "top.Div"(%d, %r) : (tensor<2x5x8xf32>, tensor<1x5x8xf32>) -> tensor<2x5x8xf32> loc("n")
  return %n : tensor<2x5x8xf32>
}

// The maximum is not the mean.
// CHECK-LABEL: func.func @other_axes
// CHECK-NOT: "top.LayerNorm"
// CHECK: return
func.func @other_axes(%x: tensor<2x5x8xf32>) -> tensor<2x5x8xf32> {
  %none = "top.None"() : () -> none
  %m = "top.Reduce"(%x, %none) {axes = [-1], keepdims = true, mode = "ReduceMax"} : (tensor<2x5x8xf32>, none) -> tensor<2x5x1xf32>
  %d = "top.Sub"(%x, %m) : (tensor<2x5x8xf32>, tensor<2x5x1xf32>) -> tensor<2x5x8xf32>
  %q = "top.Mul"(%d, %d) : (tensor<2x5x8xf32>, tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
  %v = "top.Reduce"(%q, %none) {axes = [-1], keepdims = true, mode = "ReduceMean"} : (tensor<2x5x8xf32>, none) -> tensor<2x5x1xf32>
  %e = "top.AddConst"(%v) {const_val = 9.9999999999999995E-6 : f64} : (tensor<2x5x1xf32>) -> tensor<2x5x1xf32>
  %r = "top.Sqrt"(%e) : (tensor<2x5x1xf32>) -> tensor<2x5x1xf32>
  %n = "top.Div"(%d, %r) : (tensor<2x5x8xf32>, tensor<2x5x1xf32>) -> tensor<2x5x8xf32> loc("n")
  return %n : tensor<2x5x8xf32>
}

// LayerNorm has one weight for each element that it normalizes over.
// CHECK-LABEL: func.func @weight_per_row
// CHECK: "top.LayerNorm"({{.*}}none, none)
// CHECK: "top.Mul"
func.func @weight_per_row(%x: tensor<2x3x5x8xf32>) -> tensor<2x3x5x8xf32> {
  %none = "top.None"() : () -> none
  %m = "top.Reduce"(%x, %none) {axes = [-1], keepdims = true, mode = "ReduceMean"} : (tensor<2x3x5x8xf32>, none) -> tensor<2x3x5x1xf32>
  %d = "top.Sub"(%x, %m) : (tensor<2x3x5x8xf32>, tensor<2x3x5x1xf32>) -> tensor<2x3x5x8xf32>
  %q = "top.Mul"(%d, %d) : (tensor<2x3x5x8xf32>, tensor<2x3x5x8xf32>) -> tensor<2x3x5x8xf32>
  %v = "top.Reduce"(%q, %none) {axes = [-1], keepdims = true, mode = "ReduceMean"} : (tensor<2x3x5x8xf32>, none) -> tensor<2x3x5x1xf32>
  %e = "top.AddConst"(%v) {const_val = 9.9999999999999995E-6 : f64} : (tensor<2x3x5x1xf32>) -> tensor<2x3x5x1xf32>
  %r = "top.Sqrt"(%e) : (tensor<2x3x5x1xf32>) -> tensor<2x3x5x1xf32>
  %n = "top.Div"(%d, %r) : (tensor<2x3x5x8xf32>, tensor<2x3x5x1xf32>) -> tensor<2x3x5x8xf32> loc("n")
  %w = "top.ConstantFill"(%none) {shape = [5, 1], value = 2.0 : f32} : (none) -> tensor<5x1xf32>
  %s = "top.Mul"(%n, %w) : (tensor<2x3x5x8xf32>, tensor<5x1xf32>) -> tensor<2x3x5x8xf32>
  return %s : tensor<2x3x5x8xf32>
}

// CHECK-LABEL: func.func @instancenorm
// CHECK: "top.InstanceNorm"(%arg0, {{.*}}tensor<6xf32>, tensor<6xf32>){{.*}} loc("y")
// CHECK-NEXT: return
// BARE-LABEL: func.func @instancenorm
// BARE: "top.InstanceNorm"
// BARE: "top.Add"
func.func @instancenorm(%x: tensor<2x6x4x4xf32>) -> tensor<2x6x4x4xf32> {
  %none = "top.None"() : () -> none
  %m = "top.Reduce"(%x, %none) {axes = [2, 3], keepdims = true, mode = "ReduceMean"} : (tensor<2x6x4x4xf32>, none) -> tensor<2x6x1x1xf32>
  %d = "top.Sub"(%x, %m) : (tensor<2x6x4x4xf32>, tensor<2x6x1x1xf32>) -> tensor<2x6x4x4xf32>
  %q = "top.Mul"(%d, %d) : (tensor<2x6x4x4xf32>, tensor<2x6x4x4xf32>) -> tensor<2x6x4x4xf32>
  %v = "top.Reduce"(%q, %none) {axes = [2, 3], keepdims = true, mode = "ReduceMean"} : (tensor<2x6x4x4xf32>, none) -> tensor<2x6x1x1xf32>
  %e = "top.AddConst"(%v) {const_val = 9.9999999999999995E-6 : f64} : (tensor<2x6x1x1xf32>) -> tensor<2x6x1x1xf32>
  %r = "top.Sqrt"(%e) : (tensor<2x6x1x1xf32>) -> tensor<2x6x1x1xf32>
  %n = "top.Div"(%d, %r) : (tensor<2x6x4x4xf32>, tensor<2x6x1x1xf32>) -> tensor<2x6x4x4xf32> loc("n")
  %w = "top.ConstantFill"(%none) {shape = [6, 1, 1], value = 2.0 : f32} : (none) -> tensor<6x1x1xf32>
  %b = "top.ConstantFill"(%none) {shape = [6, 1, 1], value = 1.0 : f32} : (none) -> tensor<6x1x1xf32>
  %s = "top.Mul"(%n, %w) : (tensor<2x6x4x4xf32>, tensor<6x1x1xf32>) -> tensor<2x6x4x4xf32> loc("s")
  %y = "top.Add"(%s, %b) : (tensor<2x6x4x4xf32>, tensor<6x1x1xf32>) -> tensor<2x6x4x4xf32> loc("y")
  return %y : tensor<2x6x4x4xf32>
}

// CHECK-LABEL: func.func @pixelnorm
// CHECK: "top.PixelNorm"(%arg0, {{.*}}tensor<6xf32>, tensor<6xf32>){{.*}} loc("y")
// CHECK-NEXT: return
// OFF-LABEL: func.func @pixelnorm
// OFF: "top.Sqrt"
func.func @pixelnorm(%x: tensor<2x6x4x4xf32>) -> tensor<2x6x4x4xf32> {
  %none = "top.None"() : () -> none
  %m = "top.Reduce"(%x, %none) {axes = [1], keepdims = true, mode = "ReduceMean"} : (tensor<2x6x4x4xf32>, none) -> tensor<2x1x4x4xf32>
  %d = "top.Sub"(%x, %m) : (tensor<2x6x4x4xf32>, tensor<2x1x4x4xf32>) -> tensor<2x6x4x4xf32>
  %q = "top.Mul"(%d, %d) : (tensor<2x6x4x4xf32>, tensor<2x6x4x4xf32>) -> tensor<2x6x4x4xf32>
  %v = "top.Reduce"(%q, %none) {axes = [1], keepdims = true, mode = "ReduceMean"} : (tensor<2x6x4x4xf32>, none) -> tensor<2x1x4x4xf32>
  %e = "top.AddConst"(%v) {const_val = 9.9999999999999995E-6 : f64} : (tensor<2x1x4x4xf32>) -> tensor<2x1x4x4xf32>
  %r = "top.Sqrt"(%e) : (tensor<2x1x4x4xf32>) -> tensor<2x1x4x4xf32>
  %n = "top.Div"(%d, %r) : (tensor<2x6x4x4xf32>, tensor<2x1x4x4xf32>) -> tensor<2x6x4x4xf32> loc("n")
  %w = "top.ConstantFill"(%none) {shape = [6, 1, 1], value = 2.0 : f32} : (none) -> tensor<6x1x1xf32>
  %b = "top.ConstantFill"(%none) {shape = [6, 1, 1], value = 1.0 : f32} : (none) -> tensor<6x1x1xf32>
  %s = "top.Mul"(%n, %w) : (tensor<2x6x4x4xf32>, tensor<6x1x1xf32>) -> tensor<2x6x4x4xf32> loc("s")
  %y = "top.Add"(%s, %b) : (tensor<2x6x4x4xf32>, tensor<6x1x1xf32>) -> tensor<2x6x4x4xf32> loc("y")
  return %y : tensor<2x6x4x4xf32>
}

// The length is limited from below by a small number: one element in a row of 4 has its square / 4.
// CHECK-LABEL: func.func @unit_length
// CHECK: %[[C:.*]] = "top.Weight"() : () -> tensor<4xf32> loc("y_weight{{.*}}")
// CHECK: "top.RMSNorm"(%arg0, %[[C]]) {axis = -1 : i64, eps = 2.5{{[0-9]*}}E-21 : f64}{{.*}} loc("y")
// CHECK: "top.RMSNorm"
// CHECK-NOT: "top.RMSNorm"
// OFF-LABEL: func.func @unit_length
// OFF-NOT: "top.RMSNorm"
// BARE-LABEL: func.func @unit_length
func.func @unit_length(%x: tensor<2x3x4xf32>) -> (tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>) {
  %none = "top.None"() : () -> none
  %l = "top.Reduce"(%x, %none) {axes = [-1], keepdims = true, mode = "ReduceL2"} : (tensor<2x3x4xf32>, none) -> tensor<2x3x1xf32> loc("l")
  %m = "top.Clip"(%l) {min = 1.0e-10 : f64, max = 0x7FF0000000000000 : f64} : (tensor<2x3x1xf32>) -> tensor<2x3x1xf32> loc("m")
  %e = "top.Expand"(%m, %none) {shape = [2, 3, 4]} : (tensor<2x3x1xf32>, none) -> tensor<2x3x4xf32> loc("e")
  %y = "top.Div"(%x, %e) : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32> loc("y")
  %l2 = "top.Reduce"(%y, %none) {axes = [2], keepdims = true, mode = "ReduceL2"} : (tensor<2x3x4xf32>, none) -> tensor<2x3x1xf32> loc("l2")
  %m2 = "top.MaxConst"(%l2) {const_val = 1.0e-10 : f64} : (tensor<2x3x1xf32>) -> tensor<2x3x1xf32> loc("m2")
  %y2 = "top.Div"(%y, %m2) : (tensor<2x3x4xf32>, tensor<2x3x1xf32>) -> tensor<2x3x4xf32> loc("y2")
  // Limits that results may reach stay what they are, and so does another axis.
  %l3 = "top.Reduce"(%x, %none) {axes = [2], keepdims = true, mode = "ReduceL2"} : (tensor<2x3x4xf32>, none) -> tensor<2x3x1xf32> loc("l3")
  %m3 = "top.MaxConst"(%l3) {const_val = 1.0e-2 : f64} : (tensor<2x3x1xf32>) -> tensor<2x3x1xf32> loc("m3")
  %y3 = "top.Div"(%x, %m3) : (tensor<2x3x4xf32>, tensor<2x3x1xf32>) -> tensor<2x3x4xf32> loc("y3")
  %l4 = "top.Reduce"(%x, %none) {axes = [1], keepdims = true, mode = "ReduceL2"} : (tensor<2x3x4xf32>, none) -> tensor<2x1x4xf32> loc("l4")
  %m4 = "top.MaxConst"(%l4) {const_val = 1.0e-10 : f64} : (tensor<2x1x4xf32>) -> tensor<2x1x4xf32> loc("m4")
  %y4 = "top.Div"(%x, %m4) : (tensor<2x3x4xf32>, tensor<2x1x4xf32>) -> tensor<2x3x4xf32> loc("y4")
  return %y, %y2, %y3, %y4 : tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>
}

// CHECK-LABEL: func.func @rmsnorm
// CHECK: "top.RMSNorm"(%arg0, {{.*}}(tensor<2x5x8xf32>, tensor<8xf32>){{.*}} loc("y")
// CHECK-NEXT: return
// OFF-LABEL: func.func @rmsnorm
// OFF: "top.Rsqrt"
// BARE-LABEL: func.func @rmsnorm
// BARE: "top.RMSNorm"
// BARE: "top.Mul"
func.func @rmsnorm(%x: tensor<2x5x8xf32>) -> tensor<2x5x8xf32> {
  %none = "top.None"() : () -> none
  %two = "top.ConstantFill"(%none) {shape = [], value = 2.0 : f32} : (none) -> tensor<f32>
  %q = "top.Pow"(%x, %two) : (tensor<2x5x8xf32>, tensor<f32>) -> tensor<2x5x8xf32>
  %v = "top.Reduce"(%q, %none) {axes = [-1], keepdims = true, mode = "ReduceMean"} : (tensor<2x5x8xf32>, none) -> tensor<2x5x1xf32>
  %e = "top.AddConst"(%v) {const_val = 1.0E-6 : f64} : (tensor<2x5x1xf32>) -> tensor<2x5x1xf32>
  %r = "top.Rsqrt"(%e) : (tensor<2x5x1xf32>) -> tensor<2x5x1xf32>
  %n = "top.Mul"(%x, %r) : (tensor<2x5x8xf32>, tensor<2x5x1xf32>) -> tensor<2x5x8xf32>
  %w = "top.ConstantFill"(%none) {shape = [8], value = 2.0 : f32} : (none) -> tensor<8xf32>
  %y = "top.Mul"(%w, %n) : (tensor<8xf32>, tensor<2x5x8xf32>) -> tensor<2x5x8xf32> loc("y")
  return %y : tensor<2x5x8xf32>
}

// CHECK-LABEL: func.func @rms_of_rows
// CHECK-NOT: "top.RMSNorm"
// CHECK: return
func.func @rms_of_rows(%x: tensor<2x5x8xf32>) -> tensor<2x5x8xf32> {
  %none = "top.None"() : () -> none
  %two = "top.ConstantFill"(%none) {shape = [], value = 2.0 : f32} : (none) -> tensor<f32>
  %q = "top.Pow"(%x, %two) : (tensor<2x5x8xf32>, tensor<f32>) -> tensor<2x5x8xf32>
  %v = "top.Reduce"(%q, %none) {axes = [1], keepdims = true, mode = "ReduceMean"} : (tensor<2x5x8xf32>, none) -> tensor<2x1x8xf32>
  %e = "top.AddConst"(%v) {const_val = 1.0E-6 : f64} : (tensor<2x1x8xf32>) -> tensor<2x1x8xf32>
  %r = "top.Rsqrt"(%e) : (tensor<2x1x8xf32>) -> tensor<2x1x8xf32>
  %n = "top.Mul"(%x, %r) : (tensor<2x5x8xf32>, tensor<2x1x8xf32>) -> tensor<2x5x8xf32>
  return %n : tensor<2x5x8xf32>
}

// CHECK-LABEL: func.func @groupnorm
// CHECK: "top.GroupNorm"(%arg0, {{.*}}num_groups = 3 : i64{{.*}} loc("y")
// CHECK-NEXT: return
// OFF-LABEL: func.func @groupnorm
// OFF: "top.InstanceNorm"
func.func @groupnorm(%x: tensor<2x6x4x4xf32>) -> tensor<2x6x4x4xf32> {
  %none = "top.None"() : () -> none
  %ones = "top.ConstantFill"(%none) {shape = [3], value = 1.0 : f32} : (none) -> tensor<3xf32>
  %zeros = "top.ConstantFill"(%none) {shape = [3], value = 0.0 : f32} : (none) -> tensor<3xf32>
  %g = "top.Reshape"(%x, %none) {shape = [0, 3, -1]} : (tensor<2x6x4x4xf32>, none) -> tensor<2x3x32xf32>
  %i = "top.InstanceNorm"(%g, %ones, %zeros) : (tensor<2x3x32xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3x32xf32>
  %n = "top.Reshape"(%i, %none) {shape = [2, 6, 4, 4]} : (tensor<2x3x32xf32>, none) -> tensor<2x6x4x4xf32> loc("n")
  %w = "top.ConstantFill"(%none) {shape = [6, 1, 1], value = 2.0 : f32} : (none) -> tensor<6x1x1xf32>
  %b = "top.ConstantFill"(%none) {shape = [6, 1, 1], value = 1.0 : f32} : (none) -> tensor<6x1x1xf32>
  %s = "top.Mul"(%n, %w) : (tensor<2x6x4x4xf32>, tensor<6x1x1xf32>) -> tensor<2x6x4x4xf32> loc("s")
  %y = "top.Add"(%s, %b) : (tensor<2x6x4x4xf32>, tensor<6x1x1xf32>) -> tensor<2x6x4x4xf32> loc("y")
  return %y : tensor<2x6x4x4xf32>
}

// One weight per group is none per channel.
// CHECK-LABEL: func.func @groups_with_weights
// CHECK: "top.InstanceNorm"
func.func @groups_with_weights(%x: tensor<2x6x4x4xf32>) -> tensor<2x6x4x4xf32> {
  %none = "top.None"() : () -> none
  %ones = "top.ConstantFill"(%none) {shape = [3], value = 2.0 : f32} : (none) -> tensor<3xf32>
  %zeros = "top.ConstantFill"(%none) {shape = [3], value = 0.0 : f32} : (none) -> tensor<3xf32>
  %g = "top.Reshape"(%x, %none) {shape = [0, 3, -1]} : (tensor<2x6x4x4xf32>, none) -> tensor<2x3x32xf32>
  %i = "top.InstanceNorm"(%g, %ones, %zeros) : (tensor<2x3x32xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3x32xf32>
  %n = "top.Reshape"(%i, %none) {shape = [2, 6, 4, 4]} : (tensor<2x3x32xf32>, none) -> tensor<2x6x4x4xf32> loc("n")
  return %n : tensor<2x6x4x4xf32>
}

// The means are quotients of sums without the reduced dimension, the variance is the difference of
// two of them, and the weight meets the inverse of the root first.
// CHECK-LABEL: func.func @variance_of_sums
// CHECK: "top.LayerNorm"(%arg0, {{.*}}axis = -1 : i64, eps = 9.9{{.*}}E-7 : f64{{.*}}tensor<8xf32>, tensor<8xf32>){{.*}} loc("y")
// CHECK-NEXT: return
// BARE-LABEL: func.func @variance_of_sums
// BARE: "top.LayerNorm"({{.*}}none, none)
// BARE: "top.Mul"
// BARE: "top.Add"
func.func @variance_of_sums(%x: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %none = "top.None"() : () -> none
  %s = "top.Reduce"(%x, %none) {axes = [1], keepdims = false, mode = "ReduceSum"} : (tensor<2x8xf32>, none) -> tensor<2xf32>
  %m = "top.MulConst"(%s) {const_val = 0.125 : f64} : (tensor<2xf32>) -> tensor<2xf32>
  %x2 = "top.Mul"(%x, %x) : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %s2 = "top.Reduce"(%x2, %none) {axes = [1], keepdims = false, mode = "ReduceSum"} : (tensor<2x8xf32>, none) -> tensor<2xf32>
  %e2 = "top.MulConst"(%s2) {const_val = 0.125 : f64} : (tensor<2xf32>) -> tensor<2xf32>
  %m2 = "top.Mul"(%m, %m) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %v = "top.Sub"(%e2, %m2) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %l = "top.MaxConst"(%v) {const_val = 0.0 : f64} : (tensor<2xf32>) -> tensor<2xf32>
  %k = "top.Reshape"(%l, %none) {shape = [2, 1]} : (tensor<2xf32>, none) -> tensor<2x1xf32>
  %e = "top.AddConst"(%k) {const_val = 9.9999999747524271E-7 : f64} : (tensor<2x1xf32>) -> tensor<2x1xf32>
  %q = "top.Sqrt"(%e) : (tensor<2x1xf32>) -> tensor<2x1xf32>
  %r = "top.Reciprocal"(%q) : (tensor<2x1xf32>) -> tensor<2x1xf32>
  %c = "top.ConstantFill"(%none) {shape = [1, 8], value = 2.0 : f32} : (none) -> tensor<1x8xf32>
  %w = "top.Mul"(%r, %c) : (tensor<2x1xf32>, tensor<1x8xf32>) -> tensor<2x8xf32>
  %k2 = "top.Unsqueeze"(%m, %none) {axes = [1]} : (tensor<2xf32>, none) -> tensor<2x1xf32>
  %d = "top.Sub"(%x, %k2) : (tensor<2x8xf32>, tensor<2x1xf32>) -> tensor<2x8xf32>
  %n = "top.Mul"(%d, %w) : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32> loc("n")
  %y = "top.Add"(%n, %c) : (tensor<2x8xf32>, tensor<1x8xf32>) -> tensor<2x8xf32> loc("y")
  return %y : tensor<2x8xf32>
}

// The sum is divided by another number than that of its elements.
// CHECK-LABEL: func.func @no_mean
// CHECK-NOT: "top.LayerNorm"
// CHECK: return
func.func @no_mean(%x: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %none = "top.None"() : () -> none
  %s = "top.Reduce"(%x, %none) {axes = [1], keepdims = true, mode = "ReduceSum"} : (tensor<2x8xf32>, none) -> tensor<2x1xf32>
  %m = "top.MulConst"(%s) {const_val = 0.25 : f64} : (tensor<2x1xf32>) -> tensor<2x1xf32>
  %d = "top.Sub"(%x, %m) : (tensor<2x8xf32>, tensor<2x1xf32>) -> tensor<2x8xf32>
  %d2 = "top.Mul"(%d, %d) : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %v = "top.Reduce"(%d2, %none) {axes = [1], keepdims = true, mode = "ReduceMean"} : (tensor<2x8xf32>, none) -> tensor<2x1xf32>
  %e = "top.AddConst"(%v) {const_val = 9.9999999747524271E-7 : f64} : (tensor<2x1xf32>) -> tensor<2x1xf32>
  %q = "top.Sqrt"(%e) : (tensor<2x1xf32>) -> tensor<2x1xf32>
  %y = "top.Div"(%d, %q) : (tensor<2x8xf32>, tensor<2x1xf32>) -> tensor<2x8xf32>
  return %y : tensor<2x8xf32>
}

// The mean of each row meets the columns.
// CHECK-LABEL: func.func @turned_mean
// CHECK-NOT: "top.LayerNorm"
// CHECK: return
func.func @turned_mean(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %none = "top.None"() : () -> none
  %m = "top.Reduce"(%x, %none) {axes = [1], keepdims = false, mode = "ReduceMean"} : (tensor<8x8xf32>, none) -> tensor<8xf32>
  %d = "top.Sub"(%x, %m) : (tensor<8x8xf32>, tensor<8xf32>) -> tensor<8x8xf32>
  %d2 = "top.Mul"(%d, %d) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %v = "top.Reduce"(%d2, %none) {axes = [1], keepdims = true, mode = "ReduceMean"} : (tensor<8x8xf32>, none) -> tensor<8x1xf32>
  %e = "top.AddConst"(%v) {const_val = 9.9999999747524271E-7 : f64} : (tensor<8x1xf32>) -> tensor<8x1xf32>
  %q = "top.Sqrt"(%e) : (tensor<8x1xf32>) -> tensor<8x1xf32>
  %y = "top.Div"(%d, %q) : (tensor<8x8xf32>, tensor<8x1xf32>) -> tensor<8x8xf32>
  return %y : tensor<8x8xf32>
}

// CHECK-LABEL: func.func @rmsnorm_weight_first
// CHECK: "top.RMSNorm"(%arg0, {{.*}}tensor<8xf32>){{.*}} loc("y")
// CHECK-NEXT: return
func.func @rmsnorm_weight_first(%x: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %none = "top.None"() : () -> none
  %x2 = "top.Mul"(%x, %x) : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %v = "top.Reduce"(%x2, %none) {axes = [1], keepdims = true, mode = "ReduceMean"} : (tensor<2x8xf32>, none) -> tensor<2x1xf32>
  %e = "top.AddConst"(%v) {const_val = 9.9999999747524271E-7 : f64} : (tensor<2x1xf32>) -> tensor<2x1xf32>
  %r = "top.Rsqrt"(%e) : (tensor<2x1xf32>) -> tensor<2x1xf32>
  %c = "top.ConstantFill"(%none) {shape = [1, 8], value = 2.0 : f32} : (none) -> tensor<1x8xf32>
  %w = "top.Mul"(%c, %r) : (tensor<1x8xf32>, tensor<2x1xf32>) -> tensor<2x8xf32>
  %y = "top.Mul"(%w, %x) : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32> loc("y")
  return %y : tensor<2x8xf32>
}

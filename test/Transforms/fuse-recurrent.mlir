// RUN: tpuc-opt %s --shape-infer --top-fuse --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s
// RUN: tpuc-opt %s --shape-infer --top-fuse=disable=to-lstm,to-gru | FileCheck %s --check-prefix=OFF

// OFF-NOT: "top.LSTM"
// OFF-NOT: "top.GRU"

// Two steps, only the last state of which is read.
// CHECK-LABEL: func.func @lstm
// CHECK-DAG: %[[H:.*]] = "top.Reshape"(%arg1, {{.*}}-> tensor<1x2x4xf32>
// CHECK-DAG: %[[C:.*]] = "top.Reshape"(%arg2, {{.*}}-> tensor<1x2x4xf32>
// CHECK: %[[Y:[^,]*]], %[[YH:[^,]*]], %[[YC:.*]] = "top.LSTM"(%arg0, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %[[H]], %[[C]], %{{.*}}) {batch_first = false, direction = "forward", hidden_size = 4 : i64, input_forget = false} : (tensor<2x2x3xf32>, tensor<1x16x3xf32>, tensor<1x16x4xf32>, tensor<1x32xf32>, none, tensor<1x2x4xf32>, tensor<1x2x4xf32>, none) -> (none, tensor<1x2x4xf32>, none) loc("h1_lstm")
// CHECK: "top.Reshape"(%[[YH]], {{.*}}-> tensor<2x4xf32> loc("h1")
// CHECK-NEXT: return
func.func @lstm(%x: tensor<2x2x3xf32>, %h: tensor<2x4xf32>, %c: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %none = "top.None"() : () -> none
  %0 = "top.ConstantFill"(%none) {shape = [3, 16], value = 0.5 : f32} : (none) -> tensor<3x16xf32>
  %1 = "top.ConstantFill"(%none) {shape = [4, 16], value = 0.25 : f32} : (none) -> tensor<4x16xf32>
  %2 = "top.ConstantFill"(%none) {shape = [16], value = 0.125 : f32} : (none) -> tensor<16xf32>
  %3 = "top.ConstantFill"(%none) {shape = [3, 16], value = 0.75 : f32} : (none) -> tensor<3x16xf32>
  %4 = "top.Slice"(%x, %none, %none, %none, %none) {offset = [0], ends = [1], axes = [0], steps = [1]} : (tensor<2x2x3xf32>, none, none, none, none) -> tensor<1x2x3xf32>
  %5 = "top.Squeeze"(%4, %none) {axes = [0]} : (tensor<1x2x3xf32>, none) -> tensor<2x3xf32>
  %6 = "top.MatMul"(%5, %0, %2) : (tensor<2x3xf32>, tensor<3x16xf32>, tensor<16xf32>) -> tensor<2x16xf32>
  %7 = "top.MatMul"(%h, %1, %none) : (tensor<2x4xf32>, tensor<4x16xf32>, none) -> tensor<2x16xf32>
  %8 = "top.Add"(%6, %7) : (tensor<2x16xf32>, tensor<2x16xf32>) -> tensor<2x16xf32>
  %9:4 = "top.Split"(%8, %none) {axis = 1 : i64, split_size = [4, 4, 4, 4]} : (tensor<2x16xf32>, none) -> (tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>)
  %10 = "top.Sigmoid"(%9#0) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %11 = "top.Sigmoid"(%9#1) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %12 = "top.Tanh"(%9#2) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %13 = "top.Sigmoid"(%9#3) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %14 = "top.Mul"(%11, %c) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %15 = "top.Mul"(%12, %10) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %16 = "top.Add"(%15, %14) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32> loc("c0")
  %17 = "top.Tanh"(%16) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %18 = "top.Mul"(%13, %17) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32> loc("h0")
  %19 = "top.Slice"(%x, %none, %none, %none, %none) {offset = [1], ends = [2], axes = [0], steps = [1]} : (tensor<2x2x3xf32>, none, none, none, none) -> tensor<1x2x3xf32>
  %20 = "top.Squeeze"(%19, %none) {axes = [0]} : (tensor<1x2x3xf32>, none) -> tensor<2x3xf32>
  %21 = "top.MatMul"(%20, %0, %2) : (tensor<2x3xf32>, tensor<3x16xf32>, tensor<16xf32>) -> tensor<2x16xf32>
  %22 = "top.MatMul"(%18, %1, %none) : (tensor<2x4xf32>, tensor<4x16xf32>, none) -> tensor<2x16xf32>
  %23 = "top.Add"(%21, %22) : (tensor<2x16xf32>, tensor<2x16xf32>) -> tensor<2x16xf32>
  %24:4 = "top.Split"(%23, %none) {axis = 1 : i64, split_size = [4, 4, 4, 4]} : (tensor<2x16xf32>, none) -> (tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>)
  %25 = "top.Sigmoid"(%24#0) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %26 = "top.Sigmoid"(%24#1) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %27 = "top.Tanh"(%24#2) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %28 = "top.Sigmoid"(%24#3) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %29 = "top.Mul"(%26, %16) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %30 = "top.Mul"(%27, %25) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %31 = "top.Add"(%30, %29) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32> loc("c1")
  %32 = "top.Tanh"(%31) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %33 = "top.Mul"(%28, %32) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32> loc("h1")
  return %33 : tensor<2x4xf32>
}

// Backwards, samples in front; all states and the last c are read.
// CHECK-LABEL: func.func @lstm_all_states
// CHECK: %[[Y:[^,]*]], %[[YH:[^,]*]], %[[YC:.*]] = "top.LSTM"(%arg0, {{.*}}batch_first = true, direction = "reverse"{{.*}}-> (tensor<2x2x1x4xf32>, none, tensor<2x1x4xf32>) loc("h1_lstm")
// CHECK-DAG: "top.Slice"(%[[Y]], {{.*}}axes = [1], ends = [2], offset = [1]{{.*}} loc("h0_step")
// CHECK-DAG: "top.Slice"(%[[Y]], {{.*}}axes = [1], ends = [1], offset = [0]{{.*}} loc("h1_step")
// CHECK-DAG: "top.Reshape"(%[[YC]], {{.*}} loc("c1")
// CHECK-NOT: "top.Tanh"
// CHECK: return
func.func @lstm_all_states(%x: tensor<2x2x3xf32>, %h: tensor<2x4xf32>, %c: tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>) {
  %none = "top.None"() : () -> none
  %0 = "top.ConstantFill"(%none) {shape = [3, 16], value = 0.5 : f32} : (none) -> tensor<3x16xf32>
  %1 = "top.ConstantFill"(%none) {shape = [4, 16], value = 0.25 : f32} : (none) -> tensor<4x16xf32>
  %2 = "top.ConstantFill"(%none) {shape = [16], value = 0.125 : f32} : (none) -> tensor<16xf32>
  %3 = "top.ConstantFill"(%none) {shape = [3, 16], value = 0.75 : f32} : (none) -> tensor<3x16xf32>
  %4 = "top.Slice"(%x, %none, %none, %none, %none) {offset = [1], ends = [2], axes = [1], steps = [1]} : (tensor<2x2x3xf32>, none, none, none, none) -> tensor<2x1x3xf32>
  %5 = "top.Squeeze"(%4, %none) {axes = [1]} : (tensor<2x1x3xf32>, none) -> tensor<2x3xf32>
  %6 = "top.MatMul"(%5, %0, %2) : (tensor<2x3xf32>, tensor<3x16xf32>, tensor<16xf32>) -> tensor<2x16xf32>
  %7 = "top.MatMul"(%h, %1, %none) : (tensor<2x4xf32>, tensor<4x16xf32>, none) -> tensor<2x16xf32>
  %8 = "top.Add"(%6, %7) : (tensor<2x16xf32>, tensor<2x16xf32>) -> tensor<2x16xf32>
  %9:4 = "top.Split"(%8, %none) {axis = 1 : i64, split_size = [4, 4, 4, 4]} : (tensor<2x16xf32>, none) -> (tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>)
  %10 = "top.Sigmoid"(%9#0) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %11 = "top.Sigmoid"(%9#1) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %12 = "top.Tanh"(%9#2) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %13 = "top.Sigmoid"(%9#3) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %14 = "top.Mul"(%11, %c) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %15 = "top.Mul"(%12, %10) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %16 = "top.Add"(%15, %14) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32> loc("c0")
  %17 = "top.Tanh"(%16) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %18 = "top.Mul"(%13, %17) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32> loc("h0")
  %19 = "top.Slice"(%x, %none, %none, %none, %none) {offset = [0], ends = [1], axes = [1], steps = [1]} : (tensor<2x2x3xf32>, none, none, none, none) -> tensor<2x1x3xf32>
  %20 = "top.Squeeze"(%19, %none) {axes = [1]} : (tensor<2x1x3xf32>, none) -> tensor<2x3xf32>
  %21 = "top.MatMul"(%20, %0, %2) : (tensor<2x3xf32>, tensor<3x16xf32>, tensor<16xf32>) -> tensor<2x16xf32>
  %22 = "top.MatMul"(%18, %1, %none) : (tensor<2x4xf32>, tensor<4x16xf32>, none) -> tensor<2x16xf32>
  %23 = "top.Add"(%21, %22) : (tensor<2x16xf32>, tensor<2x16xf32>) -> tensor<2x16xf32>
  %24:4 = "top.Split"(%23, %none) {axis = 1 : i64, split_size = [4, 4, 4, 4]} : (tensor<2x16xf32>, none) -> (tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>)
  %25 = "top.Sigmoid"(%24#0) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %26 = "top.Sigmoid"(%24#1) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %27 = "top.Tanh"(%24#2) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %28 = "top.Sigmoid"(%24#3) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %29 = "top.Mul"(%26, %16) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %30 = "top.Mul"(%27, %25) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %31 = "top.Add"(%30, %29) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32> loc("c1")
  %32 = "top.Tanh"(%31) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %33 = "top.Mul"(%28, %32) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32> loc("h1")
  return %18, %33, %31 : tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>
}

// The second step has weights of its own.
// CHECK-LABEL: func.func @lstm_other_weights
// CHECK-NOT: "top.LSTM"
// CHECK: return
func.func @lstm_other_weights(%x: tensor<2x2x3xf32>, %h: tensor<2x4xf32>, %c: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %none = "top.None"() : () -> none
  %0 = "top.ConstantFill"(%none) {shape = [3, 16], value = 0.5 : f32} : (none) -> tensor<3x16xf32>
  %1 = "top.ConstantFill"(%none) {shape = [4, 16], value = 0.25 : f32} : (none) -> tensor<4x16xf32>
  %2 = "top.ConstantFill"(%none) {shape = [16], value = 0.125 : f32} : (none) -> tensor<16xf32>
  %3 = "top.ConstantFill"(%none) {shape = [3, 16], value = 0.75 : f32} : (none) -> tensor<3x16xf32>
  %4 = "top.Slice"(%x, %none, %none, %none, %none) {offset = [0], ends = [1], axes = [0], steps = [1]} : (tensor<2x2x3xf32>, none, none, none, none) -> tensor<1x2x3xf32>
  %5 = "top.Squeeze"(%4, %none) {axes = [0]} : (tensor<1x2x3xf32>, none) -> tensor<2x3xf32>
  %6 = "top.MatMul"(%5, %0, %2) : (tensor<2x3xf32>, tensor<3x16xf32>, tensor<16xf32>) -> tensor<2x16xf32>
  %7 = "top.MatMul"(%h, %1, %none) : (tensor<2x4xf32>, tensor<4x16xf32>, none) -> tensor<2x16xf32>
  %8 = "top.Add"(%6, %7) : (tensor<2x16xf32>, tensor<2x16xf32>) -> tensor<2x16xf32>
  %9:4 = "top.Split"(%8, %none) {axis = 1 : i64, split_size = [4, 4, 4, 4]} : (tensor<2x16xf32>, none) -> (tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>)
  %10 = "top.Sigmoid"(%9#0) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %11 = "top.Sigmoid"(%9#1) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %12 = "top.Tanh"(%9#2) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %13 = "top.Sigmoid"(%9#3) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %14 = "top.Mul"(%11, %c) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %15 = "top.Mul"(%12, %10) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %16 = "top.Add"(%15, %14) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32> loc("c0")
  %17 = "top.Tanh"(%16) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %18 = "top.Mul"(%13, %17) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32> loc("h0")
  %19 = "top.Slice"(%x, %none, %none, %none, %none) {offset = [1], ends = [2], axes = [0], steps = [1]} : (tensor<2x2x3xf32>, none, none, none, none) -> tensor<1x2x3xf32>
  %20 = "top.Squeeze"(%19, %none) {axes = [0]} : (tensor<1x2x3xf32>, none) -> tensor<2x3xf32>
  %21 = "top.MatMul"(%20, %3, %2) : (tensor<2x3xf32>, tensor<3x16xf32>, tensor<16xf32>) -> tensor<2x16xf32>
  %22 = "top.MatMul"(%18, %1, %none) : (tensor<2x4xf32>, tensor<4x16xf32>, none) -> tensor<2x16xf32>
  %23 = "top.Add"(%21, %22) : (tensor<2x16xf32>, tensor<2x16xf32>) -> tensor<2x16xf32>
  %24:4 = "top.Split"(%23, %none) {axis = 1 : i64, split_size = [4, 4, 4, 4]} : (tensor<2x16xf32>, none) -> (tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>)
  %25 = "top.Sigmoid"(%24#0) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %26 = "top.Sigmoid"(%24#1) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %27 = "top.Tanh"(%24#2) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %28 = "top.Sigmoid"(%24#3) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %29 = "top.Mul"(%26, %16) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %30 = "top.Mul"(%27, %25) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %31 = "top.Add"(%30, %29) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32> loc("c1")
  %32 = "top.Tanh"(%31) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %33 = "top.Mul"(%28, %32) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32> loc("h1")
  return %33 : tensor<2x4xf32>
}

// A cell between the steps is an output.
// CHECK-LABEL: func.func @lstm_cell_read
// CHECK-NOT: "top.LSTM"
// CHECK: return
func.func @lstm_cell_read(%x: tensor<2x2x3xf32>, %h: tensor<2x4xf32>, %c: tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>) {
  %none = "top.None"() : () -> none
  %0 = "top.ConstantFill"(%none) {shape = [3, 16], value = 0.5 : f32} : (none) -> tensor<3x16xf32>
  %1 = "top.ConstantFill"(%none) {shape = [4, 16], value = 0.25 : f32} : (none) -> tensor<4x16xf32>
  %2 = "top.ConstantFill"(%none) {shape = [16], value = 0.125 : f32} : (none) -> tensor<16xf32>
  %3 = "top.ConstantFill"(%none) {shape = [3, 16], value = 0.75 : f32} : (none) -> tensor<3x16xf32>
  %4 = "top.Slice"(%x, %none, %none, %none, %none) {offset = [0], ends = [1], axes = [0], steps = [1]} : (tensor<2x2x3xf32>, none, none, none, none) -> tensor<1x2x3xf32>
  %5 = "top.Squeeze"(%4, %none) {axes = [0]} : (tensor<1x2x3xf32>, none) -> tensor<2x3xf32>
  %6 = "top.MatMul"(%5, %0, %2) : (tensor<2x3xf32>, tensor<3x16xf32>, tensor<16xf32>) -> tensor<2x16xf32>
  %7 = "top.MatMul"(%h, %1, %none) : (tensor<2x4xf32>, tensor<4x16xf32>, none) -> tensor<2x16xf32>
  %8 = "top.Add"(%6, %7) : (tensor<2x16xf32>, tensor<2x16xf32>) -> tensor<2x16xf32>
  %9:4 = "top.Split"(%8, %none) {axis = 1 : i64, split_size = [4, 4, 4, 4]} : (tensor<2x16xf32>, none) -> (tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>)
  %10 = "top.Sigmoid"(%9#0) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %11 = "top.Sigmoid"(%9#1) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %12 = "top.Tanh"(%9#2) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %13 = "top.Sigmoid"(%9#3) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %14 = "top.Mul"(%11, %c) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %15 = "top.Mul"(%12, %10) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %16 = "top.Add"(%15, %14) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32> loc("c0")
  %17 = "top.Tanh"(%16) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %18 = "top.Mul"(%13, %17) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32> loc("h0")
  %19 = "top.Slice"(%x, %none, %none, %none, %none) {offset = [1], ends = [2], axes = [0], steps = [1]} : (tensor<2x2x3xf32>, none, none, none, none) -> tensor<1x2x3xf32>
  %20 = "top.Squeeze"(%19, %none) {axes = [0]} : (tensor<1x2x3xf32>, none) -> tensor<2x3xf32>
  %21 = "top.MatMul"(%20, %0, %2) : (tensor<2x3xf32>, tensor<3x16xf32>, tensor<16xf32>) -> tensor<2x16xf32>
  %22 = "top.MatMul"(%18, %1, %none) : (tensor<2x4xf32>, tensor<4x16xf32>, none) -> tensor<2x16xf32>
  %23 = "top.Add"(%21, %22) : (tensor<2x16xf32>, tensor<2x16xf32>) -> tensor<2x16xf32>
  %24:4 = "top.Split"(%23, %none) {axis = 1 : i64, split_size = [4, 4, 4, 4]} : (tensor<2x16xf32>, none) -> (tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>)
  %25 = "top.Sigmoid"(%24#0) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %26 = "top.Sigmoid"(%24#1) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %27 = "top.Tanh"(%24#2) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %28 = "top.Sigmoid"(%24#3) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %29 = "top.Mul"(%26, %16) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %30 = "top.Mul"(%27, %25) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %31 = "top.Add"(%30, %29) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32> loc("c1")
  %32 = "top.Tanh"(%31) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %33 = "top.Mul"(%28, %32) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32> loc("h1")
  return %33, %16 : tensor<2x4xf32>, tensor<2x4xf32>
}

// So is a gate.
// CHECK-LABEL: func.func @lstm_gate_read
// CHECK-NOT: "top.LSTM"
// CHECK: return
func.func @lstm_gate_read(%x: tensor<2x2x3xf32>, %h: tensor<2x4xf32>, %c: tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>) {
  %none = "top.None"() : () -> none
  %0 = "top.ConstantFill"(%none) {shape = [3, 16], value = 0.5 : f32} : (none) -> tensor<3x16xf32>
  %1 = "top.ConstantFill"(%none) {shape = [4, 16], value = 0.25 : f32} : (none) -> tensor<4x16xf32>
  %2 = "top.ConstantFill"(%none) {shape = [16], value = 0.125 : f32} : (none) -> tensor<16xf32>
  %3 = "top.ConstantFill"(%none) {shape = [3, 16], value = 0.75 : f32} : (none) -> tensor<3x16xf32>
  %4 = "top.Slice"(%x, %none, %none, %none, %none) {offset = [0], ends = [1], axes = [0], steps = [1]} : (tensor<2x2x3xf32>, none, none, none, none) -> tensor<1x2x3xf32>
  %5 = "top.Squeeze"(%4, %none) {axes = [0]} : (tensor<1x2x3xf32>, none) -> tensor<2x3xf32>
  %6 = "top.MatMul"(%5, %0, %2) : (tensor<2x3xf32>, tensor<3x16xf32>, tensor<16xf32>) -> tensor<2x16xf32>
  %7 = "top.MatMul"(%h, %1, %none) : (tensor<2x4xf32>, tensor<4x16xf32>, none) -> tensor<2x16xf32>
  %8 = "top.Add"(%6, %7) : (tensor<2x16xf32>, tensor<2x16xf32>) -> tensor<2x16xf32>
  %9:4 = "top.Split"(%8, %none) {axis = 1 : i64, split_size = [4, 4, 4, 4]} : (tensor<2x16xf32>, none) -> (tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>)
  %10 = "top.Sigmoid"(%9#0) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %11 = "top.Sigmoid"(%9#1) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %12 = "top.Tanh"(%9#2) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %13 = "top.Sigmoid"(%9#3) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %14 = "top.Mul"(%11, %c) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %15 = "top.Mul"(%12, %10) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %16 = "top.Add"(%15, %14) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32> loc("c0")
  %17 = "top.Tanh"(%16) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %18 = "top.Mul"(%13, %17) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32> loc("h0")
  %19 = "top.Slice"(%x, %none, %none, %none, %none) {offset = [1], ends = [2], axes = [0], steps = [1]} : (tensor<2x2x3xf32>, none, none, none, none) -> tensor<1x2x3xf32>
  %20 = "top.Squeeze"(%19, %none) {axes = [0]} : (tensor<1x2x3xf32>, none) -> tensor<2x3xf32>
  %21 = "top.MatMul"(%20, %0, %2) : (tensor<2x3xf32>, tensor<3x16xf32>, tensor<16xf32>) -> tensor<2x16xf32>
  %22 = "top.MatMul"(%18, %1, %none) : (tensor<2x4xf32>, tensor<4x16xf32>, none) -> tensor<2x16xf32>
  %23 = "top.Add"(%21, %22) : (tensor<2x16xf32>, tensor<2x16xf32>) -> tensor<2x16xf32>
  %24:4 = "top.Split"(%23, %none) {axis = 1 : i64, split_size = [4, 4, 4, 4]} : (tensor<2x16xf32>, none) -> (tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>)
  %25 = "top.Sigmoid"(%24#0) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %26 = "top.Sigmoid"(%24#1) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %27 = "top.Tanh"(%24#2) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %28 = "top.Sigmoid"(%24#3) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %29 = "top.Mul"(%26, %16) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %30 = "top.Mul"(%27, %25) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %31 = "top.Add"(%30, %29) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32> loc("c1")
  %32 = "top.Tanh"(%31) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %33 = "top.Mul"(%28, %32) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32> loc("h1")
  return %33, %12 : tensor<2x4xf32>, tensor<2x4xf32>
}

// Two of three steps.
// CHECK-LABEL: func.func @lstm_part_of_sequence
// CHECK-NOT: "top.LSTM"
// CHECK: return
func.func @lstm_part_of_sequence(%x: tensor<3x2x3xf32>, %h: tensor<2x4xf32>, %c: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %none = "top.None"() : () -> none
  %0 = "top.ConstantFill"(%none) {shape = [3, 16], value = 0.5 : f32} : (none) -> tensor<3x16xf32>
  %1 = "top.ConstantFill"(%none) {shape = [4, 16], value = 0.25 : f32} : (none) -> tensor<4x16xf32>
  %2 = "top.ConstantFill"(%none) {shape = [16], value = 0.125 : f32} : (none) -> tensor<16xf32>
  %3 = "top.ConstantFill"(%none) {shape = [3, 16], value = 0.75 : f32} : (none) -> tensor<3x16xf32>
  %4 = "top.Slice"(%x, %none, %none, %none, %none) {offset = [0], ends = [1], axes = [0], steps = [1]} : (tensor<3x2x3xf32>, none, none, none, none) -> tensor<1x2x3xf32>
  %5 = "top.Squeeze"(%4, %none) {axes = [0]} : (tensor<1x2x3xf32>, none) -> tensor<2x3xf32>
  %6 = "top.MatMul"(%5, %0, %2) : (tensor<2x3xf32>, tensor<3x16xf32>, tensor<16xf32>) -> tensor<2x16xf32>
  %7 = "top.MatMul"(%h, %1, %none) : (tensor<2x4xf32>, tensor<4x16xf32>, none) -> tensor<2x16xf32>
  %8 = "top.Add"(%6, %7) : (tensor<2x16xf32>, tensor<2x16xf32>) -> tensor<2x16xf32>
  %9:4 = "top.Split"(%8, %none) {axis = 1 : i64, split_size = [4, 4, 4, 4]} : (tensor<2x16xf32>, none) -> (tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>)
  %10 = "top.Sigmoid"(%9#0) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %11 = "top.Sigmoid"(%9#1) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %12 = "top.Tanh"(%9#2) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %13 = "top.Sigmoid"(%9#3) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %14 = "top.Mul"(%11, %c) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %15 = "top.Mul"(%12, %10) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %16 = "top.Add"(%15, %14) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32> loc("c0")
  %17 = "top.Tanh"(%16) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %18 = "top.Mul"(%13, %17) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32> loc("h0")
  %19 = "top.Slice"(%x, %none, %none, %none, %none) {offset = [1], ends = [2], axes = [0], steps = [1]} : (tensor<3x2x3xf32>, none, none, none, none) -> tensor<1x2x3xf32>
  %20 = "top.Squeeze"(%19, %none) {axes = [0]} : (tensor<1x2x3xf32>, none) -> tensor<2x3xf32>
  %21 = "top.MatMul"(%20, %0, %2) : (tensor<2x3xf32>, tensor<3x16xf32>, tensor<16xf32>) -> tensor<2x16xf32>
  %22 = "top.MatMul"(%18, %1, %none) : (tensor<2x4xf32>, tensor<4x16xf32>, none) -> tensor<2x16xf32>
  %23 = "top.Add"(%21, %22) : (tensor<2x16xf32>, tensor<2x16xf32>) -> tensor<2x16xf32>
  %24:4 = "top.Split"(%23, %none) {axis = 1 : i64, split_size = [4, 4, 4, 4]} : (tensor<2x16xf32>, none) -> (tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>)
  %25 = "top.Sigmoid"(%24#0) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %26 = "top.Sigmoid"(%24#1) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %27 = "top.Tanh"(%24#2) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %28 = "top.Sigmoid"(%24#3) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %29 = "top.Mul"(%26, %16) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %30 = "top.Mul"(%27, %25) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %31 = "top.Add"(%30, %29) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32> loc("c1")
  %32 = "top.Tanh"(%31) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %33 = "top.Mul"(%28, %32) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32> loc("h1")
  return %33 : tensor<2x4xf32>
}

// The kept and the new part are subtracted.
// CHECK-LABEL: func.func @lstm_difference
// CHECK-NOT: "top.LSTM"
// CHECK: return
func.func @lstm_difference(%x: tensor<2x2x3xf32>, %h: tensor<2x4xf32>, %c: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %none = "top.None"() : () -> none
  %0 = "top.ConstantFill"(%none) {shape = [3, 16], value = 0.5 : f32} : (none) -> tensor<3x16xf32>
  %1 = "top.ConstantFill"(%none) {shape = [4, 16], value = 0.25 : f32} : (none) -> tensor<4x16xf32>
  %2 = "top.ConstantFill"(%none) {shape = [16], value = 0.125 : f32} : (none) -> tensor<16xf32>
  %3 = "top.ConstantFill"(%none) {shape = [3, 16], value = 0.75 : f32} : (none) -> tensor<3x16xf32>
  %4 = "top.Slice"(%x, %none, %none, %none, %none) {offset = [0], ends = [1], axes = [0], steps = [1]} : (tensor<2x2x3xf32>, none, none, none, none) -> tensor<1x2x3xf32>
  %5 = "top.Squeeze"(%4, %none) {axes = [0]} : (tensor<1x2x3xf32>, none) -> tensor<2x3xf32>
  %6 = "top.MatMul"(%5, %0, %2) : (tensor<2x3xf32>, tensor<3x16xf32>, tensor<16xf32>) -> tensor<2x16xf32>
  %7 = "top.MatMul"(%h, %1, %none) : (tensor<2x4xf32>, tensor<4x16xf32>, none) -> tensor<2x16xf32>
  %8 = "top.Add"(%6, %7) : (tensor<2x16xf32>, tensor<2x16xf32>) -> tensor<2x16xf32>
  %9:4 = "top.Split"(%8, %none) {axis = 1 : i64, split_size = [4, 4, 4, 4]} : (tensor<2x16xf32>, none) -> (tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>)
  %10 = "top.Sigmoid"(%9#0) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %11 = "top.Sigmoid"(%9#1) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %12 = "top.Tanh"(%9#2) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %13 = "top.Sigmoid"(%9#3) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %14 = "top.Mul"(%11, %c) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %15 = "top.Mul"(%12, %10) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %16 = "top.Sub"(%15, %14) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32> loc("c0")
  %17 = "top.Tanh"(%16) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %18 = "top.Mul"(%13, %17) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32> loc("h0")
  %19 = "top.Slice"(%x, %none, %none, %none, %none) {offset = [1], ends = [2], axes = [0], steps = [1]} : (tensor<2x2x3xf32>, none, none, none, none) -> tensor<1x2x3xf32>
  %20 = "top.Squeeze"(%19, %none) {axes = [0]} : (tensor<1x2x3xf32>, none) -> tensor<2x3xf32>
  %21 = "top.MatMul"(%20, %0, %2) : (tensor<2x3xf32>, tensor<3x16xf32>, tensor<16xf32>) -> tensor<2x16xf32>
  %22 = "top.MatMul"(%18, %1, %none) : (tensor<2x4xf32>, tensor<4x16xf32>, none) -> tensor<2x16xf32>
  %23 = "top.Add"(%21, %22) : (tensor<2x16xf32>, tensor<2x16xf32>) -> tensor<2x16xf32>
  %24:4 = "top.Split"(%23, %none) {axis = 1 : i64, split_size = [4, 4, 4, 4]} : (tensor<2x16xf32>, none) -> (tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>)
  %25 = "top.Sigmoid"(%24#0) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %26 = "top.Sigmoid"(%24#1) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %27 = "top.Tanh"(%24#2) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %28 = "top.Sigmoid"(%24#3) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %29 = "top.Mul"(%26, %16) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %30 = "top.Mul"(%27, %25) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %31 = "top.Sub"(%30, %29) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32> loc("c1")
  %32 = "top.Tanh"(%31) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %33 = "top.Mul"(%28, %32) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32> loc("h1")
  return %33 : tensor<2x4xf32>
}

// The reset gate is behind the product with the state.
// CHECK-LABEL: func.func @gru
// CHECK: %{{.*}}, %[[YH:.*]] = "top.GRU"(%arg0, {{.*}}hidden_size = 4 : i64, linear_before_reset = true} : (tensor<2x2x3xf32>, tensor<1x12x3xf32>, tensor<1x12x4xf32>, tensor<1x24xf32>, none, tensor<1x2x4xf32>) -> (none, tensor<1x2x4xf32>) loc("h1_gru")
// CHECK: "top.Reshape"(%[[YH]], {{.*}} loc("h1")
// CHECK-NEXT: return
func.func @gru(%x: tensor<2x2x3xf32>, %h: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %none = "top.None"() : () -> none
  %0 = "top.ConstantFill"(%none) {shape = [3, 4], value = 0.5 : f32} : (none) -> tensor<3x4xf32>
  %1 = "top.ConstantFill"(%none) {shape = [3, 4], value = 0.25 : f32} : (none) -> tensor<3x4xf32>
  %2 = "top.ConstantFill"(%none) {shape = [3, 4], value = 0.125 : f32} : (none) -> tensor<3x4xf32>
  %3 = "top.ConstantFill"(%none) {shape = [4, 4], value = 0.75 : f32} : (none) -> tensor<4x4xf32>
  %4 = "top.ConstantFill"(%none) {shape = [4, 4], value = 0.5 : f32} : (none) -> tensor<4x4xf32>
  %5 = "top.ConstantFill"(%none) {shape = [4, 4], value = 0.25 : f32} : (none) -> tensor<4x4xf32>
  %6 = "top.ConstantFill"(%none) {shape = [4], value = 0.5 : f32} : (none) -> tensor<4xf32>
  %7 = "top.ConstantFill"(%none) {shape = [4], value = 1.5 : f32} : (none) -> tensor<4xf32>
  %8 = "top.ConstantFill"(%none) {shape = [4], value = 2.5 : f32} : (none) -> tensor<4xf32>
  %9 = "top.ConstantFill"(%none) {shape = [4], value = 3.5 : f32} : (none) -> tensor<4xf32>
  %10 = "top.ConstantFill"(%none) {shape = [], value = 1.0 : f32} : (none) -> tensor<f32>
  %11 = "top.Slice"(%x, %none, %none, %none, %none) {offset = [0], ends = [1], axes = [0], steps = [1]} : (tensor<2x2x3xf32>, none, none, none, none) -> tensor<1x2x3xf32>
  %12 = "top.Squeeze"(%11, %none) {axes = [0]} : (tensor<1x2x3xf32>, none) -> tensor<2x3xf32>
  %13 = "top.MatMul"(%12, %0, %6) : (tensor<2x3xf32>, tensor<3x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %14 = "top.MatMul"(%h, %3, %none) : (tensor<2x4xf32>, tensor<4x4xf32>, none) -> tensor<2x4xf32>
  %15 = "top.Add"(%13, %14) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %16 = "top.Sigmoid"(%15) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %17 = "top.MatMul"(%12, %1, %7) : (tensor<2x3xf32>, tensor<3x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %18 = "top.MatMul"(%h, %4, %none) : (tensor<2x4xf32>, tensor<4x4xf32>, none) -> tensor<2x4xf32>
  %19 = "top.Add"(%17, %18) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %20 = "top.Sigmoid"(%19) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %21 = "top.MatMul"(%h, %5, %9) : (tensor<2x4xf32>, tensor<4x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %22 = "top.Mul"(%20, %21) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %23 = "top.MatMul"(%12, %2, %8) : (tensor<2x3xf32>, tensor<3x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %24 = "top.Add"(%23, %22) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %25 = "top.Tanh"(%24) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %26 = "top.Sub"(%10, %16) : (tensor<f32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %27 = "top.Mul"(%26, %25) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %28 = "top.Mul"(%16, %h) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %29 = "top.Add"(%27, %28) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32> loc("h0")
  %30 = "top.Slice"(%x, %none, %none, %none, %none) {offset = [1], ends = [2], axes = [0], steps = [1]} : (tensor<2x2x3xf32>, none, none, none, none) -> tensor<1x2x3xf32>
  %31 = "top.Squeeze"(%30, %none) {axes = [0]} : (tensor<1x2x3xf32>, none) -> tensor<2x3xf32>
  %32 = "top.MatMul"(%31, %0, %6) : (tensor<2x3xf32>, tensor<3x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %33 = "top.MatMul"(%29, %3, %none) : (tensor<2x4xf32>, tensor<4x4xf32>, none) -> tensor<2x4xf32>
  %34 = "top.Add"(%32, %33) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %35 = "top.Sigmoid"(%34) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %36 = "top.MatMul"(%31, %1, %7) : (tensor<2x3xf32>, tensor<3x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %37 = "top.MatMul"(%29, %4, %none) : (tensor<2x4xf32>, tensor<4x4xf32>, none) -> tensor<2x4xf32>
  %38 = "top.Add"(%36, %37) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %39 = "top.Sigmoid"(%38) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %40 = "top.MatMul"(%29, %5, %9) : (tensor<2x4xf32>, tensor<4x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %41 = "top.Mul"(%39, %40) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %42 = "top.MatMul"(%31, %2, %8) : (tensor<2x3xf32>, tensor<3x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %43 = "top.Add"(%42, %41) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %44 = "top.Tanh"(%43) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %45 = "top.Sub"(%10, %35) : (tensor<f32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %46 = "top.Mul"(%45, %44) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %47 = "top.Mul"(%35, %29) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %48 = "top.Add"(%46, %47) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32> loc("h1")
  return %48 : tensor<2x4xf32>
}

// It is in front of the product; the first state is 0.
// CHECK-LABEL: func.func @gru_resets_first
// CHECK: "top.GRU"(%arg0, {{.*}}linear_before_reset = false} : (tensor<2x2x3xf32>, tensor<1x12x3xf32>, tensor<1x12x4xf32>, tensor<1x24xf32>, none, none) -> (none, tensor<1x2x4xf32>)
// CHECK-NOT: "top.Tanh"
// CHECK: return
func.func @gru_resets_first(%x: tensor<2x2x3xf32>, %h: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %none = "top.None"() : () -> none
  %0 = "top.ConstantFill"(%none) {shape = [3, 4], value = 0.5 : f32} : (none) -> tensor<3x4xf32>
  %1 = "top.ConstantFill"(%none) {shape = [3, 4], value = 0.25 : f32} : (none) -> tensor<3x4xf32>
  %2 = "top.ConstantFill"(%none) {shape = [3, 4], value = 0.125 : f32} : (none) -> tensor<3x4xf32>
  %3 = "top.ConstantFill"(%none) {shape = [4, 4], value = 0.75 : f32} : (none) -> tensor<4x4xf32>
  %4 = "top.ConstantFill"(%none) {shape = [4, 4], value = 0.5 : f32} : (none) -> tensor<4x4xf32>
  %5 = "top.ConstantFill"(%none) {shape = [4, 4], value = 0.25 : f32} : (none) -> tensor<4x4xf32>
  %6 = "top.ConstantFill"(%none) {shape = [4], value = 0.5 : f32} : (none) -> tensor<4xf32>
  %7 = "top.ConstantFill"(%none) {shape = [4], value = 1.5 : f32} : (none) -> tensor<4xf32>
  %8 = "top.ConstantFill"(%none) {shape = [4], value = 2.5 : f32} : (none) -> tensor<4xf32>
  %9 = "top.ConstantFill"(%none) {shape = [4], value = 3.5 : f32} : (none) -> tensor<4xf32>
  %10 = "top.ConstantFill"(%none) {shape = [], value = 1.0 : f32} : (none) -> tensor<f32>
  %11 = "top.ConstantFill"(%none) {shape = [2, 4], value = 0.0 : f32} : (none) -> tensor<2x4xf32>
  %12 = "top.Slice"(%x, %none, %none, %none, %none) {offset = [0], ends = [1], axes = [0], steps = [1]} : (tensor<2x2x3xf32>, none, none, none, none) -> tensor<1x2x3xf32>
  %13 = "top.Squeeze"(%12, %none) {axes = [0]} : (tensor<1x2x3xf32>, none) -> tensor<2x3xf32>
  %14 = "top.MatMul"(%13, %0, %6) : (tensor<2x3xf32>, tensor<3x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %15 = "top.MatMul"(%11, %3, %none) : (tensor<2x4xf32>, tensor<4x4xf32>, none) -> tensor<2x4xf32>
  %16 = "top.Add"(%14, %15) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %17 = "top.Sigmoid"(%16) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %18 = "top.MatMul"(%13, %1, %7) : (tensor<2x3xf32>, tensor<3x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %19 = "top.MatMul"(%11, %4, %none) : (tensor<2x4xf32>, tensor<4x4xf32>, none) -> tensor<2x4xf32>
  %20 = "top.Add"(%18, %19) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %21 = "top.Sigmoid"(%20) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %22 = "top.Mul"(%21, %11) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %23 = "top.MatMul"(%13, %2, %8) : (tensor<2x3xf32>, tensor<3x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %24 = "top.MatMul"(%22, %5, %none) : (tensor<2x4xf32>, tensor<4x4xf32>, none) -> tensor<2x4xf32>
  %25 = "top.Add"(%23, %24) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %26 = "top.Tanh"(%25) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %27 = "top.Sub"(%11, %26) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %28 = "top.Mul"(%17, %27) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %29 = "top.Add"(%26, %28) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32> loc("h0")
  %30 = "top.Slice"(%x, %none, %none, %none, %none) {offset = [1], ends = [2], axes = [0], steps = [1]} : (tensor<2x2x3xf32>, none, none, none, none) -> tensor<1x2x3xf32>
  %31 = "top.Squeeze"(%30, %none) {axes = [0]} : (tensor<1x2x3xf32>, none) -> tensor<2x3xf32>
  %32 = "top.MatMul"(%31, %0, %6) : (tensor<2x3xf32>, tensor<3x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %33 = "top.MatMul"(%29, %3, %none) : (tensor<2x4xf32>, tensor<4x4xf32>, none) -> tensor<2x4xf32>
  %34 = "top.Add"(%32, %33) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %35 = "top.Sigmoid"(%34) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %36 = "top.MatMul"(%31, %1, %7) : (tensor<2x3xf32>, tensor<3x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %37 = "top.MatMul"(%29, %4, %none) : (tensor<2x4xf32>, tensor<4x4xf32>, none) -> tensor<2x4xf32>
  %38 = "top.Add"(%36, %37) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %39 = "top.Sigmoid"(%38) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %40 = "top.Mul"(%39, %29) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %41 = "top.MatMul"(%31, %2, %8) : (tensor<2x3xf32>, tensor<3x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %42 = "top.MatMul"(%40, %5, %none) : (tensor<2x4xf32>, tensor<4x4xf32>, none) -> tensor<2x4xf32>
  %43 = "top.Add"(%41, %42) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %44 = "top.Tanh"(%43) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %45 = "top.Sub"(%29, %44) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %46 = "top.Mul"(%35, %45) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %47 = "top.Add"(%44, %46) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32> loc("h1")
  return %47 : tensor<2x4xf32>
}

// Another gate is subtracted from 1.
// CHECK-LABEL: func.func @gru_other_gate
// CHECK-NOT: "top.GRU"
// CHECK: return
func.func @gru_other_gate(%x: tensor<2x2x3xf32>, %h: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %none = "top.None"() : () -> none
  %0 = "top.ConstantFill"(%none) {shape = [3, 4], value = 0.5 : f32} : (none) -> tensor<3x4xf32>
  %1 = "top.ConstantFill"(%none) {shape = [3, 4], value = 0.25 : f32} : (none) -> tensor<3x4xf32>
  %2 = "top.ConstantFill"(%none) {shape = [3, 4], value = 0.125 : f32} : (none) -> tensor<3x4xf32>
  %3 = "top.ConstantFill"(%none) {shape = [4, 4], value = 0.75 : f32} : (none) -> tensor<4x4xf32>
  %4 = "top.ConstantFill"(%none) {shape = [4, 4], value = 0.5 : f32} : (none) -> tensor<4x4xf32>
  %5 = "top.ConstantFill"(%none) {shape = [4, 4], value = 0.25 : f32} : (none) -> tensor<4x4xf32>
  %6 = "top.ConstantFill"(%none) {shape = [4], value = 0.5 : f32} : (none) -> tensor<4xf32>
  %7 = "top.ConstantFill"(%none) {shape = [4], value = 1.5 : f32} : (none) -> tensor<4xf32>
  %8 = "top.ConstantFill"(%none) {shape = [4], value = 2.5 : f32} : (none) -> tensor<4xf32>
  %9 = "top.ConstantFill"(%none) {shape = [4], value = 3.5 : f32} : (none) -> tensor<4xf32>
  %10 = "top.ConstantFill"(%none) {shape = [], value = 1.0 : f32} : (none) -> tensor<f32>
  %11 = "top.Slice"(%x, %none, %none, %none, %none) {offset = [0], ends = [1], axes = [0], steps = [1]} : (tensor<2x2x3xf32>, none, none, none, none) -> tensor<1x2x3xf32>
  %12 = "top.Squeeze"(%11, %none) {axes = [0]} : (tensor<1x2x3xf32>, none) -> tensor<2x3xf32>
  %13 = "top.MatMul"(%12, %0, %6) : (tensor<2x3xf32>, tensor<3x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %14 = "top.MatMul"(%h, %3, %none) : (tensor<2x4xf32>, tensor<4x4xf32>, none) -> tensor<2x4xf32>
  %15 = "top.Add"(%13, %14) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %16 = "top.Sigmoid"(%15) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %17 = "top.MatMul"(%12, %1, %7) : (tensor<2x3xf32>, tensor<3x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %18 = "top.MatMul"(%h, %4, %none) : (tensor<2x4xf32>, tensor<4x4xf32>, none) -> tensor<2x4xf32>
  %19 = "top.Add"(%17, %18) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %20 = "top.Sigmoid"(%19) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %21 = "top.MatMul"(%h, %5, %9) : (tensor<2x4xf32>, tensor<4x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %22 = "top.Mul"(%20, %21) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %23 = "top.MatMul"(%12, %2, %8) : (tensor<2x3xf32>, tensor<3x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %24 = "top.Add"(%23, %22) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %25 = "top.Tanh"(%24) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %26 = "top.Sub"(%10, %20) : (tensor<f32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %27 = "top.Mul"(%26, %25) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %28 = "top.Mul"(%16, %h) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %29 = "top.Add"(%27, %28) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32> loc("h0")
  %30 = "top.Slice"(%x, %none, %none, %none, %none) {offset = [1], ends = [2], axes = [0], steps = [1]} : (tensor<2x2x3xf32>, none, none, none, none) -> tensor<1x2x3xf32>
  %31 = "top.Squeeze"(%30, %none) {axes = [0]} : (tensor<1x2x3xf32>, none) -> tensor<2x3xf32>
  %32 = "top.MatMul"(%31, %0, %6) : (tensor<2x3xf32>, tensor<3x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %33 = "top.MatMul"(%29, %3, %none) : (tensor<2x4xf32>, tensor<4x4xf32>, none) -> tensor<2x4xf32>
  %34 = "top.Add"(%32, %33) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %35 = "top.Sigmoid"(%34) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %36 = "top.MatMul"(%31, %1, %7) : (tensor<2x3xf32>, tensor<3x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %37 = "top.MatMul"(%29, %4, %none) : (tensor<2x4xf32>, tensor<4x4xf32>, none) -> tensor<2x4xf32>
  %38 = "top.Add"(%36, %37) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %39 = "top.Sigmoid"(%38) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %40 = "top.MatMul"(%29, %5, %9) : (tensor<2x4xf32>, tensor<4x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %41 = "top.Mul"(%39, %40) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %42 = "top.MatMul"(%31, %2, %8) : (tensor<2x3xf32>, tensor<3x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %43 = "top.Add"(%42, %41) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %44 = "top.Tanh"(%43) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %45 = "top.Sub"(%10, %39) : (tensor<f32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %46 = "top.Mul"(%45, %44) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %47 = "top.Mul"(%35, %29) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %48 = "top.Add"(%46, %47) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32> loc("h1")
  return %48 : tensor<2x4xf32>
}

// n + z * (n - h) is no mean of the two.
// CHECK-LABEL: func.func @gru_other_difference
// CHECK-NOT: "top.GRU"
// CHECK: return
func.func @gru_other_difference(%x: tensor<2x2x3xf32>, %h: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %none = "top.None"() : () -> none
  %0 = "top.ConstantFill"(%none) {shape = [3, 4], value = 0.5 : f32} : (none) -> tensor<3x4xf32>
  %1 = "top.ConstantFill"(%none) {shape = [3, 4], value = 0.25 : f32} : (none) -> tensor<3x4xf32>
  %2 = "top.ConstantFill"(%none) {shape = [3, 4], value = 0.125 : f32} : (none) -> tensor<3x4xf32>
  %3 = "top.ConstantFill"(%none) {shape = [4, 4], value = 0.75 : f32} : (none) -> tensor<4x4xf32>
  %4 = "top.ConstantFill"(%none) {shape = [4, 4], value = 0.5 : f32} : (none) -> tensor<4x4xf32>
  %5 = "top.ConstantFill"(%none) {shape = [4, 4], value = 0.25 : f32} : (none) -> tensor<4x4xf32>
  %6 = "top.ConstantFill"(%none) {shape = [4], value = 0.5 : f32} : (none) -> tensor<4xf32>
  %7 = "top.ConstantFill"(%none) {shape = [4], value = 1.5 : f32} : (none) -> tensor<4xf32>
  %8 = "top.ConstantFill"(%none) {shape = [4], value = 2.5 : f32} : (none) -> tensor<4xf32>
  %9 = "top.ConstantFill"(%none) {shape = [4], value = 3.5 : f32} : (none) -> tensor<4xf32>
  %10 = "top.ConstantFill"(%none) {shape = [], value = 1.0 : f32} : (none) -> tensor<f32>
  %11 = "top.Slice"(%x, %none, %none, %none, %none) {offset = [0], ends = [1], axes = [0], steps = [1]} : (tensor<2x2x3xf32>, none, none, none, none) -> tensor<1x2x3xf32>
  %12 = "top.Squeeze"(%11, %none) {axes = [0]} : (tensor<1x2x3xf32>, none) -> tensor<2x3xf32>
  %13 = "top.MatMul"(%12, %0, %6) : (tensor<2x3xf32>, tensor<3x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %14 = "top.MatMul"(%h, %3, %none) : (tensor<2x4xf32>, tensor<4x4xf32>, none) -> tensor<2x4xf32>
  %15 = "top.Add"(%13, %14) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %16 = "top.Sigmoid"(%15) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %17 = "top.MatMul"(%12, %1, %7) : (tensor<2x3xf32>, tensor<3x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %18 = "top.MatMul"(%h, %4, %none) : (tensor<2x4xf32>, tensor<4x4xf32>, none) -> tensor<2x4xf32>
  %19 = "top.Add"(%17, %18) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %20 = "top.Sigmoid"(%19) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %21 = "top.Mul"(%20, %h) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %22 = "top.MatMul"(%12, %2, %8) : (tensor<2x3xf32>, tensor<3x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %23 = "top.MatMul"(%21, %5, %none) : (tensor<2x4xf32>, tensor<4x4xf32>, none) -> tensor<2x4xf32>
  %24 = "top.Add"(%22, %23) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %25 = "top.Tanh"(%24) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %26 = "top.Sub"(%25, %h) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %27 = "top.Mul"(%16, %26) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %28 = "top.Add"(%25, %27) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32> loc("h0")
  %29 = "top.Slice"(%x, %none, %none, %none, %none) {offset = [1], ends = [2], axes = [0], steps = [1]} : (tensor<2x2x3xf32>, none, none, none, none) -> tensor<1x2x3xf32>
  %30 = "top.Squeeze"(%29, %none) {axes = [0]} : (tensor<1x2x3xf32>, none) -> tensor<2x3xf32>
  %31 = "top.MatMul"(%30, %0, %6) : (tensor<2x3xf32>, tensor<3x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %32 = "top.MatMul"(%28, %3, %none) : (tensor<2x4xf32>, tensor<4x4xf32>, none) -> tensor<2x4xf32>
  %33 = "top.Add"(%31, %32) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %34 = "top.Sigmoid"(%33) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %35 = "top.MatMul"(%30, %1, %7) : (tensor<2x3xf32>, tensor<3x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %36 = "top.MatMul"(%28, %4, %none) : (tensor<2x4xf32>, tensor<4x4xf32>, none) -> tensor<2x4xf32>
  %37 = "top.Add"(%35, %36) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %38 = "top.Sigmoid"(%37) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %39 = "top.Mul"(%38, %28) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %40 = "top.MatMul"(%30, %2, %8) : (tensor<2x3xf32>, tensor<3x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %41 = "top.MatMul"(%39, %5, %none) : (tensor<2x4xf32>, tensor<4x4xf32>, none) -> tensor<2x4xf32>
  %42 = "top.Add"(%40, %41) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %43 = "top.Tanh"(%42) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %44 = "top.Sub"(%43, %28) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %45 = "top.Mul"(%34, %44) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %46 = "top.Add"(%43, %45) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32> loc("h1")
  return %46 : tensor<2x4xf32>
}

// The second step resets the first state.
// CHECK-LABEL: func.func @gru_other_state
// CHECK-NOT: "top.GRU"
// CHECK: return
func.func @gru_other_state(%x: tensor<2x2x3xf32>, %h: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %none = "top.None"() : () -> none
  %0 = "top.ConstantFill"(%none) {shape = [3, 4], value = 0.5 : f32} : (none) -> tensor<3x4xf32>
  %1 = "top.ConstantFill"(%none) {shape = [3, 4], value = 0.25 : f32} : (none) -> tensor<3x4xf32>
  %2 = "top.ConstantFill"(%none) {shape = [3, 4], value = 0.125 : f32} : (none) -> tensor<3x4xf32>
  %3 = "top.ConstantFill"(%none) {shape = [4, 4], value = 0.75 : f32} : (none) -> tensor<4x4xf32>
  %4 = "top.ConstantFill"(%none) {shape = [4, 4], value = 0.5 : f32} : (none) -> tensor<4x4xf32>
  %5 = "top.ConstantFill"(%none) {shape = [4, 4], value = 0.25 : f32} : (none) -> tensor<4x4xf32>
  %6 = "top.ConstantFill"(%none) {shape = [4], value = 0.5 : f32} : (none) -> tensor<4xf32>
  %7 = "top.ConstantFill"(%none) {shape = [4], value = 1.5 : f32} : (none) -> tensor<4xf32>
  %8 = "top.ConstantFill"(%none) {shape = [4], value = 2.5 : f32} : (none) -> tensor<4xf32>
  %9 = "top.ConstantFill"(%none) {shape = [4], value = 3.5 : f32} : (none) -> tensor<4xf32>
  %10 = "top.ConstantFill"(%none) {shape = [], value = 1.0 : f32} : (none) -> tensor<f32>
  %11 = "top.Slice"(%x, %none, %none, %none, %none) {offset = [0], ends = [1], axes = [0], steps = [1]} : (tensor<2x2x3xf32>, none, none, none, none) -> tensor<1x2x3xf32>
  %12 = "top.Squeeze"(%11, %none) {axes = [0]} : (tensor<1x2x3xf32>, none) -> tensor<2x3xf32>
  %13 = "top.MatMul"(%12, %0, %6) : (tensor<2x3xf32>, tensor<3x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %14 = "top.MatMul"(%h, %3, %none) : (tensor<2x4xf32>, tensor<4x4xf32>, none) -> tensor<2x4xf32>
  %15 = "top.Add"(%13, %14) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %16 = "top.Sigmoid"(%15) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %17 = "top.MatMul"(%12, %1, %7) : (tensor<2x3xf32>, tensor<3x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %18 = "top.MatMul"(%h, %4, %none) : (tensor<2x4xf32>, tensor<4x4xf32>, none) -> tensor<2x4xf32>
  %19 = "top.Add"(%17, %18) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %20 = "top.Sigmoid"(%19) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %21 = "top.Mul"(%20, %h) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %22 = "top.MatMul"(%12, %2, %8) : (tensor<2x3xf32>, tensor<3x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %23 = "top.MatMul"(%21, %5, %none) : (tensor<2x4xf32>, tensor<4x4xf32>, none) -> tensor<2x4xf32>
  %24 = "top.Add"(%22, %23) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %25 = "top.Tanh"(%24) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %26 = "top.Sub"(%10, %16) : (tensor<f32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %27 = "top.Mul"(%26, %25) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %28 = "top.Mul"(%16, %h) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %29 = "top.Add"(%27, %28) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32> loc("h0")
  %30 = "top.Slice"(%x, %none, %none, %none, %none) {offset = [1], ends = [2], axes = [0], steps = [1]} : (tensor<2x2x3xf32>, none, none, none, none) -> tensor<1x2x3xf32>
  %31 = "top.Squeeze"(%30, %none) {axes = [0]} : (tensor<1x2x3xf32>, none) -> tensor<2x3xf32>
  %32 = "top.MatMul"(%31, %0, %6) : (tensor<2x3xf32>, tensor<3x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %33 = "top.MatMul"(%29, %3, %none) : (tensor<2x4xf32>, tensor<4x4xf32>, none) -> tensor<2x4xf32>
  %34 = "top.Add"(%32, %33) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %35 = "top.Sigmoid"(%34) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %36 = "top.MatMul"(%31, %1, %7) : (tensor<2x3xf32>, tensor<3x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %37 = "top.MatMul"(%29, %4, %none) : (tensor<2x4xf32>, tensor<4x4xf32>, none) -> tensor<2x4xf32>
  %38 = "top.Add"(%36, %37) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %39 = "top.Sigmoid"(%38) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %40 = "top.Mul"(%39, %h) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %41 = "top.MatMul"(%31, %2, %8) : (tensor<2x3xf32>, tensor<3x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %42 = "top.MatMul"(%40, %5, %none) : (tensor<2x4xf32>, tensor<4x4xf32>, none) -> tensor<2x4xf32>
  %43 = "top.Add"(%41, %42) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %44 = "top.Tanh"(%43) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %45 = "top.Sub"(%10, %35) : (tensor<f32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %46 = "top.Mul"(%45, %44) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %47 = "top.Mul"(%35, %29) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %48 = "top.Add"(%46, %47) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32> loc("h1")
  return %48 : tensor<2x4xf32>
}

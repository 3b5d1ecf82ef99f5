// Ops stand where the least memory is alive: each wide tensor is reduced before the next is made.
// RUN: sed s/bm1684x/%chip/ %s | tpuc-opt --split-input-file --op-reorder | FileCheck %s

// CHECK-LABEL: func.func @main
// CHECK-NEXT: "top.Input"
// CHECK-NEXT: %[[A:.*]] = "tpu.AddConst"{{.*}}const_val = 1.0
// CHECK-NEXT: %[[P:.*]] = "tpu.MaxPool"(%[[A]])
// CHECK-NEXT: %[[B:.*]] = "tpu.AddConst"{{.*}}const_val = 2.0
// CHECK-NEXT: %[[Q:.*]] = "tpu.MaxPool"(%[[B]])
// Constants stand in front of their first reader.
// CHECK-NEXT: %[[N:.*]] = "top.None"
// CHECK-NEXT: %[[R:.*]] = "tpu.Reshape"(%[[Q]], %[[N]])
// CHECK-NEXT: return %[[P]], %[[R]]
module attributes {module.name = "net", module.chip = "bm1684x"} {
  func.func @main(%arg0: tensor<1x8x16x16xf32>) -> (tensor<1x8x1x1xf32>, tensor<1x8xf32>) {
    %none = "top.None"() : () -> none
    %x = "top.Input"(%arg0) : (tensor<1x8x16x16xf32>) -> tensor<1x8x16x16xf32>
    %a = "tpu.AddConst"(%x) {const_val = 1.0 : f64} : (tensor<1x8x16x16xf32>) -> tensor<1x8x16x16xf32>
    %b = "tpu.AddConst"(%x) {const_val = 2.0 : f64} : (tensor<1x8x16x16xf32>) -> tensor<1x8x16x16xf32>
    %p = "tpu.MaxPool"(%a) {kernel_shape = [16, 16]} : (tensor<1x8x16x16xf32>) -> tensor<1x8x1x1xf32>
    %q = "tpu.MaxPool"(%b) {kernel_shape = [16, 16]} : (tensor<1x8x16x16xf32>) -> tensor<1x8x1x1xf32>
    %r = "tpu.Reshape"(%q, %none) {shape = [1, 8]} : (tensor<1x8x1x1xf32>, none) -> tensor<1x8xf32>
    return %p, %r : tensor<1x8x1x1xf32>, tensor<1x8xf32>
  }
}

// -----

// The most is alive beside the first layer whatever follows. Still, its last reader comes before
// those that go on.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: "top.Input"
// CHECK-NEXT: %[[A:.*]] = "tpu.AddConst"
// CHECK-NEXT: %[[P:.*]] = "tpu.MaxPool"(%[[A]])
// CHECK-NEXT: %[[M:.*]] = "tpu.MaxPool"(%[[A]])
// CHECK-NEXT: "tpu.AddConst"(%[[M]])
module attributes {module.name = "net", module.chip = "bm1684x"} {
  func.func @main(%arg0: tensor<1x8x16x16xf32>) -> (tensor<1x8x8x8xf32>, tensor<1x8x1x1xf32>) {
    %x = "top.Input"(%arg0) : (tensor<1x8x16x16xf32>) -> tensor<1x8x16x16xf32>
    %a = "tpu.AddConst"(%x) {const_val = 1.0 : f64} : (tensor<1x8x16x16xf32>) -> tensor<1x8x16x16xf32>
    %m = "tpu.MaxPool"(%a) {kernel_shape = [2, 2], strides = [2, 2]} : (tensor<1x8x16x16xf32>) -> tensor<1x8x8x8xf32>
    %b = "tpu.AddConst"(%m) {const_val = 2.0 : f64} : (tensor<1x8x8x8xf32>) -> tensor<1x8x8x8xf32>
    %p = "tpu.MaxPool"(%a) {kernel_shape = [16, 16]} : (tensor<1x8x16x16xf32>) -> tensor<1x8x1x1xf32>
    return %b, %p : tensor<1x8x8x8xf32>, tensor<1x8x1x1xf32>
  }
}

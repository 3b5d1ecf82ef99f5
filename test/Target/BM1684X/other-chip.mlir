// Passes of one chip refuse modules for others.
// RUN: not tpuc-opt %s --chip-assign=chip=null --merge-groups 2>&1 | FileCheck %s
// CHECK: error: {{--merge-groups: module.chip null; expected bm1684x|module: there is no code generator for null}}
module attributes {module.name = "net"} {
  func.func @main(%arg0: tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32> {
    %x = "top.Input"(%arg0) : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32> loc("x")
    %y = "top.Relu"(%x) : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32> loc("y")
    return %y : tensor<1x2x4x4xf32>
  }
}

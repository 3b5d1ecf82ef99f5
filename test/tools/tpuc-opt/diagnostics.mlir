// An error at a module says what is wrong, without thousands of lines of the module behind it. An error
// at an op shows the op.
// RUN: rm -rf %t && split-file %s %t
// RUN: not tpuc-opt %t/module.mlir --chip-assign=chip=bm1685 2>&1 | FileCheck %s --check-prefix=MODULE --implicit-check-not=top.Relu
// MODULE: error: --chip: unknown target 'bm1685'
// RUN: not tpuc-opt %t/op.mlir 2>&1 | FileCheck %s --check-prefix=OP
// OP: error: 'top.Weight' op result type
// OP: note: see current operation: %{{.*}} = "top.Weight"() : () -> tensor<?xf32>

//--- module.mlir
module attributes {module.name = "net"} {
  func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
    %y = "top.Relu"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32> loc("y")
    return %y : tensor<2x3xf32>
  }
}

//--- op.mlir
func.func @main() -> tensor<?xf32> {
  %y = "top.Weight"() : () -> tensor<?xf32>
  return %y : tensor<?xf32>
}

// Passes of one chip refuse modules for others.
// RUN: not tpuc-opt %s --chip-assign=chip=null --sums-to-conv 2>&1 | FileCheck %s -DPASS=sums-to-conv
// RUN: not tpuc-opt %s --chip-assign=chip=null --merge-groups 2>&1 | FileCheck %s -DPASS=merge-groups
// RUN: not tpuc-opt %s --chip-assign=chip=null --gemv-to-conv 2>&1 | FileCheck %s -DPASS=gemv-to-conv
// RUN: not tpuc-opt %s --chip-assign=chip=null --lut-to-arith 2>&1 | FileCheck %s -DPASS=lut-to-arith
// RUN: not tpuc-opt %s --chip-assign=chip=null --pack-rows 2>&1 | FileCheck %s -DPASS=pack-rows
// RUN: not tpuc-opt %s --chip-assign=chip=null --transpose-in-groups 2>&1 | FileCheck %s -DPASS=transpose-in-groups
// RUN: not tpuc-opt %s --chip-assign=chip=null --fold-transpose-into-store 2>&1 | FileCheck %s -DPASS=fold-transpose-into-store
// RUN: not tpuc-opt %s --chip-assign=chip=null --permute-by-transposes 2>&1 | FileCheck %s -DPASS=permute-by-transposes
// CHECK: error: --[[PASS]]: module.chip null; expected bm1684x
module attributes {module.name = "net"} {
  func.func @main(%arg0: tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32> {
    %x = "top.Input"(%arg0) : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32> loc("x")
    %y = "top.Relu"(%x) : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32> loc("y")
    return %y : tensor<1x2x4x4xf32>
  }
}

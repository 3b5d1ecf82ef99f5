// Options of --layer-group that cannot be.
// RUN: sed s/bm1684x/%chip/ %s > %t.mlir
// RUN: not tpuc-opt %t.mlir --layer-group=opt=4 2>&1 | FileCheck %s --check-prefix=OPT
// OPT: error: --layer-group: opt=4; expected 0 to 3
// RUN: not tpuc-opt %t.mlir "--layer-group=opt=3 seconds=-1" 2>&1 | FileCheck %s --check-prefix=SECONDS
// RUN: not tpuc-opt %t.mlir "--layer-group=opt=2 seconds=5" 2>&1 | FileCheck %s --check-prefix=SECONDS
// SECONDS: error: --layer-group: seconds={{-1|5}}; expected 0, or with opt=3 a time limit
// RUN: not tpuc-opt %t.mlir --layer-group=without=magic 2>&1 | FileCheck %s --check-prefix=WITHOUT
// WITHOUT: error: --layer-group: without: 'magic'; expected some of fold-head-reshapes, join-convolutions, split-convolutions, op-reorder, hoist-outputs
module attributes {module.name = "net", module.chip = "bm1684x", module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: tensor<1x8x8x8xf32>) -> tensor<1x8x8x8xf32> {
    %x = "top.Input"(%arg0) : (tensor<1x8x8x8xf32>) -> tensor<1x8x8x8xf32> loc("x")
    %0 = "tpu.Relu"(%x) : (tensor<1x8x8x8xf32>) -> tensor<1x8x8x8xf32> loc("y")
    return %0 : tensor<1x8x8x8xf32>
  }
}

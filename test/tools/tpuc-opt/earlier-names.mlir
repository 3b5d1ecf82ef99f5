// Passes and heuristics answer to the names of earlier versions, too; no help text lists those.
// RUN: tpuc-opt %s --early-results | FileCheck %s
// RUN: tpuc-opt %s --hoist-outputs | FileCheck %s
// RUN: tpuc-opt --help | FileCheck %s --check-prefix=HELP --implicit-check-not=early-results
// RUN: tpuc-opt %s --layer-group=without=joins,constant-pool,stack-rows | FileCheck %s
// CHECK: tpu.Relu
// HELP: --hoist-outputs
module attributes {module.name = "net", module.chip = "bm1684x"} {
  func.func @main(%arg0: tensor<1x8x8x8xf32>) -> tensor<1x8x8x8xf32> {
    %x = "top.Input"(%arg0) : (tensor<1x8x8x8xf32>) -> tensor<1x8x8x8xf32>
    %0 = "tpu.Relu"(%x) : (tensor<1x8x8x8xf32>) -> tensor<1x8x8x8xf32>
    return %0 : tensor<1x8x8x8xf32>
  }
}

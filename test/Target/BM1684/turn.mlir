// Rows become columns by exchanges of batch items and channels, where these take fewer cycles than
// copies of single elements.
// RUN: rm -rf %t.dir && mkdir -p %t.dir
// RUN: %python %S/../../Codegen/Inputs/ramp.py %t.dir/in.npz x:whole=2,16,3,1600 y:whole=96,100,2
// RUN: tpuc-opt %s --subnet-divide --weight-reorder --layer-group --address-assign --codegen=model=%t.dir/net.bmodel -o %t.dir/none.mlir
// RUN: model_tool --dump_commands %t.dir/net.bmodel | FileCheck %s
// RUN: model_runner --model %s --input %t.dir/in.npz --output %t.dir/lowered.npz
// RUN: model_runner --model %t.dir/net.bmodel --input %t.dir/in.npz --output %t.dir/file.npz
// RUN: npz_tool compare %t.dir/file.npz %t.dir/lowered.npz --tolerance 1,1 | FileCheck %s --check-prefix=EQUAL
// EQUAL: 2 equal

// A command for each batch item and row of x; the two columns of y are not worth one.
// CHECK-COUNT-6: dma.nc_transpose
// CHECK-NOT: dma.nc_transpose
// CHECK: dma.copy
// CHECK-NOT: dma.nc_transpose
module attributes {module.name = "net", module.chip = "bm1684", module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: tensor<2x16x3x1600xf32>, %arg1: tensor<96x100x2xf32>) -> (tensor<2x1600x3x16xf32>, tensor<96x2x100xf32>) {
    %x = "top.Input"(%arg0) : (tensor<2x16x3x1600xf32>) -> tensor<2x16x3x1600xf32> loc("x")
    %y = "top.Input"(%arg1) : (tensor<96x100x2xf32>) -> tensor<96x100x2xf32> loc("y")
    %0 = "tpu.Permute"(%x) {order = [0, 3, 2, 1]} : (tensor<2x16x3x1600xf32>) -> tensor<2x1600x3x16xf32> loc("turned")
    %1 = "tpu.Permute"(%y) {order = [0, 2, 1]} : (tensor<96x100x2xf32>) -> tensor<96x2x100xf32> loc("apart")
    return %0, %1 : tensor<2x1600x3x16xf32>, tensor<96x2x100xf32>
  }
}

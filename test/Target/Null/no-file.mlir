// Null compiles like any chip, in slices of 16 KiB lanes, but there is no file for it.
// RUN: rm -rf %t.dir && mkdir -p %t.dir
// RUN: tpuc-opt %s --subnet-divide --weight-reorder --op-reorder --layer-group --address-assign -o %t.dir/final.mlir
// RUN: FileCheck %s --input-file %t.dir/final.mlir
// RUN: not tpuc-opt %t.dir/final.mlir --codegen=model=%t.dir/net.model 2>&1 | FileCheck %s --check-prefix=FILE
// RUN: not ls %t.dir/net.model
// FILE: there is no file format for null

// Rows of the picture are cut.
// CHECK: module.state = "TPU_ADDRESSED"
// CHECK: "tpu.MaxPool"{{.*}}ginfo = {{.*}}h_slice = [{{[0-9]+}}, {{.*}}]
module attributes {module.name = "net", module.chip = "null"} {
  func.func @main(%arg0: tensor<1x8x64x64xf32>) -> tensor<1x16x64x64xf32> {
    %x = "top.Input"(%arg0) : (tensor<1x8x64x64xf32>) -> tensor<1x8x64x64xf32> loc("x")
    %0 = "tpu.MaxPool"(%x) {kernel_shape = [3, 3], strides = [1, 1], pads = [1, 1, 1, 1]} : (tensor<1x8x64x64xf32>) -> tensor<1x8x64x64xf32> loc("pool")
    %1 = "tpu.Concat"(%0, %x) {axis = 1 : i64} : (tensor<1x8x64x64xf32>, tensor<1x8x64x64xf32>) -> tensor<1x16x64x64xf32> loc("both")
    return %1 : tensor<1x16x64x64xf32>
  }
}

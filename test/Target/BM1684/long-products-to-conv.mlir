// A product of integers with a matrix of many rows is a convolution over the pictures that its rows
// were before they were flattened, or over columns of pixels.
// RUN: rm -rf %t.dir && mkdir -p %t.dir && cp %s %t.dir/net.mlir
// RUN: %python %tpuc_src/test/Codegen/Inputs/ramp.py %t.dir/net.npz a=10,2352 b=5000,10 c=2048,10 d=5003,10 e=10
// RUN: cd %t.dir && tpuc-opt net.mlir --shape-infer --chip-assign=chip=bm1684 --convert-top-to-tpu=mode=INT8 --long-products-to-conv --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s
// RUN: cd %t.dir && not tpuc-opt net.mlir --shape-infer --chip-assign=chip=bm1684x --convert-top-to-tpu=mode=INT8 --long-products-to-conv 2>&1 | FileCheck %s --check-prefix=CHIP
// CHIP: error: --long-products-to-conv: module.chip bm1684x; expected bm1684

// CHECK-NOT: tpu.Flatten
// CHECK: %[[A:.*]] = "tpu.Conv"(%{{.*}}kernel_shape = [7, 7]{{.*}} tensor<10x48x7x7xi8>, {{.*}} -> tensor<2x10x1x1x{{.*}} loc("pictures{{.*}}_filtered")
// CHECK: "tpu.Reshape"(%[[A]], {{.*}} -> tensor<2x10x
// Two pixels of 2500 channels.
// CHECK: "tpu.Reshape"(%{{.*}} -> tensor<1x2500x2x1x{{.*}} loc("long{{.*}}_channels")
// CHECK: "tpu.Conv"(%{{.*}}kernel_shape = [2, 1]{{.*}} tensor<10x2500x2x1xi8>, {{.*}} -> tensor<1x10x1x1x{{.*}} loc("long{{.*}}_filtered")
// What has a short row, and what has no divisor, stays.
// CHECK: "tpu.MatMul"({{.*}} loc("short{{.*}}")
// CHECK: "tpu.MatMul"({{.*}} loc("prime{{.*}}")
module attributes {module.name = "net", module.state = "TOP_CALIBRATED", module.weight_file = "net.npz"} {
  func.func @main(%arg0: tensor<2x48x7x7x!quant.calibrated<f32<-1.0:1.0>>>, %arg1: tensor<1x5000x!quant.calibrated<f32<-1.0:1.0>>>, %arg2: tensor<1x2048x!quant.calibrated<f32<-1.0:1.0>>>, %arg3: tensor<1x5003x!quant.calibrated<f32<-1.0:1.0>>>) -> (tensor<2x10x!quant.calibrated<f32<-4.0:4.0>>>, tensor<1x10x!quant.calibrated<f32<-4.0:4.0>>>, tensor<1x10x!quant.calibrated<f32<-4.0:4.0>>>, tensor<1x10x!quant.calibrated<f32<-4.0:4.0>>>) {
    %none = "top.None"() : () -> none
    %x = "top.Input"(%arg0) : (tensor<2x48x7x7x!quant.calibrated<f32<-1.0:1.0>>>) -> tensor<2x48x7x7x!quant.calibrated<f32<-1.0:1.0>>> loc("x")
    %y = "top.Input"(%arg1) : (tensor<1x5000x!quant.calibrated<f32<-1.0:1.0>>>) -> tensor<1x5000x!quant.calibrated<f32<-1.0:1.0>>> loc("y")
    %z = "top.Input"(%arg2) : (tensor<1x2048x!quant.calibrated<f32<-1.0:1.0>>>) -> tensor<1x2048x!quant.calibrated<f32<-1.0:1.0>>> loc("z")
    %q = "top.Input"(%arg3) : (tensor<1x5003x!quant.calibrated<f32<-1.0:1.0>>>) -> tensor<1x5003x!quant.calibrated<f32<-1.0:1.0>>> loc("q")
    %a = "top.Weight"() : () -> tensor<10x2352xf32> loc("a")
    %b = "top.Weight"() : () -> tensor<5000x10xf32> loc("b")
    %c = "top.Weight"() : () -> tensor<2048x10xf32> loc("c")
    %d = "top.Weight"() : () -> tensor<5003x10xf32> loc("d")
    %e = "top.Weight"() : () -> tensor<10xf32> loc("e")
    %f = "top.Flatten"(%x) {start_dim = 1 : i64, end_dim = -1 : i64} : (tensor<2x48x7x7x!quant.calibrated<f32<-1.0:1.0>>>) -> tensor<2x2352x!quant.calibrated<f32<-1.0:1.0>>> loc("flat")
    %0 = "top.MatMul"(%f, %a, %e) {right_transpose = true} : (tensor<2x2352x!quant.calibrated<f32<-1.0:1.0>>>, tensor<10x2352xf32>, tensor<10xf32>) -> tensor<2x10x!quant.calibrated<f32<-4.0:4.0>>> loc("pictures")
    %1 = "top.MatMul"(%y, %b, %e) : (tensor<1x5000x!quant.calibrated<f32<-1.0:1.0>>>, tensor<5000x10xf32>, tensor<10xf32>) -> tensor<1x10x!quant.calibrated<f32<-4.0:4.0>>> loc("long")
    %2 = "top.MatMul"(%z, %c, %none) : (tensor<1x2048x!quant.calibrated<f32<-1.0:1.0>>>, tensor<2048x10xf32>, none) -> tensor<1x10x!quant.calibrated<f32<-4.0:4.0>>> loc("short")
    %3 = "top.MatMul"(%q, %d, %none) : (tensor<1x5003x!quant.calibrated<f32<-1.0:1.0>>>, tensor<5003x10xf32>, none) -> tensor<1x10x!quant.calibrated<f32<-4.0:4.0>>> loc("prime")
    return %0, %1, %2, %3 : tensor<2x10x!quant.calibrated<f32<-4.0:4.0>>>, tensor<1x10x!quant.calibrated<f32<-4.0:4.0>>>, tensor<1x10x!quant.calibrated<f32<-4.0:4.0>>>, tensor<1x10x!quant.calibrated<f32<-4.0:4.0>>>
  }
}

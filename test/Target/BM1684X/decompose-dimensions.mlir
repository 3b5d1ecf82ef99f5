// Element-wise ops of more than four dimensions join some of them: the first ones, or the last ones
// where channels of few elements would be transferred one by one, and lanes have no more to do. With
// fewer lanes that is another choice.
// RUN: rm -rf %t.dir && mkdir -p %t.dir
// RUN: %python %tpuc_src/test/Codegen/Inputs/ramp.py %t.dir/in.npz x=1,32,32,3,3 s=1,1,32,1,1 y=2,4,32,8,16 t=1,1,32,8,16 z=2,2,40,3,3 u=1,1,40,1,1
// RUN: tpuc-opt %s --decompose --mlir-print-debuginfo --mlir-print-local-scope -o %t.dir/made.mlir
// RUN: FileCheck %s < %t.dir/made.mlir
// RUN: model_runner --model %s --input %t.dir/in.npz --output %t.dir/net.npz
// RUN: model_runner --model %t.dir/made.mlir --input %t.dir/in.npz --output %t.dir/made.npz
// RUN: npz_tool compare %t.dir/made.npz %t.dir/net.npz --tolerance 1,1

// CHECK: "tpu.Mul"{{.*}} -> tensor<1x32x32x9xf32> loc("short_of_joined")
// Four channels would leave lanes idle.
// CHECK: "tpu.Mul"{{.*}} -> tensor<8x32x8x16xf32> loc("long_of_joined")
// So would two, however short rows are.
// CHECK: "tpu.Mul"{{.*}} -> tensor<4x40x3x3xf32> loc("narrow_of_joined")
!x = tensor<1x32x32x3x3xf32>
!y = tensor<2x4x32x8x16xf32>
!z = tensor<2x2x40x3x3xf32>
module attributes {module.name = "net", module.chip = "bm1684x", module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: !x, %arg1: tensor<1x1x32x1x1xf32>, %arg2: !y, %arg3: tensor<1x1x32x8x16xf32>, %arg4: !z, %arg5: tensor<1x1x40x1x1xf32>) -> (!x, !y, !z) {
    %x = "top.Input"(%arg0) : (!x) -> !x loc("x")
    %s = "top.Input"(%arg1) : (tensor<1x1x32x1x1xf32>) -> tensor<1x1x32x1x1xf32> loc("s")
    %y = "top.Input"(%arg2) : (!y) -> !y loc("y")
    %t = "top.Input"(%arg3) : (tensor<1x1x32x8x16xf32>) -> tensor<1x1x32x8x16xf32> loc("t")
    %z = "top.Input"(%arg4) : (!z) -> !z loc("z")
    %u = "top.Input"(%arg5) : (tensor<1x1x40x1x1xf32>) -> tensor<1x1x40x1x1xf32> loc("u")
    %0 = "tpu.Mul"(%x, %s) : (!x, tensor<1x1x32x1x1xf32>) -> !x loc("short")
    %1 = "tpu.Mul"(%y, %t) : (!y, tensor<1x1x32x8x16xf32>) -> !y loc("long")
    %2 = "tpu.Mul"(%z, %u) : (!z, tensor<1x1x40x1x1xf32>) -> !z loc("narrow")
    return %0, %1, %2 : !x, !y, !z
  }
}

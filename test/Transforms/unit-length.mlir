// Rows of unit length as norms of the root mean square: the same numbers.
// RUN: rm -rf %t.dir && mkdir -p %t.dir
// RUN: %python %tpuc_src/test/Codegen/Inputs/ramp.py %t.dir/in.npz x=2,3,40
// RUN: tpuc-opt %s --shape-infer --top-fuse --chip-assign=chip=bm1684x --convert-top-to-tpu=mode=F32 --decompose --subnet-divide --weight-reorder --layer-group --address-assign --codegen=model=%t.dir/fused.bmodel -o %t.dir/fused.mlir
// RUN: FileCheck %s < %t.dir/fused.mlir
// RUN: model_runner --model %s --input %t.dir/in.npz --output %t.dir/written.npz
// RUN: model_runner --model %t.dir/fused.bmodel --input %t.dir/in.npz --output %t.dir/fused.npz
// RUN: npz_tool compare %t.dir/fused.npz %t.dir/written.npz --tolerance 0.999999,0.99999
// CHECK: "tpu.RMSNorm"
module attributes {module.name = "net"} {
  func.func @main(%arg0: tensor<2x3x40xf32>) -> tensor<2x3x40xf32> {
    %none = "top.None"() : () -> none
    %x = "top.Input"(%arg0) : (tensor<2x3x40xf32>) -> tensor<2x3x40xf32> loc("x")
    %l = "top.Reduce"(%x, %none) {axes = [-1], keepdims = true, mode = "ReduceL2"} : (tensor<2x3x40xf32>, none) -> tensor<2x3x1xf32> loc("l")
    %m = "top.Clip"(%l) {min = 1.0e-12 : f64, max = 0x7FF0000000000000 : f64} : (tensor<2x3x1xf32>) -> tensor<2x3x1xf32> loc("m")
    %e = "top.Expand"(%m, %none) {shape = [2, 3, 40]} : (tensor<2x3x1xf32>, none) -> tensor<2x3x40xf32> loc("e")
    %y = "top.Div"(%x, %e) : (tensor<2x3x40xf32>, tensor<2x3x40xf32>) -> tensor<2x3x40xf32> loc("y")
    return %y : tensor<2x3x40xf32>
  }
}

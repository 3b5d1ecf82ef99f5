// A constant mask in F32 is limited in numbers of its own: the weight that it is read from stays as
// it is. The tool writes weights as they are mapped into memory.
// RUN: rm -rf %t.dir && mkdir -p %t.dir
// RUN: %python %S/../../Codegen/Inputs/ramp.py %t.dir/ramp.npz m=5,5
// RUN: npz_tool extract %t.dir/ramp.npz %t.dir/net.npz m
// RUN: cp %s %t.dir/net.mlir
// RUN: tpuc-opt %t.dir/net.mlir --decompose-attention --mlir-print-debuginfo --mlir-print-local-scope -o %t.dir/made.mlir
// RUN: FileCheck %s --input-file %t.dir/made.mlir
// CHECK-NOT: tpu.ScaleDotProductAttention
// CHECK: "top.Weight"() {{.*}}tensor<5x5xbf16> loc("y_mask")
module attributes {module.name = "net", module.chip = "cv181x", module.state = "TPU_LOWERED", module.weight_file = "net.npz"} {
  func.func @main(%arg0: tensor<1x2x5x16xbf16>) -> tensor<1x2x5x16xbf16> {
    %none = "top.None"() : () -> none
    %x = "top.Input"(%arg0) : (tensor<1x2x5x16xbf16>) -> tensor<1x2x5x16xbf16> loc("x")
    %m = "top.Weight"() : () -> tensor<5x5xf32> loc("m")
    %y:4 = "tpu.ScaleDotProductAttention"(%x, %x, %x, %m, %none, %none, %none) : (tensor<1x2x5x16xbf16>, tensor<1x2x5x16xbf16>, tensor<1x2x5x16xbf16>, tensor<5x5xf32>, none, none, none) -> (tensor<1x2x5x16xbf16>, none, none, none) loc("y")
    return %y#0 : tensor<1x2x5x16xbf16>
  }
}

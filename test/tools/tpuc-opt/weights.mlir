// Weights lie in the folder of the module or below, also where they are read while it is parsed.
// RUN: rm -rf %t.dir && mkdir -p %t.dir/in %t.dir/out && cp %s %t.dir/in/net.mlir
// RUN: %python %tpuc_src/test/Codegen/Inputs/ramp.py %t.dir/in/net.npz w=4,3 b=3
// RUN: tpuc-opt %t.dir/in/net.mlir --chip-assign=chip=bm1684x --convert-top-to-tpu=mode=F16 | FileCheck %s
// RUN: sed 's|weight_file = "|&../in/|' %s > %t.dir/out/above.mlir
// RUN: not tpuc-opt %t.dir/out/above.mlir --chip-assign=chip=bm1684x --convert-top-to-tpu=mode=F16 2>&1 | FileCheck %s --check-prefix=OUTSIDE
// RUN: tpuc-opt %t.dir/out/above.mlir --chip-assign=chip=bm1684x --convert-top-to-tpu=mode=F16 --allow_outside | FileCheck %s
// RUN: sed 's|weight_file = "|&%t.dir/in/|' %s > %t.dir/out/absolute.mlir
// RUN: not tpuc-opt %t.dir/out/absolute.mlir --chip-assign=chip=bm1684x --convert-top-to-tpu=mode=F16 2>&1 | FileCheck %s --check-prefix=OUTSIDE
// RUN: ln -s ../in/net.npz %t.dir/out/net.npz && cp %s %t.dir/out/link.mlir
// RUN: not tpuc-opt %t.dir/out/link.mlir --chip-assign=chip=bm1684x --convert-top-to-tpu=mode=F16 2>&1 | FileCheck %s --check-prefix=OUTSIDE
// Those of the working folder are others.
// RUN: mkdir %t.dir/empty && cp %s %t.dir/empty/net.mlir
// RUN: cd %t.dir/in && not tpuc-opt %t.dir/empty/net.mlir --chip-assign=chip=bm1684x --convert-top-to-tpu=mode=F16 2>&1 | FileCheck %s --check-prefix=ABSENT
// A module on standard input lies in the working folder.
// RUN: cd %t.dir/in && tpuc-opt --chip-assign=chip=bm1684x --convert-top-to-tpu=mode=F16 < net.mlir | FileCheck %s

// CHECK: tpu.MatMul
// OUTSIDE: module.weight_file: '{{.*}}net.npz' is outside the folder of the module; expected a file in it, or --allow_outside
// ABSENT: {{.*}}empty/net.npz
module attributes {module.name = "net", module.weight_file = "net.npz"} {
  func.func @main(%arg0: tensor<2x4xf32>) -> tensor<2x3xf32> {
    %x = "top.Input"(%arg0) : (tensor<2x4xf32>) -> tensor<2x4xf32> loc("x")
    %w = "top.Weight"() : () -> tensor<4x3xf32> loc("w")
    %b = "top.Weight"() : () -> tensor<3xf32> loc("b")
    %0 = "top.MatMul"(%x, %w, %b) : (tensor<2x4xf32>, tensor<4x3xf32>, tensor<3xf32>) -> tensor<2x3xf32> loc("y")
    return %0 : tensor<2x3xf32>
  }
}

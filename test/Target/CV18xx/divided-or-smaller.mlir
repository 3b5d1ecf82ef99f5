// Three layers make a group for which there are no places beside the last layer's constants. Groups for a smaller share
// of local memory find some, but the last layer then loads its input again and again. Divided groups are faster.
// RUN: rm -rf %t.dir && mkdir -p %t.dir
// RUN: %python %S/../../Codegen/Inputs/ramp.py %t.dir/net.npz expand_filter=192,64,1,1 expand_bias=192 depthwise_filter=192,1,3,3 depthwise_bias=192 project_filter=64,192,1,1 project_bias=64 wide_filter=24,1100,3,3 wide_bias=24
// RUN: %python %S/../../Codegen/Inputs/ramp.py %t.dir/in.npz x=1,64,19,19 z=1,1100,10,10
// RUN: cp %s %t.dir/net.mlir
// RUN: model_deploy --mlir %t.dir/net.mlir --chip cv181x --quantize BF16 --skip_validation --model %t.dir/net.cvimodel | FileCheck %s
// CHECK: {{^  [0-4][.].*}} MB read
// RUN: model_runner --model %t.dir/net.cvimodel --input %t.dir/in.npz --output %t.dir/file.npz
// RUN: model_runner --model %t.dir/net_cv181x_bf16_tpu.mlir --input %t.dir/in.npz --output %t.dir/lowered.npz
// RUN: npz_tool compare %t.dir/file.npz %t.dir/lowered.npz --tolerance 0.9999,0.99
!x = tensor<1x64x19x19xf32>
!e = tensor<1x192x19x19xf32>
!z = tensor<1x1100x10x10xf32>
!w = tensor<1x24x10x10xf32>
module attributes {module.name = "net", module.chip = "ALL", module.state = "TOP_F32", module.weight_file = "net.npz"} {
  func.func @main(%arg0: !x, %arg1: !z) -> (!x, !w) {
    %x = "top.Input"(%arg0) : (!x) -> !x loc("x")
    %z = "top.Input"(%arg1) : (!z) -> !z loc("z")
    %ef = "top.Weight"() : () -> tensor<192x64x1x1xf32> loc("expand_filter")
    %eb = "top.Weight"() : () -> tensor<192xf32> loc("expand_bias")
    %e = "top.Conv"(%x, %ef, %eb) {kernel_shape = [1, 1], strides = [1, 1], pads = [0, 0, 0, 0], do_relu = true} : (!x, tensor<192x64x1x1xf32>, tensor<192xf32>) -> !e loc("expand")
    %df = "top.Weight"() : () -> tensor<192x1x3x3xf32> loc("depthwise_filter")
    %db = "top.Weight"() : () -> tensor<192xf32> loc("depthwise_bias")
    %d = "top.Conv"(%e, %df, %db) {kernel_shape = [3, 3], strides = [1, 1], pads = [1, 1, 1, 1], group = 192 : i64, do_relu = true} : (!e, tensor<192x1x3x3xf32>, tensor<192xf32>) -> !e loc("depthwise")
    %pf = "top.Weight"() : () -> tensor<64x192x1x1xf32> loc("project_filter")
    %pb = "top.Weight"() : () -> tensor<64xf32> loc("project_bias")
    %p = "top.Conv"(%d, %pf, %pb) {kernel_shape = [1, 1], strides = [1, 1], pads = [0, 0, 0, 0], do_relu = true} : (!e, tensor<64x192x1x1xf32>, tensor<64xf32>) -> !x loc("project")
    %wf = "top.Weight"() : () -> tensor<24x1100x3x3xf32> loc("wide_filter")
    %wb = "top.Weight"() : () -> tensor<24xf32> loc("wide_bias")
    %w = "top.Conv"(%z, %wf, %wb) {kernel_shape = [3, 3], strides = [1, 1], pads = [1, 1, 1, 1], do_relu = true} : (!z, tensor<24x1100x3x3xf32>, tensor<24xf32>) -> !w loc("wide")
    return %p, %w : !x, !w
  }
}

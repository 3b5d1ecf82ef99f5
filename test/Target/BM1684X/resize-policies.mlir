// Sizes of a resize that keeps the ratio of extents: all axes have one scale, which is not the ratio
// of what was rounded.
// RUN: rm -rf %t.dir && mkdir -p %t.dir
// RUN: %python %S/../../Codegen/Inputs/ramp.py %t.dir/in.npz x=1,3,7,9
// RUN: cp %s %t.dir/net.mlir
// RUN: model_deploy --mlir %t.dir/net.mlir --chip bm1684x --quantize F32 --skip_validation --model %t.dir/net.bmodel
// RUN: model_runner --model %t.dir/net.mlir --input %t.dir/in.npz --output %t.dir/written.npz
// RUN: model_runner --model %t.dir/net.bmodel --input %t.dir/in.npz --output %t.dir/file.npz
// RUN: npz_tool compare %t.dir/file.npz %t.dir/written.npz --tolerance 0.99999,0.9999
module attributes {module.name = "net", module.chip = "ALL", module.state = "TOP_F32"} {
  func.func @main(%arg0: tensor<1x3x7x9xf32>) -> (tensor<1x3x9x11xf32>, tensor<1x3x20x26xf32>) {
    %n = "top.None"() : () -> none
    %x = "top.Input"(%arg0) : (tensor<1x3x7x9xf32>) -> tensor<1x3x7x9xf32> loc("x")
    %less = "top.Interp"(%x, %n, %n, %n) {mode = "linear", keep_aspect_ratio_policy = "not_larger", axes = [2, 3], sizes = [20, 11]} : (tensor<1x3x7x9xf32>, none, none, none) -> tensor<1x3x9x11xf32> loc("less")
    %more = "top.Interp"(%x, %n, %n, %n) {mode = "nearest", keep_aspect_ratio_policy = "not_smaller", axes = [2, 3], sizes = [20, 11]} : (tensor<1x3x7x9xf32>, none, none, none) -> tensor<1x3x20x26xf32> loc("more")
    return %less, %more : tensor<1x3x9x11xf32>, tensor<1x3x20x26xf32>
  }
}

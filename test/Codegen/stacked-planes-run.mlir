// Stacked planes are what slices of the padded volume give, one for each plane of a window, side by
// side, as pictures that follow each other.
// RUN: rm -rf %t.dir && mkdir -p %t.dir
// RUN: sed s/bm1684x/%chip/ %s > %t.dir/net.mlir
// RUN: %python %S/Inputs/ramp.py %t.dir/in.npz x=2,3,7,5,2
// RUN: model_runner --model %t.dir/net.mlir --input %t.dir/in.npz --output %t.dir/stacked.npz
// RUN: sed 's/"planes"/"unused"/; s/"joined"/"planes"/; s/return %%a/return %%b/' %t.dir/net.mlir > %t.dir/joined.mlir
// RUN: model_runner --model %t.dir/joined.mlir --input %t.dir/in.npz --output %t.dir/joined.npz
// RUN: npz_tool compare %t.dir/stacked.npz %t.dir/joined.npz --tolerance 1,1
!p = tensor<2x3x10x5x2xf16>
!s = tensor<2x3x4x5x2xf16>
!j = tensor<2x9x4x5x2xf16>
module attributes {module.name = "net", module.chip = "bm1684x", module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: tensor<2x3x7x5x2xf16>) -> tensor<8x9x5x2xf16> {
    %n = "top.None"() : () -> none
    %x = "top.Input"(%arg0) : (tensor<2x3x7x5x2xf16>) -> tensor<2x3x7x5x2xf16> loc("x")
    %a = "tpu.PackRows"(%x) {kernel = 3 : i64, stride = 2 : i64, pad = 1 : i64} : (tensor<2x3x7x5x2xf16>) -> tensor<8x9x5x2xf16> loc("planes")
    %p = "tpu.Pad"(%x, %n, %n, %n) {paddings = [0, 0, 1, 0, 0, 0, 0, 2, 0, 0], val = 0.0 : f64} : (tensor<2x3x7x5x2xf16>, none, none, none) -> !p loc("padded")
    %0 = "tpu.Slice"(%p, %n, %n, %n, %n) {offset = [0, 0, 0, 0, 0], ends = [2, 3, 8, 5, 2], steps = [1, 1, 2, 1, 1]} : (!p, none, none, none, none) -> !s loc("0")
    %1 = "tpu.Slice"(%p, %n, %n, %n, %n) {offset = [0, 0, 1, 0, 0], ends = [2, 3, 9, 5, 2], steps = [1, 1, 2, 1, 1]} : (!p, none, none, none, none) -> !s loc("1")
    %2 = "tpu.Slice"(%p, %n, %n, %n, %n) {offset = [0, 0, 2, 0, 0], ends = [2, 3, 10, 5, 2], steps = [1, 1, 2, 1, 1]} : (!p, none, none, none, none) -> !s loc("2")
    %j = "tpu.Concat"(%0, %1, %2) {axis = 1 : i64} : (!s, !s, !s) -> !j loc("windows")
    %t = "tpu.Permute"(%j) {order = [0, 2, 1, 3, 4]} : (!j) -> tensor<2x4x9x5x2xf16> loc("turned")
    %b = "tpu.Reshape"(%t, %n) {shape = [8, 9, 5, 2]} : (tensor<2x4x9x5x2xf16>, none) -> tensor<8x9x5x2xf16> loc("joined")
    return %a : tensor<8x9x5x2xf16>
  }
}

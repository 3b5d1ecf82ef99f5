// Channels that are rows are those again: windows that follow each other without overlap, stacked
// and unstacked, are the picture.
// RUN: rm -rf %t.dir && mkdir -p %t.dir
// RUN: sed s/bm1684x/%chip/ %s > %t.dir/net.mlir
// RUN: %python %S/Inputs/ramp.py %t.dir/in.npz x=2,3,8,5
// RUN: model_runner --model %t.dir/net.mlir --input %t.dir/in.npz --output %t.dir/out.npz
// RUN: sed 's/"unstacked"/"unused"/; s/"same"/"unstacked"/; s/return %%b/return %%c/' %t.dir/net.mlir > %t.dir/same.mlir
// RUN: model_runner --model %t.dir/same.mlir --input %t.dir/in.npz --output %t.dir/same.npz
// RUN: npz_tool compare %t.dir/out.npz %t.dir/same.npz --tolerance 1,1
!x = tensor<2x3x8x5xf16>
!s = tensor<2x12x2x5xf16>
module attributes {module.name = "net", module.chip = "bm1684x", module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: !x) -> !x {
    %x = "top.Input"(%arg0) : (!x) -> !x loc("x")
    %a = "tpu.PackRows"(%x) {kernel = 4 : i64, stride = 4 : i64, pad = 0 : i64} : (!x) -> !s loc("rows")
    %b = "tpu.UnpackRows"(%a) {rows = 4 : i64} : (!s) -> !x loc("unstacked")
    %n = "top.None"() : () -> none
    %c = "tpu.Reshape"(%x, %n) {shape = [2, 3, 8, 5]} : (!x, none) -> !x loc("same")
    return %b : !x
  }
}

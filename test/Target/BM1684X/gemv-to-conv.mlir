// A product of one row with a constant is a convolution over the picture that the row was before it
// was flattened, or over one pixel. A cast behind it stays with the row.
// RUN: rm -rf %t.dir && mkdir -p %t.dir && cp %s %t.dir/net.mlir
// RUN: %python %tpuc_src/test/Codegen/Inputs/ramp.py %t.dir/net.npz w=576,128 b=128 v=70,128 s=33,5 t=33,2048
// RUN: cd %t.dir && tpuc-opt net.mlir --shape-infer --chip-assign=chip=bm1684x --convert-top-to-tpu=mode=F16 --gemv-to-conv --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s
// RUN: cd %t.dir && tpuc-opt net.mlir --shape-infer --chip-assign=chip=bm1684x --convert-top-to-tpu=mode=F16 --gemv-to-conv --subnet-divide --layer-group=opt=1 --address-assign --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s --check-prefix=PLACED

// CHECK: %[[P:.*]] = "tpu.MaxPool"
// CHECK-NOT: tpu.Flatten
// CHECK: %[[A:.*]] = "tpu.Conv"(%[[P]], {{.*}}do_relu = true, {{.*}}in_row, kernel_shape = [3, 3]{{.*}} : (tensor<1x64x3x3xf16>, tensor<128x64x3x3xf16>, tensor<128xf32>) -> tensor<1x128x1x1xf16> loc("first_filtered")
// CHECK-NOT: tpu.Reshape
// CHECK: %[[B:.*]] = "tpu.Conv"(%[[A]], {{.*}}from_row, {{.*}}in_row, kernel_shape = [1, 1]{{.*}} : (tensor<1x128x1x1xf16>, tensor<70x128x1x1xf16>, none) -> tensor<1x70x1x1xf16> loc("second_f16")
// Channels that are no whole block are filled up with zeros, if these are few.
// CHECK: "tpu.Conv"({{.*}} -> tensor<1x5x1x1xf16> loc("few_f16")
// CHECK: "tpu.MatMul"({{.*}} loc("many_f16")
// Two rows stay.
// CHECK: "tpu.MatMul"({{.*}} loc("rows_f16")
// CHECK: %[[C:.*]] = "tpu.Cast"(%[[B]]) {from_row, in_row} : (tensor<1x70x1x1xf16>) -> tensor<1x70x1x1xf32>
// CHECK: "tpu.Reshape"(%[[C]], {{.*}} -> tensor<1x70xf32> loc("second")
// Groups keep the rows.
// PLACED-DAG: "tpu.Conv"{{.*}}from_row, {{.*}}ginfo = {{.*}}in_row{{.*}} loc("second_f16")
// PLACED-DAG: "tpu.Cast"{{.*}}from_row, ginfo = {{.*}}in_row
module attributes {module.name = "net", module.weight_file = "net.npz"} {
  func.func @main(%arg0: tensor<1x64x6x6xf32>, %arg1: tensor<2x128xf32>, %arg2: tensor<1x33x1x1xf32>) -> (tensor<1x70xf32>, tensor<2x70xf32>, tensor<1x5xf32>, tensor<1x2048xf32>) {
    %none = "top.None"() : () -> none
    %x = "top.Input"(%arg0) : (tensor<1x64x6x6xf32>) -> tensor<1x64x6x6xf32> loc("x")
    %y = "top.Input"(%arg1) : (tensor<2x128xf32>) -> tensor<2x128xf32> loc("y")
    %w = "top.Weight"() : () -> tensor<576x128xf32> loc("w")
    %b = "top.Weight"() : () -> tensor<128xf32> loc("b")
    %v = "top.Weight"() : () -> tensor<70x128xf32> loc("v")
    %0 = "top.MaxPool"(%x) {kernel_shape = [2, 2], strides = [2, 2]} : (tensor<1x64x6x6xf32>) -> tensor<1x64x3x3xf32> loc("pool")
    %1 = "top.Flatten"(%0) {start_dim = 1 : i64, end_dim = -1 : i64} : (tensor<1x64x3x3xf32>) -> tensor<1x576xf32> loc("flat")
    %2 = "top.MatMul"(%1, %w, %b) {do_relu = true} : (tensor<1x576xf32>, tensor<576x128xf32>, tensor<128xf32>) -> tensor<1x128xf32> loc("first")
    %3 = "top.MatMul"(%2, %v, %none) {right_transpose = true} : (tensor<1x128xf32>, tensor<70x128xf32>, none) -> tensor<1x70xf32> loc("second")
    %z = "top.Input"(%arg2) : (tensor<1x33x1x1xf32>) -> tensor<1x33x1x1xf32> loc("z")
    %s = "top.Weight"() : () -> tensor<33x5xf32> loc("s")
    %t = "top.Weight"() : () -> tensor<33x2048xf32> loc("t")
    %5 = "top.Flatten"(%z) {start_dim = 1 : i64, end_dim = -1 : i64} : (tensor<1x33x1x1xf32>) -> tensor<1x33xf32> loc("channels")
    %6 = "top.MatMul"(%5, %s, %none) : (tensor<1x33xf32>, tensor<33x5xf32>, none) -> tensor<1x5xf32> loc("few")
    %7 = "top.MatMul"(%5, %t, %none) : (tensor<1x33xf32>, tensor<33x2048xf32>, none) -> tensor<1x2048xf32> loc("many")
    %4 = "top.MatMul"(%y, %v, %none) {right_transpose = true} : (tensor<2x128xf32>, tensor<70x128xf32>, none) -> tensor<2x70xf32> loc("rows")
    return %3, %4, %6, %7 : tensor<1x70xf32>, tensor<2x70xf32>, tensor<1x5xf32>, tensor<1x2048xf32>
  }
}

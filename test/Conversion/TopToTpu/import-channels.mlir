// What calibration knows of channels lies beside the table; a file of another network is one line.
// RUN: rm -rf %t.dir && mkdir -p %t.dir
// RUN: printf '###\n# op_name    threshold    min      max\nx 8 -8 8\nfirst 8 -8 8\nsecond 8 -8 8\n' > %t.dir/net.cali
// DEFINE: %{arrays} =
// DEFINE: %{import} = %python %tpuc_src/test/Codegen/Inputs/ramp.py %t.dir/net.cali_channels.npz %{arrays} && tpuc-opt %s --shape-infer --import-calibration-table=file=%t.dir/net.cali --mlir-print-debuginfo --mlir-print-local-scope
// DEFINE: %{fails} = %python %tpuc_src/test/Codegen/Inputs/ramp.py %t.dir/net.cali_channels.npz %{arrays} && not tpuc-opt %s --shape-infer --import-calibration-table=file=%t.dir/net.cali 2>&1 | FileCheck %s

// Covariances are for filters of one tap; without them the rest is still known.
// REDEFINE: %{arrays} = x=3,2 x:covariances=3
// RUN: %{import} | FileCheck %s --check-prefixes=CHECK,PAIRS
// REDEFINE: %{arrays} = x=3,2
// RUN: %{import} | FileCheck %s --check-prefixes=CHECK,NOPAIRS
// NOPAIRS-NOT: covariances
// PAIRS: calibration.input_covariances = array<f32: -1.000000e+00, -0.259{{[0-9]*}}, 0.480{{[0-9]*}}>
// CHECK: calibration.input_highest = array<f32: {{[^>]*}}>, calibration.input_lowest = array<f32: {{[^>]*}}>, calibration.input_means = array<f32: {{[^>]*}}>{{.*}} loc("first")
// PAIRS-NOT: covariances
// CHECK: calibration.input_highest = array<f32: {{[^>]*}}>, calibration.input_lowest = array<f32: {{[^>]*}}>, calibration.input_means = array<f32: {{[^>]*}}>{{.*}} loc("second")

// REDEFINE: %{arrays} = x=3,3
// RUN: %{fails} --check-prefix=FIGURES
// FIGURES: error: {{.*}}net.cali_channels.npz: array 'x' of another network; expected [3, 2] finite f32
// REDEFINE: %{arrays} = x=3,2 x:covariances=6
// RUN: %{fails} --check-prefix=COVARIANCES
// REDEFINE: %{arrays} = x=3,2 x:covariances=1,3
// RUN: %{fails} --check-prefix=COVARIANCES
// COVARIANCES: error: {{.*}}net.cali_channels.npz: array 'x:covariances' of another network; expected [3] finite f32

!x = tensor<1x2x4x4xf32>
!y = tensor<1x1x4x4xf32>
module {
  func.func @main(%arg0: !x) -> (!y, !y) {
    %none = "top.None"() : () -> none
    %x = "top.Input"(%arg0) : (!x) -> !x loc("x")
    %w = "top.ConstantFill"(%none) {shape = [1, 2, 1, 1], value = 0.5 : f32} : (none) -> tensor<1x2x1x1xf32> loc("w")
    %v = "top.ConstantFill"(%none) {shape = [1, 2, 3, 3], value = 0.5 : f32} : (none) -> tensor<1x2x3x3xf32> loc("v")
    %first = "top.Conv"(%x, %w, %none) {kernel_shape = [1, 1]} : (!x, tensor<1x2x1x1xf32>, none) -> !y loc("first")
    %second = "top.Conv"(%x, %v, %none) {kernel_shape = [3, 3], pads = [1, 1, 1, 1]} : (!x, tensor<1x2x3x3xf32>, none) -> !y loc("second")
    return %first, %second : !y, !y
  }
}

// Ranges of a table become the types of tensors; what a user may get wrong is one line.
// RUN: rm -rf %t.dir && mkdir -p %t.dir
// RUN: printf '# histogram number: 2048\n# sample number: 4\n# tune number: 0\n###\n# op_name    threshold    min      max\nx 2.5 -1.0 3.0\nrelu 2.0 0.0 3.0\nflat 2.25 2.25 2.25\n' > %t.dir/net.cali
// RUN: tpuc-opt %s --import-calibration-table=file=%t.dir/net.cali | FileCheck %s --check-prefixes=CHECK,SYM
// RUN: tpuc-opt %s "--import-calibration-table=file=%t.dir/net.cali asymmetric=true" | FileCheck %s --check-prefixes=CHECK,ASYM

// CHECK: module.state = "TOP_CALIBRATED"
// SYM: func.func @main(%{{.*}}: tensor<1x4x!quant.calibrated<f32<-2.500000e+00:2.500000e+00>>>, %{{.*}}: tensor<i64>) -> (tensor<4x!quant.calibrated<f32<-2.250000e+00:2.250000e+00>>>, tensor<i64>)
// SYM: "top.Input"(%{{.*}}) {{.*}} -> tensor<1x4x!quant.calibrated<f32<-2.500000e+00:2.500000e+00>>>
// SYM: "top.Relu"{{.*}} -> tensor<1x4x!quant.calibrated<f32<-2.000000e+00:2.000000e+00>>>
// SYM: "top.Flatten"{{.*}} -> tensor<4x!quant.calibrated<f32<-2.250000e+00:2.250000e+00>>>
// ASYM: "top.Input"(%{{.*}}) {{.*}} -> tensor<1x4x!quant.calibrated<f32<-1.000000e+00:3.000000e+00>>>
// ASYM: "top.Relu"{{.*}} -> tensor<1x4x!quant.calibrated<f32<0.000000e+00:3.000000e+00>>>
// A range of one number says nothing: its threshold counts.
// ASYM: "top.Flatten"{{.*}} -> tensor<4x!quant.calibrated<f32<-2.250000e+00:2.250000e+00>>>
// What is no number has no range.
// CHECK: "top.Neg"{{.*}} -> tensor<i64>

// DEFINE: %{lines} =
// DEFINE: %{fails} = printf '###\n# op_name    threshold    min      max\n%{lines}' > %t.dir/bad.cali && not tpuc-opt %s --import-calibration-table=file=%t.dir/bad.cali 2>&1 | FileCheck %s
// REDEFINE: %{lines} = x 2.5 -1 3\nrelu 2 0 3\n
// RUN: %{fails} --check-prefix=MISSING
// REDEFINE: %{lines} = x 2.5 -1 3\nrelu 2 0 3\nflot 1 0 1\n
// RUN: %{fails} --check-prefix=UNKNOWN
// REDEFINE: %{lines} = a 2.5 -1 3\nb 2 0 3\n
// RUN: %{fails} --check-prefix=OTHER
// REDEFINE: %{lines} = x 2.5 -1 3\nx 2.5 -1 3\n
// RUN: %{fails} --check-prefix=TWICE
// REDEFINE: %{lines} = x 2.5 -1\n
// RUN: %{fails} --check-prefix=FIELDS
// REDEFINE: %{lines} = x 0 -1 1\n
// RUN: %{fails} --check-prefix=THRESHOLD
// REDEFINE: %{lines} = x 1 2 1\n
// RUN: %{fails} --check-prefix=ORDER
// REDEFINE: %{lines} = x nan 0 1\n
// RUN: %{fails} --check-prefix=NAN
// RUN: not tpuc-opt %s --import-calibration-table=file=%t.dir/none.cali 2>&1 | FileCheck %s --check-prefix=NOFILE
// RUN: not tpuc-opt %s --import-calibration-table=file=%t.dir 2>&1 | FileCheck %s --check-prefix=FOLDER
// RUN: not tpuc-opt %s --import-calibration-table 2>&1 | FileCheck %s --check-prefix=NONAME

// MISSING: error: {{.*}}bad.cali: the calibration table has no line for 'flat'
// UNKNOWN: error: {{.*}}bad.cali:5: the network has no tensor 'flot'{{.*}}did you mean 'flat'?
// OTHER: error: {{.*}}bad.cali: has lines for 'a' and 1 more, but for no tensor of this network
// TWICE: error: {{.*}}bad.cali:4: {{.*}}'x'
// FIELDS: error: {{.*}}bad.cali:3:
// THRESHOLD: error: {{.*}}bad.cali:3:
// ORDER: error: {{.*}}bad.cali:3:
// NAN: error: {{.*}}bad.cali:3:
// NOFILE: error: {{.*}}none.cali: cannot be read: No such file or directory
// FOLDER: error: {{.*}}: is a directory; expected a file
// NONAME: error: {{.*}}cannot be read

module {
  func.func @main(%arg0: tensor<1x4xf32>, %arg1: tensor<i64>) -> (tensor<4xf32>, tensor<i64>) {
    %0 = "top.Input"(%arg0) : (tensor<1x4xf32>) -> tensor<1x4xf32> loc("x")
    %1 = "top.Input"(%arg1) : (tensor<i64>) -> tensor<i64> loc("i")
    %2 = "top.Relu"(%0) : (tensor<1x4xf32>) -> tensor<1x4xf32> loc("relu")
    %3 = "top.Flatten"(%2) : (tensor<1x4xf32>) -> tensor<4xf32> loc("flat")
    %4 = "top.Neg"(%1) : (tensor<i64>) -> tensor<i64> loc("neg")
    return %3, %4 : tensor<4xf32>, tensor<i64>
  }
}

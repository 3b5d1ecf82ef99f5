// The chip is written into the module, under its first name.
// RUN: tpuc-opt %s --chip-assign=chip=bm1684x | FileCheck %s
// RUN: tpuc-opt %s --chip-assign=chip=bm1880v2 | FileCheck %s --check-prefix=ALIAS
// RUN: not tpuc-opt %s --chip-assign=chip=bm1648x 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not tpuc-opt %s --chip-assign 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not tpuc-opt %s --convert-top-to-tpu 2>&1 | FileCheck %s --check-prefix=UNASSIGNED

// CHECK: module.chip = "bm1684x"
// ALIAS: module.chip = "cv183x"
// UNKNOWN: error: {{.*}}'bm1648x'{{.*}}did you mean 'bm1684x'?
// NONE: error: --chip: unknown target ''; expected one of bm1684
// UNASSIGNED: error: module: is compiled for no chip; expected --chip-assign first
module attributes {module.chip = "ALL"} {
  func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    return %arg0 : tensor<4xf32>
  }
}

// What was run can be written down and repeated; a crash writes the same file by itself
// (--mlir-pass-pipeline-crash-reproducer).
// RUN: tpuc-opt %s --canonicalize --cse --mlir-generate-reproducer=%t.repro.mlir -o /dev/null
// RUN: FileCheck %s --check-prefix=FILE < %t.repro.mlir
// RUN: tpuc-opt %t.repro.mlir --run-reproducer | FileCheck %s
// RUN: tpuc-opt --help-list | FileCheck %s --check-prefix=OPTION

// FILE: pipeline: "builtin.module(any(canonicalize{{.*}},cse))"
// OPTION: --mlir-pass-pipeline-crash-reproducer
// CHECK-LABEL: func.func @unused
// CHECK-NOT: top.None
func.func @unused() {
  %0 = "top.None"() : () -> none
  return
}

// A module that does not verify leaves the output file as it was, and no other.
// RUN: mkdir -p %t && echo old > %t/out.mlir
// RUN: not tpuc-opt %s -o %t/out.mlir
// RUN: grep old %t/out.mlir
// RUN: ls -A %t | FileCheck %s --check-prefix=FILES --implicit-check-not=tmp

// FILES: out.mlir
func.func @f() -> tensor<1xf32> {
  %0 = "top.Weight"() : () -> tensor<?xf32>
  return %0 : tensor<1xf32>
}

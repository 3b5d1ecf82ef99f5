// RFC, "Workflow example" and "Common subexpression elimination (CSE)". Inputs/rfc_workflow_0 to _5 are
// the six modules of the first, _6 to _8 the three of the second, word for word; each step's pass must
// turn one into the next.

// The hypothetical --convert-ml-to-arith, on the operations' behalf: the fallback, then the conversion.
// RUN: tpuc-ml-opt %S/Inputs/rfc_workflow_0.mlir --quant-fallback --convert-ml-to-arith -o %t.out
// RUN: tpuc-opt %S/Inputs/rfc_workflow_1.mlir -o %t.rfc
// RUN: diff %t.out %t.rfc

// RUN: tpuc-opt %S/Inputs/rfc_workflow_1.mlir --canonicalize -o %t.out
// RUN: tpuc-opt %S/Inputs/rfc_workflow_2.mlir -o %t.rfc
// RUN: diff %t.out %t.rfc

// From 2 to 3 the RFC writes calls of @dequantize and @quantize for what --lower-quant-ops makes, so
// this step is compared by what is left of the quantized types.
// RUN: tpuc-opt %S/Inputs/rfc_workflow_2.mlir --lower-quant-ops | FileCheck %s --check-prefix=LOWERED

// RUN: tpuc-opt %S/Inputs/rfc_workflow_3.mlir --strip-func-quant-types -o %t.out
// RUN: tpuc-opt %S/Inputs/rfc_workflow_4.mlir -o %t.rfc
// RUN: diff %t.out %t.rfc

// RUN: tpuc-opt %S/Inputs/rfc_workflow_4.mlir --canonicalize -o %t.out
// RUN: tpuc-opt %S/Inputs/rfc_workflow_5.mlir -o %t.rfc
// RUN: diff %t.out %t.rfc

// RUN: tpuc-ml-opt %S/Inputs/rfc_workflow_6.mlir --quant-fallback --convert-ml-to-arith -o %t.out
// RUN: tpuc-opt %S/Inputs/rfc_workflow_7.mlir -o %t.rfc
// RUN: diff %t.out %t.rfc

// RUN: tpuc-opt %S/Inputs/rfc_workflow_7.mlir --cse -o %t.out
// RUN: tpuc-opt %S/Inputs/rfc_workflow_8.mlir -o %t.rfc
// RUN: diff %t.out %t.rfc

// All passes together leave no quantized type and no op of the dialect.
// RUN: tpuc-opt %S/Inputs/rfc_workflow_1.mlir --canonicalize --cse --lower-quant-ops --strip-func-quant-types --canonicalize | FileCheck %s --check-prefix=WHOLE
// RUN: tpuc-opt %S/Inputs/rfc_workflow_7.mlir --canonicalize --cse --lower-quant-ops --strip-func-quant-types --canonicalize | FileCheck %s --check-prefix=DIVISION
// RUN: tpuc-opt %S/Inputs/rfc_workflow_1.mlir --quant-workflow | FileCheck %s --check-prefix=WHOLE
// RUN: tpuc-ml-opt %S/Inputs/rfc_workflow_0.mlir --ml-workflow | FileCheck %s --check-prefix=WHOLE
// RUN: tpuc-ml-opt %S/Inputs/rfc_workflow_6.mlir --ml-workflow | FileCheck %s --check-prefix=DIVISION

// LOWERED-LABEL: func.func @multiply_add(%arg0: tensor<3x!quant.uniform
// LOWERED-NOT: quant.{{[dq]}}cast
// LOWERED-COUNT-4: quant.scast
// LOWERED-NOT: quant.scast
// LOWERED: return

// WHOLE-NOT: quant
// WHOLE: func.func @multiply_add(%arg0: tensor<3xi8>, %arg1: tensor<3xi8>, %arg2: tensor<3xi8>) -> tensor<3xi8>
// WHOLE-NOT: quant
// WHOLE-COUNT-2: linalg.generic
// WHOLE: arith.mulf
// WHOLE: arith.addf
// WHOLE-NOT: quant
// WHOLE: arith.fptosi
// WHOLE-NOT: arith.fptosi
// WHOLE-NOT: quant

// Two operands are dequantized, two results quantized.
// DIVISION-NOT: quant
// DIVISION: func.func @division
// DIVISION-COUNT-2: arith.sitofp
// DIVISION-NOT: arith.sitofp
// DIVISION-COUNT-2: arith.fptosi
// DIVISION-NOT: arith.fptosi
// DIVISION-NOT: quant

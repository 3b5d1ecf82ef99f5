// RFC, "Pass --strip-func-quant-types": the input, and the output that it shows.
// RUN: tpuc-opt %s --allow-unregistered-dialect --strip-func-quant-types -o %t.out
// RUN: tpuc-opt %S/Inputs/rfc_strip_out.mlir --allow-unregistered-dialect -o %t.rfc
// RUN: diff %t.out %t.rfc

!qalias = !quant.uniform<i8:f32, 1.0>

func.func @predict(%arg0: tensor<3x!qalias>, %arg1: tensor<3x!qalias>) -> tensor<3x!qalias> {
  %sum = "ml.add"(%arg0, %arg1) : (tensor<3x!qalias>, tensor<3x!qalias>) -> tensor<3x!qalias>
  return %sum : tensor<3x!qalias>
}

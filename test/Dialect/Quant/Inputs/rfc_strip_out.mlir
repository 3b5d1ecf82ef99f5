// RFC, "Pass --strip-func-quant-types": the output, word for word.

!qalias = !quant.uniform<i8:f32, 1.0>

func.func @predict(%arg0_stripped: tensor<3xi8>, %arg1_stripped: tensor<3xi8>) -> tensor<3xi8> {

  // Conversion of function arguments
  %arg0 = "quant.scast"(%arg0_stripped): (tensor<3xi8>) -> tensor<3x!qalias>
  %arg1 = "quant.scast"(%arg1_stripped): (tensor<3xi8>) -> tensor<3x!qalias>

  // Function body
  %sum = "ml.add"(%arg0, %arg1) : (tensor<3x!qalias>, tensor<3x!qalias>) -> tensor<3x!qalias>

  // Conversion of return values
  %sum_stripped = "quant.scast"(%sum): (tensor<3x!qalias>) -> tensor<3xi8>
  return %sum_stripped : tensor<3xi8>
}

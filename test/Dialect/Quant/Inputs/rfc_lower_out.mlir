// RFC, "Pass --lower-quant-ops": its four outputs. The alias is added, which the RFC leaves out.

!qalias = !quant.uniform<i8<-8:7>:f32, 2.0:10>
func.func @f(%arg0: tensor<3x5xf32>) -> tensor<3x5x!qalias> {

  // Create scale tensor.
  // NOTE: All 'arith.constant' + 'tensor.splat' ops will be canonicalized into
  // a single 'arith.constant' for statically shaped tensors.
  %cst = arith.constant 2.000000e+00 : f32
  %splat = tensor.splat %cst : tensor<3x5xf32>

  // Divide by scale
  %0 = arith.divf %arg0, %splat : tensor<3x5xf32>

  // Create zero point float tensor
  %c10_i8 = arith.constant 10 : i8
  %splat_0 = tensor.splat %c10_i8 : tensor<3x5xi8>
  %1 = arith.sitofp %splat_0 : tensor<3x5xi8> to tensor<3x5xf32>

  // Add zero point
  %2 = arith.addf %0, %1 : tensor<3x5xf32>

  // Convert stored value to integer
  %3 = arith.fptosi %2 : tensor<3x5xf32> to tensor<3x5xi8>

  // Clamp stored value
  %c-8_i8 = arith.constant -8 : i8
  %c7_i8 = arith.constant 7 : i8
  %splat_1 = tensor.splat %c-8_i8 : tensor<3x5xi8>
  %splat_2 = tensor.splat %c7_i8 : tensor<3x5xi8>
  %4 = arith.maxsi %3, %splat_1 : tensor<3x5xi8>
  %5 = arith.minsi %4, %splat_2 : tensor<3x5xi8>

  // Cast stored value to quantized type
  %6 = quant.scast %5 : tensor<3x5xi8> to tensor<3x5x!qalias>
  return %6 : tensor<3x5x!qalias>
}

// -----

!qalias = !quant.uniform<i8:f32, 2.0:10>
func.func @f(%arg0: tensor<*xf32>) -> tensor<*x!qalias> {

  // Compute shape and size of input tensor
  %0 = shape.shape_of %arg0 : tensor<*xf32> -> tensor<?xindex>
  %1 = shape.num_elements %0 : tensor<?xindex> -> index

  // Reshape input to 1D dynamically sized tensor
  %from_elements = tensor.from_elements %1 : tensor<1xindex>
  %reshape = tensor.reshape %arg0(%from_elements) : (tensor<*xf32>, tensor<1xindex>) -> tensor<?xf32>

  // Now we know how to lower a ranked tensor
  %cst = arith.constant 2.000000e+00 : f32
  %c10_i8 = arith.constant 10 : i8
  %c0 = arith.constant 0 : index
  %dim = tensor.dim %reshape, %c0 : tensor<?xf32>
  %splat = tensor.splat %cst[%dim] : tensor<?xf32>
  %2 = arith.divf %reshape, %splat : tensor<?xf32>
  %splat_0 = tensor.splat %c10_i8[%dim] : tensor<?xi8>
  %3 = arith.sitofp %splat_0 : tensor<?xi8> to tensor<?xf32>
  %4 = arith.addf %2, %3 : tensor<?xf32>
  %5 = arith.fptosi %4 : tensor<?xf32> to tensor<?xi8>

  // Convert the result back into an unranked tensor
  %reshape_1 = tensor.reshape %5(%0) : (tensor<?xi8>, tensor<?xindex>) -> tensor<*xi8>

  %6 = quant.scast %reshape_1 : tensor<*xi8> to tensor<*x!qalias>
  return %6 : tensor<*x!qalias>
}

// -----

!qalias = !quant.uniform<i8<-8:7>:f32:1, {2.0, 3.0}>
#map = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map1 = affine_map<(d0, d1, d2) -> (d1)>

func.func @f(%arg0: tensor<4x2x5xf32>) -> tensor<4x2x5x!qalias> {

  // Create tensors of scales and zero points
  %cst = arith.constant dense<[2.000000e+00, 3.000000e+00]> : tensor<2xf32>
  %cst_0 = arith.constant dense<0> : tensor<2xi8>

  // Traverse input, scales, zero-point, and output tensors
  %0 = tensor.empty() : tensor<4x2x5xi8>
  %1 = linalg.generic {indexing_maps = [#map, #map1, #map1, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg0, %cst, %cst_0 : tensor<4x2x5xf32>, tensor<2xf32>, tensor<2xi8>) outs(%0 : tensor<4x2x5xi8>) {
  ^bb0(%in: f32, %in_1: f32, %in_2: i8, %out: i8):

    // Divide by scale
    %3 = arith.divf %in, %in_1 : f32

    // Convert zero point to float
    %4 = arith.sitofp %in_2 : i8 to f32

    // Add zero point
    %5 = arith.addf %3, %4 : f32

    // Convert stored value to integer
    %6 = arith.fptosi %5 : f32 to i8

    // Clamp stored value
    %c-8_i8 = arith.constant -8 : i8
    %c7_i8 = arith.constant 7 : i8
    %7 = arith.maxsi %6, %c-8_i8 : i8
    %8 = arith.minsi %7, %c7_i8 : i8
    linalg.yield %8 : i8
  } -> tensor<4x2x5xi8>

  // Cast stored values into quantized type
  %2 = quant.scast %1 : tensor<4x2x5xi8> to tensor<4x2x5x!qalias>
  return %2 : tensor<4x2x5x!qalias>
}

// -----

!qalias = !quant.uniform<i8:f32:2, {2.0:10, 3.0:20, 4.0:30}>
#map = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map1 = affine_map<(d0, d1, d2) -> (d1)>

func.func @f(%arg0: tensor<*xf32>) -> tensor<*x!qalias> {

  // Save shape of original unranked tensor
  %0 = shape.shape_of %arg0 : tensor<*xf32> -> tensor<?xindex>

  // Calculate tensor size on the left of channel dimension
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %head, %tail = "shape.split_at"(%0, %c2) : (tensor<?xindex>, index) -> (tensor<?xindex>, tensor<?xindex>)
  %1 = shape.num_elements %head : tensor<?xindex> -> index

  // Calculate tensor size on the right of channel dimension
  %head_0, %tail_1 = "shape.split_at"(%0, %c3) : (tensor<?xindex>, index) -> (tensor<?xindex>, tensor<?xindex>)
  %2 = shape.num_elements %tail_1 : tensor<?xindex> -> index

  // Reshape input to 3D tensor
  %c3_2 = arith.constant 3 : index
  %from_elements = tensor.from_elements %1, %c3_2, %2 : tensor<3xindex>
  %reshape = tensor.reshape %arg0(%from_elements) : (tensor<*xf32>, tensor<3xindex>) -> tensor<?x3x?xf32>

  // Scale and zero-point tensors
  %cst = arith.constant dense<[2.000000e+00, 3.000000e+00, 4.000000e+00]> : tensor<3xf32>
  %cst_3 = arith.constant dense<[10, 20, 30]> : tensor<3xi8>
  %c0 = arith.constant 0 : index

  // Initialize output tensor
  %dim = tensor.dim %reshape, %c0 : tensor<?x3x?xf32>
  %c2_4 = arith.constant 2 : index
  %dim_5 = tensor.dim %reshape, %c2_4 : tensor<?x3x?xf32>
  %3 = tensor.empty(%dim, %dim_5) : tensor<?x3x?xi8>

  // Quantize
  %4 = linalg.generic {indexing_maps = [#map, #map1, #map1, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%reshape, %cst, %cst_3 : tensor<?x3x?xf32>, tensor<3xf32>, tensor<3xi8>) outs(%3 : tensor<?x3x?xi8>) {
  ^bb0(%in: f32, %in_7: f32, %in_8: i8, %out: i8):
    %6 = arith.divf %in, %in_7 : f32
    %7 = arith.sitofp %in_8 : i8 to f32
    %8 = arith.addf %6, %7 : f32
    %9 = arith.fptosi %8 : f32 to i8
      linalg.yield %9 : i8
  } -> tensor<?x3x?xi8>

  // Reshape output to original unranked tensor
  %reshape_6 = tensor.reshape %4(%0) : (tensor<?x3x?xi8>, tensor<?xindex>) -> tensor<*xi8>
  %5 = quant.scast %reshape_6 : tensor<*xi8> to tensor<*x!qalias>
  return %5 : tensor<*x!qalias>
}

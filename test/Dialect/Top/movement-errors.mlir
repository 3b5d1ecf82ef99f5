// RUN: tpuc-opt %s --split-input-file --verify-diagnostics

func.func @permute_twice(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{attribute 'order' is [0, 0]; expected each number below 2 once}}
  %0 = "top.Permute"(%a) {order = [0, 0]} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @reshape_two_open(%a: tensor<2x3xf32>, %none: none) {
  // expected-error @+1 {{attribute 'shape' is [-1, -1]; expected at most one -1}}
  %0 = "top.Reshape"(%a, %none) {shape = [-1, -1]} : (tensor<2x3xf32>, none) -> tensor<2x3xf32>
  return
}

// -----

func.func @reshape_without_shape(%a: tensor<2x3xf32>, %none: none) {
  // expected-error @+1 {{has no 'shape'; expected an operand or an attribute}}
  %0 = "top.Reshape"(%a, %none) : (tensor<2x3xf32>, none) -> tensor<2x3xf32>
  return
}

// -----

func.func @tile_both(%a: tensor<2x3xf32>, %t: tensor<2xi64>) {
  // expected-error @+1 {{has 'tile' as an operand and as an attribute; expected one of them}}
  %0 = "top.Tile"(%a, %t) {tile = [1, 1]} : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<2x3xf32>
  return
}

// -----

func.func @slice_step(%a: tensor<9xf32>, %none: none) {
  // expected-error @+1 {{has a step of 0; expected another number}}
  %0 = "top.Slice"(%a, %none, %none, %none, %none) {offset = [0], ends = [4], steps = [0]} : (tensor<9xf32>, none, none, none, none) -> tensor<?xf32>
  return
}

// -----

func.func @pad_mode(%a: tensor<3xf32>, %none: none) {
  // expected-error @+1 {{attribute 'mode' is 'mirror'; expected constant, reflect, edge, wrap}}
  %0 = "top.Pad"(%a, %none, %none, %none) {paddings = [1, 1], mode = "mirror"} : (tensor<3xf32>, none, none, none) -> tensor<5xf32>
  return
}

// -----

func.func @blocks(%a: tensor<1x4x2x2xf32>) {
  // expected-error @+1 {{block_h is 0; expected at least 1}}
  %0 = "top.Depth2Space"(%a) {block_h = 0 : i64, block_w = 2 : i64} : (tensor<1x4x2x2xf32>) -> tensor<1x1x4x4xf32>
  return
}

// -----

func.func @shuffled_groups(%a: tensor<1x4x2x2xf32>) {
  // expected-error @+1 {{group is 0; expected at least 1}}
  %0 = "top.ShuffleChannel"(%a) {group = 0 : i64} : (tensor<1x4x2x2xf32>) -> tensor<1x4x2x2xf32>
  return
}

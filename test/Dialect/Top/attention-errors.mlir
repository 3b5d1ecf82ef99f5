// What attention refuses whatever its operands.
// RUN: tpuc-opt %s --split-input-file --verify-diagnostics

func.func @heads(%q: tensor<1x2x8xf32>, %none: none) {
  // expected-error @+1 {{has only one of q_num_heads and kv_num_heads; expected both}}
  %0:4 = "top.ScaleDotProductAttention"(%q, %q, %q, %none, %none, %none, %none) {q_num_heads = 2 : i64} : (tensor<1x2x8xf32>, tensor<1x2x8xf32>, tensor<1x2x8xf32>, none, none, none, none) -> (tensor<*xf32>, none, none, none)
  return
}

// -----

func.func @shared_heads(%q: tensor<1x2x8xf32>, %none: none) {
  // expected-error @+1 {{has 4 heads of queries and 3 of keys; expected a multiple of the latter}}
  %0:4 = "top.ScaleDotProductAttention"(%q, %q, %q, %none, %none, %none, %none) {q_num_heads = 4 : i64, kv_num_heads = 3 : i64} : (tensor<1x2x8xf32>, tensor<1x2x8xf32>, tensor<1x2x8xf32>, none, none, none, none) -> (tensor<*xf32>, none, none, none)
  return
}

// -----

func.func @past(%q: tensor<1x1x2x8xf32>, %none: none) {
  // expected-error @+1 {{has only one of past_key and past_value; expected both}}
  %0:4 = "top.ScaleDotProductAttention"(%q, %q, %q, %none, %q, %none, %none) : (tensor<1x1x2x8xf32>, tensor<1x1x2x8xf32>, tensor<1x1x2x8xf32>, none, tensor<1x1x2x8xf32>, none, none) -> (tensor<*xf32>, none, none, none)
  return
}

// -----

func.func @two_caches(%q: tensor<1x1x2x8xf32>, %n: tensor<1xi64>, %none: none) {
  // expected-error @+1 {{has lengths and past_key; expected one of them}}
  %0:4 = "top.ScaleDotProductAttention"(%q, %q, %q, %none, %q, %q, %n) : (tensor<1x1x2x8xf32>, tensor<1x1x2x8xf32>, tensor<1x1x2x8xf32>, none, tensor<1x1x2x8xf32>, tensor<1x1x2x8xf32>, tensor<1xi64>) -> (tensor<*xf32>, none, none, none)
  return
}

// -----

func.func @stage(%q: tensor<1x1x2x8xf32>, %none: none) {
  // expected-error @+1 {{scores_mode is 4; expected 0 to 3}}
  %0:4 = "top.ScaleDotProductAttention"(%q, %q, %q, %none, %none, %none, %none) {scores_mode = 4 : i64} : (tensor<1x1x2x8xf32>, tensor<1x1x2x8xf32>, tensor<1x1x2x8xf32>, none, none, none, none) -> (tensor<*xf32>, none, none, none)
  return
}

// -----

func.func @softmax_type(%q: tensor<1x1x2x8xf32>, %none: none) {
  // expected-error @+1 {{softmax_type is 'i8'; expected a float}}
  %0:4 = "top.ScaleDotProductAttention"(%q, %q, %q, %none, %none, %none, %none) {softmax_type = i8} : (tensor<1x1x2x8xf32>, tensor<1x1x2x8xf32>, tensor<1x1x2x8xf32>, none, none, none, none) -> (tensor<*xf32>, none, none, none)
  return
}

// -----

func.func @rotary_dim(%x: tensor<1x2x3x8xf32>, %c: tensor<1x3x4xf32>, %none: none) {
  // expected-error @+1 {{rotary_dim is -2; expected at least 0}}
  %0 = "top.Rope"(%x, %c, %c, %none) {rotary_dim = -2 : i64} : (tensor<1x2x3x8xf32>, tensor<1x3x4xf32>, tensor<1x3x4xf32>, none) -> tensor<*xf32>
  return
}

// -----

func.func @rule(%q: tensor<1x2x8xf32>, %none: none) {
  // expected-error @+1 {{attribute 'update_rule' is 'sum'; expected linear, gated, delta, gated_delta}}
  %0:2 = "top.LinearAttention"(%q, %q, %q, %none, %none, %none) {q_num_heads = 2 : i64, kv_num_heads = 2 : i64, update_rule = "sum"} : (tensor<1x2x8xf32>, tensor<1x2x8xf32>, tensor<1x2x8xf32>, none, none, none) -> (tensor<*xf32>, none)
  return
}

// -----

func.func @gates(%q: tensor<1x2x8xf32>, %none: none) {
  // expected-error @+1 {{update_rule "gated" without decay}}
  %0:2 = "top.LinearAttention"(%q, %q, %q, %none, %none, %none) {q_num_heads = 2 : i64, kv_num_heads = 2 : i64, update_rule = "gated"} : (tensor<1x2x8xf32>, tensor<1x2x8xf32>, tensor<1x2x8xf32>, none, none, none) -> (tensor<*xf32>, none)
  return
}

// -----

func.func @activation(%x: tensor<1x2x8xf32>, %w: tensor<2x1x3xf32>, %none: none) {
  // expected-error @+1 {{attribute 'activation' is 'relu'; expected none, silu}}
  %0:2 = "top.CausalConv"(%x, %w, %none, %none) {activation = "relu"} : (tensor<1x2x8xf32>, tensor<2x1x3xf32>, none, none) -> (tensor<*xf32>, none)
  return
}

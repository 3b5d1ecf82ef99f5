// RUN: tpuc-opt %s --split-input-file --verify-diagnostics

func.func @branch_results(%c: tensor<i1>, %a: tensor<2xf32>) {
  // expected-error @+1 {{has a region that yields 2 values; expected 1}}
  %0 = "top.If"(%c) ({
    "top.Yield"(%a) : (tensor<2xf32>) -> ()
  }, {
    "top.Yield"(%a, %a) : (tensor<2xf32>, tensor<2xf32>) -> ()
  }) : (tensor<i1>) -> tensor<2xf32>
  return
}

// -----

func.func @condition(%c: tensor<2xi1>, %a: tensor<2xf32>) {
  // expected-error @+1 {{operand 'cond' has type 'tensor<2xi1>'; expected one element of type bool}}
  %0 = "top.If"(%c) ({
    "top.Yield"(%a) : (tensor<2xf32>) -> ()
  }, {
    "top.Yield"(%a) : (tensor<2xf32>) -> ()
  }) : (tensor<2xi1>) -> tensor<2xf32>
  return
}

// -----

func.func @scan_count(%a: tensor<2xf32>) {
  // expected-error @+1 {{attribute 'num_scan_inputs' is 2; expected 1 to 1}}
  %0 = "top.Scan"(%a) ({
  ^bb0(%x: tensor<f32>):
    "top.Yield"(%x) : (tensor<f32>) -> ()
  }) {num_scan_inputs = 2 : i64} : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// RUN: tpuc-opt %s --split-input-file --verify-diagnostics

func.func @dynamic_weight() {
  // expected-error @+1 {{result type 'tensor<?x3xf32>' is dynamic; expected the static shape}}
  %0 = "top.Weight"() : () -> tensor<?x3xf32>
  return
}

// -----

func.func @none_is_no_tensor() {
  // expected-error @+1 {{result #0 must be none type}}
  %0 = "top.None"() : () -> tensor<1xf32>
  return
}

// -----

func.func @unknown() {
  // expected-error @+1 {{unregistered operation 'top.Convolve' found in dialect ('top')}}
  "top.Convolve"() : () -> ()
  return
}

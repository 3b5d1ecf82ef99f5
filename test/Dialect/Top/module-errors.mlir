// What a module says about its network has a type, and stands on modules only.
// RUN: tpuc-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{module.name is 1 : i64; expected a string}}
module attributes {module.name = 1 : i64} {
}

// -----

// expected-error @+1 {{module.weight_sha256 is 7 : i64; expected a string}}
module attributes {module.weight_sha256 = 7} {
}

// -----

// expected-error @+1 {{module.chip is unit; expected a string}}
module attributes {module.chip} {
}

// -----

// expected-error @+1 {{module.FLOPs is -1 : i64; expected an i64, at least 0}}
module attributes {module.FLOPs = -1 : i64} {
}

// -----

// expected-error @+1 {{module.coeff_addr is 8 : i32; expected an i64, at least 0}}
module attributes {module.coeff_addr = 8 : i32} {
}

// -----

// expected-error @+1 {{module.neuron_size is "many"; expected an i64, at least 0}}
module attributes {module.neuron_size = "many"} {
}

// -----

// expected-error @+1 {{module.pool_addr is -4096 : i64; expected an i64, at least 0}}
module attributes {module.pool_addr = -4096 : i64} {
}

// -----

// expected-error @+1 {{module.asymmetric is 1 : i64; expected true or false}}
module attributes {module.asymmetric = 1 : i64} {
}

// -----

// expected-error @+1 {{module.pool_pieces is [64, 64]; expected i64 that ascend, above 0}}
module attributes {module.pool_local = 0 : i64, module.pool_pieces = [64, 64]} {
}

// -----

// expected-error @+1 {{module.pool_pieces is []; expected i64 that ascend, above 0}}
module attributes {module.pool_local = 0 : i64, module.pool_pieces = []} {
}

// -----

// expected-error @+1 {{has module.pool_pieces without module.pool_local; expected both}}
module attributes {module.pool_pieces = [64]} {
}

// -----

module {
  // expected-error @+1 {{has module.weight_file; expected it on builtin.module}}
  func.func private @main() attributes {module.weight_file = "net.npz"}
}

// -----

module attributes {module.state = "TPU_DIVIDED"} {
  // expected-error @+1 {{has wrong subnet_id and subnet_mode; expected both, a number from 0 on and TPU or CPU}}
  func.func private @main() attributes {subnet_id = 0 : i64}
}

// -----

module attributes {module.state = "TPU_DIVIDED"} {
  // expected-error @+1 {{has wrong subnet_id and subnet_mode; expected both, a number from 0 on and TPU or CPU}}
  func.func private @main() attributes {subnet_id = 0 : i64, subnet_mode = "GPU"}
}

// -----

module attributes {module.state = "TPU_DIVIDED"} {
  // expected-error @+1 {{has wrong subnet_id and subnet_mode; expected both, a number from 0 on and TPU or CPU}}
  func.func private @main() attributes {subnet_id = -1 : i64, subnet_mode = "TPU"}
}

// -----

module attributes {module.state = "TPU_DIVIDED"} {
  // expected-error @+1 {{has wrong subnet_id and subnet_mode; expected both, a number from 0 on and TPU or CPU}}
  func.func private @main() attributes {subnet_id = "0", subnet_mode = "TPU"}
}

// -----

// What others say of a module is no matter here.
module attributes {module.name = "net", module.state = "TPU_DIVIDED", module.pool_local = 0 : i64, module.pool_pieces = [64, 128], module.top_run_mode = "STATIC"} {
  func.func private @main() attributes {subnet_id = 0 : i64, subnet_mode = "TPU"}
}

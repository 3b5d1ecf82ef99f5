//===- ModuleDialect.td - What a module says about its network -*- tablegen -*-
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DIALECT_TOP_MODULEDIALECT
#define TPUC_DIALECT_TOP_MODULEDIALECT

include "mlir/IR/OpBase.td"

def Module_Dialect : Dialect {
  let name = "module";
  let cppNamespace = "::tpuc::top";
  let summary = "What a module says about its network";
  let description = [{
    This dialect has no ops. Its attributes stand on `builtin.module`, and each of them has one type:

    | attribute | what it holds | meaning |
    | --- | --- | --- |
    | `module.name` | string | the network's name |
    | `module.platform` | string | the framework or format that the network came from |
    | `module.weight_file` | string | the file of the weights, relative to the module's own |
    | `module.weight_sha256` | string | the SHA-256 of that file's directory, in hexadecimal digits |
    | `module.state` | string | what the network went through |
    | `module.chip` | string | the chip, or `ALL` |
    | `module.mode` | string | the number format that it was lowered to |
    | `module.asymmetric` | bool | whether activations have zero points |
    | `module.FLOPs` | i64 | operations of one run |
    | `module.coeff_addr`, `module.coeff_size` | i64 | where weights begin, and their bytes |
    | `module.neuron_addr`, `module.neuron_size` | i64 | the same for activations |
    | `module.input_addr`, `module.input_size`, `module.output_addr`, `module.output_size` | i64 | the same for inputs and outputs, where these lie apart from activations |
    | `module.pool_addr` | i64 | where resident constants begin in global memory; each lane has one row |
    | `module.pool_local` | i64 | where a row of them begins in local memory |
    | `module.pool_pieces` | array of i64 | the byte of a row behind each piece that is loaded at once |

    Numbers are not negative, and each piece of the pool ends behind the one before. A module with
    `module.pool_pieces` has `module.pool_local`. Other attributes with this prefix are kept as they
    are.

    A network that is one sub-network says so at its function by `subnet_id` and `subnet_mode`, which
    are those of a layer. They are checked with `module.state`.

    Example:

    ```mlir
    module attributes {module.name = "net", module.chip = "ALL", module.state = "TOP_F32"} {
    }
    ```
  }];
  let discardableAttrs = (ins
    "::mlir::StringAttr":$name,
    "::mlir::StringAttr":$platform,
    "::mlir::StringAttr":$weight_file,
    "::mlir::StringAttr":$weight_sha256,
    "::mlir::StringAttr":$state,
    "::mlir::StringAttr":$chip,
    "::mlir::StringAttr":$mode,
    "::mlir::BoolAttr":$asymmetric,
    "::mlir::IntegerAttr":$FLOPs,
    "::mlir::IntegerAttr":$coeff_addr,
    "::mlir::IntegerAttr":$coeff_size,
    "::mlir::IntegerAttr":$neuron_addr,
    "::mlir::IntegerAttr":$neuron_size,
    "::mlir::IntegerAttr":$input_addr,
    "::mlir::IntegerAttr":$input_size,
    "::mlir::IntegerAttr":$output_addr,
    "::mlir::IntegerAttr":$output_size,
    "::mlir::IntegerAttr":$pool_addr,
    "::mlir::IntegerAttr":$pool_local,
    "::mlir::ArrayAttr":$pool_pieces);
  let hasOperationAttrVerify = 1;
}

#endif // TPUC_DIALECT_TOP_MODULEDIALECT

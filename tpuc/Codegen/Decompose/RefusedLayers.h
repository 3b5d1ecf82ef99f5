//===- RefusedLayers.h - Layers that cannot be computed on integers ------- -*- C++ -*- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_CODEGEN_DECOMPOSE_REFUSEDLAYERS_H
#define TPUC_CODEGEN_DECOMPOSE_REFUSEDLAYERS_H

#include "tpuc/Support/Error.h"
#include "tpuc/Target/QuantScheme.h"

#include "mlir/IR/BuiltinOps.h"

#include <map>
#include <optional>
#include <set>
#include <string>

namespace tpuc::codegen {

struct GenerationOptions;

/// The layer among `names` that `part` is, or was made for: what lowering and partition add begins
/// with its name. None where there is no such layer.
std::optional<std::string> wholeOf(const std::string &part, const std::set<std::string> &names);

/// Those of `layers`, the names of a network before it was lowered, that are on stored integers and
/// that neither the chip has a kernel for, in any number of tiles, nor the host. In floats they
/// may well be computed: in F16 products and pools whose stored numbers are all far from its ends,
/// in F32 the others. Errors: a chip without a code generator.
Expected<std::map<std::string, QuantScheme>>
layersRefusedOnIntegers(mlir::ModuleOp lowered, const std::set<std::string> &layers,
                        const GenerationOptions &options);

} // namespace tpuc::codegen

#endif // TPUC_CODEGEN_DECOMPOSE_REFUSEDLAYERS_H

//===- Import.h - Networks from Top modules ------------------- -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_DNNWEAVER_CODEGEN_IMPORT_H
#define TPUC_TARGET_DNNWEAVER_CODEGEN_IMPORT_H

#include "tpuc/Codegen/NetworkCompiler.h"
#include "tpuc/Target/DNNWeaver/Compiler/Network.h"

namespace tpuc::dnnweaver {

/// The network of a Top module of one image. Inner products become convolutions whose window is
/// their whole input. With `usesHost` the host computes what the array cannot. Errors name the
/// layer: ops and attributes that neither computes, shapes that are not known, tensors without a
/// range.
Expected<Network> importNetwork(mlir::ModuleOp top, const codegen::TensorRanges &ranges,
                                bool usesHost);

} // namespace tpuc::dnnweaver

#endif // TPUC_TARGET_DNNWEAVER_CODEGEN_IMPORT_H

//===- Passes.h - What only the BM1684 gains by --------------- -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM1684_CODEGEN_PASSES_H
#define TPUC_TARGET_BM1684_CODEGEN_PASSES_H

#include "tpuc/Codegen/Backend.h"

namespace tpuc::bm1684::backend {

/// The passes of this folder, in the order in which they run:
///
/// * long-products-to-conv: a product of stored integers with a constant matrix becomes a
///   convolution of one window, where its rows are so long that local memory does not hold them in
///   pieces.
/// * rows-to-channels: the rows under the windows of a convolution of integers become its channels
///   (`tpu.PackRows`), where it reads an input of the network of at most four channels, cast or
///   not. A tap of so few channels takes nearly seven cycles in place of one.
llvm::ArrayRef<codegen::OptionalPass> ownPasses();

/// The pass `long-products-to-conv`.
std::unique_ptr<mlir::Pass> createLongProductsToConv();

} // namespace tpuc::bm1684::backend

#endif // TPUC_TARGET_BM1684_CODEGEN_PASSES_H

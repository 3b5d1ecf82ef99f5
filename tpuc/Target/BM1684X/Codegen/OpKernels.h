//===- OpKernels.h - The kernels that compute an op on the BM1684X --*- C++ -*- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM1684X_CODEGEN_OPKERNELS_H
#define TPUC_TARGET_BM1684X_CODEGEN_OPKERNELS_H

#include "tpuc/Codegen/Backend.h"
#include "tpuc/Target/BM1684X/Kernels/Activations.h"
#include "tpuc/Target/BM1684X/Kernels/Convolution.h"
#include "tpuc/Target/BM1684X/Kernels/Elementwise.h"
#include "tpuc/Target/BM1684X/Kernels/Matrix.h"
#include "tpuc/Target/BM1684X/Kernels/Pooling.h"
#include "tpuc/Target/BM1684X/Kernels/Reduction.h"
#include "tpuc/Target/BM1684X/Kernels/Resize.h"

#include <variant>
#include <vector>

namespace tpuc::bm1684x::backend {

struct Deconvolution {
  Convolution conv;
};

using Kernel = std::variant<Convolution, Deconvolution, Pooling, MatrixProduct, Binary, CastOp,
                            Unary, Reduction, Softmax, Normalization, UpsampleNearest, Resize>;

/// The kernels that compute `sliced`, to be run one after the other; all share its scratch. Errors
/// (without `where`) say what none of them can do.
Expected<std::vector<Kernel>> kernelsOf(const codegen::SlicedOp &sliced);

/// The scratch that a kernel wants, in bytes of each lane.
Expected<uint32_t> scratchOf(const Kernel &kernel);
Expected<void> emit(Builder &builder, const Kernel &kernel);

/// Whether `kernelsOf` knows the op at all.
bool hasKernel(mlir::Operation *op);

} // namespace tpuc::bm1684x::backend

#endif // TPUC_TARGET_BM1684X_CODEGEN_OPKERNELS_H

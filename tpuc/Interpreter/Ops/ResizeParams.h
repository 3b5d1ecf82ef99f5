//===- ResizeParams.h - How an op resamples its input -----------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_INTERPRETER_OPS_RESIZEPARAMS_H
#define TPUC_INTERPRETER_OPS_RESIZEPARAMS_H

#include "tpuc/Interpreter/Kernels/Resize.h"
#include "tpuc/Interpreter/Ops/OpContext.h"

namespace tpuc::ops {

/// Reads how an Interp resamples its input into `params`; gives the shape of the result. Errors:
/// scales, sizes or a region that do not fit the input.
Expected<Dims> readResize(const OpContext &context, kernels::ResizeParams &params);

} // namespace tpuc::ops

#endif // TPUC_INTERPRETER_OPS_RESIZEPARAMS_H

//===- StoredCast.h - Between numbers and the integers that store them ------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_INTERPRETER_KERNELS_STOREDCAST_H
#define TPUC_INTERPRETER_KERNELS_STOREDCAST_H

#include "tpuc/Support/Quantize.h"
#include "tpuc/Support/Tensor.h"
#include "tpuc/Support/ThreadPool.h"

namespace tpuc::kernels {

/// output = saturate(round(input * (1 / scale)) + zeroPoint) to `range`: f32 to i8, u8, i16 or u16,
/// ties away from zero. The product and 1 / scale are rounded to f32, as devices do; NaN gives the
/// zero point.
void quantizeStored(const Tensor &input, const QuantParams &params, const IntegerRange &range,
                    Tensor &output, ThreadPool &threads);

/// output = (input - zeroPoint) * scale: integers of 8 or 16 bits to f32, the difference exact, the
/// scale and the product rounded to f32.
void dequantizeStored(const Tensor &input, const QuantParams &params, Tensor &output,
                      ThreadPool &threads);

} // namespace tpuc::kernels

#endif // TPUC_INTERPRETER_KERNELS_STOREDCAST_H

//===- Elements.h - Values in the form that a net stores them ---*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How the vendor's model_runner converts (seen in its results and its Python source), so that both
// feed a net the same bytes and print the same numbers. The scale of an input is the factor from
// real to stored values, that of an output the factor from stored to real ones.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_ELEMENTS_H
#define RUNTIME_ELEMENTS_H

#include "tpuc/Model/CompiledModel.h"
#include "tpuc/Support/Error.h"
#include "tpuc/Support/Tensor.h"

namespace tpuc::runtime {

/// The elements of `tensor` as the input `info` stores them; the shapes may differ, the numbers of
/// elements may not. Elements that have the stored type already stay as they are. Otherwise:
///   4- and 8-bit integers  saturate(round(x * scale + zeroPoint)) in f32, ties away from zero, as
///                          i16 of a scale other than 1 or a zero point;
///   wider integers         toward zero, saturated;
///   bf16                   the low bits cut off; f16 and f32 rounded to the nearest.
/// Errors name `where`: another number of elements, a type that tpuc has not.
Expected<Tensor> toStored(const Tensor &tensor, const model::TensorInfo &info,
                          const std::string &where);

/// What a user wants to see of an output: 8- and 4-bit integers and i16 with a scale as
/// (q - zeroPoint) * scale in f32, unless `keepFixed`; 16-bit floats and u16 as f32; other types as
/// they are, and integers that stand for themselves: of scale 1 and zero point 0.
Tensor fromStored(const Tensor &stored, float scale, int32_t zeroPoint, bool keepFixed);

/// `shape` as a Shape. Errors name `where`: more than 8 dimensions, too many elements.
Expected<Shape> checkedShape(std::span<const uint64_t> shape, DataType type,
                             const std::string &where);

} // namespace tpuc::runtime

#endif // RUNTIME_ELEMENTS_H

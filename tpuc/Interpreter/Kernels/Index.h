//===- Index.h - Gathering and scattering ----------------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_INTERPRETER_KERNELS_INDEX_H
#define TPUC_INTERPRETER_KERNELS_INDEX_H

#include "tpuc/Support/Tensor.h"
#include "tpuc/Support/ThreadPool.h"

// Indices are tensors of integers; negative ones count from the end. An index beyond the ends is
// an Error whose `where` is empty: the caller knows the layer. Outputs have the element type of the
// input and the shape that the kernel makes; every element type is allowed.

namespace tpuc::kernels {

/// `output[o, j, i] = input[o, indices[j], i]`: the output has the extents of `input` before
/// `axis`, those of `indices`, and those of `input` behind `axis`.
Expected<void> gather(const Tensor &input, const Tensor &indices, size_t axis, Tensor &output,
                      ThreadPool &threads);

/// `output[.., j, ..] = input[.., indices[.., j, ..], ..]` in dimension `axis`. The extents of
/// `indices` but that of `axis` are at most those of the input.
Expected<void> gatherElements(const Tensor &input, const Tensor &indices, size_t axis,
                              Tensor &output, ThreadPool &threads);

/// The last dimension of `indices` holds tuples that name slices of `input` behind the first
/// `batchDims` dimensions, which both share.
Expected<void> gatherND(const Tensor &input, const Tensor &indices, size_t batchDims,
                        Tensor &output, ThreadPool &threads);

enum class Reduction : uint8_t { None, Add, Mul, Max, Min };

/// `output` is `input`, in which the element that `indices` names along `axis` is combined with
/// that of `updates` (the shape of `indices`), in row-major order. f16, bf16 and 8-bit floats are
/// combined in f32 and rounded once at the end; integers wrap; Bool adds as "or" and multiplies as
/// "and"; NaN stays.
Expected<void> scatterElements(const Tensor &input, const Tensor &indices, const Tensor &updates,
                               size_t axis, Reduction reduction, Tensor &output);

/// `output` is `input`, in which the slice that the tuple `indices[j, :]` names is combined with
/// slice j of `updates`, as scatterElements does it.
Expected<void> scatterND(const Tensor &input, const Tensor &indices, const Tensor &updates,
                         Reduction reduction, Tensor &output);

/// `output` is `input`, in which the slices from `starts[n]` (null: 0) on along `axis`, not 0, of
/// sample n are those of `updates`, whose other extents are the input's. `circular` wraps around at
/// the end of the axis. Errors: a run that begins before the axis, or ends beyond it and is not
/// circular.
Expected<void> tensorScatter(const Tensor &input, const Tensor &updates, const Tensor *starts,
                             size_t axis, bool circular, Tensor &output);

/// `output[o, d, i]` is `values[1]` where d is `indices[o, i]`, else `values[0]`; `axis` is the
/// dimension of d, its extent the depth. Indices beyond the ends name no element; numbers that are
/// no integers are cut.
void oneHot(const Tensor &indices, const Tensor &values, size_t axis, Tensor &output,
            ThreadPool &threads);

/// The slices along `axis` whose numbers are `kept`, which are in range.
void takeSlices(const Tensor &input, std::span<const int64_t> kept, size_t axis, Tensor &output,
                ThreadPool &threads);

} // namespace tpuc::kernels

#endif // TPUC_INTERPRETER_KERNELS_INDEX_H

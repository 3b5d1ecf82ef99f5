//===- ElementBytes.h - Elements as bytes ----------------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_INTERPRETER_KERNELS_ELEMENTBYTES_H
#define TPUC_INTERPRETER_KERNELS_ELEMENTBYTES_H

#include "tpuc/Support/Tensor.h"

#include <cstring>

namespace tpuc::kernels {

/// The codes of 4-bit elements, one in each byte (as U8).
Tensor unpackedNibbles(const Tensor &tensor);
/// Puts the codes of `bytes` into the 4-bit `output` of the same number of elements.
void packNibbles(const Tensor &bytes, Tensor &output);

/// Calls `body(input, output)` for kernels that move elements of whole bytes: 4-bit ones are handed
/// over as one byte each. Both have the same element type.
template <typename Body> void withWholeBytes(const Tensor &input, Tensor &output, Body &&body) {
  if (bitWidth(input.type()) >= 8)
    return body(input, output);
  Tensor bytes(DataType::U8, output.shape());
  body(unpackedNibbles(input), bytes);
  packNibbles(bytes, output);
}

/// Bytes of one element of a type of at least 8 bits.
inline int64_t elementBytes(DataType type) { return bitWidth(type) / 8; }

/// Copies `count` blocks of `bytes` each, `fromStep` and `toStep` bytes apart.
void copyStrided(std::byte *to, int64_t toStep, const std::byte *from, int64_t fromStep,
                 int64_t count, int64_t bytes);
/// Writes the element of `bytes` (1, 2, 4 or 8) bytes at `value` `count` times.
void fillElements(std::byte *to, const std::byte *value, int64_t bytes, int64_t count);

} // namespace tpuc::kernels

#endif // TPUC_INTERPRETER_KERNELS_ELEMENTBYTES_H

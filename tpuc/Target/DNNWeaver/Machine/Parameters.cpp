//===- Parameters.cpp - Sizes and speeds of the arrays --------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/DNNWeaver/Machine/Parameters.h"

#include <bit>
#include <fmt/format.h>

namespace tpuc::dnnweaver {

namespace {

// The bit file of the public tutorial: a KU115 at 150 MHz. Its RAMs hold 1024 words of activations
// and of sums and 256 sets of weights for each tag, but declare `1 << (W - 1)` words where
// `(1 << W) - 1` was meant, so half of them can be used.
constexpr Parameters kPublic = {.name = "public"};

// Table 4.4 of the patent: RAMs of 3072, 2048, 2048 and 512 words for both tags, the weights' in
// rows of the array. 100 MHz, 256 bits of DDR in a cycle. The width of its ALU is ours: that of the
// words of the output buffer, since sums of int16 products times a multiplier exceed 48 bits.
constexpr Parameters kPatent = {.name = "patent",
                                .isa = IsaKind::Patent,
                                .aluBits = 64,
                                .roundingShift = true,
                                .hasPairs = true,
                                .hasCopies = true,
                                .weightsByRow = true,
                                .words = {1536, 1024, 32, 256},
                                .megahertz = 100};

} // namespace

uint64_t Parameters::wordBytes(Buffer buffer, bool pairs) const {
  const uint64_t dataBytes = pairs ? 1 : dataBits / 8;
  switch (buffer) {
  case Buffer::Input:
    return rows * dataBytes;
  case Buffer::Output:
    return columns * (kSumBits / 8);
  case Buffer::Weight:
    return uint64_t{rows} * columns * dataBytes;
  case Buffer::Bias:
    return columns * (kBiasBits / 8);
  }
  return 0;
}

Expected<Parameters> parametersNamed(std::string_view name, const std::string &where) {
  for (const Parameters &set : {kPublic, kPatent})
    if (set.name == name)
      return set;
  return makeError(where, fmt::format("parameter set '{}'", name), "public or patent");
}

Expected<Parameters> withArray(Parameters set, unsigned rows, unsigned columns,
                               const std::string &where) {
  for (const unsigned side : {rows, columns})
    if (!std::has_single_bit(side) || side < 4 || side > 128)
      return makeError(where, fmt::format("an array of {} x {}", rows, columns),
                       "powers of two from 4 to 128");
  set.rows = rows;
  set.columns = columns;
  // Requests are whole beats: the port would drop what is left.
  for (const Buffer buffer : {Buffer::Input, Buffer::Output, Buffer::Weight, Buffer::Bias})
    if (set.isa == IsaKind::Public && set.wordBytes(buffer) % set.portBytes != 0)
      return makeError(where,
                       fmt::format("an array of {} x {}, whose {} words have {} bytes", rows,
                                   columns, kBufferNames[index(buffer)], set.wordBytes(buffer)),
                       fmt::format("multiples of {} bytes", set.portBytes));
  return set;
}

} // namespace tpuc::dnnweaver

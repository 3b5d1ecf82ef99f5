//===- Emit.h - Blocks from mappings -------------------------- -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_DNNWEAVER_MAPPING_EMIT_H
#define TPUC_TARGET_DNNWEAVER_MAPPING_EMIT_H

#include "tpuc/Target/DNNWeaver/Mapping/Layer.h"

namespace tpuc::dnnweaver {

/// An image in DDR, NHWC: the first byte that is read or written, and bytes between neighbours. An
/// image that is a part of a concatenation has its own channels and the pixels of the whole.
struct Image {
  uint64_t address = 0;
  uint64_t pixelBytes = 0;
  uint64_t rowBytes = 0;
};

/// Where a layer's tensors are.
struct Placement {
  Image input;
  /// Sums of 64 bits, M of them for each word of kernels: [rows][columns][words][M].
  Image sums;
  Image output;
  std::optional<Image> copy;
  /// The copy holds what is in front of the pool, whose windows do not overlap.
  bool copiesUnpooled = false;
  /// [words of kernels][rows][columns][words of channels][N][M].
  uint64_t weight = 0;
  /// [kernels], 32 bits each.
  uint64_t bias = 0;
  std::optional<PairMode> pairs;
  /// Each result is stored in a square of 2 x 2 places.
  bool upsamples = false;
};

/// What the ALU does. `first` takes one word of sums and leaves its value in register 0; `then`
/// goes on with register 1, which holds the largest value of the pool window, and `last` with what
/// `then` leaves there. All keep the order of values. Registers from 4 on are free.
struct AluRecipe {
  std::vector<AluOp> first;
  std::vector<AluOp> then;
  std::vector<AluOp> last;
};

/// A recipe of the public machine: shift to 16 bits, multiply, shift, and LeakyReLU with a slope of
/// `slope` / 2^15, or none where that is `kNoSlope`.
AluRecipe publicRecipe(unsigned firstShift, int16_t multiplier, unsigned secondShift,
                       int16_t slope);

inline constexpr int16_t kNoSlope = 32767;

/// The same for the patent's machine: one multiplication of 32 bits and one rounding shift, then
/// the activation, then the zero point.
AluRecipe patentRecipe(int16_t multiplier, unsigned shift, int16_t slope, int16_t zeroPoint);

/// The block of a layer. Errors name `where`: tiles that do not divide the layer, distances in DDR
/// that are no multiples of words.
Expected<Block> emitBlock(const Parameters &machine, const ConvLayer &layer, const Mapping &mapping,
                          const Placement &placement, const AluRecipe &recipe,
                          const std::string &where);

/// A block that adds a tile to sums in both tags, in time (`BlockCycles::needsPriming`). A program
/// with a block that needs it begins with this one; it lasts until the machine is reset. It reads
/// and writes the `primingBytes` bytes at `scratch`, a multiple of 4096, and computes nothing of
/// use.
Block primingBlock(const Parameters &machine, uint64_t scratch);
uint64_t primingBytes(const Parameters &machine);

} // namespace tpuc::dnnweaver

#endif // TPUC_TARGET_DNNWEAVER_MAPPING_EMIT_H

//===- LayerCase.h - A random layer in memory, and what it gives  -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef UNITTESTS_DNNWEAVER_LAYERCASE_H
#define UNITTESTS_DNNWEAVER_LAYERCASE_H

#include "tpuc/Target/DNNWeaver/Mapping/Emit.h"

#include <random>

namespace tpuc::dnnweaver {

/// A layer with its tensors in DDR, and a reference that knows nothing of words, tiles or loops.
struct LayerCase {
  Parameters machine;
  ConvLayer layer;
  Placement placement;
  /// How sums become results: shift, multiplier, second shift (public), slope, zero point (patent).
  unsigned firstShift = 0, secondShift = 0;
  int16_t multiplier = 1, slope = kNoSlope, zeroPoint = 0;
  std::vector<uint8_t> memory;

  AluRecipe recipe() const;
  /// The memory after the layer, computed straight from the formulas.
  std::vector<uint8_t> expected() const;

  // Of the tensors: channels with their words filled up.
  unsigned channels() const { return layer.inWords * machine.rows; }
  unsigned kernels() const { return layer.outWords * machine.columns; }
  unsigned bytes() const { return layer.pairs ? 1 : 2; }
};

/// A layer of a few words with random tensors. The machine's array must be small.
LayerCase makeCase(const Parameters &machine, ConvLayer layer, std::mt19937 &random,
                   unsigned otherChannels = 0);

} // namespace tpuc::dnnweaver

#endif // UNITTESTS_DNNWEAVER_LAYERCASE_H

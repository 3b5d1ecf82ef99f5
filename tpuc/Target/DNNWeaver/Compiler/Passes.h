//===- Passes.h - What the array and the ALU do at once -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_DNNWEAVER_COMPILER_PASSES_H
#define TPUC_TARGET_DNNWEAVER_COMPILER_PASSES_H

#include "tpuc/Target/DNNWeaver/Compiler/Network.h"

#include <optional>
#include <span>

namespace tpuc::dnnweaver {

/// A macro node: a convolution, or none for a copy of the input, and what follows it before
/// anything is stored: a pool, an activation, up-sampling.
struct Pass {
  /// That of the last node in it.
  std::string name;
  /// Into the network; null for a copy.
  const Node *conv = nullptr;
  /// Of a layer that the host computes; there is nothing else in such a pass.
  const Node *host = nullptr;
  unsigned input = 0, output = 0;
  Extent kernel = {}, stride = {};
  /// Of the convolution, or of a pool that reads its input as it is.
  Pads pads;
  /// The pads never win: the halo of the input holds the least integer.
  bool padsAreLeast = false;
  std::optional<double> slope;
  /// Of the activation.
  std::optional<double> limit;
  Extent pool = {}, poolStride = {};
  bool upsamples = false;
  /// A second map, which is stored besides: the same as `output`, or what the pool reads.
  std::optional<unsigned> copy;
  bool copiesUnpooled = false;

  /// What is stored before up-sampling.
  Extent result(const Network &network) const {
    const FeatureMap &map = network.maps[output];
    const unsigned scale = upsamples ? 2 : 1;
    return {map.height / scale, map.width / scale};
  }
};

/// Puts a copy in front of pools with pads whose input others read, or lies within another map: the
/// halo of their input is not that of a convolution.
void isolatePools(Network &network);

/// The passes of a network in their order. With `hasCopies` a pass can store two maps.
std::vector<Pass> passesOf(const Network &network, const Rewrites &rewrites, bool hasCopies);

/// The maps that passes store, in the order of their execution.
std::vector<unsigned> storedMaps(std::span<const Pass> passes);

} // namespace tpuc::dnnweaver

#endif // TPUC_TARGET_DNNWEAVER_COMPILER_PASSES_H

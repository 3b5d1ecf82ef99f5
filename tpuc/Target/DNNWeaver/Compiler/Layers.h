//===- Layers.h - Blocks and constants of passes -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_DNNWEAVER_COMPILER_LAYERS_H
#define TPUC_TARGET_DNNWEAVER_COMPILER_LAYERS_H

#include "tpuc/Target/DNNWeaver/Compiler/Regions.h"
#include "tpuc/Target/DNNWeaver/Mapping/Search.h"

#include <cstddef>

namespace tpuc::dnnweaver {

/// Weights and biases as the machine reads them, from `address` on.
struct ConstantSpace {
  PageAllocator memory;
  uint64_t address = 0;
  std::vector<std::byte> bytes;
  struct Part {
    std::string name;
    uint64_t offset = 0, size = 0;
  };
  std::vector<Part> parts;

  /// A place for `size` bytes, which are 0.
  uint64_t take(std::string name, uint64_t size);
};

/// Everything that blocks of passes are made from.
struct LayerContext {
  const Network &network;
  const Parameters &machine;
  const IntegerKind &kind;
  const Regions &regions;
  /// Where sums of any pass lie.
  uint64_t sums = 0;
  ConstantSpace &constants;
  MappingCache &cache;
  /// Whether kernels may share a multiplier where rows take longer.
  bool pairsKernels = true;

  bool pairs() const { return kind.bits == 8; }
};

/// The ALU's operations for a layer: see `IntegerLayer`.
AluRecipe recipeOf(const Parameters &machine, const IntegerLayer &integers);

/// What shares a multiplier.
enum class Packing : uint8_t { None, Rows, Kernels };

/// The layer that the machine computes for a pass from `inWords` words of channels to `outWords`,
/// an even number for pairs of kernels.
ConvLayer machineLayer(const Network &network, const Parameters &machine, const Pass &pass,
                       Packing packing, unsigned inWords, unsigned outWords);

/// Bytes of the sums of a pass.
uint64_t sumsBytes(const Network &network, const Parameters &machine, const Pass &pass, bool pairs);

/// The blocks of a pass, in the order of their execution. Errors name the pass.
Expected<std::vector<Block>> blocksOf(const LayerContext &context, const Pass &pass,
                                      const IntegerLayer &integers);

} // namespace tpuc::dnnweaver

#endif // TPUC_TARGET_DNNWEAVER_COMPILER_LAYERS_H

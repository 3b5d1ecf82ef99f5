//===- AddressPlan.h - Which tensors need addresses -------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// The generator knows which tensors there are in global memory, and when each is needed. The target
// knows which ranges of addresses its commands and its runtime expect for them. It answers with
// regions, and `placeRegion` finds places in them.
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_CODEGEN_PLACE_ADDRESSPLAN_H
#define TPUC_CODEGEN_PLACE_ADDRESSPLAN_H

#include "tpuc/Support/Allocator/Allocator.h"
#include "tpuc/Support/Error.h"
#include "tpuc/Target/Target.h"

#include <array>
#include <vector>

namespace tpuc::codegen {

/// What a tensor in global memory is for.
enum class GlobalUse : uint8_t {
  Weights, ///< The model file has it, and nothing writes it.
  Neurons, ///< Between layers.
  Inputs,  ///< The host writes it before a run, also where it is an output at once.
  Outputs, ///< The host reads it after a run.
};
inline constexpr size_t kNumGlobalUses = 4;

/// A range of addresses for tensors of one or several uses.
struct AddressRegion {
  /// Its first address, as commands name it: with its tag, where addresses have tags.
  int64_t base = 0;
  /// Tensors begin at multiples of so many bytes, and take such multiples.
  int64_t alignment = 1;
  /// What its tensors take in all: `placeRegion` fills it in.
  int64_t bytes = 0;
};

/// What needs addresses, and the answer of the target.
struct AddressPlan {
  struct Tensor {
    GlobalUse use = GlobalUse::Neurons;
    int64_t bytes = 0;
    /// The times [lower, upper) in which it is needed. Weights are needed always.
    int64_t lower = 0, upper = 1;
    /// At least; that of its region may be larger.
    int64_t alignment = 1;
    /// The answer.
    int64_t address = 0;
  };
  /// Tensor `tensor` lies at `offset` bytes of tensor `container`, if both are in one region.
  struct Part {
    size_t tensor = 0, container = 0;
    int64_t offset = 0;
  };
  std::vector<Tensor> tensors = {};
  std::vector<Part> parts = {};
  /// How long places are searched for that take less memory (`AllocatorOptions`).
  uint64_t work = alloc::AllocatorOptions().workLimit;

  /// The answer: all regions, and the number of the one that tensors of each use are in. Weights
  /// have one of their own, which the model file holds.
  std::vector<AddressRegion> regions = {};
  std::array<size_t, kNumGlobalUses> regionOf = {};

  const AddressRegion &region(GlobalUse use) const {
    return regions[regionOf[static_cast<size_t>(use)]];
  }
  /// What all regions take.
  int64_t bytes() const;
};

/// Gives the tensors of a region, whose base is known, their addresses: weights one behind the
/// other, in their order; others share memory over time. Errors: those of the allocator.
Expected<void> placeRegion(AddressPlan &plan, size_t region);

/// One range of absolute addresses from `modelBase` on: weights, and behind them all others.
/// Errors: those of the allocator.
Expected<void> placeInOneRange(AddressPlan &plan, const TargetInfo &target);

} // namespace tpuc::codegen

#endif // TPUC_CODEGEN_PLACE_ADDRESSPLAN_H

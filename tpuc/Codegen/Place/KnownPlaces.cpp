//===- KnownPlaces.cpp - Places that were found before --------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Place/KnownPlaces.h"

using namespace tpuc;
using namespace tpuc::codegen;

/// Of more buffers nothing is kept: they take memory, and hardly any network of that many layers is
/// compared.
static constexpr size_t kMostKept = 8192;

/// The words that an allocation depends on, but for how much work may be done.
static llvm::SmallVector<uint64_t, 0> wordsOf(const alloc::AllocationProblem &problem,
                                              const alloc::AllocatorOptions &options) {
  llvm::SmallVector<uint64_t, 0> words;
  words.reserve(4 * problem.buffers.size() + 3 * problem.subBuffers.size() + 4);
  const auto add = [&](auto... numbers) { words.append({static_cast<uint64_t>(numbers)...}); };
  add(options.capacity, problem.buffers.size(), problem.subBuffers.size());
  for (const alloc::Buffer &buffer : problem.buffers)
    add(buffer.lower, buffer.upper, buffer.size, buffer.alignment);
  for (const alloc::SubBuffer &sub : problem.subBuffers)
    add(sub.buffer, sub.container, sub.offset);
  return words;
}

Expected<std::shared_ptr<const alloc::Allocation>>
codegen::allocateOnce(const alloc::AllocationProblem &problem,
                      const alloc::AllocatorOptions &options, KnownCosts &known) {
  const auto make = [&]() -> Expected<std::shared_ptr<const alloc::Allocation>> {
    Expected<alloc::Allocation> made = alloc::allocate(problem, options);
    if (!made)
      return propagate(made);
    return std::make_shared<const alloc::Allocation>(std::move(*made));
  };
  if (problem.buffers.size() > kMostKept)
    return make();
  llvm::SmallVector<uint64_t, 0> words = wordsOf(problem, options);
  // Half of the work may be for orders, and each search has at most what is left. So what ended
  // before half of the limit ends alike with any limit above.
  const auto endsWithin = [&](const alloc::Allocation &each) {
    return each.work < options.workLimit / 2;
  };
  const KnownCosts::Key key = KnownCosts::keyOf(words);
  if (const auto found = known.places.find(key); found && endsWithin(**found))
    return *found;
  words.push_back(options.workLimit);
  const KnownCosts::Key limited = KnownCosts::keyOf(words);
  if (const auto found = known.places.find(limited))
    return *found;
  Expected<std::shared_ptr<const alloc::Allocation>> made = make();
  if (!made)
    return made;
  return known.places.add(endsWithin(**made) ? key : limited, std::move(*made));
}

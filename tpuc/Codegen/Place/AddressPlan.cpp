//===- AddressPlan.cpp - Which tensors need addresses ---------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Place/AddressPlan.h"
#include "tpuc/Codegen/Footprint.h"

#include <vector>

using namespace tpuc;
using namespace tpuc::codegen;

int64_t AddressPlan::bytes() const {
  int64_t sum = 0;
  for (const AddressRegion &each : regions)
    sum += each.bytes;
  return sum;
}

Expected<void> codegen::placeRegion(AddressPlan &plan, size_t region) {
  AddressRegion &own = plan.regions[region];
  const auto isHere = [&](const AddressPlan::Tensor &tensor) {
    return plan.regionOf[static_cast<size_t>(tensor.use)] == region;
  };
  const auto alignmentOf = [&](const AddressPlan::Tensor &tensor) {
    return std::max(own.alignment, tensor.alignment);
  };
  std::vector<bool> arePart(plan.tensors.size());
  for (const AddressPlan::Part &part : plan.parts)
    arePart[part.tensor] =
        isHere(plan.tensors[part.tensor]) && isHere(plan.tensors[part.container]);
  int64_t constants = 0;
  alloc::AllocationProblem problem;
  // The tensors of the buffers, and the other way round.
  std::vector<AddressPlan::Tensor *> shared;
  std::vector<size_t> buffers(plan.tensors.size());
  for (size_t number = 0; number < plan.tensors.size(); ++number) {
    AddressPlan::Tensor &tensor = plan.tensors[number];
    if (!isHere(tensor))
      continue;
    if (tensor.use == GlobalUse::Weights) {
      const int64_t offset = alignedTo(constants, alignmentOf(tensor));
      tensor.address = own.base + offset;
      constants = alignedTo(offset + tensor.bytes, alignmentOf(tensor));
      continue;
    }
    alloc::Buffer buffer;
    buffer.lower = tensor.lower;
    buffer.upper = tensor.upper;
    buffer.alignment = arePart[number] ? 1 : alignmentOf(tensor);
    buffer.size = alignedTo(tensor.bytes, buffer.alignment);
    buffers[number] = shared.size();
    shared.push_back(&tensor);
    problem.buffers.push_back(std::move(buffer));
  }
  own.bytes = constants;
  if (shared.empty())
    return {};
  for (const AddressPlan::Part &part : plan.parts)
    if (arePart[part.tensor])
      problem.subBuffers.push_back({.buffer = buffers[part.tensor],
                                    .container = buffers[part.container],
                                    .offset = part.offset});
  alloc::AllocatorOptions options;
  options.workLimit = plan.work;
  Expected<alloc::Allocation> allocation = alloc::allocate(problem, options);
  if (!allocation)
    return propagate(allocation);
  for (size_t buffer = 0; buffer < shared.size(); ++buffer)
    shared[buffer]->address = own.base + allocation->offsets[buffer];
  own.bytes = allocation->height;
  return {};
}

Expected<void> codegen::placeInOneRange(AddressPlan &plan, const TargetInfo &target) {
  const GlobalMemoryInfo &global = target.global;
  const int64_t alignment = global.alignment.value_or(1);
  // Neurons keep rows of the transfer engine's own alignment apart, not whole pages.
  plan.regions = {{.base = static_cast<int64_t>(global.modelBase), .alignment = alignment},
                  {.alignment = global.transferAlignment.value_or(alignment)}};
  plan.regionOf = {0, 1, 1, 1};
  if (Expected<void> placed = placeRegion(plan, 0); !placed)
    return placed;
  plan.regions[1].base = plan.regions[0].base + plan.regions[0].bytes;
  return placeRegion(plan, 1);
}

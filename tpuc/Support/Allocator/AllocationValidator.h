//===- AllocationValidator.h - Judge of allocations ------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The judge of every allocation. It shares the problem's description with the solvers and nothing
// else.
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_SUPPORT_ALLOCATOR_ALLOCATIONVALIDATOR_H
#define TPUC_SUPPORT_ALLOCATOR_ALLOCATIONVALIDATOR_H

#include "tpuc/Support/Allocator/AllocationProblem.h"

#include <span>

namespace tpuc::alloc {

/// The height of the allocation (the largest offset + size), or the first thing that is wrong with
/// it: a missing offset, one that is negative, misaligned, not the fixed one, across a bank, beyond
/// the capacity (0: none is asked for), not where the container says, or two buffers that overlap
/// in time and in space without leave. Costs O(n log n + pairs of buffers that live together).
Expected<int64_t> validateAllocation(const AllocationProblem &problem,
                                     std::span<const int64_t> offsets, int64_t capacity = 0);

} // namespace tpuc::alloc

#endif // TPUC_SUPPORT_ALLOCATOR_ALLOCATIONVALIDATOR_H

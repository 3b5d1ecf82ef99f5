//===- KnownPlaces.h - Places that were found before ------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_CODEGEN_PLACE_KNOWNPLACES_H
#define TPUC_CODEGEN_PLACE_KNOWNPLACES_H

#include "tpuc/Codegen/Group/KnownCosts.h"
#include "tpuc/Support/Allocator/Allocator.h"

namespace tpuc::codegen {

/// What `alloc::allocate` gives for buffers without names, fixed offsets and banks. A network that
/// is compared with many others brings many of them again: its groups are scheduled to be weighed,
/// and once more to be taken.
Expected<std::shared_ptr<const alloc::Allocation>>
allocateOnce(const alloc::AllocationProblem &problem, const alloc::AllocatorOptions &options,
             KnownCosts &known);

} // namespace tpuc::codegen

#endif // TPUC_CODEGEN_PLACE_KNOWNPLACES_H

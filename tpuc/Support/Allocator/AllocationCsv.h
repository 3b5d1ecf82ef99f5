//===- AllocationCsv.h - Allocation problems as text -----------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Problems and allocations as text, in the format of the public minimalloc instances: a header
// line, then a buffer a line.
//
//   id,lower,upper,size[,alignment][,offset]
//   b0,0,3,4096,64,128
//
// Columns are found by name and may stand in any order; those of other names are an error. `upper`
// is exclusive. Blank lines are skipped, lines may end in CR LF. Names may hold any character but
// comma, quote and line break.
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_SUPPORT_ALLOCATOR_ALLOCATIONCSV_H
#define TPUC_SUPPORT_ALLOCATOR_ALLOCATIONCSV_H

#include "tpuc/Support/Allocator/AllocationProblem.h"

#include <span>
#include <string_view>

namespace tpuc::alloc {

/// A column `offset` is allowed and not used. `where` names the text in errors, which say the line.
/// The problem has passed checkProblem and its names are unique.
Expected<AllocationProblem> parseProblem(std::string_view text, std::string_view where);

/// The offsets that an allocation's text gives to the buffers of `problem`, found by name; each
/// must be there once. What the text says on lifetimes and sizes must be what the problem says.
/// The result has not been validated.
Expected<std::vector<int64_t>>
parseAllocation(std::string_view text, const AllocationProblem &problem, std::string_view where);

/// parseProblem of a file's content.
Expected<AllocationProblem> readProblem(const std::string &path);

/// The column `alignment` is written where some buffer has one, and the column `offset` where
/// offsets (one for each buffer) are given. Errors: aliases, banks and fixed offsets have no
/// columns; names that are empty, not unique or hold a comma, quote or line break.
Expected<std::string> formatProblem(const AllocationProblem &problem,
                                    std::span<const int64_t> offsets = {});

} // namespace tpuc::alloc

#endif // TPUC_SUPPORT_ALLOCATOR_ALLOCATIONCSV_H

//===- AllocationProblem.h - Buffers that want addresses -------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Buffers with fixed lifetimes that want addresses: chip local memory, global memory and the
// interpreter's buffers are all stated this way. An allocation is one offset per buffer, in the
// order of the problem's buffers.
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_SUPPORT_ALLOCATOR_ALLOCATIONPROBLEM_H
#define TPUC_SUPPORT_ALLOCATOR_ALLOCATIONPROBLEM_H

#include "tpuc/Support/Error.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tpuc::alloc {

struct Buffer {
  /// Only for messages and files; need not be unique unless the problem is written to a file.
  std::string name;
  /// Alive in the half-open interval [lower, upper) of time; lower < upper.
  int64_t lower = 0;
  int64_t upper = 0;
  /// Bytes, >= 0. A buffer of no bytes overlaps nothing.
  int64_t size = 0;
  /// The offset is a multiple of this; >= 1, any number, not only powers of two.
  int64_t alignment = 1;
  /// The offset itself, where it is already decided. A range that nothing may use during some time
  /// is a buffer with a fixed offset.
  std::optional<int64_t> fixedOffset;
  /// Exempt from AllocationProblem::bankSize.
  bool mayCrossBanks = false;
};

/// `buffer` lies at `offset` inside `container`: a reshape (0, same size), an operand of a
/// concatenation, a result of a split, an operation in place. Their lifetimes are independent of
/// each other. All buffers that hang together in this way keep their distances and may overlap each
/// other at will.
struct SubBuffer {
  size_t buffer = 0;
  size_t container = 0;
  /// 0 <= offset and offset + size of the buffer <= size of the container.
  int64_t offset = 0;
};

struct AllocationProblem {
  std::vector<Buffer> buffers;
  /// At most one entry per inner buffer, no cycles; containers may be nested.
  std::vector<SubBuffer> subBuffers;
  /// Any two buffers of one of these groups may overlap although their lifetimes do. Not
  /// transitive: a in {a, b} and b in {b, c} says nothing on a and c.
  std::vector<std::vector<size_t>> mayOverlap;
  /// Where not 0, no buffer may cross a multiple of this, unless it is exempt.
  int64_t bankSize = 0;
};

/// How messages call a buffer: `buffer 'name'`, or `buffer #3` where it has none.
std::string describeBuffer(const AllocationProblem &problem, size_t buffer);

/// Whether the problem keeps what is written above, and whether all offsets that an allocator could
/// want stay below 2^62. Errors name the buffer.
Expected<void> checkProblem(const AllocationProblem &problem);

} // namespace tpuc::alloc

#endif // TPUC_SUPPORT_ALLOCATOR_ALLOCATIONPROBLEM_H

//===- GroupTimes.cpp - When a group reads and writes global memory ------------- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/GroupTimes.h"
#include "tpuc/Codegen/GroupInfo.h"
#include "tpuc/Dialect/Tpu/ControlOps.h"

#include <algorithm>
#include <vector>

using namespace mlir;
using namespace tpuc;
using namespace tpuc::codegen;

Expected<GroupTimes> GroupTimes::of(tpu::GroupOp group) {
  struct Transfer {
    Operation *op;
    GroupInfo info;
  };
  std::vector<Transfer> transfers;
  SectionCounts counts{1, 1, 1, 1, 1};
  // The steps from one slice to the next.
  int64_t period = 0;
  for (Operation &member : group.getBody().front().without_terminator()) {
    if (isa<tpu::UnpackOp>(member))
      continue;
    Expected<GroupInfo> info = GroupInfo::of(&member);
    if (!info)
      return propagate(info);
    if (isa<tpu::LoadOp, tpu::StoreOp>(member)) {
      transfers.push_back({&member, std::move(*info)});
      continue;
    }
    ++period;
    for (unsigned axis = 0; axis < kNumAxes; ++axis)
      counts[axis] = std::max(counts[axis], static_cast<unsigned>(info->sections[axis].size()));
  }
  int64_t slices = 1;
  for (unsigned count : counts)
    slices *= count;

  GroupTimes times;
  SmallVector<int64_t> steps;
  for (const auto &[op, info] : transfers) {
    const bool isCut =
        llvm::any_of(info.sections, [](const auto &sections) { return sections.size() > 1; });
    // What is loaded whole is loaded once.
    const int64_t last = isa<tpu::StoreOp>(op) || isCut ? slices - 1 : 0;
    times.spans[op] = {info.step, info.step + last * period};
    steps.append({info.step, info.step + last * period});
  }
  llvm::sort(steps);
  steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
  times.numTimes = static_cast<int64_t>(steps.size());
  const auto timeOf = [&](int64_t step) {
    return static_cast<int64_t>(llvm::lower_bound(steps, step) - steps.begin());
  };
  for (auto &[op, span] : times.spans)
    span = {timeOf(span.first), timeOf(span.last)};
  return times;
}

//===- Detection.cpp - Shapes of what detectors find ----------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Support/OpShapes/Detection.h"
#include "tpuc/Support/Sizes.h"

#include <algorithm>

using namespace tpuc;

int64_t shapes::detectionRows(const DetectionLimits &limits, int64_t boxes) {
  // With fewer boxes than are wanted there are fewer rows.
  if (boxes == kDynamic)
    return kDynamic;
  const bool hasBackground = limits.background >= 0 && limits.background < limits.classes;
  const int64_t ofClass = limits.topK == -1 ? boxes : std::min(boxes, limits.topK);
  const int64_t ofAll = Count(limits.classes - (hasBackground ? 1 : 0)) * ofClass;
  return limits.keepTopK == -1 ? ofAll : std::min(ofAll, limits.keepTopK);
}

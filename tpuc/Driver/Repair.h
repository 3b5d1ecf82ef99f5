//===- Repair.h - The fewest layers that are to be more precise -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DRIVER_REPAIR_H
#define TPUC_DRIVER_REPAIR_H

#include "tpuc/Support/Error.h"

#include <functional>
#include <span>
#include <vector>

namespace tpuc {

/// Whether everything is good with these layers, and only these, in the other precision.
using RepairCandidate = std::function<Expected<bool>(std::span<const std::string> layers)>;

/// A small set of layers with which `candidate` is good, in the order of `ranked`, which has those
/// first that probably matter most. Tries all, then the first 1, 2, 4, ... until that is good,
/// halves the last step, and leaves out parts and finally single layers that turn out not to be
/// needed: no more than `maxCandidates` candidates in all. Empty when not even all layers are
/// enough.
Expected<std::vector<std::string>> findRepair(std::span<const std::string> ranked,
                                              const RepairCandidate &candidate, int maxCandidates);

} // namespace tpuc

#endif // TPUC_DRIVER_REPAIR_H

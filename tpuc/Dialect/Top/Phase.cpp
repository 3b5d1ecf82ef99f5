//===- Phase.cpp - What a network went through ----------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Top/Phase.h"

#include <array>

using namespace mlir;
using namespace tpuc;

static constexpr const char *kState = "module.state";

/// By the numbers of the phases.
static constexpr std::array<std::string_view, static_cast<size_t>(kLastPhase) + 1> kStates = {
    "TOP_F32",     "TOP_QUANTIZED", "TOP_CALIBRATED", "TPU_LOWERED",
    "TPU_DIVIDED", "TPU_GROUPED",   "TPU_ADDRESSED"};

std::string_view tpuc::stateAfter(Phase phase) { return kStates[static_cast<size_t>(phase)]; }

void tpuc::setPhase(ModuleOp module, Phase phase) {
  module->setAttr(kState, StringAttr::get(module.getContext(), stateAfter(phase)));
}

std::optional<Phase> tpuc::phaseOf(ModuleOp module) {
  auto state = module->getAttrOfType<StringAttr>(kState);
  const auto *found = kStates.end();
  if (state)
    found = llvm::find(kStates, std::string_view(state.getValue()));
  if (found == kStates.end())
    return std::nullopt;
  return static_cast<Phase>(found - kStates.begin());
}

bool tpuc::isLowered(ModuleOp module) {
  std::optional<Phase> phase = phaseOf(module);
  return phase && *phase >= Phase::Lower;
}

//===- Phase.cpp - What a network goes through, and the files it leaves ---===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Driver/Phase.h"

#include <array>
#include <filesystem>

using namespace tpuc;

static constexpr std::array kPhases = {
    PhaseInfo{Phase::Import, "import", "TOP_F32"},
    PhaseInfo{Phase::Optimize, "optimize", "TOP_F32"},
    PhaseInfo{Phase::Calibrate, "calibrate", "TOP_CALIBRATED"},
    PhaseInfo{Phase::Lower, "lower", "TPU_LOWERED"},
    PhaseInfo{Phase::Divide, "divide", "TPU_DIVIDED"},
    PhaseInfo{Phase::Group, "group", "TPU_GROUPED"},
    PhaseInfo{Phase::Address, "address", "TPU_ADDRESSED"},
    PhaseInfo{Phase::Encode, "encode", ""},
};

std::span<const PhaseInfo> tpuc::allPhases() { return kPhases; }

const PhaseInfo &tpuc::phaseInfo(Phase phase) { return kPhases[static_cast<size_t>(phase)]; }

ModelFiles::ModelFiles(std::string_view moduleFile, std::string_view modelName)
    : model(modelName),
      stem((std::filesystem::path(moduleFile).parent_path() / std::string(modelName)).string()) {}

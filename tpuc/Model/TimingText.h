//===- TimingText.h - Time lines for people and programs --------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_MODEL_TIMINGTEXT_H
#define TPUC_MODEL_TIMINGTEXT_H

#include "tpuc/Model/TimingResult.h"

#include <nlohmann/json_fwd.hpp>
#include <optional>

namespace tpuc::model {

/// For chrome://tracing and ui.perfetto.dev: one process for each set of parameters, one thread for
/// each engine; the commands of a layer lie below the layer's name. Times are in microseconds.
/// Bytes of names that are not UTF-8 become U+FFFD.
std::string timingTrace(const TimingResult &result);

/// One line per command, engine after engine, then a line `total`; the header names the columns.
/// Fields with commas or quotes are quoted.
std::string timingCsv(const TimingResult &result);

/// For a terminal: the totals, the use of the engines and of global memory, the bounds, the kinds
/// of commands by their time, the layers, and what the host computes. Lines end with \n. With
/// `slowest`, of the layers only so many, those first on which an engine works longest; else all as
/// they run.
std::string timingSummary(const TimingResult &result, std::optional<size_t> slowest = std::nullopt);

/// The same figures as an object: one member for each set of parameters, `kinds`, `layers`, and
/// `cpu_layers` where the host computes any.
nlohmann::ordered_json timingJson(const TimingResult &result);

} // namespace tpuc::model

#endif // TPUC_MODEL_TIMINGTEXT_H

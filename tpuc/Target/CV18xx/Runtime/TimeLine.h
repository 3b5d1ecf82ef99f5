//===- TimeLine.h - Time lines of stages ------------------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_CV18XX_RUNTIME_TIMELINE_H
#define TPUC_TARGET_CV18XX_RUNTIME_TIMELINE_H

#include "tpuc/Model/CompiledModel.h"
#include "tpuc/Model/TimingResult.h"
#include "tpuc/Target/CV18xx/Machine/Timing.h"

#include <map>

namespace tpuc::runtime::cv18xx {

/// Puts the streams of a stage, one behind the other, into the form of every chip's reports. A
/// cycle of the result is a nanosecond, since the sets of parameters have clocks of their own.
class TimeLine {
public:
  explicit TimeLine(const model::CompiledModel &model);

  /// The commands of a stream, which passed `checkStream`. `constants` are those of the stage, in
  /// which compressed streams say their size.
  void add(const tpuc::cv18xx::Chip &chip, std::span<const tpuc::cv18xx::Command> commands,
           const model::Stream &stream, model::Bytes constants);
  model::TimingResult take();

private:
  void addCommand(const tpuc::cv18xx::Chip &chip, const tpuc::cv18xx::Command &command,
                  const std::string &layer, uint64_t streamBytes);
  model::TimingResult::LayerTime &layerTime(const std::string &name);

  struct KindSums {
    int64_t commands = 0;
    std::array<double, tpuc::cv18xx::kNumTimingSets> nanoseconds = {};
  };

  const model::CompiledModel &model;
  model::TimingResult result;
  std::map<std::string, size_t> layers;
  std::map<std::string_view, KindSums> kinds;
  std::map<std::string_view, int64_t> moved;
  std::array<double, tpuc::cv18xx::kNumTimingSets> begin = {}, submission = {};
};

} // namespace tpuc::runtime::cv18xx

#endif // TPUC_TARGET_CV18XX_RUNTIME_TIMELINE_H

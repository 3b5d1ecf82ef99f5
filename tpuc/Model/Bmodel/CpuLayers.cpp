//===- CpuLayers.cpp - Our own layers in CPU sub-nets ---------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Model/Bmodel/CpuLayers.h"
#include "tpuc/Model/Bmodel/Sha256.h"

#include <algorithm>
#include <fmt/format.h>

namespace tpuc::bmodel {

Expected<CpuLayer> cpuProgramLayer(Bytes bytes, const std::string &where) {
  const auto digest = sha256(bytes, where);
  if (!digest)
    return tl::unexpected(digest.error());
  CpuConstant program{"tpuc", bytes, {digest->begin(), digest->end()}};
  CpuLayer layer;
  layer.op = kCpuProgram;
  layer.constants.push_back(std::move(program));
  return layer;
}

Expected<std::vector<cpu::Program>> cpuPrograms(const SubNet &subNet, const std::string &where) {
  std::vector<cpu::Program> programs;
  for (const CpuLayer &layer : subNet.cpu) {
    if (layer.op != kCpuProgram || layer.constants.size() != 1)
      return makeError(where, fmt::format("a layer of the CPU of kind {}", layer.op),
                       fmt::format("{} (of tpuc) with one constant", kCpuProgram));
    const CpuConstant &stored = layer.constants.front();
    const auto digest = sha256(stored.data, where);
    if (!digest)
      return tl::unexpected(digest.error());
    if (!std::ranges::equal(*digest, stored.sha256))
      return makeError(where, "the layers of the CPU are damaged",
                       "bytes with the SHA-256 that the file states");
    Expected<cpu::Program> program = cpu::parseProgram(stored.data, where);
    if (!program)
      return propagate(program);
    programs.push_back(std::move(*program));
  }
  if (programs.empty())
    return makeError(where, "a sub-net of the CPU without a layer");
  return programs;
}

} // namespace tpuc::bmodel

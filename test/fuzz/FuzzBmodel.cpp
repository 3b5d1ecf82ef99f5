//===- FuzzBmodel.cpp - Any bytes as a .bmodel file -----------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A file is refused or read; what is read can be shown, written, and read again as the same model.
//
//===----------------------------------------------------------------------===//

#include "tpuc/Model/Bmodel/Combine.h"
#include "tpuc/Model/Bmodel/Compiled.h"
#include "tpuc/Model/Bmodel/CpuLayers.h"
#include "tpuc/Model/Bmodel/Dump.h"
#include "tpuc/Model/Bmodel/Reader.h"
#include "tpuc/Model/Bmodel/Writer.h"

#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>

using namespace tpuc;
using namespace tpuc::bmodel;

namespace {

void require(bool condition, const char *what) {
  if (condition)
    return;
  std::fprintf(stderr, "violated: %s\n", what);
  std::abort();
}

std::string text(const Model &model) {
  return formatInfo(model) +
         toJson(model).dump(0, ' ', false, nlohmann::json::error_handler_t::replace);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const Bytes file = std::as_bytes(std::span(data, size));
  // Layers of the CPU, which stand behind a checksum in a file.
  if (const auto program = cpu::parseProgram(file, "fuzz"))
    require(cpu::parseProgram(cpu::encodeProgram(*program), "again").has_value(),
            "what was read can be written and read");
  // With a wrong checksum the rest is still worth a look.
  const auto read = readModel(file, nullptr, "fuzz", {.verifySha256 = false});
  const auto verified = readModel(file, nullptr, "fuzz");
  require(read || !verified, "only the checksum differs");
  if (!verified)
    return 0;
  const model::CompiledModel compiled = toCompiled(*verified, "fuzz");
  require(compiled.nets.size() == verified->nets.size(), "every net is for the runtime");
  // Refused or made: what a file cannot say is an error.
  if (const auto remade = fromCompiled(compiled, "remade"))
    require(remade->nets.size() == compiled.nets.size(), "every net comes back");
  const std::string before = text(*read);
  const auto again = encodeModel(*verified, "again");
  require(again.has_value(), "what was read can be written");
  const auto reread = readModel(*again, nullptr, "again");
  require(reread.has_value(), "what was written can be read");
  // A checksum that was missing is added; everything else stays.
  const auto third = encodeModel(*reread, "third");
  require(third && *third == *again, "and written again as the same bytes");
  if (before.find("\"sha256\": null") == std::string::npos &&
      before.find("\"sha256\":null") == std::string::npos)
    require(text(*reread) == before, "reading and writing change nothing");
  const Model part = extract(*reread, 0, 0);
  require(encodeModel(part, "part").has_value(), "a stage can be extracted");
  return 0;
}

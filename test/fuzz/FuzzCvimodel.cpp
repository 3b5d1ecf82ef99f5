//===- FuzzCvimodel.cpp - Any bytes as a .cvimodel file -------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A file is refused with a message or read. What was read can be written, and read again as the
// same contents. The driver of the chip takes the commands or refuses them, and tells their time;
// small programs run.
//
//===----------------------------------------------------------------------===//

#include "runtime/Session.h"
#include "tpuc/Model/Cvimodel/Cvimodel.h"

#include <cstdio>
#include <cstdlib>

using namespace tpuc;

static void requireThat(bool condition, const char *what) {
  if (condition)
    return;
  std::fprintf(stderr, "violated: %s\n", what);
  std::abort();
}

static void loadAndTime(const cvimodel::File &file) {
  auto compiled = cvimodel::toCompiled(file, "fuzz");
  if (!compiled)
    return;
  const auto loaded = runtime::LoadedModel::create(std::move(*compiled), "fuzz");
  if (!loaded)
    return;
  const model::CompiledModel &model = (*loaded)->model();
  for (uint32_t stage = 0; stage < model.nets[0].stages.size(); ++stage) {
    const auto program = (*loaded)->program({0, stage});
    requireThat(program || !program.error().message().empty(), "refusals have a message");
    if (program)
      requireThat((*loaded)->timing({0, stage}).has_value(), "what is loaded has a time");
  }
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const auto read = cvimodel::readFile(std::as_bytes(std::span(data, size)), "fuzz");
  if (!read) {
    requireThat(!read.error().message().empty(), "what is refused is refused with a message");
    return 0;
  }
  const auto written = cvimodel::encodeFile(*read, "written");
  if (!written)
    return 0;
  const auto again = cvimodel::readFile(*written, "written");
  requireThat(again.has_value(), "what was written can be read");
  requireThat(again->hasRightHash, "with its hash");
  const auto rewritten = cvimodel::encodeFile(*again, "rewritten");
  requireThat(rewritten && *rewritten == *written, "and written again as the same bytes");
  loadAndTime(*read);
  return 0;
}

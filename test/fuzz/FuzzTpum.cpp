//===- FuzzTpum.cpp - Fuzzes the container of chips without a vendor's ----===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A file is refused or read; what is read can be written, and read again as the same model. Then
// the driver of its chip takes the programs and the records of the host, or refuses them.
//
//===----------------------------------------------------------------------===//

#include "runtime/Session.h"
#include "tpuc/Model/Tpum/Tpum.h"

#include <cstdio>
#include <cstdlib>

using namespace tpuc;
using namespace tpuc::model;

static void mustHold(bool condition, const char *what) {
  if (condition)
    return;
  std::fprintf(stderr, "violated: %s\n", what);
  std::abort();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  auto read = tpum::readModel(std::as_bytes(std::span(data, size)), nullptr, "fuzz");
  if (!read)
    return 0;
  const auto written = tpum::encodeModel(*read, "written");
  mustHold(written.has_value(), "what was read can be written");
  const auto again = tpum::readModel(*written, nullptr, "written");
  mustHold(again.has_value(), "what was written can be read");
  const auto rewritten = tpum::encodeModel(*again, "rewritten");
  mustHold(rewritten && *rewritten == *written, "and written again as the same bytes");
  const auto loaded = runtime::LoadedModel::create(std::move(*read), "fuzz");
  if (!loaded)
    return 0;
  const CompiledModel &model = (*loaded)->model();
  for (uint32_t net = 0; net < model.nets.size(); ++net)
    for (uint32_t stage = 0; stage < model.nets[net].stages.size(); ++stage)
      if (const auto program = (*loaded)->program({net, stage}); !program)
        mustHold(!program.error().message().empty(), "what is refused is refused with a message");
  return 0;
}

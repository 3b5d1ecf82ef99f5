//===- Main.cpp - Looks at model files and changes them -------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/common/CommandLine.h"
#include "tools/common/ToolMain.h"
#include "tools/model_tool/Commands.h"
#include "tpuc/Model/Container.h"

#include <array>
#include <fmt/format.h>

using namespace tpuc;
using namespace tpuc::modeltool;

namespace {

struct Mode {
  std::string_view option, help;
  Expected<void> (*run)(const Request &request);
};

constexpr std::array kModes = {
    Mode{"--info", "Show the nets, their inputs and outputs, and the memory they take.", showInfo},
    Mode{"--print", "Print every field of the file as JSON.", printModel},
    Mode{"--weight",
         "List the weights; with --output, write the coefficients of the first stage there.",
         showWeights},
    Mode{"--dump_commands", "Print the commands of the chip, one per line.", dumpCommands},
    Mode{"--profile",
         "Show how long the nets take on the chip, by its timing model: in all, each kind of "
         "command, the ten slowest layers.",
         profile},
    Mode{"--extract", "Write each stage of each net to a file of its own.", extractStages},
    Mode{"--combine",
         "Write the nets of all files to one. Nets of one name become variants of one net, chosen "
         "by the shapes of the inputs.",
         combineModels}};

Expected<int> runTheTool(std::span<const std::string> arguments) {
  Request request;
  std::array<bool, kModes.size()> chosen{};
  int numThreads = 0;
  const std::string kinds = model::extensions(model::containers());
  CommandLine cli(
      std::string(kToolName),
      fmt::format("Looks at {} files, takes them apart and puts them together.", kinds));
  for (size_t i = 0; i < kModes.size(); ++i)
    cli.flag(kModes[i].option, chosen[i], std::string(kModes[i].help)).group("What to do");
  cli.positionals("FILE", request.files,
                  fmt::format("The {} file; several with --combine.", kinds));
  cli.option("--output,-o", request.output,
             "Where the result goes: a file, or with --extract a folder.")
      .label("PATH");
  cli.flag("--json", request.asJson, "With --info and --profile: print JSON.");
  cli.option("--net", request.net, "With --profile: look at this net only.").label("NAME");
  cli.option("--stage", request.stage, "With --profile: look at this stage of it only, from 0.")
      .label("N")
      .range(0, 1 << 20)
      .shownDefault("all");
  cli.flag("--all", request.allLayers,
           "With --profile: show every layer, in the order of the run.");
  cli.option("--trace", request.trace,
             "With --profile, for one stage: write the time line for chrome://tracing or "
             "ui.perfetto.dev.")
      .label("FILE");
  cli.option("--csv", request.csv, "With --profile, for one stage: write a line per command.")
      .label("FILE");
  cli.numThreads(numThreads);
  cli.unavailable("--encrypt", false);
  cli.unavailable("--decrypt", false);
  cli.unavailable("--update_weight", false);
  cli.unavailable("--combine_dir", false, "--combine takes the files themselves");
  cli.unavailable("--dump", false, "--weight and --dump_commands take files apart");
  cli.action([&]() -> Expected<int> {
    const Mode *mode = nullptr;
    for (size_t i = 0; i < kModes.size(); ++i) {
      if (!chosen[i])
        continue;
      if (mode)
        return makeError(fmt::format("{} and {}", mode->option, kModes[i].option), "given together",
                         "one thing to do");
      mode = &kModes[i];
    }
    if (!mode)
      return makeError(
          std::string(kToolName), "nothing to do",
          "--info, --print, --weight, --dump-commands, --profile, --extract or --combine");
    if (auto ok = checkFiles(request); !ok)
      return tl::unexpected(ok.error());
    if (auto ok = mode->run(request); !ok)
      return tl::unexpected(ok.error());
    return 0;
  });
  return cli.run(arguments);
}

} // namespace

int main(int argc, char **argv) { return runTool(argc, argv, kToolName, runTheTool); }

//===- CompareCommand.cpp - How alike two npz files are -------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/npz_tool/Commands.h"
#include "tpuc/Support/ComparisonReport.h"
#include "tpuc/Support/Diagnostics.h"
#include "tpuc/Support/OutputFile.h"
#include "tpuc/Support/Progress.h"
#include "tpuc/Support/RunFiles.h"
#include "tpuc/Support/Suggest.h"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace tpuc::npztool {

namespace {

struct CompareOptions {
  std::string target;
  std::string reference;
  Tolerance tolerance;
  std::vector<std::string> excepts;
  std::string json;
  std::string csv;
  int verbosity = 0;
  int numThreads = 1;
};

bool isExcepted(const CompareOptions &options, const std::string &name) {
  return std::find(options.excepts.begin(), options.excepts.end(), name) != options.excepts.end();
}

/// A misspelt exception would otherwise only show as a failure.
void warnOfUnknownExcepts(const CompareOptions &options, const NpzReader &target,
                          const NpzReader &reference) {
  for (const std::string &name : options.excepts) {
    if (target.contains(name) || reference.contains(name))
      continue;
    std::vector<std::string_view> known(reference.names().begin(), reference.names().end());
    std::optional<std::string_view> near = closestMatch(name, known);
    reportWarning(kToolName, fmt::format("--excepts: neither file has '{}'{}", name,
                                         near ? fmt::format("; did you mean '{}'?", *near) : ""));
  }
}

Expected<ComparisonReport> compareFiles(const CompareOptions &options) {
  Expected<NpzReader> target = NpzReader::open(options.target);
  if (!target)
    return propagate(target);
  Expected<NpzReader> reference = NpzReader::open(options.reference);
  if (!reference)
    return propagate(reference);
  warnOfUnknownExcepts(options, *target, *reference);

  ComparisonReport report(options.tolerance);
  ThreadPool threads(static_cast<unsigned>(options.numThreads));
  Progress progress("comparing", static_cast<int64_t>(reference->names().size()));
  for (const std::string &name : reference->names()) {
    progress.setLabel(shownName(name));
    if (isExcepted(options, name)) {
      report.addExcept(name);
    } else if (!target->contains(name)) {
      report.addMissing(name, ComparisonReport::Side::Target);
    } else {
      Expected<Tensor> found = target->read(name);
      if (!found)
        return propagate(found);
      Expected<Tensor> wanted = reference->read(name);
      if (!wanted)
        return propagate(wanted);
      report.add(name, compareTensors(*found, *wanted, &threads));
    }
    progress.advance();
  }
  for (const std::string &name : target->names())
    if (!reference->contains(name) && !isExcepted(options, name))
      report.addMissing(name, ComparisonReport::Side::Reference);
  return report;
}

Expected<int> compare(const CompareOptions &options) {
  RunFiles files;
  files.reads("TARGET", options.target);
  files.reads("REFERENCE", options.reference);
  files.writes("--json", options.json);
  files.writes("--save", options.csv);
  if (Expected<void> checked = files.check(); !checked)
    return propagate(checked);
  Expected<ComparisonReport> report = compareFiles(options);
  if (!report)
    return propagate(report);
  std::string json;
  if (!options.json.empty())
    json = report->json().dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  fmt::print("{}", options.json == "-" ? json : report->table(options.verbosity > 0));
  Expected<void> written;
  if (!options.json.empty() && options.json != "-")
    written = writeFile(options.json, json);
  if (written && !options.csv.empty())
    written = writeFile(options.csv, report->csv());
  if (!written)
    return propagate(written);
  if (report->entries().empty())
    return makeError(options.target,
                     fmt::format("has no tensor in common with {}", options.reference),
                     "at least one to compare");
  if (!report->passes())
    return makeError(options.target, report->failureMessage());
  return 0;
}

} // namespace

void addCompareCommand(CommandLine &cli) {
  auto options = std::make_shared<CompareOptions>();
  Command &command = cli.command("compare", "Compares the tensors of two files, name by name.");
  command.description(
      "Prints cosine and euclidean similarity (1 - |x - y| / |(x + y) / 2|), signal-to-noise ratio "
      "and largest difference of each tensor, in the order of REFERENCE. Fails, with exit status "
      "1, if a tensor is below the tolerance, has another number of elements, or has a NaN or an "
      "infinity where the other has not, and if there is nothing to compare. Tensors that only one "
      "file has are listed and do not fail.");
  command.positional("TARGET", options->target, "The npz file in question.");
  command.positional("REFERENCE", options->reference, "The npz file that it should be like.");
  command.option("--tolerance", options->tolerance, "The least similarity; 1,1 means equal.");
  command.option("--excepts", options->excepts, "Tensors to leave out.").label("NAME,...");
  command.countFlag("--verbose,-v", options->verbosity,
                    "Also shapes, and the values at the largest difference.");
  command.json(options->json);
  command.option("--save", options->csv, "Write the figures as CSV to this file.").label("FILE");
  command.numThreads(options->numThreads);
  for (const char *later : {"--op_info", "--int8_tensor_close", "--per_axis_compare"})
    command.unavailable(later, true);
  for (const char *later : {"--dequant", "--full_array", "--stats_int8_tensor"})
    command.unavailable(later, false);
  command.examples({"npz_tool compare top_outputs.npz onnx_outputs.npz --tolerance 0.99,0.99",
                    "npz_tool compare a.npz b.npz --excepts softmax,topk -v --json report.json"});
  command.action([options] { return compare(*options); });
}

} // namespace tpuc::npztool

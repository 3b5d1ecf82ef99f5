//===- InspectCommands.cpp - What an npz file holds -----------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/npz_tool/Commands.h"
#include "tpuc/Support/Counted.h"
#include "tpuc/Support/OutputFile.h"
#include "tpuc/Support/RunFiles.h"
#include "tpuc/Support/TensorText.h"

#include <algorithm>
#include <cstdio>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>
#include <nlohmann/json.hpp>

namespace tpuc::npztool {

std::string shownName(const std::string &name) { return Error{name, "", ""}.message(); }

Expected<void> checkOutput(std::span<const std::string> inputs, const std::string &output) {
  RunFiles files;
  files.reads("the command", inputs);
  files.writes("output", output);
  return files.check();
}

Expected<NpzReader> openFor(const std::string &input, const std::string &output) {
  if (Expected<void> checked = checkOutput({&input, 1}, output); !checked)
    return propagate(checked);
  return NpzReader::open(input);
}

namespace {

struct InspectOptions {
  std::string file;
  std::string name;
  std::string json;
  bool namesOnly = false;
  bool full = false;
  int precision = TensorTextOptions().precision;
};

Expected<void> writeReport(const std::string &path, const nlohmann::ordered_json &report) {
  // Names are bytes of a file; what is no UTF-8 must not end the program.
  std::string text = report.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  if (path != "-")
    return writeFile(path, text);
  fmt::print("{}", text);
  return {};
}

Expected<int> printNames(const InspectOptions &options) {
  Expected<NpzReader> reader = openFor(options.file, options.json);
  if (!reader)
    return propagate(reader);
  if (!options.json.empty()) {
    if (Expected<void> ok = writeReport(options.json, reader->names()); !ok)
      return propagate(ok);
    return 0;
  }
  for (const std::string &name : reader->names())
    fmt::print("{}\n", shownName(name));
  return 0;
}

/// The width of the longest name.
size_t nameWidth(const NpzReader &reader) {
  size_t width = 0;
  for (const std::string &name : reader.names())
    width = std::max(width, shownName(name).size());
  return width;
}

Expected<int> dumpAll(const InspectOptions &options) {
  Expected<NpzReader> reader = openFor(options.file, options.json);
  if (!reader)
    return propagate(reader);
  nlohmann::ordered_json report = nlohmann::ordered_json::array();
  size_t width = nameWidth(*reader);
  for (const std::string &name : reader->names()) {
    Expected<NpzEntry> info = reader->info(name);
    if (!info)
      return propagate(info);
    if (options.json.empty())
      fmt::print("{:<{}}  {:<4}  {}{}\n", shownName(name), width, dataTypeName(info->type),
                 info->shape.str(), info->compressed ? "  compressed" : "");
    else
      report.push_back({{"name", name},
                        {"type", dataTypeName(info->type)},
                        {"shape", info->shape.vec()},
                        {"compressed", info->compressed},
                        {"stored_bytes", info->storedBytes}});
  }
  if (options.json.empty()) {
    fmt::print("{}\n", counted(std::ssize(reader->names()), "tensor"));
  } else if (Expected<void> ok = writeReport(options.json, report); !ok) {
    return propagate(ok);
  }
  return 0;
}

Expected<Tensor> readTensor(const std::string &file, const std::string &name) {
  Expected<NpzReader> reader = NpzReader::open(file);
  if (!reader)
    return propagate(reader);
  return reader->read(name);
}

void printValues(const Tensor &tensor, const InspectOptions &options) {
  TensorTextOptions layout;
  layout.precision = options.precision;
  if (options.full)
    layout.threshold = std::numeric_limits<int64_t>::max();
  printTensor(tensor, layout, [](std::string_view line) { fmt::print("{}", line); });
}

void printStatistics(const Tensor &tensor) {
  TensorStatistics figures = tensorStatistics(tensor);
  fmt::print("min {:.6g}  max {:.6g}  mean {:.6g}  std {:.6g}  zeros {}  nan {}  inf {}\n",
             figures.min, figures.max, figures.mean, figures.standardDeviation, figures.zeros,
             figures.nans, figures.infinities);
}

Expected<int> dump(const InspectOptions &options) {
  if (options.namesOnly)
    return printNames(options);
  if (options.name.empty())
    return dumpAll(options);
  if (!options.json.empty())
    return makeError("--json", "found together with a name", "one of them");
  Expected<Tensor> tensor = readTensor(options.file, options.name);
  if (!tensor)
    return propagate(tensor);
  printValues(*tensor, options);
  fmt::print("name {}\nshape {}\ntype {}\n", shownName(options.name), tensor->shape().str(),
             dataTypeName(tensor->type()));
  printStatistics(*tensor);
  return 0;
}

Expected<int> printOne(const InspectOptions &options) {
  Expected<Tensor> tensor = readTensor(options.file, options.name);
  if (!tensor)
    return propagate(tensor);
  printValues(*tensor, options);
  return 0;
}

Expected<int> getShape(const InspectOptions &options) {
  Expected<NpzReader> reader = openFor(options.file, options.json);
  if (!reader)
    return propagate(reader);
  Expected<NpzEntry> info = reader->info(options.name);
  if (!info)
    return propagate(info);
  fmt::print("[{}]\n", fmt::join(info->shape.dims(), ","));
  return 0;
}

Expected<int> statistic(const InspectOptions &options) {
  Expected<NpzReader> reader = openFor(options.file, options.json);
  if (!reader)
    return propagate(reader);
  std::vector<std::string> names = reader->names();
  if (!options.name.empty())
    names = {options.name};
  for (const std::string &name : names) {
    Expected<Tensor> tensor = reader->read(name);
    if (!tensor)
      return propagate(tensor);
    fmt::print("{}: ", shownName(name));
    printStatistics(*tensor);
  }
  return 0;
}

Expected<int> verify(const InspectOptions &options) {
  Expected<NpzReader> reader = openFor(options.file, options.json);
  if (!reader)
    return propagate(reader);
  for (const std::string &name : reader->names()) {
    // The header too, which the checksum alone does not make valid.
    if (Expected<NpzEntry> info = reader->info(name); !info)
      return propagate(info);
    if (Expected<void> ok = reader->verify(name); !ok)
      return propagate(ok);
  }
  const int64_t count = std::ssize(reader->names());
  fmt::print("{} {} intact\n", counted(count, "tensor"), count == 1 ? "is" : "are");
  return 0;
}

void addValueOptions(Command &command, InspectOptions &options) {
  command.flag("--full", options.full, "All values; otherwise large tensors are summarized.");
  command.option("--precision", options.precision, "Digits after the point.").range(0, 17);
}

} // namespace

void addInspectCommands(CommandLine &cli) {
  auto declare = [&](std::string name, std::string summary,
                     Expected<int> (*body)(const InspectOptions &), bool wantsName,
                     auto declareMore) {
    auto options = std::make_shared<InspectOptions>();
    Command &command = cli.command(std::move(name), std::move(summary));
    command.positional("FILE", options->file, "The npz file.");
    if (wantsName)
      command.positional("NAME", options->name, "The name of a tensor.");
    declareMore(command, *options);
    command.action([options, body] { return body(*options); });
  };
  auto nothing = [](Command &, InspectOptions &) {};

  declare("dump", "Prints type and shape of all tensors, or one tensor's values.", dump, false,
          [](Command &command, InspectOptions &options) {
            command.positional("NAME", options.name, "A tensor, for its values and figures.")
                .optional();
            addValueOptions(command, options);
            command.flag("--list", options.namesOnly, "Only the names, as the command list.");
            command.json(options.json);
            command.examples(
                {"npz_tool dump sample_out.npz", "npz_tool dump sample_out.npz output"});
          });
  declare("list", "Prints the names of the tensors.", printNames, false,
          [](Command &command, InspectOptions &options) { command.json(options.json); });
  declare("print", "Prints the values of a tensor.", printOne, true, addValueOptions);
  declare("get_shape", "Prints the shape of a tensor.", getShape, true, nothing);
  declare("statistic", "Prints minimum, maximum, mean and deviation.", statistic, false,
          [](Command &command, InspectOptions &options) {
            command.positional("NAME", options.name, "Only this tensor.").optional();
          });
  declare("verify", "Checks the checksums of all tensors.", verify, false, nothing);
}

} // namespace tpuc::npztool

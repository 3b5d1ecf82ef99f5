//===- ExportCommands.cpp - Tensors of an npz file in other forms ---------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/npz_tool/Commands.h"
#include "tpuc/Support/Convert.h"
#include "tpuc/Support/OutputFile.h"

#include <algorithm>
#include <fmt/format.h>

namespace tpuc::npztool {

namespace {

struct ExportOptions {
  std::string file;
  std::string name;
  std::string output;
  std::string type;
};

Expected<int> toDat(const ExportOptions &options) {
  Expected<NpzReader> reader = openFor(options.file, options.output);
  if (!reader)
    return propagate(reader);
  Expected<OutputFile> output = OutputFile::create(options.output);
  if (!output)
    return propagate(output);
  for (const std::string &name : reader->names()) {
    Expected<Tensor> tensor = reader->read(name);
    if (!tensor)
      return propagate(tensor);
    if (Expected<void> ok = output->write(tensor->rawBytes()); !ok)
      return propagate(ok);
  }
  if (Expected<void> ok = output->commit(); !ok)
    return propagate(ok);
  return 0;
}

/// The names that numpy users know, besides our own.
Expected<DataType> exportType(const std::string &name) {
  if (name == "float32")
    return DataType::F32;
  if (name == "int8")
    return DataType::I8;
  if (name == "uint16")
    return DataType::U16;
  if (std::optional<DataType> type = parseDataType(name))
    return *type;
  std::string known = "float32, int8, uint16";
  for (DataType type : kAllDataTypes)
    known += fmt::format(", {}", dataTypeName(type));
  return makeError("TYPE", fmt::format("found '{}'", name), "one of " + known);
}

Expected<int> toBin(const ExportOptions &options) {
  Expected<NpzReader> reader = openFor(options.file, options.output);
  if (!reader)
    return propagate(reader);
  Expected<Tensor> tensor = reader->read(options.name);
  if (!tensor)
    return propagate(tensor);
  if (!options.type.empty()) {
    Expected<DataType> type = exportType(options.type);
    if (!type)
      return propagate(type);
    // u16 is how files without bfloat16 hold its bits.
    if (*type != DataType::BF16 || tensor->type() != DataType::U16)
      tensor = convert(*tensor, *type);
  }
  Expected<OutputFile> output = OutputFile::create(options.output);
  if (!output)
    return propagate(output);
  Expected<void> ok = output->write(tensor->rawBytes());
  if (ok)
    ok = output->commit();
  if (!ok)
    return propagate(ok);
  fmt::print("shape {}\ntype {}\n", tensor->shape().str(), dataTypeName(tensor->type()));
  return 0;
}

Expected<int> toNpy(const ExportOptions &options) {
  Expected<NpzReader> reader = openFor(options.file, options.output);
  if (!reader)
    return propagate(reader);
  Expected<Tensor> tensor = reader->read(options.name);
  if (!tensor)
    return propagate(tensor);
  std::string output = options.output;
  if (output.empty()) {
    // A name that holds a path must not choose where the file goes.
    output = options.name + ".npy";
    std::replace(output.begin(), output.end(), '/', '_');
  }
  if (Expected<void> ok = writeNpy(output, *tensor); !ok)
    return propagate(ok);
  fmt::print("{}\n", shownName(output));
  return 0;
}

} // namespace

void addExportCommands(CommandLine &cli) {
  {
    auto options = std::make_shared<ExportOptions>();
    Command &command =
        cli.command("to_dat", "Writes the elements of all tensors, one after another.");
    command.description(
        "Little endian, row-major, in the order of the file, with nothing between.");
    command.positional("FILE", options->file, "The npz file.");
    command.positional("OUTPUT", options->output, "The file to write.");
    command.action([options] { return toDat(*options); });
  }
  {
    auto options = std::make_shared<ExportOptions>();
    Command &command = cli.command("to_bin", "Writes the elements of one tensor.");
    command.positional("FILE", options->file, "The npz file.");
    command.positional("NAME", options->name, "The tensor.");
    command.positional("OUTPUT", options->output, "The file to write.");
    command
        .positional("TYPE", options->type,
                    "Convert to this type: f32, bf16, int8, ...; what does not fit saturates. bf16 "
                    "leaves u16 as it is.")
        .optional();
    command.action([options] { return toBin(*options); });
  }
  {
    auto options = std::make_shared<ExportOptions>();
    Command &command = cli.command("to_npy", "Writes one tensor as an npy file.");
    command.positional("FILE", options->file, "The npz file.");
    command.positional("NAME", options->name, "The tensor.");
    command.positional("OUTPUT", options->output, "The file to write; NAME.npy by default.")
        .optional();
    command.action([options] { return toNpy(*options); });
  }
}

} // namespace tpuc::npztool

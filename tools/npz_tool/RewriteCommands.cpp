//===- RewriteCommands.cpp - New npz files from old ones ------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/npz_tool/Commands.h"
#include "tpuc/Support/Convert.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <functional>

namespace tpuc::npztool {

namespace {

using Change = std::function<Expected<Tensor>(const std::string &name, const Tensor &tensor)>;
using NewName = std::function<std::string(const std::string &name)>;

std::string sameName(const std::string &name) { return name; }

/// Adds `names` of `reader`, changed, to `writer`.
Expected<void> copyTensors(const NpzReader &reader, const std::vector<std::string> &names,
                           NpzWriter &writer, const NewName &newName, const Change &change) {
  for (const std::string &name : names) {
    Expected<Tensor> tensor = reader.read(name);
    if (tensor && change)
      tensor = change(name, *tensor);
    if (!tensor)
      return propagate(tensor);
    if (Expected<void> ok = writer.add(newName(name), *tensor); !ok)
      return ok;
  }
  return {};
}

/// `input` with every tensor changed, as `output`, which may be the same file.
Expected<int> rewrite(const std::string &input, const std::string &output, const NewName &newName,
                      const Change &change) {
  Expected<NpzReader> reader = NpzReader::open(input);
  if (!reader)
    return propagate(reader);
  Expected<NpzWriter> writer = NpzWriter::create(output);
  if (!writer)
    return propagate(writer);
  Expected<void> ok = copyTensors(*reader, reader->names(), *writer, newName, change);
  if (ok)
    ok = writer->close();
  if (!ok)
    return propagate(ok);
  return 0;
}

//===----------------------------------------------------------------------===//
// extract, merge, rename
//===----------------------------------------------------------------------===//

struct FileOptions {
  std::string input;
  std::string output;
  std::vector<std::string> names;
};

Expected<int> extract(const FileOptions &options) {
  Expected<NpzReader> reader = openFor(options.input, options.output);
  if (!reader)
    return propagate(reader);
  Expected<NpzWriter> writer = NpzWriter::create(options.output);
  if (!writer)
    return propagate(writer);
  Expected<void> ok = copyTensors(*reader, options.names, *writer, sameName, nullptr);
  if (ok)
    ok = writer->close();
  if (!ok)
    return propagate(ok);
  return 0;
}

Expected<int> merge(const std::vector<std::string> &files) {
  constexpr size_t kLeast = 3;
  if (files.size() < kLeast)
    return makeError("FILE", fmt::format("{} given", files.size()),
                     "two inputs and the output at least");
  const auto inputs = std::span(files).first(files.size() - 1);
  if (Expected<void> checked = checkOutput(inputs, files.back()); !checked)
    return propagate(checked);
  std::unordered_map<std::string, std::string> cameFrom;
  Expected<NpzWriter> writer = NpzWriter::create(files.back());
  if (!writer)
    return propagate(writer);
  for (const std::string &file : inputs) {
    Expected<NpzReader> reader = NpzReader::open(file);
    if (!reader)
      return propagate(reader);
    for (const std::string &name : reader->names())
      if (auto [known, isNew] = cameFrom.try_emplace(name, file); !isNew)
        return makeError(file, fmt::format("has a tensor '{}', as {} has", name, known->second),
                         "different names; see npz_tool rename");
    if (Expected<void> ok = copyTensors(*reader, reader->names(), *writer, sameName, nullptr); !ok)
      return propagate(ok);
  }
  if (Expected<void> ok = writer->close(); !ok)
    return propagate(ok);
  return 0;
}

struct RenameOptions {
  std::string file;
  std::string from;
  std::string to;
  std::string output;
};

Expected<int> rename(const RenameOptions &options) {
  Expected<NpzReader> reader = openFor(options.file, options.output);
  if (!reader)
    return propagate(reader);
  // For the error that names what there is.
  if (Expected<NpzEntry> info = reader->info(options.from); !info)
    return propagate(info);
  if (options.to != options.from && reader->contains(options.to))
    return makeError(options.file, fmt::format("has a tensor '{}' already", options.to),
                     "an unused name");
  return rewrite(
      options.file, options.output.empty() ? options.file : options.output,
      [&](const std::string &name) { return name == options.from ? options.to : name; }, nullptr);
}

//===----------------------------------------------------------------------===//
// transpose, bf16_to_fp32
//===----------------------------------------------------------------------===//

/// Axis i of the result is axis `order[i]` of `tensor`, whose elements take whole bytes.
Tensor permuted(const Tensor &tensor, const std::vector<size_t> &order) {
  Shape shape = tensor.shape();
  Shape sourceStrides = tensor.shape().strides();
  Shape strides = shape;
  for (size_t axis = 0; axis < order.size(); ++axis) {
    shape[axis] = tensor.shape()[order[axis]];
    strides[axis] = sourceStrides[order[axis]];
  }
  Tensor result(tensor.type(), shape);
  size_t bytes = bitWidth(tensor.type()) / 8;
  const std::byte *from = tensor.rawBytes().data();
  std::byte *to = result.mutableBytes().data();
  std::vector<int64_t> position(order.size(), 0);
  int64_t source = 0;
  for (int64_t i = 0, count = tensor.numElements(); i < count; ++i, to += bytes) {
    std::memcpy(to, from + static_cast<size_t>(source) * bytes, bytes);
    for (size_t axis = order.size(); axis-- > 0;) {
      source += strides[axis];
      if (++position[axis] < shape[axis])
        break;
      source -= strides[axis] * shape[axis];
      position[axis] = 0;
    }
  }
  return result;
}

struct TransposeOptions {
  std::string file;
  std::string from;
  std::string to;
  std::string output;
};

Expected<int> transpose(const TransposeOptions &options) {
  std::vector<size_t> order;
  for (char letter : options.to)
    order.push_back(options.from.find(letter));
  std::string sortedFrom = options.from;
  std::string sortedTo = options.to;
  std::sort(sortedFrom.begin(), sortedFrom.end());
  std::sort(sortedTo.begin(), sortedTo.end());
  bool repeats = std::adjacent_find(sortedFrom.begin(), sortedFrom.end()) != sortedFrom.end();
  if (sortedFrom != sortedTo || repeats || order.empty())
    return makeError("TO", fmt::format("found '{}' after '{}'", options.to, options.from),
                     "the same letters in another order, such as nhwc nchw");
  if (Expected<void> checked = checkOutput({&options.file, 1}, options.output); !checked)
    return propagate(checked);
  return rewrite(options.file, options.output.empty() ? options.file : options.output, sameName,
                 [&](const std::string &, const Tensor &tensor) -> Expected<Tensor> {
                   if (tensor.shape().rank() != order.size())
                     return tensor;
                   return permuted(tensor, order);
                 });
}

Expected<int> bf16ToFp32(const FileOptions &options) {
  if (Expected<void> checked = checkOutput({&options.input, 1}, options.output); !checked)
    return propagate(checked);
  return rewrite(options.input, options.output, sameName,
                 [](const std::string &, const Tensor &tensor) -> Expected<Tensor> {
                   if (tensor.type() != DataType::U16)
                     return tensor;
                   auto shared = std::make_shared<Tensor>(tensor);
                   Tensor bits = Tensor::borrow(DataType::BF16, tensor.shape(),
                                                tensor.rawBytes().data(), shared);
                   return convert(bits, DataType::F32);
                 });
}

//===----------------------------------------------------------------------===//
// from_npy
//===----------------------------------------------------------------------===//

struct FromNpyOptions {
  std::vector<std::string> files;
  std::vector<std::string> names;
};

Expected<int> fromNpy(const FromNpyOptions &options) {
  if (options.files.size() < 2)
    return makeError("FILE", "1 given", "npy files and the npz file to write");
  std::span<const std::string> inputs = std::span(options.files).first(options.files.size() - 1);
  if (!options.names.empty() && options.names.size() != inputs.size())
    return makeError("--names", fmt::format("{} names", options.names.size()),
                     fmt::format("{}, one per npy file", inputs.size()));
  if (Expected<void> checked = checkOutput(inputs, options.files.back()); !checked)
    return propagate(checked);
  Expected<NpzWriter> writer = NpzWriter::create(options.files.back());
  if (!writer)
    return propagate(writer);
  for (size_t i = 0; i < inputs.size(); ++i) {
    Expected<Tensor> tensor = readNpy(inputs[i]);
    if (!tensor)
      return propagate(tensor);
    std::string name =
        options.names.empty() ? std::filesystem::path(inputs[i]).stem().string() : options.names[i];
    if (Expected<void> ok = writer->add(name, *tensor); !ok)
      return propagate(ok);
  }
  if (Expected<void> ok = writer->close(); !ok)
    return propagate(ok);
  return 0;
}

} // namespace

void addRewriteCommands(CommandLine &cli) {
  {
    auto options = std::make_shared<FileOptions>();
    Command &command = cli.command("extract", "Writes some tensors of a file to another one.");
    command.positional("INPUT", options->input, "The npz file.");
    command.positional("OUTPUT", options->output, "The npz file to write.");
    command.positional("NAMES", options->names, "The tensors, separated by commas.");
    command.examples({"npz_tool extract all.npz some.npz conv1,conv2"});
    command.action([options] { return extract(*options); });
  }
  {
    auto files = std::make_shared<std::vector<std::string>>();
    Command &command = cli.command("merge", "Writes the tensors of several files to one.");
    command.positionals("FILE", *files, "The npz files; the last one is written.");
    command.examples({"npz_tool merge a.npz b.npz both.npz"});
    command.action([files] { return merge(*files); });
  }
  {
    auto options = std::make_shared<RenameOptions>();
    Command &command = cli.command("rename", "Gives a tensor another name, in place.");
    command.positional("FILE", options->file, "The npz file.");
    command.positional("OLD", options->from, "The name now.");
    command.positional("NEW", options->to, "The new name.");
    command.option("--output,-o", options->output, "Write this file, leave FILE as it is.")
        .label("FILE");
    command.action([options] { return rename(*options); });
  }
  {
    auto options = std::make_shared<TransposeOptions>();
    Command &command = cli.command("transpose", "Changes the order of axes, in place.");
    command.alias("tranpose");
    command.description("Tensors of another rank than the orders have letters stay as they are.");
    command.positional("FILE", options->file, "The npz file.");
    command.positional("FROM", options->from, "The order now, one letter per axis: nhwc.");
    command.positional("TO", options->to, "The new order: nchw.");
    command.option("--output,-o", options->output, "Write this file, leave FILE as it is.")
        .label("FILE");
    command.action([options] { return transpose(*options); });
  }
  {
    auto options = std::make_shared<FileOptions>();
    Command &command =
        cli.command("bf16_to_fp32", "Turns bfloat16 bits, stored as u16, into f32 values.");
    command.positional("INPUT", options->input, "The npz file.");
    command.positional("OUTPUT", options->output, "The npz file to write.");
    command.action([options] { return bf16ToFp32(*options); });
  }
  {
    auto options = std::make_shared<FromNpyOptions>();
    Command &command = cli.command("from_npy", "Writes npy files to an npz file.");
    command.positionals("FILE", options->files, "The npy files, then the npz file to write.");
    command
        .option("--names", options->names,
                "Names of the tensors; otherwise those of the files, without .npy.")
        .label("NAME,...");
    command.examples({"npz_tool from_npy a.npy b.npy both.npz --names x,y"});
    command.action([options] { return fromNpy(*options); });
  }
}

} // namespace tpuc::npztool

//===- ReadSample.cpp - The tensors of one sample from files ------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Preprocess/PictureInput.h"
#include "tpuc/Preprocess/Preprocess.h"
#include "tpuc/Support/Convert.h"
#include "tpuc/Support/Elements.h"
#include "tpuc/Support/MappedFile.h"
#include "tpuc/Support/Npz.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tpuc {

namespace {

/// `[1, ?, 224]`
std::string dimsText(std::span<const int64_t> dims) {
  std::vector<std::string> texts;
  for (int64_t dim : dims)
    texts.push_back(dim < 0 ? "?" : std::to_string(dim));
  return fmt::format("[{}]", fmt::join(texts, ", "));
}

/// `'a' f32 [1, 3], 'b' i64 [?]`; the first few of many.
std::string listed(const std::vector<std::string> &texts) {
  constexpr size_t kShown = 8;
  const auto end = texts.begin() + static_cast<ptrdiff_t>(std::min(texts.size(), kShown));
  std::string text = fmt::format("{}", fmt::join(texts.begin(), end, ", "));
  if (texts.size() > kShown)
    text += fmt::format(" and {} more", texts.size() - kShown);
  return text;
}

std::string describe(std::span<const InputSpec> inputs) {
  std::vector<std::string> texts;
  for (const InputSpec &input : inputs)
    texts.push_back(
        fmt::format("'{}' {} {}", input.name, dataTypeName(input.type), dimsText(input.dims)));
  return listed(texts);
}

std::string describe(const NpzReader &reader) {
  std::vector<std::string> texts;
  for (const std::string &name : reader.names()) {
    Expected<NpzEntry> entry = reader.info(name);
    texts.push_back(
        entry ? fmt::format("'{}' {} {}", name, dataTypeName(entry->type), entry->shape.str())
              : fmt::format("'{}'", name));
  }
  return texts.empty() ? "nothing" : listed(texts);
}

bool hasShape(const Shape &shape, std::span<const int64_t> dims) {
  return std::equal(shape.begin(), shape.end(), dims.begin(), dims.end(),
                    [](int64_t extent, int64_t dim) { return dim < 0 || extent == dim; });
}

/// The first element of the integer or bool tensor `array` that `type` cannot hold, as text.
std::optional<std::string> findOutOfRange(const Tensor &array, DataType type) {
  const IntegerRange from = integerRange(array.type());
  const IntegerRange to = integerRange(type);
  if (from.lowest >= to.lowest && from.highest <= to.highest)
    return std::nullopt;
  constexpr int64_t kBlock = 512;
  std::array<WideInteger, kBlock> values;
  for (int64_t first = 0; first < array.numElements(); first += kBlock) {
    const auto count = static_cast<size_t>(std::min(kBlock, array.numElements() - first));
    const std::span<WideInteger> block(values.data(), count);
    loadElements(array, first, block);
    for (WideInteger value : block)
      if (value < to.lowest || value > to.highest)
        return wideIntegerText(value);
  }
  return std::nullopt;
}

/// Errors: a shape that `input` has not.
Expected<void> checkShape(DataType type, const Shape &shape, const InputSpec &input,
                          const std::string &where) {
  if (!hasShape(shape, input.dims))
    return makeError(where, fmt::format("{} {}", dataTypeName(type), shape.str()),
                     fmt::format("shape {} for input '{}'", dimsText(input.dims), input.name));
  return {};
}

/// `array` with the type of `input`, whose shape it must have.
Expected<Tensor> arrayTensor(const Tensor &array, const InputSpec &input,
                             const std::string &where) {
  const std::string wanted = fmt::format("{} for input '{}'", dataTypeName(input.type), input.name);
  if (Expected<void> fits = checkShape(array.type(), array.shape(), input, where); !fits)
    return propagate(fits);
  if (isFloat(array.type()) != isFloat(input.type))
    return makeError(where, fmt::format("elements of type {}", dataTypeName(array.type())), wanted);
  if (!isFloat(array.type())) {
    if (std::optional<std::string> value = findOutOfRange(array, input.type))
      return makeError(where, fmt::format("{} element {}", dataTypeName(array.type()), *value),
                       "values of " + wanted);
  }
  return convert(array, input.type);
}

Expected<NamedTensors> readNpz(const std::string &path, std::span<const InputSpec> inputs,
                               std::string *note) {
  Expected<NpzReader> reader = NpzReader::open(path);
  if (!reader)
    return propagate(reader);
  const bool isOnly = inputs.size() == 1 && reader->names().size() == 1;
  NamedTensors tensors;
  for (const InputSpec &input : inputs) {
    const std::string &name = isOnly ? reader->names()[0] : input.name;
    if (!reader->contains(name))
      return makeError(path, fmt::format("holds no '{}', but {}", name, describe(*reader)),
                       "the inputs " + describe(inputs));
    if (name != input.name && note)
      *note = fmt::format("{}: the array '{}' is taken for the input '{}'", path, name, input.name);
    const std::string where = fmt::format("{}: '{}'", path, name);
    // Before the elements: a deflated array may be a thousand times as large as its file.
    Expected<NpzEntry> info = reader->info(name);
    if (!info)
      return propagate(info);
    if (Expected<void> fits = checkShape(info->type, info->shape, input, where); !fits)
      return propagate(fits);
    if (Expected<void> result = reader->verifyView(name); !result)
      return propagate(result);
    Expected<Tensor> array = reader->read(name);
    if (!array)
      return propagate(array);
    Expected<Tensor> tensor = arrayTensor(*array, input, where);
    if (!tensor)
      return propagate(tensor);
    tensors.emplace_back(input.name, *std::move(tensor));
  }
  return tensors;
}

/// The tensor of `input` from a picture or a .npy file.
Expected<Tensor> readOne(const std::string &path, std::shared_ptr<const MappedFile> file,
                         const InputSpec &input) {
  if (fileKind(file->bytes()) == FileKind::Picture)
    return pictureTensor(file->bytes(), input, path);
  const std::span<const std::byte> bytes = file->bytes();
  Expected<Tensor> array = parseNpy(bytes, std::move(file), path);
  if (!array)
    return array;
  return arrayTensor(*array, input, path);
}

} // namespace

FileKind fileKind(std::span<const std::byte> bytes) {
  const auto beginsWith = [bytes](std::string_view magic) {
    return bytes.size() >= magic.size() &&
           std::equal(magic.begin(), magic.end(), bytes.begin(),
                      [](char c, std::byte b) { return static_cast<std::byte>(c) == b; });
  };
  if (beginsWith("\x93NUMPY"))
    return FileKind::Npy;
  // An archive that begins with an entry, or one without any.
  if (beginsWith("PK\x03\x04") || beginsWith("PK\x05\x06"))
    return FileKind::Npz;
  return FileKind::Picture;
}

Expected<NamedTensors> readSample(std::span<const std::string> files,
                                  std::span<const InputSpec> inputs, std::string *note) {
  std::vector<std::shared_ptr<const MappedFile>> mapped;
  for (const std::string &path : files) {
    Expected<std::shared_ptr<const MappedFile>> file = MappedFile::open(path);
    if (!file)
      return propagate(file);
    if ((*file)->bytes().empty())
      return makeError(path, "is empty", "a .npy, .npz or picture file");
    if (fileKind((*file)->bytes()) == FileKind::Npz) {
      if (files.size() == 1)
        return readNpz(path, inputs, note);
      return makeError(path, "is an npz file among others",
                       "one npz file with all inputs, or a picture or .npy file for each");
    }
    mapped.push_back(*std::move(file));
  }
  if (files.size() != inputs.size())
    return makeError(
        fmt::format("{}", fmt::join(files, ",")),
        fmt::format("{} file{}", files.size(), files.size() == 1 ? "" : "s"),
        fmt::format("{}, for the inputs {}, or one npz file", inputs.size(), describe(inputs)));
  NamedTensors tensors;
  for (size_t i = 0; i < inputs.size(); ++i) {
    Expected<Tensor> tensor = readOne(files[i], std::move(mapped[i]), inputs[i]);
    if (!tensor)
      return propagate(tensor);
    tensors.emplace_back(inputs[i].name, *std::move(tensor));
  }
  return tensors;
}

} // namespace tpuc

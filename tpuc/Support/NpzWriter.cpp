//===- NpzWriter.cpp - Writes numpy's .npz files --------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "tpuc/Support/Crc32.h"
#include "tpuc/Support/Npz.h"
#include "tpuc/Support/ZipDirectory.h"

#include <algorithm>
#include <cassert>
#include <fmt/format.h>
#include <new>
#include <unordered_set>

namespace tpuc {

namespace {

constexpr std::string_view kSuffix = ".npy";

/// Bytes that the UTF-8 character at the beginning of `text` takes; 0 where there is none.
size_t utf8Length(std::string_view text) {
  auto first = static_cast<unsigned char>(text[0]);
  size_t length = first < 0x80 ? 1 : first >= 0xc2 && first < 0xe0 ? 2 : first >= 0xe0 ? 3 : 0;
  if (first >= 0xf0)
    length = first < 0xf5 ? 4 : 0;
  if (length > text.size())
    return 0;
  for (size_t i = 1; i < length; ++i)
    if ((static_cast<unsigned char>(text[i]) & 0xc0) != 0x80)
      return 0;
  if (length < 3)
    return length;
  // Longer than needed, a surrogate, beyond U+10FFFF.
  auto second = static_cast<unsigned char>(text[1]);
  bool bad = (first == 0xe0 && second < 0xa0) || (first == 0xed && second >= 0xa0) ||
             (first == 0xf0 && second < 0x90) || (first == 0xf4 && second >= 0x90);
  return bad ? 0 : length;
}

bool isUtf8(std::string_view text) {
  while (!text.empty()) {
    size_t length = utf8Length(text);
    if (length == 0)
      return false;
    text.remove_prefix(length);
  }
  return true;
}

} // namespace

struct NpzWriter::State {
  explicit State(OutputFile file) : file(std::move(file)) {}

  std::string placeOf(const std::string &name) const {
    constexpr size_t kShown = 200;
    return fmt::format("{}: '{}'", file.path(), name.substr(0, kShown));
  }
  Expected<void> checkName(const std::string &name) const;
  Expected<void> begin(const std::string &name, DataType type, const Shape &shape,
                       std::span<const std::byte> elements);

  OutputFile file;
  std::vector<ZipEntry> entries;
  std::unordered_set<std::string> names;
  /// Between beginTensor and endTensor: the last of `entries` is not complete.
  bool open = false;
  std::string current;
  uint64_t remaining = 0;
  uint32_t crc = 0;
};

Expected<void> NpzWriter::State::checkName(const std::string &name) const {
  std::string place = placeOf(name);
  if (name.empty() || name.ends_with('/'))
    return makeError(place, "is no name for a tensor", "a name that does not end in '/'");
  if (name.size() > kLongestZipName - kSuffix.size())
    return makeError(place, fmt::format("has a name of {} bytes", name.size()),
                     fmt::format("at most {}", kLongestZipName - kSuffix.size()));
  if (name.find('\0') != std::string::npos || !isUtf8(name))
    return makeError(place, "has a name that is not text", "UTF-8 without zero bytes");
  if (names.contains(name))
    return makeError(place, "is written twice", "each name once");
  return {};
}

NpzWriter::NpzWriter(std::unique_ptr<State> state) : state(std::move(state)) {}
NpzWriter::NpzWriter(NpzWriter &&) noexcept = default;
NpzWriter &NpzWriter::operator=(NpzWriter &&) noexcept = default;
NpzWriter::~NpzWriter() = default;

Expected<NpzWriter> NpzWriter::create(const std::string &path) {
  Expected<OutputFile> file = OutputFile::create(path);
  if (!file)
    return propagate(file);
  return NpzWriter(std::make_unique<State>(std::move(*file)));
}

/// `elements`, where they are known already, so that the header can be written with their CRC.
Expected<void> NpzWriter::State::begin(const std::string &name, DataType type, const Shape &shape,
                                       std::span<const std::byte> elements) {
  if (open)
    return makeError(placeOf(name), "begins", fmt::format("'{}' to be ended before", current));
  if (Expected<void> checked = checkName(name); !checked)
    return checked;
  if (npyType(type) != type)
    return makeError(placeOf(name), fmt::format("numpy has no type {}", dataTypeName(type)),
                     std::string(dataTypeName(npyType(type))));
  Expected<int64_t> count = checkedNumElements(shape.dims(), type, placeOf(name));
  if (!count)
    return propagate(count);

  std::string header = npyHeader(type, shape);
  uint32_t headerCrc = crc32(std::as_bytes(std::span(header)));
  remaining = static_cast<uint64_t>(byteSize(type, *count));
  ZipEntry entry;
  entry.name = name + std::string(kSuffix);
  entry.headerOffset = file.size();
  entry.compressedSize = entry.uncompressedSize = remaining + header.size();
  entry.crc = crc32(elements, headerCrc);
  if (Expected<void> written = file.write(zipLocalHeader(entry)); !written)
    return written;
  if (Expected<void> written = file.write(header); !written)
    return written;
  names.insert(name);
  entries.push_back(std::move(entry));
  open = true;
  current = name;
  crc = headerCrc;
  return {};
}

Expected<void> NpzWriter::beginTensor(const std::string &name, DataType type, const Shape &shape) {
  return state->begin(name, type, shape, {});
}

Expected<void> NpzWriter::append(std::span<const std::byte> bytes) {
  if (!state->open)
    return makeError(state->file.path(), "elements without a tensor that they belong to");
  if (bytes.size() > state->remaining)
    return makeError(
        state->placeOf(state->current),
        fmt::format("{} bytes more than its shape takes", bytes.size() - state->remaining));
  state->remaining -= bytes.size();
  state->crc = crc32(bytes, state->crc);
  return state->file.write(bytes);
}

Expected<void> NpzWriter::endTensor() {
  if (!state->open)
    return makeError(state->file.path(), "the end of a tensor that was not begun");
  if (state->remaining > 0)
    return makeError(state->placeOf(state->current),
                     fmt::format("{} bytes less than its shape takes", state->remaining));
  state->open = false;
  ZipEntry &entry = state->entries.back();
  if (entry.crc == state->crc)
    return {};
  entry.crc = state->crc;
  return state->file.overwrite(entry.headerOffset + kZipCrcOffset,
                               std::as_bytes(std::span(&entry.crc, 1)));
}

Expected<void> NpzWriter::add(const std::string &name, const Tensor &tensor) {
  try {
    Tensor wide = widenForNpz(tensor);
    std::span<const std::byte> elements = wide.rawBytes();
    if (Expected<void> begun = state->begin(name, wide.type(), wide.shape(), elements); !begun)
      return begun;
    if (Expected<void> written = state->file.write(elements); !written)
      return written;
    state->open = false;
    return {};
  } catch (const std::bad_alloc &) {
    return makeError(state->placeOf(name), "not enough memory to write the tensor");
  }
}

Expected<OutputFile> NpzWriter::finish() {
  if (state->open)
    return makeError(state->placeOf(state->current), "is not ended when the file is closed");
  std::string directory = zipDirectory(state->entries, state->file.size());
  if (Expected<void> written = state->file.write(directory); !written)
    return propagate(written);
  if (Expected<void> finished = state->file.finish(); !finished)
    return propagate(finished);
  return std::move(state->file);
}

Expected<void> NpzWriter::close() {
  Expected<OutputFile> file = finish();
  return file ? file->commit() : propagate(file);
}

} // namespace tpuc

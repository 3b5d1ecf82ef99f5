//===- NpzWriter.cpp - Writes numpy's .npz files --------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "tpuc/Support/Npz.h"
#include "tpuc/Support/OutputFile.h"

#include <algorithm>
#include <cassert>
#include <fmt/format.h>
#include <minizip/zip.h>
#include <new>
#include <unordered_set>
#include <zlib.h>

namespace tpuc {

namespace {

/// minizip's view of an OutputFile. The first error stays in the file and is fetched from there.
struct ZipOutput {
  OutputFile file;
  uint64_t position = 0;

  uLong write(std::span<const std::byte> bytes) {
    uint64_t end = file.size();
    auto inside = bytes.first(std::min<uint64_t>(bytes.size(), end - position));
    if (!inside.empty() && !file.overwrite(position, inside))
      return 0;
    if (!file.write(bytes.subspan(inside.size())))
      return 0;
    position += bytes.size();
    return static_cast<uLong>(bytes.size());
  }
};

ZipOutput &zipOutput(void *stream) { return *static_cast<ZipOutput *>(stream); }

zlib_filefunc64_def outputFunctions(ZipOutput &output) {
  zlib_filefunc64_def functions = {};
  functions.opaque = &output;
  functions.zopen64_file = [](void *opaque, const void *, int) { return opaque; };
  functions.zread_file = [](void *, void *, void *, uLong) -> uLong { return 0; };
  functions.zwrite_file = [](void *, void *stream, const void *bytes, uLong size) -> uLong {
    return zipOutput(stream).write({static_cast<const std::byte *>(bytes), size});
  };
  functions.ztell64_file = [](void *, void *stream) -> ZPOS64_T {
    return zipOutput(stream).position;
  };
  functions.zseek64_file = [](void *, void *stream, ZPOS64_T offset, int origin) -> long {
    ZipOutput &output = zipOutput(stream);
    uint64_t base = origin == ZLIB_FILEFUNC_SEEK_SET   ? 0
                    : origin == ZLIB_FILEFUNC_SEEK_CUR ? output.position
                                                       : output.file.size();
    if (base + offset > output.file.size())
      return -1;
    output.position = base + offset;
    return 0;
  };
  functions.zclose_file = [](void *, void *) { return 0; };
  functions.zerror_file = [](void *, void *) { return 0; };
  return functions;
}

constexpr size_t kAlignment = 64;
constexpr size_t kLocalHeaderSize = 30;
/// Identifier, length, and two sizes of 8 bytes: what minizip puts behind our own extra field.
constexpr size_t kZip64FieldSize = 20;
constexpr uint64_t kZip64From = 0xffffffff;
constexpr size_t kLongestName = 65000;

/// A local extra field so that data follows at a multiple of kAlignment. `offset` is where data
/// would begin without it. The field's identifier and layout are those of Android's zipalign:
/// 0xD935, length, alignment, zeros; all of 2 bytes but the zeros.
std::string alignmentField(uint64_t offset) {
  constexpr size_t kSmallest = 6;
  size_t size = kSmallest + (kAlignment - (offset + kSmallest) % kAlignment) % kAlignment;
  std::string field(size, '\0');
  field[0] = '\x35';
  field[1] = '\xd9';
  field[2] = static_cast<char>(size - 4);
  field[4] = static_cast<char>(kAlignment);
  return field;
}

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
  explicit State(OutputFile file) : output{std::move(file)} {}
  State(const State &) = delete;
  State &operator=(const State &) = delete;
  ~State() {
    if (zip)
      zipClose(zip, nullptr);
  }

  std::string placeOf(const std::string &name) const {
    return fmt::format("{}: '{}'", output.file.path(), name);
  }
  /// What minizip met: nearly always an error of the file, which the file still has.
  Expected<void> failure() {
    if (Expected<void> written = output.file.write(std::span<const std::byte>()); !written)
      return written;
    return makeError(output.file.path(), "the zip archive cannot be written");
  }
  Expected<void> checkName(const std::string &name) const;
  Expected<void> writeEntry(std::span<const std::byte> bytes);

  ZipOutput output;
  zipFile zip = nullptr;
  std::unordered_set<std::string> names;
  bool open = false;
  std::string current;
  uint64_t remaining = 0;
  uint64_t entrySize = 0;
  uint32_t crc = 0;
};

Expected<void> NpzWriter::State::checkName(const std::string &name) const {
  std::string place = placeOf(name.substr(0, 200));
  if (name.empty() || name.ends_with('/'))
    return makeError(place, "is no name for a tensor", "a name that does not end in '/'");
  if (name.size() > kLongestName)
    return makeError(place, fmt::format("has a name of {} bytes", name.size()),
                     fmt::format("at most {}", kLongestName));
  if (name.find('\0') != std::string::npos || !isUtf8(name))
    return makeError(place, "has a name that is not text", "UTF-8 without zero bytes");
  if (names.contains(name))
    return makeError(place, "is written twice", "each name once");
  return {};
}

Expected<void> NpzWriter::State::writeEntry(std::span<const std::byte> bytes) {
  constexpr size_t kPiece = size_t(1) << 20; // minizip takes 32-bit lengths
  crc = static_cast<uint32_t>(
      crc32_z(crc, reinterpret_cast<const Bytef *>(bytes.data()), bytes.size()));
  while (!bytes.empty()) {
    auto piece = bytes.first(std::min(bytes.size(), kPiece));
    if (zipWriteInFileInZip(zip, piece.data(), static_cast<unsigned>(piece.size())) != ZIP_OK)
      return failure();
    bytes = bytes.subspan(piece.size());
  }
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
  auto state = std::make_unique<State>(std::move(*file));
  zlib_filefunc64_def functions = outputFunctions(state->output);
  state->zip = zipOpen2_64(path.c_str(), APPEND_STATUS_CREATE, nullptr, &functions);
  if (!state->zip)
    return makeError(path, "not enough memory to write a zip archive");
  return NpzWriter(std::move(state));
}

Expected<void> NpzWriter::beginTensor(const std::string &name, DataType type, const Shape &shape) {
  if (state->open)
    return makeError(state->placeOf(name), "begins",
                     fmt::format("'{}' to be ended before", state->current));
  if (Expected<void> checked = state->checkName(name); !checked)
    return checked;
  if (npyType(type) != type)
    return makeError(state->placeOf(name), fmt::format("numpy has no type {}", dataTypeName(type)),
                     std::string(dataTypeName(npyType(type))));
  Expected<int64_t> count = checkedNumElements(shape.dims(), type, state->placeOf(name));
  if (!count)
    return propagate(count);

  std::string header = npyHeader(type, shape);
  state->remaining = static_cast<uint64_t>(byteSize(type, *count));
  state->entrySize = state->remaining + header.size();
  bool zip64 = state->entrySize >= kZip64From;
  std::string fileName = name + ".npy";
  std::string padding = alignmentField(state->output.position + kLocalHeaderSize + fileName.size() +
                                       (zip64 ? kZip64FieldSize : 0));
  zip_fileinfo info = {};
  info.dosDate = ((1U << 5) | 1U) << 16; // 1980-01-01, the first day that zip knows
  constexpr int kStored = 0;
  constexpr int kRaw = 1;
  constexpr unsigned kUtf8Name = 1U << 11;
  int status = zipOpenNewFileInZip4_64(state->zip, fileName.c_str(), &info, padding.data(),
                                       static_cast<uInt>(padding.size()), nullptr, 0, nullptr,
                                       kStored, 0, kRaw, -MAX_WBITS, DEF_MEM_LEVEL,
                                       Z_DEFAULT_STRATEGY, nullptr, 0, 0, kUtf8Name, zip64 ? 1 : 0);
  if (status != ZIP_OK)
    return state->failure();
  assert(state->output.position % kAlignment == 0);
  state->names.insert(name);
  state->open = true;
  state->current = name;
  state->crc = 0;
  return state->writeEntry(std::as_bytes(std::span(header)));
}

Expected<void> NpzWriter::append(std::span<const std::byte> bytes) {
  if (!state->open)
    return makeError(state->output.file.path(), "elements without a tensor that they belong to");
  if (bytes.size() > state->remaining)
    return makeError(
        state->placeOf(state->current),
        fmt::format("{} bytes more than its shape takes", bytes.size() - state->remaining));
  state->remaining -= bytes.size();
  return state->writeEntry(bytes);
}

Expected<void> NpzWriter::endTensor() {
  if (!state->open)
    return makeError(state->output.file.path(), "the end of a tensor that was not begun");
  if (state->remaining > 0)
    return makeError(state->placeOf(state->current),
                     fmt::format("{} bytes less than its shape takes", state->remaining));
  state->open = false;
  if (zipCloseFileInZipRaw64(state->zip, state->entrySize, state->crc) != ZIP_OK)
    return state->failure();
  return {};
}

Expected<void> NpzWriter::add(const std::string &name, const Tensor &tensor) {
  try {
    Tensor wide = widenForNpz(tensor);
    if (Expected<void> begun = beginTensor(name, wide.type(), wide.shape()); !begun)
      return begun;
    if (Expected<void> appended = append(wide.rawBytes()); !appended)
      return appended;
    return endTensor();
  } catch (const std::bad_alloc &) {
    return makeError(state->placeOf(name), "not enough memory to write the tensor");
  }
}

Expected<void> NpzWriter::close() {
  if (state->open)
    return makeError(state->placeOf(state->current), "is not ended when the file is closed");
  if (zipClose(std::exchange(state->zip, nullptr), nullptr) != ZIP_OK)
    return state->failure();
  return state->output.file.commit();
}

} // namespace tpuc

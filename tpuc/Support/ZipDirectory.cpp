//===- ZipDirectory.cpp - What is in a zip archive ------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "tpuc/Support/ZipDirectory.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstring>
#include <fmt/format.h>
#include <numeric>
#include <string_view>

namespace tpuc {

namespace {

using Bytes = std::span<const std::byte>;

static_assert(std::endian::native == std::endian::little, "the format's order of bytes");

/// The number at `offset`; the caller knows that it is inside.
template <typename T> T number(Bytes bytes, size_t offset) {
  T value = 0;
  std::memcpy(&value, &bytes[offset], sizeof(T));
  return value;
}

bool hasMagic(Bytes bytes, uint64_t offset, uint32_t magic) {
  return offset <= bytes.size() && bytes.size() - offset >= sizeof(magic) &&
         number<uint32_t>(bytes, offset) == magic;
}

constexpr uint32_t kLocalMagic = 0x04034b50;
constexpr uint32_t kCentralMagic = 0x02014b50;
constexpr uint32_t kEndMagic = 0x06054b50;
constexpr uint32_t kEnd64Magic = 0x06064b50;
constexpr uint32_t kLocator64Magic = 0x07064b50;

constexpr size_t kLocalSize = 30;
constexpr size_t kCentralSize = 46;
constexpr size_t kEndSize = 22;
constexpr size_t kEnd64Size = 56;
constexpr size_t kLocator64Size = 20;

constexpr uint16_t kSaturated16 = 0xffff;
constexpr uint32_t kSaturated32 = 0xffffffff;
constexpr uint16_t kZip64Field = 1;

struct Directory {
  uint64_t count = 0;
  uint64_t begin = 0;
  uint64_t size = 0;
};

class DirectoryReader {
public:
  DirectoryReader(Bytes bytes, const std::string &place) : bytes(bytes), place(place) {}

  Expected<std::vector<ZipEntry>> read();

private:
  tl::unexpected<Error> damaged(std::string_view what) const {
    return makeError(place, fmt::format("the zip archive is truncated or damaged: {}", what));
  }
  Expected<uint64_t> findEnd() const;
  Expected<Directory> findDirectory() const;
  Expected<void> readSizes64(ZipEntry &entry, Bytes header, Bytes extra) const;
  Expected<void> locateData(ZipEntry &entry, uint64_t directoryBegin) const;
  Expected<void> checkOverlaps(const std::vector<ZipEntry> &entries) const;

  Bytes bytes;
  const std::string &place;
};

/// The record at the end of the archive. Behind it may stand a comment of known length.
Expected<uint64_t> DirectoryReader::findEnd() const {
  constexpr size_t kLongestComment = 0xffff;
  constexpr size_t kCommentLength = 20;
  if (bytes.size() >= kEndSize) {
    size_t last = bytes.size() - kEndSize;
    size_t first = last - std::min(last, kLongestComment);
    for (size_t at = last + 1; at-- > first;)
      if (hasMagic(bytes, at, kEndMagic) &&
          number<uint16_t>(bytes, at + kCommentLength) == last - at)
        return at;
  }
  return damaged("it has no directory at its end");
}

Expected<Directory> DirectoryReader::findDirectory() const {
  Expected<uint64_t> end = findEnd();
  if (!end)
    return propagate(end);
  uint64_t directoryEnd = *end;
  bool oneDisk = number<uint16_t>(bytes, *end + 4) == number<uint16_t>(bytes, *end + 6) &&
                 number<uint16_t>(bytes, *end + 8) == number<uint16_t>(bytes, *end + 10);
  Directory directory{number<uint16_t>(bytes, *end + 10), number<uint32_t>(bytes, *end + 16),
                      number<uint32_t>(bytes, *end + 12)};
  if (*end >= kLocator64Size && hasMagic(bytes, *end - kLocator64Size, kLocator64Magic)) {
    uint64_t locator = *end - kLocator64Size;
    auto at = number<uint64_t>(bytes, locator + 8);
    if (at > locator || locator - at < kEnd64Size || !hasMagic(bytes, at, kEnd64Magic))
      return damaged("its zip64 directory is not where it says");
    directory = {number<uint64_t>(bytes, at + 32), number<uint64_t>(bytes, at + 48),
                 number<uint64_t>(bytes, at + 40)};
    oneDisk = number<uint32_t>(bytes, at + 16) == 0 && number<uint32_t>(bytes, at + 20) == 0 &&
              number<uint64_t>(bytes, at + 24) == directory.count;
    directoryEnd = at;
  } else if (directory.begin == kSaturated32) {
    return damaged("its zip64 directory is missing");
  }
  if (!oneDisk)
    return makeError(place, "is one part of a zip archive that is split", "a whole archive");
  if (directory.size > directoryEnd || directory.begin != directoryEnd - directory.size)
    return damaged("its directory is not where it says");
  return directory;
}

/// Sizes and offset that do not fit in 32 bits stand in an extra field, in this order.
Expected<void> DirectoryReader::readSizes64(ZipEntry &entry, Bytes header, Bytes extra) const {
  constexpr size_t kFieldHeader = 4;
  entry.compressedSize = number<uint32_t>(header, 20);
  entry.uncompressedSize = number<uint32_t>(header, 24);
  entry.headerOffset = number<uint32_t>(header, 42);
  Bytes values;
  while (extra.size() >= kFieldHeader) {
    auto id = number<uint16_t>(extra, 0);
    size_t size = std::min<size_t>(number<uint16_t>(extra, 2), extra.size() - kFieldHeader);
    if (id == kZip64Field)
      values = extra.subspan(kFieldHeader, size);
    extra = extra.subspan(kFieldHeader + size);
  }
  for (uint64_t *value : {&entry.uncompressedSize, &entry.compressedSize, &entry.headerOffset}) {
    if (*value != kSaturated32)
      continue;
    if (values.size() < sizeof(uint64_t))
      return damaged(fmt::format("the zip64 sizes of '{}' are missing", entry.name));
    *value = number<uint64_t>(values, 0);
    values = values.subspan(sizeof(uint64_t));
  }
  return {};
}

Expected<void> DirectoryReader::locateData(ZipEntry &entry, uint64_t directoryBegin) const {
  uint64_t offset = entry.headerOffset;
  Bytes rest = bytes.first(directoryBegin);
  if (!hasMagic(rest, offset, kLocalMagic) || rest.size() - offset < kLocalSize)
    return damaged(fmt::format("'{}' is not where its directory says", entry.name));
  rest = rest.subspan(offset);
  size_t nameSize = number<uint16_t>(rest, 26);
  size_t start = kLocalSize + nameSize + number<uint16_t>(rest, 28);
  if (start > rest.size() || entry.compressedSize > rest.size() - start)
    return damaged(fmt::format("'{}' reaches beyond its end", entry.name));
  if (nameSize != entry.name.size() ||
      !std::equal(entry.name.begin(), entry.name.end(), rest.begin() + kLocalSize,
                  [](char a, std::byte b) { return std::byte(a) == b; }))
    return damaged(fmt::format("'{}' has another name in its directory", entry.name));
  entry.dataOffset = offset + start;
  return {};
}

/// Overlaps are how small archives unpack to endless ones.
Expected<void> DirectoryReader::checkOverlaps(const std::vector<ZipEntry> &entries) const {
  std::vector<const ZipEntry *> order;
  order.reserve(entries.size());
  for (const ZipEntry &entry : entries)
    order.push_back(&entry);
  std::sort(order.begin(), order.end(),
            [](const ZipEntry *a, const ZipEntry *b) { return a->headerOffset < b->headerOffset; });
  for (size_t i = 1; i < order.size(); ++i)
    if (order[i]->headerOffset < order[i - 1]->dataOffset + order[i - 1]->compressedSize)
      return damaged(fmt::format("'{}' overlaps '{}'", order[i]->name, order[i - 1]->name));
  return {};
}

Expected<std::vector<ZipEntry>> DirectoryReader::read() {
  Expected<Directory> directory = findDirectory();
  if (!directory)
    return propagate(directory);
  constexpr unsigned kEncrypted = 1;
  std::vector<ZipEntry> entries;
  Bytes rest = bytes.subspan(directory->begin, directory->size);
  while (!rest.empty()) {
    if (!hasMagic(rest, 0, kCentralMagic) || rest.size() < kCentralSize)
      return damaged(fmt::format("its directory breaks off after {} entries", entries.size()));
    size_t nameSize = number<uint16_t>(rest, 28);
    size_t extraSize = number<uint16_t>(rest, 30);
    size_t size = kCentralSize + nameSize + extraSize + number<uint16_t>(rest, 32);
    if (size > rest.size())
      return damaged(fmt::format("its directory breaks off in entry {}", entries.size()));
    ZipEntry entry;
    entry.name.assign(reinterpret_cast<const char *>(&rest[kCentralSize - 1]) + 1, nameSize);
    entry.encrypted = (number<uint16_t>(rest, 8) & kEncrypted) != 0;
    entry.method = number<uint16_t>(rest, 10);
    entry.crc = number<uint32_t>(rest, 16);
    if (Expected<void> sizes =
            readSizes64(entry, rest, rest.subspan(kCentralSize + nameSize, extraSize));
        !sizes)
      return propagate(sizes);
    if (Expected<void> located = locateData(entry, directory->begin); !located)
      return propagate(located);
    entries.push_back(std::move(entry));
    rest = rest.subspan(size);
  }
  if (entries.size() != directory->count)
    return damaged(fmt::format("its directory has {} entries, not {} as it says", entries.size(),
                               directory->count));
  if (Expected<void> checked = checkOverlaps(entries); !checked)
    return propagate(checked);
  return entries;
}

} // namespace

Expected<std::vector<ZipEntry>> readZipDirectory(std::span<const std::byte> bytes,
                                                 const std::string &place) {
  return DirectoryReader(bytes, place).read();
}

namespace {

constexpr uint16_t kVersion = 20;   // 2.0: the oldest that anybody writes
constexpr uint16_t kVersion64 = 45; // 4.5: zip64
constexpr uint16_t kUtf8Flag = 1 << 11;
constexpr uint16_t kTime = 0;
constexpr uint16_t kDate = (1 << 5) | 1;

template <typename T> void put(std::string &text, T value) {
  text.append(reinterpret_cast<const char *>(&value), sizeof(T));
}

uint32_t saturate(uint64_t value) {
  return static_cast<uint32_t>(std::min<uint64_t>(value, kSaturated32));
}

/// What local and central headers share: from the flags to the length of the name.
void putCommon(std::string &text, const ZipEntry &entry) {
  put<uint16_t>(text, kUtf8Flag);
  put<uint16_t>(text, kZipStored);
  put<uint16_t>(text, kTime);
  put<uint16_t>(text, kDate);
  put<uint32_t>(text, entry.crc);
  put<uint32_t>(text, saturate(entry.compressedSize));
  put<uint32_t>(text, saturate(entry.uncompressedSize));
  put<uint16_t>(text, static_cast<uint16_t>(entry.name.size()));
}

/// The extra field with what does not fit in 32 bits; empty if everything does. The header of an
/// entry has no offset, and needs both sizes.
std::string zip64Field(const ZipEntry &entry, bool withOffset) {
  std::string values;
  if (entry.uncompressedSize >= kSaturated32) {
    put<uint64_t>(values, entry.uncompressedSize);
    put<uint64_t>(values, entry.compressedSize);
  }
  if (withOffset && entry.headerOffset >= kSaturated32)
    put<uint64_t>(values, entry.headerOffset);
  if (values.empty())
    return values;
  std::string field;
  put<uint16_t>(field, kZip64Field);
  put<uint16_t>(field, static_cast<uint16_t>(values.size()));
  return field + values;
}

/// An extra field after which data that would begin at `offset` begins at a multiple of 64. Its
/// identifier and layout are those of Android's zipalign: 0xD935, length, alignment, zeros; all of
/// 2 bytes but the zeros.
std::string alignmentField(uint64_t offset) {
  constexpr size_t kAlignment = 64;
  constexpr size_t kSmallest = 6;
  constexpr size_t kFieldHeader = 4;
  size_t padding = (kAlignment - (offset + kSmallest) % kAlignment) % kAlignment;
  std::string field;
  put<uint16_t>(field, 0xd935);
  put<uint16_t>(field, static_cast<uint16_t>(kSmallest + padding - kFieldHeader));
  put<uint16_t>(field, kAlignment);
  return field + std::string(padding, '\0');
}

void putEnd(std::string &text, uint64_t count, uint64_t size, uint64_t begin) {
  bool large = count >= kSaturated16 || size >= kSaturated32 || begin >= kSaturated32;
  if (large) {
    uint64_t end = begin + size;
    put<uint32_t>(text, kEnd64Magic);
    put<uint64_t>(text, kEnd64Size - 12); // of what follows this number
    put<uint16_t>(text, kVersion64);
    put<uint16_t>(text, kVersion64);
    put<uint32_t>(text, 0);
    put<uint32_t>(text, 0);
    put<uint64_t>(text, count);
    put<uint64_t>(text, count);
    put<uint64_t>(text, size);
    put<uint64_t>(text, begin);
    put<uint32_t>(text, kLocator64Magic);
    put<uint32_t>(text, 0);
    put<uint64_t>(text, end);
    put<uint32_t>(text, 1);
  }
  auto shortCount = static_cast<uint16_t>(std::min<uint64_t>(count, kSaturated16));
  put<uint32_t>(text, kEndMagic);
  put<uint16_t>(text, 0);
  put<uint16_t>(text, 0);
  put<uint16_t>(text, shortCount);
  put<uint16_t>(text, shortCount);
  put<uint32_t>(text, saturate(size));
  put<uint32_t>(text, saturate(begin));
  put<uint16_t>(text, 0);
}

} // namespace

std::string zipLocalHeader(ZipEntry &entry) {
  assert(entry.name.size() <= kLongestZipName && entry.compressedSize == entry.uncompressedSize);
  std::string extra = zip64Field(entry, /*withOffset=*/false);
  std::string header;
  put<uint32_t>(header, kLocalMagic);
  put<uint16_t>(header, extra.empty() ? kVersion : kVersion64);
  putCommon(header, entry);
  extra += alignmentField(entry.headerOffset + kLocalSize + entry.name.size() + extra.size());
  put<uint16_t>(header, static_cast<uint16_t>(extra.size()));
  header += entry.name;
  header += extra;
  entry.dataOffset = entry.headerOffset + header.size();
  return header;
}

std::string zipDirectory(std::span<const ZipEntry> entries, uint64_t begin) {
  std::string text;
  for (const ZipEntry &entry : entries) {
    std::string extra = zip64Field(entry, /*withOffset=*/true);
    uint16_t version = extra.empty() ? kVersion : kVersion64;
    put<uint32_t>(text, kCentralMagic);
    put<uint16_t>(text, version);
    put<uint16_t>(text, version);
    putCommon(text, entry);
    put<uint16_t>(text, static_cast<uint16_t>(extra.size()));
    put<uint16_t>(text, 0); // comment
    put<uint16_t>(text, 0); // disk
    put<uint16_t>(text, 0); // internal attributes
    put<uint32_t>(text, 0); // external attributes
    put<uint32_t>(text, saturate(entry.headerOffset));
    text += entry.name;
    text += extra;
  }
  putEnd(text, entries.size(), text.size(), begin);
  return text;
}

} // namespace tpuc

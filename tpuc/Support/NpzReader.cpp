//===- NpzReader.cpp - Reads numpy's .npz files ---------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "tpuc/Support/Crc32.h"
#include "tpuc/Support/Inflater.h"
#include "tpuc/Support/MappedFile.h"
#include "tpuc/Support/Npz.h"
#include "tpuc/Support/Suggest.h"
#include "tpuc/Support/ZipDirectory.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <new>

namespace tpuc {

namespace {

bool startsWith(std::span<const std::byte> bytes, std::string_view magic) {
  return bytes.size() >= magic.size() && std::memcmp(bytes.data(), magic.data(), magic.size()) == 0;
}

constexpr std::string_view kLocalHeader = "PK\x03\x04";
constexpr std::string_view kEndOfDirectory = "PK\x05\x06";

/// Says what the file is instead, where that is easily seen.
Expected<void> checkBeginning(std::span<const std::byte> bytes, const std::string &place) {
  if (startsWith(bytes, kLocalHeader) || startsWith(bytes, kEndOfDirectory))
    return {};
  std::string found = bytes.empty() ? "is empty" : "is not an npz file";
  if (startsWith(bytes, "\x93NUMPY"))
    found = "is a single .npy array, not an npz file";
  return makeError(place, found, "a zip archive of .npy files");
}

tl::unexpected<Error> wrongCrc(const std::string &place, uint32_t found, uint32_t expected) {
  return makeError(place, fmt::format("is damaged: CRC {:08x}", found),
                   fmt::format("{:08x}", expected));
}

tl::unexpected<Error> damagedStream(const std::string &place) {
  return makeError(place, "is damaged: its compressed data does not give the size that the "
                          "directory says");
}

/// The names nearest to `wanted`, best first; all of them where they are few.
std::string nearestNames(const std::vector<std::string> &names, std::string_view wanted) {
  constexpr size_t kFew = 5;
  constexpr size_t kLongest = 200;
  if (names.empty())
    return "nothing: the file holds no tensor";
  std::vector<std::pair<size_t, size_t>> ranked;
  ranked.reserve(names.size());
  for (size_t i = 0; i < names.size(); ++i)
    ranked.emplace_back(
        editDistance(std::string_view(names[i]).substr(0, kLongest), wanted.substr(0, kLongest)),
        i);
  size_t shown = std::min(kFew, ranked.size());
  std::partial_sort(ranked.begin(), ranked.begin() + static_cast<ptrdiff_t>(shown), ranked.end());
  std::vector<std::string> quoted;
  quoted.reserve(shown);
  for (size_t i = 0; i < shown; ++i)
    quoted.push_back(fmt::format("'{}'", names[ranked[i].second].substr(0, kLongest)));
  std::string rest =
      names.size() > shown ? fmt::format(" or one of {} others", names.size() - shown) : "";
  return fmt::format("{}{}", fmt::join(quoted, ", "), rest);
}

} // namespace

Expected<NpzReader> NpzReader::open(const std::string &path) {
  Expected<std::shared_ptr<const MappedFile>> file = MappedFile::open(path);
  if (!file)
    return propagate(file);
  return fromMemory((*file)->bytes(), *file, path);
}

Expected<NpzReader> NpzReader::fromMemory(std::span<const std::byte> bytes,
                                          std::shared_ptr<const void> owner,
                                          const std::string &where) {
  try {
    NpzReader reader;
    reader.place = where;
    reader.bytes = bytes;
    reader.owner = std::move(owner);
    if (Expected<void> read = reader.readDirectory(); !read)
      return propagate(read);
    return reader;
  } catch (const std::bad_alloc &) {
    return makeError(where, "not enough memory to read the directory of the archive");
  }
}

Expected<void> NpzReader::readDirectory() {
  if (Expected<void> checked = checkBeginning(bytes, place); !checked)
    return checked;
  Expected<std::vector<ZipEntry>> directory = readZipDirectory(bytes, place);
  if (!directory)
    return propagate(directory);
  for (const ZipEntry &entry : *directory)
    if (Expected<void> added = addEntry(entry); !added)
      return added;
  return {};
}

Expected<void> NpzReader::addEntry(const ZipEntry &entry) {
  constexpr std::string_view kSuffix = ".npy";
  std::string name = entry.name;
  std::string entryPlace = placeOf(name);
  if (name.ends_with('/'))
    return makeError(entryPlace, "is a directory in the archive", "nothing but .npy files");
  if (name.find('\0') != std::string::npos)
    return makeError(entryPlace, "has a zero byte in its name");
  if (entry.encrypted)
    return makeError(entryPlace, "is encrypted", "an archive without a password");
  if (entry.method != kZipStored && entry.method != kZipDeflated)
    return makeError(entryPlace, fmt::format("has compression method {}", entry.method),
                     "0 (stored) or 8 (deflated)");
  bool compressed = entry.method == kZipDeflated;
  if (!compressed && entry.compressedSize != entry.uncompressedSize)
    return makeError(entryPlace, fmt::format("is stored, but its sizes differ: {} and {}",
                                             entry.compressedSize, entry.uncompressedSize));
  // The compressed size is one of real bytes, so this bounds all that is allocated later.
  if (compressed && entry.uncompressedSize / kMostInflatedPerByte > entry.compressedSize)
    return makeError(entryPlace,
                     fmt::format("claims to inflate {} bytes to {}", entry.compressedSize,
                                 entry.uncompressedSize),
                     fmt::format("at most {} times as many", kMostInflatedPerByte));
  if (name.ends_with(kSuffix))
    name.resize(name.size() - kSuffix.size());
  if (!indexOf.emplace(name, entries.size()).second)
    return makeError(placeOf(name), "is in the archive twice");
  nameList.push_back(std::move(name));
  directoryOffset = std::max(directoryOffset, entry.dataOffset + entry.compressedSize);
  entries.push_back(
      {entry.dataOffset, entry.compressedSize, entry.uncompressedSize, entry.crc, compressed});
  return {};
}

bool NpzReader::contains(std::string_view name) const {
  return indexOf.contains(std::string(name));
}

std::string NpzReader::placeOf(std::string_view name) const {
  return fmt::format("{}: '{}'", place, name);
}

Expected<const NpzReader::Entry *> NpzReader::find(std::string_view name) const {
  auto found = indexOf.find(std::string(name));
  if (found == indexOf.end())
    return makeError(place, fmt::format("holds no tensor '{}'", name),
                     nearestNames(nameList, name));
  return &entries[found->second];
}

std::span<const std::byte> NpzReader::rawBytes(const Entry &entry) const {
  return bytes.subspan(entry.dataOffset, entry.compressedSize);
}

Expected<NpyHeader> NpzReader::readHeader(const Entry &entry, const std::string &entryPlace) const {
  std::vector<std::byte> inflated;
  std::span<const std::byte> head = rawBytes(entry);
  if (entry.compressed) {
    inflated.resize(std::min<uint64_t>(entry.uncompressedSize, kMaxNpyHeader));
    inflated.resize(Inflater(head).read(inflated));
    head = inflated;
  }
  Expected<NpyHeader> header = parseNpyHeader(head, entryPlace);
  if (!header)
    return header;
  uint64_t dataBytes = entry.uncompressedSize - header->dataOffset;
  if (header->dataOffset > entry.uncompressedSize || header->dataBytes != dataBytes)
    return makeError(entryPlace,
                     fmt::format("takes {} bytes in the archive", entry.uncompressedSize),
                     fmt::format("{} for shape {} of {}", header->dataBytes + header->dataOffset,
                                 header->shape.str(), dataTypeName(header->type)));
  return header;
}

Expected<NpzEntry> NpzReader::info(std::string_view name) const {
  Expected<const Entry *> entry = find(name);
  if (!entry)
    return propagate(entry);
  try {
    Expected<NpyHeader> header = readHeader(**entry, placeOf(name));
    if (!header)
      return propagate(header);
    bool compressed = (*entry)->compressed;
    const std::byte *data = compressed ? nullptr : &rawBytes(**entry)[header->dataOffset];
    return NpzEntry{header->type, header->shape, compressed,
                    !compressed && isBorrowable(*header, data), (*entry)->compressedSize};
  } catch (const std::bad_alloc &) {
    return makeError(placeOf(name), "not enough memory to read the header");
  }
}

Expected<Tensor> NpzReader::readStored(const Entry &entry, const NpyHeader &header,
                                       const std::string &entryPlace) const {
  std::span<const std::byte> raw = rawBytes(entry);
  Expected<Tensor> tensor = parseNpy(raw, owner, entryPlace);
  if (tensor && tensor->isWritable())
    if (uint32_t crc = crc32(raw); crc != entry.crc)
      return wrongCrc(entryPlace, crc, entry.crc);
  return tensor;
}

Expected<Tensor> NpzReader::readCompressed(const Entry &entry, const NpyHeader &header,
                                           const std::string &entryPlace) const {
  Inflater inflater(rawBytes(entry));
  std::vector<std::byte> head(header.dataOffset);
  Expected<Tensor> tensor = Tensor::create(header.type, header.shape.dims(), entryPlace);
  if (!tensor)
    return tensor;
  std::span<std::byte> elements = tensor->mutableBytes();
  if (inflater.read(head) != head.size() || inflater.read(elements) != elements.size() ||
      !inflater.isWhole())
    return damagedStream(entryPlace);
  if (inflater.crc() != entry.crc)
    return wrongCrc(entryPlace, inflater.crc(), entry.crc);
  bool plain = isBorrowable(header, elements.data()) && header.type != DataType::Bool;
  return plain ? tensor : decodeNpyData(header, elements, entryPlace);
}

Expected<Tensor> NpzReader::read(std::string_view name) const {
  Expected<const Entry *> entry = find(name);
  if (!entry)
    return propagate(entry);
  std::string entryPlace = placeOf(name);
  try {
    Expected<NpyHeader> header = readHeader(**entry, entryPlace);
    if (!header)
      return propagate(header);
    return (*entry)->compressed ? readCompressed(**entry, *header, entryPlace)
                                : readStored(**entry, *header, entryPlace);
  } catch (const std::bad_alloc &) {
    return makeError(entryPlace, "not enough memory to read the tensor");
  }
}

Expected<void> NpzReader::verify(std::string_view name) const {
  Expected<const Entry *> entry = find(name);
  if (!entry)
    return propagate(entry);
  uint32_t crc = 0;
  if ((*entry)->compressed) {
    Inflater inflater(rawBytes(**entry));
    constexpr size_t kPiece = size_t(64) << 10;
    std::vector<std::byte> piece(kPiece);
    uint64_t left = (*entry)->uncompressedSize;
    while (left > 0) {
      auto wanted = std::span(piece).first(std::min<uint64_t>(left, kPiece));
      if (inflater.read(wanted) != wanted.size())
        return damagedStream(placeOf(name));
      left -= wanted.size();
    }
    if (!inflater.isWhole())
      return damagedStream(placeOf(name));
    crc = inflater.crc();
  } else {
    crc = crc32(rawBytes(**entry));
  }
  if (crc != (*entry)->crc)
    return wrongCrc(placeOf(name), crc, (*entry)->crc);
  return {};
}

Expected<void> NpzReader::verifyView(std::string_view name) const {
  Expected<NpzEntry> entry = info(name);
  if (!entry)
    return propagate(entry);
  return entry->borrowable ? verify(name) : Expected<void>();
}

Expected<void> NpzReader::verify() const {
  for (const std::string &name : nameList)
    if (Expected<void> verified = verify(name); !verified)
      return verified;
  return {};
}

std::span<const std::byte> NpzReader::directory() const { return bytes.subspan(directoryOffset); }

} // namespace tpuc

//===- NpzReader.cpp - Reads numpy's .npz files ---------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "tpuc/Support/Inflater.h"
#include "tpuc/Support/MappedFile.h"
#include "tpuc/Support/Npz.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <minizip/unzip.h>
#include <new>
#include <numeric>
#include <zlib.h>

namespace tpuc {

namespace {

constexpr size_t kCentralHeaderSize = 46;
constexpr size_t kLocalHeaderSize = 30;
constexpr unsigned kStored = 0;
constexpr unsigned kDeflated = 8;
constexpr unsigned kFlagEncrypted = 1;

/// minizip's view of bytes in memory.
struct MemoryFile {
  std::span<const std::byte> bytes;
  uint64_t position = 0;
};

MemoryFile &memoryFile(void *opaque) { return *static_cast<MemoryFile *>(opaque); }

zlib_filefunc64_def memoryFunctions(MemoryFile &file) {
  zlib_filefunc64_def functions = {};
  functions.opaque = &file;
  functions.zopen64_file = [](void *opaque, const void *, int) { return opaque; };
  functions.zread_file = [](void *, void *stream, void *buffer, uLong size) -> uLong {
    MemoryFile &file = memoryFile(stream);
    uLong count = std::min<uLong>(size, file.bytes.size() - file.position);
    if (count > 0)
      std::memcpy(buffer, file.bytes.data() + file.position, count);
    file.position += count;
    return count;
  };
  functions.ztell64_file = [](void *, void *stream) -> ZPOS64_T {
    return memoryFile(stream).position;
  };
  functions.zseek64_file = [](void *, void *stream, ZPOS64_T offset, int origin) -> long {
    MemoryFile &file = memoryFile(stream);
    uint64_t base = origin == ZLIB_FILEFUNC_SEEK_SET   ? 0
                    : origin == ZLIB_FILEFUNC_SEEK_CUR ? file.position
                                                       : file.bytes.size();
    uint64_t target = 0;
    if (__builtin_add_overflow(base, offset, &target) || target > file.bytes.size())
      return -1;
    file.position = target;
    return 0;
  };
  functions.zclose_file = [](void *, void *) { return 0; };
  functions.zerror_file = [](void *, void *) { return 0; };
  return functions;
}

bool startsWith(std::span<const std::byte> bytes, std::string_view magic) {
  return bytes.size() >= magic.size() && std::memcmp(bytes.data(), magic.data(), magic.size()) == 0;
}

constexpr std::string_view kLocalHeader = "PK\x03\x04";
constexpr std::string_view kEndOfDirectory = "PK\x05\x06";
constexpr std::string_view kEndOfDirectory64 = "PK\x06\x06";

/// Says what the file is instead, where that is easily seen.
Expected<void> checkBeginning(std::span<const std::byte> bytes, const std::string &place) {
  if (startsWith(bytes, kLocalHeader) || startsWith(bytes, kEndOfDirectory))
    return {};
  std::string found = bytes.empty() ? "is empty" : "is not an npz file";
  if (startsWith(bytes, "\x93NUMPY"))
    found = "is a single .npy array, not an npz file";
  return makeError(place, found, "a zip archive of .npy files");
}

uint32_t crcOf(std::span<const std::byte> bytes) {
  return static_cast<uint32_t>(
      crc32_z(0, reinterpret_cast<const Bytef *>(bytes.data()), bytes.size()));
}

tl::unexpected<Error> wrongCrc(const std::string &place, uint32_t found, uint32_t expected) {
  return makeError(place, fmt::format("is damaged: CRC {:08x}", found),
                   fmt::format("{:08x}", expected));
}

tl::unexpected<Error> damagedStream(const std::string &place) {
  return makeError(place, "is damaged: its compressed data does not give the size that the "
                          "directory says");
}

/// Insertions, deletions and replacements that turn `a` into `b`.
size_t editDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i + 1);
    for (size_t j = 0; j < b.size(); ++j) {
      size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, diagonal + 1, row[j] + 1});
    }
  }
  return row.back();
}

/// The names nearest to `wanted`, best first; all of them where they are few.
std::string nearestNames(const std::vector<std::string> &names, std::string_view wanted) {
  constexpr size_t kFew = 5;
  constexpr size_t kLongest = 200;
  if (names.empty())
    return "nothing: the file holds no tensor";
  std::vector<std::pair<size_t, size_t>> ranked;
  for (size_t i = 0; i < names.size(); ++i)
    ranked.emplace_back(
        editDistance(std::string_view(names[i]).substr(0, kLongest), wanted.substr(0, kLongest)),
        i);
  size_t shown = std::min(kFew, ranked.size());
  std::partial_sort(ranked.begin(), ranked.begin() + static_cast<ptrdiff_t>(shown), ranked.end());
  std::vector<std::string> quoted;
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
    if (Expected<void> checked = reader.checkPlaces(); !checked)
      return propagate(checked);
    return reader;
  } catch (const std::bad_alloc &) {
    return makeError(where, "not enough memory to read the directory of the archive");
  }
}

/// minizip finds and walks the directory, resolves zip64 and gives where each entry's data begins.
/// It trusts what it reads in several ways, so from there on everything is checked here, and the
/// entries are read from the mapped bytes without it: it would copy stored data, it has one
/// position for all threads, and it looks entries up by names cut at 256 bytes.
Expected<void> NpzReader::readDirectory() {
  if (Expected<void> checked = checkBeginning(bytes, place); !checked)
    return checked;
  MemoryFile file{bytes};
  zlib_filefunc64_def functions = memoryFunctions(file);
  std::unique_ptr<void, int (*)(unzFile)> zip(unzOpen2_64(place.c_str(), &functions), unzClose);
  const auto damaged = [this](std::string_view what) {
    return makeError(place, fmt::format("the zip archive is truncated or damaged: {}", what));
  };
  unz_global_info64 global = {};
  if (!zip || unzGetGlobalInfo64(zip.get(), &global) != UNZ_OK)
    return damaged("it has no directory at its end");

  std::vector<char> nameBuffer(size_t(1) << 16);
  uint64_t directoryBegin = 0;
  uint64_t directoryEnd = 0;
  for (uint64_t i = 0; i < global.number_entry; ++i) {
    int status = i == 0 ? unzGoToFirstFile(zip.get()) : unzGoToNextFile(zip.get());
    unz_file_info64 info = {};
    unz64_file_pos position = {};
    if (status != UNZ_OK ||
        unzGetCurrentFileInfo64(zip.get(), &info, nameBuffer.data(), nameBuffer.size(), nullptr, 0,
                                nullptr, 0) != UNZ_OK ||
        unzGetFilePos64(zip.get(), &position) != UNZ_OK)
      return damaged(fmt::format("its directory has no entry {} of {}", i, global.number_entry));
    std::string name(nameBuffer.data(), info.size_filename);
    std::string entryPlace = placeOf(name);
    if (i == 0)
      directoryBegin = position.pos_in_zip_directory;
    directoryEnd = position.pos_in_zip_directory + kCentralHeaderSize + info.size_filename +
                   info.size_file_extra + info.size_file_comment;
    if (name.ends_with('/'))
      return makeError(entryPlace, "is a directory in the archive", "nothing but .npy files");
    if (info.flag & kFlagEncrypted)
      return makeError(entryPlace, "is encrypted", "an archive without a password");
    if (info.compression_method != kStored && info.compression_method != kDeflated)
      return makeError(entryPlace,
                       fmt::format("has compression method {}", info.compression_method),
                       "0 (stored) or 8 (deflated)");
    constexpr int kRaw = 1;
    int method = 0;
    int level = 0;
    if (unzOpenCurrentFile2(zip.get(), &method, &level, kRaw) != UNZ_OK)
      return damaged(fmt::format("'{}' is not where its directory says", name));
    Entry entry;
    entry.dataOffset = unzGetCurrentFileZStreamPos64(zip.get());
    unzCloseCurrentFile(zip.get());
    entry.compressedSize = info.compressed_size;
    entry.uncompressedSize = info.uncompressed_size;
    entry.crc = static_cast<uint32_t>(info.crc);
    entry.compressed = info.compression_method == kDeflated;
    if (entry.dataOffset > directoryBegin ||
        entry.compressedSize > directoryBegin - entry.dataOffset)
      return damaged(fmt::format("'{}' reaches beyond its end", name));
    if (Expected<void> added = addEntry(std::move(name), entry); !added)
      return added;
  }
  // An archive that says it has fewer entries than it has would hide some.
  auto end = bytes.subspan(std::min<uint64_t>(directoryEnd, bytes.size()));
  if (global.number_entry > 0 && !startsWith(end, kEndOfDirectory) &&
      !startsWith(end, kEndOfDirectory64))
    return damaged(fmt::format("its directory goes on after {} entries", global.number_entry));
  return {};
}

Expected<void> NpzReader::addEntry(std::string name, const Entry &entry) {
  constexpr std::string_view kSuffix = ".npy";
  std::string entryPlace = placeOf(name);
  if (name.find('\0') != std::string::npos)
    return makeError(entryPlace, "has a zero byte in its name");
  if (!entry.compressed && entry.compressedSize != entry.uncompressedSize)
    return makeError(entryPlace, fmt::format("is stored, but its sizes differ: {} and {}",
                                             entry.compressedSize, entry.uncompressedSize));
  // The compressed size is one of real bytes, so this bounds all that is allocated later.
  if (entry.compressed && entry.uncompressedSize / kMostInflatedPerByte > entry.compressedSize)
    return makeError(entryPlace,
                     fmt::format("claims to inflate {} bytes to {}", entry.compressedSize,
                                 entry.uncompressedSize),
                     fmt::format("at most {} times as many", kMostInflatedPerByte));
  if (name.ends_with(kSuffix))
    name.resize(name.size() - kSuffix.size());
  if (!indexOf.emplace(name, entries.size()).second)
    return makeError(placeOf(name), "is in the archive twice");
  nameList.push_back(std::move(name));
  entries.push_back(entry);
  return {};
}

/// No two entries share bytes: overlaps are how small archives unpack to endless ones.
Expected<void> NpzReader::checkPlaces() const {
  std::vector<size_t> order(entries.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [this](size_t a, size_t b) { return entries[a].dataOffset < entries[b].dataOffset; });
  uint64_t end = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    const Entry &entry = entries[order[i]];
    // The local header, with the name, stands before the data.
    uint64_t header = kLocalHeaderSize + nameList[order[i]].size();
    if (entry.dataOffset < end + header)
      return makeError(placeOf(nameList[order[i]]),
                       i == 0
                           ? "lies before the beginning of the archive"
                           : fmt::format("overlaps '{}' in the archive", nameList[order[i - 1]]));
    end = entry.dataOffset + entry.compressedSize;
  }
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
    if (uint32_t crc = crcOf(raw); crc != entry.crc)
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
    crc = crcOf(rawBytes(**entry));
  }
  if (crc != (*entry)->crc)
    return wrongCrc(placeOf(name), crc, (*entry)->crc);
  return {};
}

Expected<void> NpzReader::verify() const {
  for (const std::string &name : nameList)
    if (Expected<void> verified = verify(name); !verified)
      return verified;
  return {};
}

} // namespace tpuc
